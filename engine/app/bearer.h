/// Bearer: the token of those who may see more. It is a secret like a supplier's: an environment variable, or a file of
/// the directory of credentials.
///
/// Threads: any.
/// Memory:  bearer_free frees a token.
#pragma once

#include "base/status.h"
#include "io/http_server.h"

/// The token that the setting `setting` names, from now on kept out of logs; absent when `variable` is: it names none.
/// `directory` is the setting `secrets_dir`. STATUS_INVALID: it is not set, cannot be used, or too short to be one.
MUST_CHECK enum status bearer_read(const char *setting, struct text variable, struct text directory, struct text *token,
                                   struct failure *why);
void bearer_free(struct text *token);

/// Does the request carry this token? Never when there is none.
bool bearer_is_given(struct text token, const struct http_call *call);
