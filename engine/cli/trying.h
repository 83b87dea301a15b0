/// Trying: what `try` and `record` have in common: settings and scripts, the supplier, the search, the run.
///
/// Threads: the main thread.
/// Memory:  owns all of it until trying_close.
#pragma once

#include "app/try.h"
#include "cli/cli.h"

struct trying {
    const struct cli_options *options;
    struct settings *settings;
    struct generation *generation;
    struct try_subject subject;
    struct try_run run;
    struct buffer bodies[CLI_MAX_ITEMS];
    struct try_answer answers[CLI_MAX_ITEMS];
    struct header headers[CLI_MAX_ITEMS];
    bool has_log;
};

/// Reads and loads everything. CLI_OK, or an exit code after the reason was told.
MUST_CHECK int trying_open(struct trying *trying, const struct cli_options *options);
/// Live, or over the saved answers. CLI_OK, or an exit code after the reason was told.
MUST_CHECK int trying_run(struct trying *trying);
void trying_close(struct trying *trying);

/// The command that keeps what was tried as a fixture. What may be a secret in it is not shown.
void trying_put_record(const struct trying *trying, struct buffer *out);
/// " -c FILE" for each file of settings that is not found by itself.
void trying_put_settings(const struct cli_options *options, struct buffer *out);

/// The exit code for what became of the run.
int trying_exit_code(const struct trying *trying);
