/// Status: whether a function could do its job, and the sentence for the human who waits.
///
/// A status is for the caller's control flow. A `failure` is filled beside it only where a person reads the answer
/// (settings, scripts, start-up): place, sentence, remedy.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include "base/check.h"
#include "base/code.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum status {
    STATUS_OK,
    STATUS_NO_MEMORY,
    STATUS_FULL,    // a cap was reached; nothing was changed
    STATUS_INVALID, // the input breaks a rule
    STATUS_NOT_FOUND,
    STATUS_IO,      // the operating system said no
    STATUS_CLOSED,  // shutting down
    STATUS_TIMEOUT, // it took too long and was given up
};

/// The name of a status, for logs.
const char *status_name(enum status status);

/// What went wrong, where, and what to do about it. `line` 0: no place inside the file.
///
/// Notes are lines parted by newlines. One that begins with a space is an excerpt of a file (`   58 | text`) and is
/// shown as it is; each other one is shown behind `   = `. They never hold a value of a search or an answer, nor a
/// secret.
struct failure {
    enum code code; // CODE_NONE: it has none
    char file[256];
    uint32_t line;
    uint32_t column;
    char message[512];
    char help[256];   // may be empty
    char notes[1536]; // may be empty
};

/// Fills the sentence; `why` may be NULL. The place is left alone.
void failure_set(struct failure *why, const char *format, ...) PRINTF_LIKE(2, 3);

/// Code, remedy and sentence at once, for functions that are given a finding's parts; place and notes are left alone.
void failure_fill(struct failure *why, enum code code, const char *help, const char *format, va_list arguments);

/// Fills the remedy; `why` may be NULL.
void failure_help(struct failure *why, const char *format, ...) PRINTF_LIKE(2, 3);

/// Fills the place; `why` may be NULL.
void failure_at(struct failure *why, const char *file, uint32_t line, uint32_t column);

/// Sets the code; `why` may be NULL.
void failure_code(struct failure *why, enum code code);

/// Adds a note, a line without its newline; `why` may be NULL. One that has no room is left out whole.
void failure_note(struct failure *why, const char *format, ...) PRINTF_LIKE(2, 3);

/// The next note of `rest`, which moves on behind it; absent when there is none.
struct text failure_next_note(struct text *rest);

/// Takes out what a terminal obeys or what forges a line (base/plain.h); before it is printed.
void failure_clean(struct failure *why);

/// "acme.lua:12: sentence", with as much of the place as is known; terminated, cut to `size`. Returns the length.
size_t failure_print(const struct failure *failure, char *out, size_t size);
