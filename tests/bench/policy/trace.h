/// Trace: all that happens to the searches of one seed, the same for whoever plays it.
///
/// When searches come, what each call of each supplier would meet, and what its answer is worth, is drawn from a hash
/// of (seed, search, supplier, endpoint, number of the call), not from a stream: so a call meets the same whatever else
/// a policy does. Slow times and incidents count by the arrival of the search, not by when a call is sent, for the
/// same reason.
///
/// What an answer is worth: a search has items, each with a price, and a supplier offers some of them at prices of its
/// own. A set of answers is worth one for each item in it, and one for each item whose cheapest offer of all is in it.
///
/// Threads: immutable once created.
/// Memory:  owns all of it; the population is borrowed.
#pragma once

#include "base/status.h"
#include "bench/policy/population.h"

enum {
    TRACE_CALLS = 4,          // of one supplier within one search; later ones meet what the last did
    TRACE_BEGIN_US = 1000000, // of the first search, at the earliest
};

enum trace_fate { TRACE_ANSWERS, TRACE_FAILS, TRACE_HANGS, TRACE_DROPS }; // drops: not even a connection

struct trace_draw {
    enum trace_fate fate;
    uint64_t after_us; // from the call's start; of those that hang: UINT64_MAX
};

struct trace_offer {
    uint32_t item;
    uint32_t cents;
};

struct trace_periods {
    uint64_t *edges_us; // begin, end, begin …
    size_t count;
};

struct trace {
    const struct population *population;
    uint64_t seed;
    size_t count, first; // searches; the first one after the warm-up
    uint64_t incident_us;
    uint64_t *arrival_us;
    struct trace_periods slow[POPULATION_SUPPLIERS_MAX][POPULATION_ENDPOINTS_MAX];
    struct trace_offer *offers; // those of supplier s in search n lie from offers_at[n * suppliers + s] on
    uint32_t *offers_at;
    uint8_t *cheapest; // supplier, by search and item; UINT8_MAX: nobody has it
    uint8_t *best;     // by search: the supplier of the cheapest offer of all
    double *worth;     // by search: of all answers together
};

/// `searches` after the warm-up; 0: as many as the population says. STATUS_NO_MEMORY.
MUST_CHECK enum status trace_create(const struct population *population, uint64_t seed, uint32_t searches,
                                    struct trace **trace);
void trace_destroy(struct trace **trace);

/// What call `number` (from 0 on) of this supplier meets.
struct trace_draw trace_draw(const struct trace *trace, size_t search, size_t supplier, uint32_t endpoint,
                             uint32_t number);

/// What a supplier's answer holds.
const struct trace_offer *trace_offers(const struct trace *trace, size_t search, size_t supplier, size_t *count);

/// What answers of this set of suppliers (a bit each) are worth, as a share of all.
double trace_worth(const struct trace *trace, size_t search, uint64_t answered);
/// Is the cheapest offer of all among them?
bool trace_has_best(const struct trace *trace, size_t search, uint64_t answered);
