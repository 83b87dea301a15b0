/// Check stuck: the contents of files that took too long to load, so that no later load waits for them again.
///
/// A load over a set is tried as often as something changes; a file that hangs would cost two seconds each time, and a
/// thread when it hangs in C. The last CHECK_STUCK_MAX are remembered, until the process ends or the file changes.
///
/// Threads: any.
/// Memory:  of the process.
#pragma once

#include "script/script_shelf.h"

enum { CHECK_STUCK_MAX = 64 };

/// True: this was stuck; `failure` is what was found. `digest` is of the file and of all that it was held against.
MUST_CHECK bool check_stuck_find(struct text path, const unsigned char digest[SCRIPT_DIGEST], struct failure *failure);
void check_stuck_note(struct text path, const unsigned char digest[SCRIPT_DIGEST], const struct failure *failure);
