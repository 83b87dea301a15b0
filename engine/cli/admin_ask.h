/// Admin ask: a command's question to the admin listener, with what to print when there is no answer.
///
/// Threads: the calling one, which it blocks.
/// Memory:  the response is the caller's.
#pragma once

#include "cli/cli.h"
#include "model/exchange.h"

/// Exit code: CLI_OK with a 200 in `*response`; otherwise the reason was printed. With --json a 200 is printed as it
/// came and `*response` is NULL.
MUST_CHECK int admin_ask(const struct cli_options *options, const char *path, struct http_response **response);
/// The same whatever the output shall be: a 200 is the caller's.
MUST_CHECK int admin_fetch(const struct cli_options *options, const char *path, struct http_response **response);

/// Says that what answers is not an admin listener; the exit code.
int admin_is_not_ours(const struct cli_options *options);

/// The same of a supplier's switch: also with the 404, 409 or 422 that says why not.
MUST_CHECK int admin_switch_ask(const struct cli_options *options, const char *path, struct text body,
                                struct http_response **response);

enum { ADMIN_CHANGE_PATIENCE_MS = 120000 };

/// A change: POSTs the JSON object `body`. CLI_OK with a 200, or with the 422 of an engine that refused, in
/// `*response`; otherwise the reason was printed.
MUST_CHECK int admin_change(const struct cli_options *options, const char *path, struct text body,
                            struct http_response **response);
