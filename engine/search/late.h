/// Late: what is told of an attempt that nobody waited for any more, and what its offers would have added to the reply
/// (policy.md section 2).
///
/// When a search replies while attempts of it go on, it keeps the items that it found, each as a hash with its best
/// price, and lets the offers go. What comes later is compared with that. Of a search that found very much nothing is
/// kept, so that this costs a loop a fraction of a millisecond, after the reply is written.
///
/// Threads: the search's.
/// Memory:  16 bytes for each of twice as many items; late_items_fini.
#pragma once

#include "search/stock.h"

struct attempt;
struct search;

enum { LATE_MAX_LOOKS = 8192 }; // offers of a search

struct late_items {
    struct late_item *slots; // NULL: not known
    size_t capacity;         // a power of two
    size_t count;
};

/// All that is shown of the search. Without memory, or of too much, nothing is known.
void late_items_of(struct late_items *items, const struct search *search);
void late_items_fini(struct late_items *items);

/// How many items of the stock are not among them, and how many are cheaper than there. False: not known.
MUST_CHECK bool late_items_compare(const struct late_items *items, const struct stock *stock, uint32_t *new_items,
                                   uint32_t *cheapest_items);

/// Tells the world that an attempt of those that went on has ended, or is given up.
void late_tell(struct search *search, const struct attempt *attempt);
