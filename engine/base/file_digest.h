/// File digest: a number that stands for what a file holds, to see whether it is another than before.
///
/// Size and time prove nothing: a file can be written twice within a tick of its clock, or restored with its old time.
/// So the bytes are hashed (FNV-1a, 64 bits). Only a file larger than FILE_DIGEST_READ_MAX is judged by size, time in
/// nanoseconds and inode: reading a table of 100 MB every few seconds would cost more than it tells.
///
/// Threads: any; not on a loop, for disks are slow.
/// Memory:  owns nothing.
#pragma once

#include "base/text.h"

#include <stdint.h>

enum { FILE_DIGEST_READ_MAX = 1 << 20 };

/// What is missing, cannot be read or is no regular file has a digest of its own, too.
uint64_t file_digest(const char *path);
/// That of a file that holds these bytes, FILE_DIGEST_READ_MAX at most.
uint64_t file_digest_of(struct text bytes);
