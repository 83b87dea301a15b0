/// Unread: the fields of a supplier's answer that its script never reads.
///
/// The whole document is walked, whatever the script declared, and held against the trees of script/reading.h. A field
/// is told once, by its path as shapes spell it (`offers[].conditions`), with how often it came; what stands below one
/// that nobody reads is not told as well. Names of XML have the prefixes that the script gives their namespaces. An
/// element that the script names under another namespace is told with both. A document that is larger than an author
/// can look at is not known, and told with the reason.
///
/// Threads: one.
/// Memory:  a list in the caller's arena.
#pragma once

#include "base/arena.h"

enum { UNREAD_MAX = 500 };

struct unread_path {
    struct text path;
    struct text kind; // "a list", "a text"
    size_t count;
};

struct unread {
    struct arena *arena;
    bool is_all_read; // as a whole: nobody can tell more
    bool is_known;    // the document is one, and a tree says what is read of it
    const char *why;  // not known though a tree says it: why; NULL: it is no document, and the script tells that
    struct unread_path paths[UNREAD_MAX];
    size_t count;
    size_t more; // paths that had no room
};

/// `reads` is what a normalise call gave; `body` is plain.
void unread_find(struct unread *unread, struct arena *arena, struct text reads, struct text body);
