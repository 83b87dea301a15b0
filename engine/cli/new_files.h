/// New files: where `lastcall new` puts what it writes, and the trial before it does.
///
/// A draft is played in a folder of its own first: what does not load, or whose fixture fails, is never written.
/// Nothing that exists is written over.
///
/// Threads: the main thread.
/// Memory:  the caller's arena and buffers.
#pragma once

#include "app/settings.h"
#include "cli/cli.h"
#include "cli/draft.h"

/// Loads the script and runs the fixture in a folder of its own; what the fixture leaves open ("?") is filled in.
/// False: findings were reported, with the paths that the files would have.
MUST_CHECK bool new_files_try(const struct cli_options *options, const struct draft *draft, struct text script,
                              struct buffer *fixture, settings_finding report, void *context);

/// One that is there already is fine. False: `why` says what.
MUST_CHECK bool new_files_make_folder(const char *path, struct failure *why);
/// Creates a file. STATUS_INVALID: it exists. STATUS_IO: `why` says what.
MUST_CHECK enum status new_files_write(const char *path, struct text bytes, struct failure *why);

/// "ok-one-way" or "ok-stay".
const char *new_files_fixture(const struct draft *draft);
