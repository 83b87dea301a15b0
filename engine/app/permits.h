/// Permits: the quotas of all accounts, shared by all loops of the process and kept over its generations.
///
/// A loop asks here before each request; the decision is policy/quota's. A mutex for each account is held for the few
/// hundred nanoseconds of it. An account is known by the names of its supplier and its own: whatever else of it
/// changes, what was asked of it and what its supplier said of its quota stays, and new limits count at once. An entry
/// goes with the last generation that has its account.
///
/// Threads: begin, end, block and look from any; move and leave from one at a time, which never hold up the others.
/// Memory:  one allocation for each account in use.
#pragma once

#include "model/catalogue.h"
#include "policy/quota.h"

struct permits;

/// With the accounts of the catalogue moved in; NULL: none yet. STATUS_NO_MEMORY.
MUST_CHECK enum status permits_create(const struct catalogue *catalogue, struct permits **permits);
/// Accounts that are still in have nothing here any more.
void permits_destroy(struct permits **permits);

/// A catalogue comes into use: its accounts get their entries (`account->kept`), and its limits are in force.
/// STATUS_NO_MEMORY: nothing has changed.
MUST_CHECK enum status permits_move(struct permits *permits, const struct catalogue *now);
/// A catalogue that was moved in is out of use: nobody asks for its accounts any more, and nothing of them is under
/// way.
void permits_leave(struct permits *permits, const struct catalogue *gone);
/// How many accounts have an entry.
size_t permits_count(struct permits *permits);

/// As quota_begin, quota_end and quota_block, with the clock's time. The account's catalogue was moved in.
MUST_CHECK enum quota_answer permits_begin(struct permits *permits, const struct script_account *account,
                                           uint64_t *wait_us);
void permits_end(struct permits *permits, const struct script_account *account);
/// For how long it is blocked from now on.
uint64_t permits_block(struct permits *permits, const struct script_account *account, uint64_t wait_us);

/// How an account stands now.
struct permits_view {
    struct request_limits limits;
    uint64_t used[QUOTA_WINDOWS];
    uint32_t running;
    uint64_t blocked_us;                                           // for so long from now; 0: it is not
    uint64_t refused_by_rate, refused_by_block, refused_by_number; // requests, since it was first in use
    uint64_t refused_others; // of accounts of the same supplier that are in use no more, told here, so that the
                             // supplier's sum does not fall
};
void permits_look(struct permits *permits, const struct script_account *account, struct permits_view *view);
