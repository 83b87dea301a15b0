/// File: reads a file whole, up to a cap, and never waits for anybody; puts another one in its place.
///
/// Only regular files are read: a pipe that nobody writes into would keep its reader for ever, a device never ends.
///
/// Threads: any; not on a loop, for disks are slow.
/// Memory:  the caller's buffer.
#pragma once

#include "base/buffer.h"
#include "base/status.h"

struct file_facts {
    char why[96];            // it could not be read: "No such file or directory", "it is not a regular file"
    uint64_t bytes;          // as the system says
    bool is_readable_by_all; // its mode lets every user of this machine read it
};

/// Appends the whole file to `content`, whose ceiling is the cap. STATUS_NOT_FOUND, STATUS_INVALID: no regular file;
/// STATUS_FULL: larger than the cap; STATUS_IO, STATUS_NO_MEMORY. `facts` says why; it may be NULL.
MUST_CHECK enum status file_read(const char *path, struct buffer *content, struct file_facts *facts);

/// Writes the bytes beside the file, with its mode, and puts them in its place. False: `*why`, the file is as it was.
MUST_CHECK bool file_replace(const char *path, struct text bytes, const char **why);

/// Makes the file hold these bytes, whether there was one or not; true only when that outlives the loss of power. What
/// is killed in between leaves the old file or the new one, never half of one. False: `*why`, which says where it went
/// wrong, a constant or the system's words.
MUST_CHECK bool file_put_for_good(const char *path, struct text bytes, const char **why);
