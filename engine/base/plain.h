/// Plain: text of others as it may be shown on a terminal, or stand in a line of a log.
///
/// What scripts and servers say may hold what a terminal obeys, a line's end that forges another line, or bytes that
/// are no text. None of that is shown.
///
/// Threads: any.
/// Memory:  owns nothing.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// May the code point, a well-formed sequence of UTF-8, not be shown? Controls (C0, DEL, C1), what ends a line, and
/// what turns the direction of writing.
bool plain_is_hidden(const char *bytes, size_t length);

/// Takes out what may not be shown, but for tabs and ends of lines; bytes that are no UTF-8 stay. The length of what is
/// left.
size_t plain_strip(char *bytes, size_t length);

/// Writes '?' over each byte that may not be shown, or that is no UTF-8.
void plain_clean(char *bytes, size_t length);
