/// Bearer: the token of those who may see more. It comes from an environment variable, never from a file.
///
/// Threads: any.
/// Memory:  owns nothing; a token is the environment's own text.
#pragma once

#include "base/status.h"
#include "io/http_server.h"

/// The token in the variable that the setting `setting` names, from now on kept out of logs; absent when it names none.
/// STATUS_INVALID: the variable is not set, or too short to be one.
MUST_CHECK enum status bearer_read(const char *setting, struct text variable, struct text *token, struct failure *why);

/// Does the request carry this token? Never when there is none.
bool bearer_is_given(struct text token, const struct http_call *call);
