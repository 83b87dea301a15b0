/// File walk: the files that count below a path: one file, or those of a folder that the engine would read.
///
/// Names that begin with a dot never count: they are editors' and the links by which Kubernetes swaps a volume.
///
/// Threads: any; not on a loop.
/// Memory:  owns nothing.
#pragma once

#include <stdbool.h>

enum file_walk_kind {
    FILE_WALK_FILE,      // the path itself
    FILE_WALK_LUA,       // a folder: its *.lua
    FILE_WALK_SUPPLIERS, // a folder: its *.lua, and all files of its *.test
    FILE_WALK_ENTRIES,   // a folder: all its files
};

/// Folders are told before what is in them, files in no order. The path lives until the visit returns.
typedef void (*file_walk_visit)(void *context, const char *path, enum file_walk_kind kind);

/// Is it a name that counts in a folder of this kind?
bool file_walk_takes(enum file_walk_kind kind, const char *name);

/// Visits the path (whether it is there or not), then what counts in it. False: a folder that cannot be read.
bool file_walk(const char *path, enum file_walk_kind kind, file_walk_visit visit, void *context);
