/// Town: many searches over the real search/ in one virtual world, with breakers in force, for as long as it takes.
///
/// Threads: one.
/// Memory:  town_fini frees all, and checks that everything that was taken is given back.
#pragma once

#include "search/search.h"
#include "support/virtual_world.h"

enum { TOWN_SUPPLIERS = 40 };

struct town {
    struct virtual_world virtual;
    struct virtual_supplier suppliers[TOWN_SUPPLIERS]; // may change while it lives
    struct catalogue_supplier listed[TOWN_SUPPLIERS];
    struct script_account accounts[TOWN_SUPPLIERS];
    char names[TOWN_SUPPLIERS][8];
    struct catalogue catalogue;
    size_t count;

    uint64_t apart_us, budget_us; // of the searches to come
    uint64_t next_us;             // when the next one comes
    uint64_t leave_each;          // the caller of each so many leaves at half of his budget; 0: none does
    uint64_t searches, replies, open;
    uint64_t longest_us; // of the replies so far
    uint32_t outcomes[TOWN_SUPPLIERS][OUTCOME_COUNT];
    uint32_t asked[TOWN_SUPPLIERS]; // attempts that began
};

/// So many suppliers that answer after `after_us` with one offer; the dice of breakers come of the seed.
void town_init(struct town *town, size_t suppliers, uint64_t after_us, uint64_t seed);
/// Searches come, one each `apart_us`, for so long.
void town_run(struct town *town, uint64_t for_us);
/// As long as a supplier's breaker is not in that state, `most_us` at most. How long it took.
uint64_t town_run_until(struct town *town, size_t supplier, enum breaker_state state, uint64_t most_us);
/// What is counted begins anew.
void town_forget(struct town *town);
const struct breaker *town_breaker(const struct town *town, size_t supplier);
/// No more searches: runs until nothing is left to happen, then frees it. Fails unless all is given back.
void town_fini(struct town *town);
