/// Loop: one epoll set and one heap of timers on one thread.
///
/// Descriptors are watched edge-triggered, for reading, writing and the peer's leaving at once, so that nothing is
/// armed or disarmed per request: who is told must go on until it would block.
///
/// Threads: one.
/// Memory:  owns the epoll set; watches and timers are embedded in their owners.
/// Time:    timers are absolute values of clock_now_us().
#pragma once

#include "base/timer_heap.h"

struct watch {
    void (*on_event)(struct watch *watch, uint32_t events); // events of epoll
    int fd;
};

struct loop {
    int epoll_fd;
    struct timer_heap timers;
    bool is_stopping;
};

MUST_CHECK enum status loop_init(struct loop *loop);
void loop_fini(struct loop *loop);
MUST_CHECK enum status loop_watch(struct loop *loop, struct watch *watch);
void loop_unwatch(struct loop *loop, struct watch *watch); // leaves the descriptor open

/// Runs until `is_stopping`. A watch or its memory must not be reused within the event that closed it.
void loop_run(struct loop *loop);
