/// Merge: picks what the reply returns from the sorted batches of all answered attempts.
///
/// A k-way merge in the order of the reply; an item takes part with its first `max_offers_per_item` offers, and at most
/// `max_items` items do, shared out as sort.h tells. Offers are never merged into one another, only grouped by item.
/// However many there are, only the first of them are looked at, so that a reply is not late for offers at its end.
///
/// Threads: the search's.
/// Memory:  everything from the given arena; offers point into their batches.
#pragma once

#include "search/attempt.h"
#include "search/sort.h"

/// Offers looked at in the order of price, and before that in the order of duration. Both together, out of 80,000 of 40
/// full suppliers, take 6 to 9 ms: an offer costs about 0.15 us, most of it spent waiting for its memory.
enum { MERGE_MAX_LOOKS = 40000, MERGE_MAX_QUICK_LOOKS = 8000 };

struct merge_pick {
    const struct offer *offer;
    const struct attempt *attempt;
    uint32_t item; // its item's number in the order of price
};

struct merge_result {
    struct merge_pick *picks; // in the order of the reply
    size_t pick_count;
    struct merge_pick *items; // the first pick of each item, in the same order
    size_t item_count;
    size_t found; // offers of all batches
};

struct merge_limits {
    uint32_t max_items;
    uint32_t max_offers_per_item;
    enum sort sort;
};

/// False: the arena is used up; `result` is empty then but for `found`.
MUST_CHECK bool merge_offers(struct arena *arena, const struct attempt *attempts, size_t count,
                             struct merge_limits limits, struct merge_result *result);
