/// Script changes: what a load over another set did with each file that is not what it was.
///
/// Threads: one owner.
/// Memory:  the list and its texts live in its arena.
#pragma once

#include "script/script_version.h"

struct script_set;

enum script_fate {
    SCRIPT_SAME,
    SCRIPT_CHANGED,
    SCRIPT_ADDED,
    SCRIPT_REMOVED,
    SCRIPT_KEPT,     // changed on disk; the last good one runs
    SCRIPT_LEFT_OUT, // new and broken; nothing runs
    SCRIPT_SHADOW    // changed on disk, where it is the shadow of the one that runs
};

struct script_change {
    enum script_kind kind;
    struct text name, file;
    enum script_fate fate;
    struct text before;                          // labels, "acme@3f9a": what ran, what runs now, and what is on disk;
    struct text running, on_disk;                // absent: nothing
    unsigned char on_disk_digest[SCRIPT_DIGEST]; // zeros: nothing
    struct failure because;                      // of KEPT and LEFT_OUT: the first finding, with its place and remedy
};

struct script_changes {
    struct arena arena;
    struct script_change *items; // all but SAME
    size_t count;
};

void script_changes_init(struct script_changes *changes);
void script_changes_fini(struct script_changes *changes);

/// Adds a change with copies of its texts. False: no memory.
MUST_CHECK bool script_changes_add(struct script_changes *changes, const struct script_change *change);

/// Adds what differs between two sets, as CHANGED, ADDED and REMOVED. `before` may be NULL: then nothing does.
MUST_CHECK enum status script_changes_between(const struct script_set *before, const struct script_set *now,
                                              struct script_changes *changes);
