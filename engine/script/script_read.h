/// Script read: Lua files and folders of them, as they are on disk.
///
/// What cannot be read is a finding; the file then has no source.
///
/// Threads: the loader's.
/// Memory:  what is read lives in the check's arena.
#pragma once

#include "script/script_check.h"

/// Reads the file at `file->path`.
void script_read_file(struct script_check *check, struct script_file *file);

/// Calls `on_file` after each file of a folder, by name. False: there is no such folder, and that is a finding.
MUST_CHECK bool script_read_folder(struct script_check *check, const char *folder,
                                   void (*on_file)(void *context, const struct script_file *file), void *context);
