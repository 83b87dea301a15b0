/// File: the whole of a small file, from somebody who names it in a file of theirs.
///
/// Threads: any; it blocks on the disk.
/// Memory:  the bytes go into the caller's buffer, whose ceiling is the most that is read.
#pragma once

#include "base/buffer.h"

/// Appends the bytes. False: `*why` is a sentence ("it is not a regular file"); a pipe or a device never makes it wait.
MUST_CHECK bool file_read(const char *path, struct buffer *out, const char **why);

/// Writes the bytes beside the file, with its mode, and puts them in its place. False: `*why`, the file is as it was.
MUST_CHECK bool file_replace(const char *path, struct text bytes, const char **why);
