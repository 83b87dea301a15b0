/// Route call: a request that is answered later, as the routes know it: whom its end is told.
///
/// It is the first member of what a route keeps of a request, and the owner of its HTTP call.
///
/// Threads: the I/O thread's.
/// Memory:  its route's.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct io_thread;
struct route_call;

struct route_call_kind {
    /// The caller left before the answer; the call is gone afterwards.
    void (*on_gone)(struct io_thread *thread, struct route_call *mine);
    /// The answer was sent, or its connection broke; likewise.
    void (*on_sent)(struct io_thread *thread, struct route_call *mine, uint64_t sent_us, bool was_sent, bool was_slow);
};

struct route_call {
    const struct route_call_kind *kind;
};
