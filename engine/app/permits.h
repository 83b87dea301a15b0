/// Permits: the quotas of all accounts of a generation, shared by all loops of the process.
///
/// A loop asks here before each request; the decision is policy/quota's. A mutex for each account is held for the few
/// hundred nanoseconds of it.
///
/// Threads: any.
/// Memory:  one allocation; accounts are known by their number.
#pragma once

#include "model/catalogue.h"
#include "policy/quota.h"

struct permits;

/// Room for every account of the catalogue, with its limits. STATUS_NO_MEMORY.
MUST_CHECK enum status permits_create(const struct catalogue *catalogue, struct permits **permits);
void permits_destroy(struct permits **permits);

/// As quota_begin, quota_end and quota_block, with the clock's time.
MUST_CHECK enum quota_answer permits_begin(struct permits *permits, const struct script_account *account,
                                           uint64_t *wait_us);
void permits_end(struct permits *permits, const struct script_account *account);
void permits_block(struct permits *permits, const struct script_account *account, uint64_t wait_us);

/// How an account stands now.
struct permits_view {
    struct request_limits limits;
    uint64_t used[QUOTA_WINDOWS];
    uint32_t running;
    uint64_t blocked_us;                                           // for so long from now; 0: it is not
    uint64_t refused_by_rate, refused_by_block, refused_by_number; // requests, since the start
};
void permits_look(struct permits *permits, const struct script_account *account, struct permits_view *view);
