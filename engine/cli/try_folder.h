/// Try folder: where `try` saves bodies: the folder that was asked for, or one of this run's own in the temporary
/// directory, which is there only while something is in it.
///
/// Threads: the main thread.
/// Memory:  none of its own.
#pragma once

#include "base/status.h"

enum { TRY_FOLDER_SIZE = 4096, TRY_FOLDER_DAYS = 2 };

/// `keep` NULL: one of its own; those of the same user that are older than TRY_FOLDER_DAYS are removed then. False:
/// there is no such place.
MUST_CHECK bool try_folder_make(const char *keep, char folder[TRY_FOLDER_SIZE], struct failure *why);

/// After the run: one of its own that stayed empty goes.
void try_folder_leave(const char *keep, const char *folder);
