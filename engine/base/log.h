/// Log: one line per event to standard error, from any thread, without waiting for the terminal or the disk.
///
/// A line is `time level module: sentence key=value …`. Lines go through a ring that a thread of the log's own drains;
/// a full ring drops and counts, and says how many. Before log_start and after log_stop lines are written at once.
/// Secrets registered with log_redact are replaced by *** wherever they occur.
///
/// Threads: any; the writing thread is the log's own.
#pragma once

#include "base/status.h"
#include "base/text.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

MUST_CHECK enum status log_start(enum log_level least);
void log_stop(void); // drains, then stops the thread
void log_line(enum log_level level, const char *module, const char *format, ...) PRINTF_LIKE(3, 4);
/// What failed, over several lines in the layout of the command line: place, code and sentence, notes, remedy. Lines of
/// other threads may come between. NULL, or without a code: nothing.
void log_failure(enum log_level level, const char *module, const struct failure *why);
void log_redact(struct text secret); // at least 4 bytes, at most 64 secrets; copied
uint64_t log_dropped(void);

enum { LOG_VALUE_MAX = 200 };
/// A stranger's words as the value of `key=value`: as they are when they are one word, else in quotes. Cut to the room;
/// returns `out`.
const char *log_value(struct text words, char out[LOG_VALUE_MAX]);
