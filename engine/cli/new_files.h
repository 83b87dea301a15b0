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

/// What is tried, and written: the script, and the fixtures of an answer and of a refused key.
struct new_files {
    struct buffer script, ok, odd;
};

/// Loads the script and runs the fixtures in a folder of their own; what `ok` leaves open ("?") is filled in. False:
/// findings were reported, with the paths that the files would have.
MUST_CHECK bool new_files_try(const struct cli_options *options, const struct draft *draft, struct new_files *files,
                              settings_finding report, void *context);

/// One that is there already is fine. False: `why` says what.
MUST_CHECK bool new_files_make_folder(const char *path, struct failure *why);
/// Creates a file. STATUS_INVALID: it exists. STATUS_IO: `why` says what.
MUST_CHECK enum status new_files_write(const char *path, struct text bytes, struct failure *why);
