/// Knowledge shelf: where the knowledge of one account lies, and what its answers were worth.
///
/// Its lock is held to take a pointer, to count a search, or to copy some hundred bytes, never for a computation.
///
/// Threads: any.
/// Memory:  a value to embed; owns the knowledge that is current.
#pragma once

#include "policy/known.h"

#include <pthread.h>

struct knowledge_shelf {
    pthread_mutex_t lock;
    struct knowledge *current; // NULL: nothing is known yet
    uint32_t fits;             // that it is of
    struct worth worth;
    double held_cost;
};

void knowledge_shelf_init(struct knowledge_shelf *shelf);
void knowledge_shelf_fini(struct knowledge_shelf *shelf);
/// As in struct patience_settings; counts from the next knowledge on.
void knowledge_shelf_set(struct knowledge_shelf *shelf, double held_cost);

/// A hold on what is current; NULL: nothing is known.
struct knowledge *knowledge_shelf_take(struct knowledge_shelf *shelf);

/// As worth_note.
void knowledge_shelf_note(struct knowledge_shelf *shelf, uint64_t kind, double items, bool has_won, uint64_t now_us);

/// One with a copy of the curve, not yet finished; NULL without memory.
MUST_CHECK struct known *knowledge_shelf_make(const struct latency_curve *curve);
/// Finishes it and makes it current, unless one of a later fit is; takes it.
void knowledge_shelf_put(struct knowledge_shelf *shelf, struct known *known, uint32_t fits);
