/// Ports: the world as a search sees it.
///
/// Clock, timers, fetching and scripts come through one struct of functions, so that the same search runs live and in
/// virtual time. If `start` or `submit` returns OK, its callback comes exactly once, later, on the same loop, never
/// from inside the call; `cancel` is synchronous and final.
///
/// Threads: one world a loop thread; everything is called and calls back on it.
/// Memory:  timers and fetches are embedded in their owners; script calls are handed over and come back.
#pragma once

#include "base/timer_heap.h"
#include "model/exchange.h"
#include "model/script_call.h"
#include "policy/quota.h"

struct world;

struct world_ops {
    /// Reads the clock now; µs.
    uint64_t (*now_us)(struct world *world);

    MUST_CHECK enum status (*timer_start)(struct world *world, struct timer *timer, uint64_t at_us);
    void (*timer_cancel)(struct world *world, struct timer *timer);

    MUST_CHECK enum status (*fetch_start)(struct world *world, struct fetch *fetch);
    void (*fetch_cancel)(struct world *world, struct fetch *fetch);
    /// Where a running fetch stands now.
    enum phase (*fetch_phase)(struct world *world, struct fetch *fetch);

    /// Hands the call over; it returns through call->on_done.
    MUST_CHECK enum status (*script_submit)(struct world *world, struct script_call *call);
    /// Gives a submitted call up: on_done will not come, the world frees the call when the worker returns it.
    void (*script_cancel)(struct world *world, struct script_call *call);
    /// Has a worker begun it?
    bool (*script_has_begun)(struct world *world, const struct script_call *call);

    /// Limits of accounts; NULL, all three: this world has none.
    /// May one more request of this account go out now? On QUOTA_FREE its end is told by permit_end, once; else
    /// `*wait_us` is as quota_begin says.
    MUST_CHECK enum quota_answer (*permit_begin)(struct world *world, const struct script_account *account,
                                                 uint64_t *wait_us);
    void (*permit_end)(struct world *world, const struct script_account *account);
    /// The supplier wants no request of this account for so long; 0: it did not say how long.
    void (*account_block)(struct world *world, const struct script_account *account, uint64_t wait_us);
};

struct world {
    const struct world_ops *ops;
};
