/// Checks: the attributes and the one assertion that every module uses.
///
/// `require` guards what only a bug can break. It is always compiled in, names its place and aborts; bad input and
/// outside failures never reach it (they are a status or an outcome).
///
/// Threads: any.
#pragma once

#include <stddef.h>

#define NEVER_INLINE __attribute__((noinline)) // for the rare way of a function that is called all the time
#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/// The structure that embeds `pointer` as its `member`.
#define CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/// Aborts with file, line and the condition's text.
_Noreturn void check_failed(const char *file, int line, const char *condition);

#define require(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))
