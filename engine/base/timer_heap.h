/// Timer heap: absolute timers ordered by time; equal times fire in the order they were started.
///
/// The heap knows no clock: the loop (or a test world) asks for the earliest time and fires what is due.
///
/// Threads: one owner.
/// Memory:  owns an array of pointers; the timers are embedded in their owners.
/// Time:    always an argument.
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct timer {
    void (*on_due)(struct timer *timer); // set by the owner before the first start
    uint64_t at_us;
    uint64_t order;
    size_t slot; // 1-based place in the heap; 0: not running
};

struct timer_heap {
    struct timer **slots;
    size_t count;
    size_t capacity;
    uint64_t next_order;
};

void timer_heap_init(struct timer_heap *heap);
void timer_heap_fini(struct timer_heap *heap);

/// Starts or moves a timer. STATUS_NO_MEMORY leaves it stopped.
MUST_CHECK enum status timer_heap_start(struct timer_heap *heap, struct timer *timer, uint64_t at_us);
void timer_heap_cancel(struct timer_heap *heap, struct timer *timer); // a stopped timer stays stopped

/// The earliest time, or UINT64_MAX when no timer runs.
uint64_t timer_heap_next_us(const struct timer_heap *heap);

/// Fires the earliest timer if it is due at `now_us`; it is stopped before its callback runs. False: none was due.
bool timer_heap_fire(struct timer_heap *heap, uint64_t now_us);

static inline bool timer_is_running(const struct timer *timer)
{
    return timer->slot != 0;
}
