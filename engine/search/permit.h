/// Permit: the right of one request to be under way, out of the limits of its account.
///
/// Whoever sends a request takes one before, and gives it back when that request is over in whatever way.
///
/// Threads: its world's.
/// Memory:  a plain value to embed.
#pragma once

#include "search/ports.h"

struct permit {
    const struct script_account *account; // NULL: it is not held
};

/// Why a request may not go out: what its sender's outcome is, and words for people.
struct permit_refusal {
    enum outcome outcome;    // OUTCOME_RATE_LIMITED or OUTCOME_SATURATED
    uint64_t retry_after_ms; // 0: nobody knows
    const char *detail;
};

/// False: it was not taken, and `refusal` says why. Of one that is OUTCOME_SATURATED somebody may wait and try again;
/// who does not any more gives up.
MUST_CHECK bool permit_try(struct permit *permit, struct world *world, const struct script_account *account,
                           struct permit_refusal *refusal);
void permit_give_up(struct world *world, const struct script_account *account);
/// The same for who does not wait.
MUST_CHECK bool permit_take(struct permit *permit, struct world *world, const struct script_account *account,
                            struct permit_refusal *refusal);
/// The same out of what searches leave: for revalidations, and for logins, which they need, too.
MUST_CHECK bool permit_take_kept(struct permit *permit, struct world *world, const struct script_account *account,
                                 struct permit_refusal *refusal);
/// Gives it back, if it is held.
void permit_return(struct permit *permit, struct world *world);

/// A request met a sign that its supplier is strained: a 429, a refused connection.
void permit_strained(struct world *world, const struct script_account *account);

/// The supplier wants no requests of the account for so long; 0: it did not say how long. In how many ms it is asked
/// again: what it said has an upper end, and an earlier, longer word of it stands.
uint64_t permit_block(struct world *world, const struct script_account *account, uint64_t wait_ms);
/// Passes on what an answer tells of the account's quota. In how many ms it is asked again; 0: nobody said.
MUST_CHECK uint64_t permit_learn(struct world *world, const struct normalise_call *answer, enum rejection rejection);
