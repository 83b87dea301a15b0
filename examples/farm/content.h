/// Content: the whole of a file in memory.
///
/// Threads: any.
/// Memory:  the caller's, malloc.
#pragma once

#include "base/status.h"

#include <stddef.h>

/// Up to 16 MiB; a zero byte follows them. `*bytes` is to be freed; NULL after a failure.
MUST_CHECK enum status content_read(const char *path, char **bytes, size_t *length, struct failure *why);
