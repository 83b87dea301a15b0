/// Trouble quote: what of a source is no code: strings and comments.
///
/// Threads: any.
/// Memory:  none of its own.
#pragma once

#include "base/text.h"

/// Steps over a string or a comment that begins at `*at`, which is before `end`; false: none does. A string that is not
/// long ends with its line.
bool trouble_quote_skip(const char **at, const char *end, bool *is_string);

/// Where code begins on the line, a part of the source: what began before it may end within it.
const char *trouble_quote_code_of(struct text source, struct text line);
