/// Findings: why a command did nothing: lines on standard error, or with --json one object on standard output.
///
/// Threads: the main thread.
/// Memory:  owns the list until findings_end.
#pragma once

#include "base/json_write.h"
#include "cli/cli.h"

struct findings {
    const struct cli_options *options;
    struct json_writer json;
    struct buffer out;
    size_t count;
};

void findings_begin(struct findings *findings, const struct cli_options *options);
/// One more; a settings_finding, whose context is the findings.
void findings_tell(void *findings, const struct failure *failure);
/// Gives the object out, when there is anything in it, and frees it.
void findings_end(struct findings *findings);
