/// Switch send: the commands that switch a supplier of a running engine: their body, their answer, their exit code.
///
/// Threads: the calling one, which it blocks.
/// Memory:  nothing is left.
#pragma once

#include "cli/cli.h"

/// POSTs `action` for the supplier that the first argument names, and prints what became of it. `value` is what a
/// breaker or a ceiling shall be; NULL: it is about neither.
MUST_CHECK int switch_send(const struct cli_options *options, const char *action, const char *value);

/// How many attempts of the supplier are out now, of the account that was asked for or of all. False: it was told why
/// that is not known, and `*code` is the exit code.
MUST_CHECK bool switch_count_out(const struct cli_options *options, uint64_t *out, int *code);

/// A wrong way to call it; the exit code.
int switch_misused(const struct cli_options *options, const char *sentence, const char *help);
