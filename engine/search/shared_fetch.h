/// Shared fetch: equal requests of one account, on one loop, at the same time, are one (policy.md section 4).
///
/// Equal is what an account would send with the same bytes, signatures apart: so what a script builds anew each time
/// (an id, a time stamp) is never shared. Each that waits gets the whole answer and reads it for itself, leaves when it
/// wants, and ends the request only when nobody waits any more. The request, its permit and its place in the limits of
/// the account are the first one's; the others send nothing.
///
/// Threads: its world's.
/// Memory:  one allocation while it is under way; a wait is embedded in its owner, and left or done before it goes.
#pragma once

#include "base/list.h"
#include "search/permit.h"
#include "search/ports.h"

struct shared_fetch;

struct shared_wait {
    struct shared_fetch *shared; // NULL: it waits for none
    struct list node;
    struct fetch *fetch; // its owner's own, which never goes out: filled by the owner, then as if it had
    bool has_joined;     // another one sent the request
};

/// Waits for an equal request that is under way. False: there is none that lasts until the end of `wait->fetch`.
MUST_CHECK bool shared_fetch_join(struct world *world, const struct script_account *account, struct shared_wait *wait);
/// Sends it, for whoever else may come; takes the permit. As the world's fetch_start; on failure the permit is still
/// the caller's.
MUST_CHECK enum status shared_fetch_start(struct world *world, const struct script_account *account,
                                          struct shared_wait *wait, struct permit *permit);
enum phase shared_fetch_phase(struct world *world, const struct shared_wait *wait);
/// It waits no more; on_done will not come.
void shared_fetch_leave(struct world *world, struct shared_wait *wait);
