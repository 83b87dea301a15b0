/// Revalidation: one offer asked for once more, live, before somebody books it.
///
/// Its script makes one request of the offer and reads the answer (`revalidate`); what a search does for a supplier is
/// done here, too: its breaker and its credentials are asked about, its login waited for, its limits kept, and what
/// became of it told. There is no last known answer and no second supplier: what went wrong ends it as an outcome
/// without a result.
///
/// Threads: its world's.
/// Memory:  one allocation. It holds its generation by the catalogue's ground until its end.
/// Time:    through its world.
#pragma once

#include "model/catalogue.h"
#include "search/part_end.h"
#include "search/ports.h"

struct revalidation;

struct revalidation_end {
    struct block
        *result; // what `read` said, as JSON {status, offer?, now?, expires_at?, handoff?}; NULL: nothing. Lent
    struct block *hidden; // of its offer: what is not shown, as in struct offer; NULL: nothing. Lent
    struct part_end end;  // OUTCOME_ANSWERED, with a result, or why there is none
    uint64_t took_us;     // since its arrival
    uint32_t requests;    // of it that went out whole
    const struct failure
        *trouble; // what a person is told of an error that the script raised; NULL: it raised none. Lent
};

struct revalidation_options {
    struct world *world;
    const struct catalogue *catalogue; // its ground, if any, is held by the caller until revalidation_start returns
    const struct catalogue_supplier *supplier;
    const struct script_account *account;
    struct block *facts; // of the search that the offer is of; acquired
    struct block *offer; // JSON, as scripts get it; acquired
    uint64_t arrival_us, arrival_wall_us;
    uint64_t end_us; // nothing is waited for beyond it
    /// Exactly once, never from inside revalidation_start; the revalidation is gone afterwards.
    void (*on_end)(void *owner, const struct revalidation_end *end);
    void *owner;
};

/// STATUS_NO_MEMORY: nothing was started.
MUST_CHECK enum status revalidation_start(const struct revalidation_options *options,
                                          struct revalidation **revalidation);
/// The caller left: what is pending is given up, on_end does not come, the revalidation is gone. How many requests of
/// it went out whole, one that is given up among them where it did.
uint32_t revalidation_cancel(struct revalidation **revalidation);
