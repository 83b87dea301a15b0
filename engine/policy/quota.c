#include "policy/quota.h"

enum { RING = QUOTA_SLOTS + 1 };

static const uint64_t WINDOW_US[QUOTA_WINDOWS] = {
    [QUOTA_SECOND] = 1000000,
    [QUOTA_MINUTE] = 60 * UINT64_C(1000000),
    [QUOTA_DAY] = 24 * 60 * 60 * UINT64_C(1000000),
};

static uint64_t slot_us(enum quota_window window)
{
    return WINDOW_US[window] / QUOTA_SLOTS;
}

/// 0: there is none. What is kept is a whole number of requests, and never all of them.
static uint32_t limit_of(const struct quota *quota, enum quota_window window, bool uses_kept)
{
    const uint32_t limits[QUOTA_WINDOWS] = {
        [QUOTA_SECOND] = quota->limits.per_second,
        [QUOTA_MINUTE] = quota->limits.per_minute,
        [QUOTA_DAY] = quota->limits.per_day,
    };
    uint32_t limit = limits[window];
    uint64_t kept = uses_kept ? 0 : (uint64_t)limit * quota->limits.kept_share / 1000000;
    return kept < limit ? limit - (uint32_t)kept : limit;
}

void quota_init(struct quota *quota, struct request_limits limits)
{
    *quota = (struct quota){ 0 };
    quota_set_limits(quota, limits);
}

void quota_set_limits(struct quota *quota, struct request_limits limits)
{
    quota->limits = limits;
    concurrency_set(&quota->concurrency, limits.concurrent);
}

void quota_strained(struct quota *quota, uint64_t now_us)
{
    concurrency_strained(&quota->concurrency, quota->running, now_us);
}

/// Forgets the slots that have left the window.
static void quota_turn(struct quota *quota, enum quota_window window, uint64_t now_us)
{
    uint64_t newest = now_us / slot_us(window);
    uint64_t last = quota->slots[window];

    if (newest <= last) {
        return;
    }
    uint64_t passed = newest - last < RING ? newest - last : RING;
    for (uint64_t i = 0; i < passed; i++) {
        quota->counts[window][(newest - i) % RING] = 0;
    }
    quota->slots[window] = newest;
}

uint64_t quota_used(const struct quota *quota, enum quota_window window, uint64_t now_us)
{
    uint64_t newest = now_us / slot_us(window);
    uint64_t last = quota->slots[window];
    uint64_t sum = 0;

    newest = newest > last ? newest : last;
    for (uint64_t slot = last >= QUOTA_SLOTS ? last - QUOTA_SLOTS : 0; slot <= last; slot++) {
        sum += slot + QUOTA_SLOTS >= newest ? quota->counts[window][slot % RING] : 0;
    }
    return sum;
}

/// Until the oldest slots are gone whose requests make it one too many.
static uint64_t quota_wait_us(const struct quota *quota, enum quota_window window, uint64_t now_us, uint32_t limit)
{
    uint64_t last = quota->slots[window]; // turned: of now
    uint64_t left = quota_used(quota, window, now_us);

    for (uint64_t slot = last >= QUOTA_SLOTS ? last - QUOTA_SLOTS : 0; slot <= last; slot++) {
        left -= quota->counts[window][slot % RING];
        if (left < limit) {
            return (slot + RING) * slot_us(window) - now_us;
        }
    }
    return 0;
}

/// The window that is full and stays so longest; QUOTA_WINDOWS: none is.
static enum quota_window quota_full_window(struct quota *quota, uint64_t now_us, bool uses_kept, uint64_t *wait_us)
{
    enum quota_window full = QUOTA_WINDOWS;

    for (enum quota_window window = QUOTA_SECOND; window < QUOTA_WINDOWS; window++) {
        uint32_t limit = limit_of(quota, window, uses_kept);
        if (limit == 0) {
            continue;
        }
        quota_turn(quota, window, now_us);
        if (quota_used(quota, window, now_us) < limit) {
            continue;
        }
        uint64_t window_wait_us = quota_wait_us(quota, window, now_us, limit);
        if (window_wait_us >= *wait_us) {
            *wait_us = window_wait_us;
            full = window;
        }
    }
    return full;
}

static enum quota_answer quota_take(struct quota *quota, uint64_t now_us, bool uses_kept, uint64_t *wait_us)
{
    *wait_us = quota_blocked_us(quota, now_us);
    if (*wait_us > 0) {
        return QUOTA_BLOCKED;
    }
    enum quota_window full = quota_full_window(quota, now_us, uses_kept, wait_us);
    if (full != QUOTA_WINDOWS) {
        return (enum quota_answer)(QUOTA_PER_SECOND + full);
    }
    if (!concurrency_allows(&quota->concurrency, quota->running, now_us)) {
        return QUOTA_CONCURRENT;
    }
    for (enum quota_window window = QUOTA_SECOND; window < QUOTA_WINDOWS; window++) {
        quota_turn(quota, window, now_us);
        quota->counts[window][quota->slots[window] % RING]++;
    }
    quota->running++;
    return QUOTA_FREE;
}

enum quota_answer quota_begin(struct quota *quota, uint64_t now_us, uint64_t *wait_us)
{
    return quota_take(quota, now_us, false, wait_us);
}

enum quota_answer quota_begin_kept(struct quota *quota, uint64_t now_us, uint64_t *wait_us)
{
    return quota_take(quota, now_us, true, wait_us);
}

void quota_end(struct quota *quota)
{
    require(quota->running > 0);
    quota->running--;
}

uint64_t quota_block_us(uint64_t wait_us)
{
    uint64_t most_us = QUOTA_BLOCK_MAX_S * UINT64_C(1000000);

    return wait_us == 0 ? QUOTA_BLOCK_US : wait_us < most_us ? wait_us : most_us;
}

void quota_block(struct quota *quota, uint64_t now_us, uint64_t wait_us)
{
    wait_us = quota_block_us(wait_us);
    if (now_us + wait_us > quota->blocked_until_us) {
        quota->blocked_until_us = now_us + wait_us;
    }
}

uint64_t quota_blocked_us(const struct quota *quota, uint64_t now_us)
{
    return quota->blocked_until_us > now_us ? quota->blocked_until_us - now_us : 0;
}
