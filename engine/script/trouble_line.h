/// Trouble line: a line of a source as a person is shown it.
///
/// Lines end as Lua lets them end. What is too long for a terminal is cut to the piece around the place that is told.
///
/// Threads: any.
/// Memory:  none of its own.
#pragma once

#include "base/status.h"
#include "base/text.h"

/// The line of that number, from 1 on, without its end; absent: there is none.
struct text trouble_line_of(struct text source, uint32_t number);

/// Adds that line, marked as an excerpt; without secrets. `at` is the place in it that matters; NULL: none does.
void trouble_note_line(struct failure *why, struct text source, uint32_t line, const char *at);

/// The same for the line of `why`, before its notes.
void trouble_note_line_first(struct failure *why, struct text source, const char *at);

/// The only line on which `return` is followed by a call of that function, "string.rep" or ":rep"; 0: none, or several.
uint32_t trouble_line_of_tail(struct text source, struct text function);

/// Where the word stands in the line for the first time, not as a part of another one; NULL: nowhere.
const char *trouble_line_find(struct text line, struct text word);
