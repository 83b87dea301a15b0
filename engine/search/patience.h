/// Patience: ends a search early, when nothing that is still out is worth waiting for (policy.md section 3).
///
/// Each change makes it look, at most every 25 ms, and so does the passing of time. It waits for whom little is known
/// of, for what is being read, and for searches that want all or nothing. Those that it ends are `finished_early`.
///
/// Threads: the search's.
/// Memory:  embedded in its search.
/// Time:    through the search's world.
#pragma once

#include "base/timer_heap.h"

#include <stdbool.h>

struct catalogue_supplier;
struct rule;
struct search;
struct start_call;

enum { PATIENCE_EVERY_US = 25000 };

struct patience {
    struct timer timer; // when it looks next
    uint64_t looked_us; // 0: not yet
    double cost_per_s;  // offers that a second of waiting costs
    bool is_on;
    uint64_t saved_us; // that the search need not wait; 0: it did not end early
};

/// The attempts have begun.
void patience_begin(struct patience *patience, struct search *search, const struct start_call *start);
/// Something of the search has changed. It does not look within the call, but soon.
void patience_note(struct patience *patience, struct search *search);
void patience_fini(struct patience *patience, struct search *search);
/// What an item of a supplier's answer counts: by the rule, NULL: none has said, or its settings; else 1.
double patience_weight(const struct rule *rule, const struct catalogue_supplier *supplier);
