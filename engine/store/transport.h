/// Transport: what a store that is reached over a connection gets from app/: a thread to live on, its clock and timers,
/// one more thread for work that takes long, and one connection at a time.
///
/// Its address is the transport's own business. After `connect` comes on_connected or on_closed, later; then on_bytes,
/// as often as there are any; at last on_closed, once, unless `close` comes before: after that nothing of this
/// connection does. None of them comes from inside a call of the store's.
///
/// Threads: post and post_aside from any, join from whoever closes the store, the rest on the store's own thread, which
///          also calls all that it is given.
/// Memory:  the store borrows it until `join` has returned, which destroys it.
/// Time:    µs of the monotonic clock.
#pragma once

#include "base/message.h"
#include "base/text.h"
#include "base/timer_heap.h"

struct transport_peer {
    void (*on_connected)(struct transport_peer *peer);
    void (*on_bytes)(struct transport_peer *peer, struct text bytes); // the peer may close meanwhile
    void (*on_closed)(struct transport_peer *peer, const char *why);  // why: for people
};

struct transport {
    void *context;
    void (*post)(void *context, struct message *message);
    /// As `post`, received on a thread that may take its time. What is posted before `ended` is received.
    void (*post_aside)(void *context, struct message *message);

    uint64_t (*now_us)(void *context);
    MUST_CHECK enum status (*timer_start)(void *context, struct timer *timer, uint64_t at_us);
    void (*timer_cancel)(void *context, struct timer *timer);

    void (*connect)(void *context, struct transport_peer *peer);
    /// Copies the bytes and sends them when that can be done. False: no memory, nothing is sent.
    MUST_CHECK bool (*write)(void *context, struct text bytes);
    void (*close)(void *context); // harmless without a connection

    /// The store has ended: it uses nothing of this any more, and nothing is posted.
    void (*ended)(void *context);
    /// Waits for that, and until the store's thread has left whatever it was in then; destroys the transport.
    void (*join)(void *context);
};
