/// Drift: declared paths of a supplier's answers that have stopped appearing.
///
/// Shapes and plans declare what they read. A path that nearly all elements had (DRIFT_SHARE percent of those that
/// could have it, over at least DRIFT_ANSWERS answers) and that DRIFT_RUN answers in a row lack altogether is drifting
/// until it is seen again. An answer that says "nothing" is held against the list of offers only. Answers without any
/// offer are watched alike, as a path of their own.
///
/// Threads: any; numbers are counted without locks, so that a rare race costs one count.
/// Memory:  one value for each version of a supplier; it owns what it knows of each tree of declared paths.
/// Time:    never reads the clock.
#pragma once

#include "base/text.h"
#include "script/tape.h"

#include <stdatomic.h>

enum {
    DRIFT_ANSWERS = 50,
    DRIFT_SHARE = 95,
    DRIFT_RUN = 5,
    DRIFT_EMPTY_RUN = 20,   // answers without offers
    DRIFT_PATHS_MAX = 200,  // of a tree; what is declared behind them is not watched
    DRIFT_TREES_MAX = 4,    // of a supplier
    DRIFT_LOOKED_MAX = 2,   // of an answer
    DRIFT_ELEMENTS_MAX = 20 // of a list that are looked at
};

struct drift_tree;
struct reading; // script/reading.h

/// What is known of one path.
struct drift_path {
    char *name;
    bool is_main;                                 // absent from an answer that says "nothing" it counts too
    _Atomic uint64_t answers, could, had, lacked; // lacked: since the run began
    _Atomic uint32_t run;
    _Atomic uint64_t since_wall_us; // the first answer of the run
    atomic_bool is_drifting;
    atomic_bool was_there; // in any answer, also one that says nothing about paths
};

struct drift {
    _Atomic(struct drift_tree *) trees[DRIFT_TREES_MAX];
    struct drift_path offers;
    _Atomic uint64_t answers; // in which a drifting path was missing
};

/// What one answer had, tree by tree.
struct drift_seen {
    struct drift *drift;     // NULL: nobody watches
    struct reading *reading; // where each tree is noted as well; NULL: nowhere
    uint32_t count;
    struct drift_looked {
        struct drift_tree *tree;
        uint32_t could[DRIFT_PATHS_MAX], had[DRIFT_PATHS_MAX];
    } looked[DRIFT_LOOKED_MAX];
};

struct drift_answer {
    struct text supplier; // for the log
    uint64_t wall_us;
    bool is_empty;    // it said "nothing"
    bool has_outcome; // its offers, or that there are none, are to be counted
    // out
    uint32_t count;  // drifting paths that it lacks
    bool lacks_main; // one of them leads to the offers
    char first[160]; // "drift: offers[].total has stopped appearing"
};

/// `drift` is zeroed.
void drift_init(struct drift *drift);
void drift_fini(struct drift *drift);

/// Notes which declared paths the document on the tape has. `root` is its tree, whose paths are numbered the first
/// time.
void drift_look(struct drift_seen *seen, struct declared *root, const struct tape *tape);

/// Counts what was noted.
void drift_settle(const struct drift_seen *seen, struct drift_answer *answer);

uint64_t drift_answers(const struct drift *drift);

typedef void (*drift_on_path)(void *context, const char *path, uint64_t since_wall_us);

/// Tells of every path that could have been there and was in no answer so far, whatever became of the answer.
void drift_list_unseen(const struct drift *drift, drift_on_path on_path, void *context);

/// Tells of every path that is drifting.
void drift_list(const struct drift *drift, drift_on_path on_path, void *context);
