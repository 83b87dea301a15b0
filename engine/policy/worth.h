/// Worth: what the answers of an account add to replies, learned from what is left of them after grouping (policy.md
/// section 3): the items that only it has, and those of which it has the cheapest offer.
///
/// Kept for all searches together and for each kind of them; a kind of which little is known leans on all of them.
///
/// Threads: one owner; the caller holds the account's lock. Copies are plain values.
/// Memory:  plain values to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORTH_KINDS = 12, // kept at once; the one that was seen least makes room
    WORTH_LEAST = 5,  // answers; fewer say nothing
    WORTH_LEAN = 10,  // answers that all kinds together count as beside those of one
};

struct worth_sum {
    double answers, items, wins; // decayed, with a half-life of an hour
    uint64_t at_us;
};

struct worth {
    struct worth_sum all;
    struct worth_sum kinds[WORTH_KINDS];
    uint64_t names[WORTH_KINDS]; // of the kinds; 0: free
};

/// An answer of it came to a search of this kind (0: none), and `items` of the reply are its own; `has_won`: the
/// cheapest offer is.
void worth_note(struct worth *worth, uint64_t kind, double items, bool has_won, uint64_t now_us);

/// The items that its answer to such a search will add. False: nobody knows.
bool worth_expect(const struct worth *worth, uint64_t kind, double *items);
/// How often it wins. False: nobody knows.
bool worth_win_rate(const struct worth *worth, double *rate);
