/// Change send: a command that changes a running engine: its body, its answer, its exit code.
///
/// Threads: the calling one, which it blocks.
/// Memory:  nothing is left.
#pragma once

#include "base/json_write.h"
#include "cli/cli.h"

/// Fields of the body, beside who asks and why.
typedef void (*change_fields)(const struct cli_options *options, struct json_writer *json);

/// The fields `who` and, if it was given, `why`.
void change_write_asker(const struct cli_options *options, struct json_writer *json);

/// POSTs the change and prints what became of it.
MUST_CHECK int change_send(const struct cli_options *options, const char *path, change_fields write);
