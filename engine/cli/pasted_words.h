/// Pasted words: a command that was copied from a browser or a page of documentation, cut into words as a shell would.
///
/// Known are the quotes of POSIX shells ('…', "…", $'…'), `\` at the end of a line, and what Windows makes of them
/// (`^` before everything). Nothing is expanded: `$TOKEN` stays as it is.
///
/// Threads: any; plain functions.
/// Memory:  words live in the caller's arena.
#pragma once

#include "base/arena.h"
#include "base/status.h"

enum { PASTED_WORDS_MAX = 512 };

struct pasted_words {
    struct text *items;
    size_t count;
    bool has_more; // the command ended at `|`, `;`, `&` or `>`; what came behind it was left
};

/// STATUS_INVALID: a quote that never ends, or too many words; `why` has the line. STATUS_NO_MEMORY.
MUST_CHECK enum status pasted_words_read(struct arena *arena, struct text input, struct pasted_words *words,
                                         struct failure *why);
