/// Redact: the secrets of this process, and their removal from text that leaves it.
///
/// They go by value, in every spelling of redact_pattern.h, wherever they came from. Secrets are added at start and on
/// reload, and never taken away. Values that are secret for a while, such as logins, are passing: of those the newest
/// REDACT_PASSING_MAX are known. The longest match at a place wins.
///
/// Words have to come here while they are whole: what somebody else has cut off a secret matches nothing. redact_copy
/// and redact_print cut and redact in one.
///
/// Threads: any; adding takes a lock, all else takes none and never waits.
/// Memory:  copies of the secrets, kept until the process ends or a passing one is replaced.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stdarg.h>

enum { REDACT_MAX = 1024, REDACT_PASSING_MAX = 1024, REDACT_SECRET_MIN = 4 };

/// STATUS_INVALID: shorter than REDACT_SECRET_MIN. STATUS_FULL: already REDACT_MAX. A known one is STATUS_OK.
MUST_CHECK enum status redact_add(struct text secret);
/// The same for a passing one; it takes the place of the oldest of those when there are many. What it returns may be
/// passed over.
enum status redact_add_passing(struct text secret);

/// Replaces every secret by *** in place and returns the new length, which is never larger.
/// `is_cut`: the bytes end where a longer text was cut, so a beginning of a secret at the end goes as well.
size_t redact_apply(char *bytes, size_t length, bool is_cut);

/// Copies what fits of `words` into `place`, terminated and without secrets; the length.
size_t redact_copy(char *place, size_t size, struct text words);
/// The same for what printf makes of it.
size_t redact_print(char *place, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
size_t redact_vprint(char *place, size_t size, const char *format, va_list arguments);
