/// Run body: the body of a response on its way to a script: inflated, then UTF-8 as far as it can be told unread.
///
/// Threads: a worker's.
/// Memory:  `plain` is the caller's and must stay as long as the view is used.
#pragma once

#include "script/run_response.h"

/// Fills `view->body`, `view->reading` and `view->converted`; `body` are the response's own bytes, held by the caller.
/// SCRIPT_OK, or a verdict with its sentence in `*why`.
enum script_verdict run_body_open(struct run_response *view, const struct http_response *response, struct text body,
                                  uint64_t cap, struct buffer *plain, const char **why);
