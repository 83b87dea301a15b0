/// Quota: decides whether one more request of an account may go out now.
///
/// Its limits are rates and a number of requests at once. A rate is a window of slots: a request counts in the slot of
/// its time, and a slot is forgotten only when all of it lies outside of the window. So no stretch of a second, minute
/// or day ever sees more than its limit, wherever the supplier's own window begins; the price is up to one slot of
/// waiting. A share of each rate may be kept for revalidations: searches stop short of it. A supplier that says that it
/// had enough blocks the account for a while, whatever the limits say.
///
/// Threads: any; the caller holds the account's lock.
/// Memory:  a plain value to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`, which does not go back.
#pragma once

#include "base/check.h"
#include "model/request_limits.h"
#include "policy/concurrency.h"

#include <stdbool.h>

enum quota_window { QUOTA_SECOND, QUOTA_MINUTE, QUOTA_DAY, QUOTA_WINDOWS };

enum {
    QUOTA_SLOTS = 20,            // of a window; one more is being filled
    QUOTA_BLOCK_US = 1000000,    // when the supplier does not say how long
    QUOTA_BLOCK_MAX_S = 60 * 60, // what it says may be absurd
};

/// What stands against a request.
enum quota_answer { QUOTA_FREE, QUOTA_BLOCKED, QUOTA_PER_SECOND, QUOTA_PER_MINUTE, QUOTA_PER_DAY, QUOTA_CONCURRENT };

struct quota {
    struct request_limits limits;
    uint32_t counts[QUOTA_WINDOWS][QUOTA_SLOTS + 1]; // a ring: the slot of number N is N % (QUOTA_SLOTS + 1)
    uint64_t slots[QUOTA_WINDOWS];                   // the number of the newest slot: time / length of a slot
    uint32_t running;
    uint64_t blocked_until_us; // 0: never was
    struct concurrency concurrency;
};

void quota_init(struct quota *quota, struct request_limits limits);
/// New limits count at once; what was counted, and what the supplier bears, stays.
void quota_set_limits(struct quota *quota, struct request_limits limits);

/// On QUOTA_FREE the request is counted, and its end must be told by quota_end, once. Else nothing has changed, and
/// `*wait_us` tells after how long it may be worth asking again; 0: nobody knows.
MUST_CHECK enum quota_answer quota_begin(struct quota *quota, uint64_t now_us, uint64_t *wait_us);
/// The same for a request that may use what is kept of the rates.
MUST_CHECK enum quota_answer quota_begin_kept(struct quota *quota, uint64_t now_us, uint64_t *wait_us);
void quota_end(struct quota *quota);
/// A request of it met a sign that the supplier is strained; it is still under way, or was the last moment.
void quota_strained(struct quota *quota, uint64_t now_us);

/// The supplier had enough for `wait_us`; 0: it did not say how long. An earlier, longer word of it stands.
void quota_block(struct quota *quota, uint64_t now_us, uint64_t wait_us);
/// For how long that word counts.
uint64_t quota_block_us(uint64_t wait_us);

/// How many requests count in a window now.
uint64_t quota_used(const struct quota *quota, enum quota_window window, uint64_t now_us);
/// How long it stays blocked; 0: it is not.
uint64_t quota_blocked_us(const struct quota *quota, uint64_t now_us);
