/// Concurrency: how many requests of an account may be under way at once, as its supplier bears them.
///
/// Additive increase, multiplicative decrease (Chiu, Jain 1989) within [1, the account's `concurrent`]. A sign of
/// strain (429, a refused connection) makes it 0.7 of what was under way; a window that saw none, and in which all of
/// it was used, makes it one more. One burst of refusals is one sign: what was sent before the cut says nothing of it.
///
/// Threads: any; the caller holds the account's lock.
/// Memory:  a plain value to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`, which does not go back.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stdint.h>

enum { CONCURRENCY_WINDOW_US = 500000 };

struct concurrency {
    uint32_t most;              // 0: there is no limit, and none is learned
    uint32_t cap;               // 1..most
    uint64_t end_us;            // of the window; 0: none has begun
    uint32_t peak, peak_before; // the most under way in it, and in the one before
    bool is_strained;
};

/// The limit of the settings. A cap that was learned stays within it; one that was not moves with it.
void concurrency_set(struct concurrency *concurrency, uint32_t most);

/// May one more be under way beside `running`?
MUST_CHECK bool concurrency_allows(struct concurrency *concurrency, uint32_t running, uint64_t now_us);
/// The supplier is strained by the `running` ones.
void concurrency_strained(struct concurrency *concurrency, uint32_t running, uint64_t now_us);
/// How many there may be now; 0: any number.
uint32_t concurrency_cap(struct concurrency *concurrency, uint64_t now_us);
