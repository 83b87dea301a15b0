/// Pattern: the patterns of Lua 5.1, matched without recursion and with an end in sight.
///
/// What matches, what is captured and what is malformed are as in LuaJIT: classes know ASCII only, and a pattern ends
/// at its first zero byte. A match costs steps, about one for each byte looked at; when the allowance is used up,
/// whoever gave it is asked for more, and may refuse.
///
/// Use: pattern_begin once for a subject and a pattern, then pattern_at or pattern_search as often as needed.
///
/// Threads: one owner at a time.
/// Memory:  none; 9 KB of the caller's stack. Subject, pattern and allowance are borrowed.
#pragma once

#include "script/pattern_item.h"

enum {
    PATTERN_CAPTURES_MAX = 32,
    PATTERN_DEPTH_MAX = 200, // places to come back to; a pattern has one for each item with `*`, `+`, `-`, `?`, at most
};

/// `length` of a capture that has no end (yet), and of one that is a position.
enum { PATTERN_OPEN = -1, PATTERN_POSITION = -2 };

struct pattern_capture {
    const char *start;
    ptrdiff_t length;
};

enum pattern_result {
    PATTERN_FOUND,
    PATTERN_NONE,
    PATTERN_MALFORMED, // `items.trouble` says how; a part that is never reached is never looked at
    PATTERN_STOPPED,   // the allowance was not filled up
};

// The parts below `captures` are pattern.c's own.

struct pattern_try {
    const char *subject;      // where to go on
    const char *least;        // and how far back
    const char *pattern;      // with what
    const char *item;         // of a `-`: what may be taken more often
    unsigned char kind;       // enum try_kind, in pattern.c
    unsigned char is_certain; // the next byte must be `byte`
    unsigned char byte;
};

struct pattern_match {
    const char *subject;
    const char *end;
    const char *pattern; // without a leading ^
    struct pattern_allowance *allowance;
    bool is_anchored;
    struct pattern_items items; // its `trouble` says what is malformed
    bool has_first;             // no match begins with a byte that does not fit `first`
    struct pattern_item first;
    uint64_t first_bits[4]; // of its set
    uint32_t capture_count;
    struct pattern_capture captures[PATTERN_CAPTURES_MAX];
    uint32_t depth;
    struct pattern_try tries[PATTERN_DEPTH_MAX];
};

/// True: `text` as a pattern stands for itself.
bool pattern_is_plain(struct text text);

/// `pattern` is terminated. `may_anchor`: a leading ^ ties the match to where it begins; else it is a byte like others.
void pattern_begin(struct pattern_match *match, struct text subject, const char *pattern, bool may_anchor,
                   struct pattern_allowance *allowance);

/// Does the pattern match at `from`? Sets the end of the match, and the captures.
MUST_CHECK enum pattern_result pattern_at(struct pattern_match *match, const char *from, const char **end);

/// The first match at or after `from`; only at `from` when the pattern is anchored.
MUST_CHECK enum pattern_result pattern_search(struct pattern_match *match, const char *from, const char **start,
                                              const char **end);
