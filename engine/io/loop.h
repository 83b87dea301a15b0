/// Loop: one thread's event loop with timers that are never early, and a mailbox.
///
/// libuv waits for sockets; time comes from one absolute timerfd over a heap, because uv_timer fires early. The clock
/// is checked between jobs: every socket event and every message is preceded by whatever timers are due, so lateness is
/// bounded by one job and not by a batch.
///
/// Threads: everything on the loop's own thread, except loop_post and loop_stop.
/// Memory:  owns its descriptors; timers, watches and messages are embedded in their owners.
/// Time:    µs of the monotonic clock.
#pragma once

#include "base/message.h"
#include "base/timer_heap.h"

struct loop;

MUST_CHECK enum status loop_create(struct loop **loop);
void loop_destroy(struct loop **loop); // after loop_run returned; all watches and timers are stopped

/// Runs until loop_stop; messages already posted are still received.
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop); // any thread

/// Hands a message over; one wake-up per drain. Any thread; it takes no lock.
void loop_post(struct loop *loop, struct message *message);

/// Hands a message to this loop's own next turn, after its poll. The loop's thread only; `message->node` must have been
/// initialised. Deferring again while it waits changes nothing.
void loop_defer(struct loop *loop, struct message *message);
/// Takes a deferred message back; harmless when it does not wait.
void loop_defer_cancel(struct message *message);

MUST_CHECK enum status loop_timer_start(struct loop *loop, struct timer *timer, uint64_t at_us);
void loop_timer_cancel(struct loop *loop, struct timer *timer);

/// Fires the timers that are due. Call it between the pieces of a long job, where reentry is harmless.
void loop_breathe(struct loop *loop);

/// For whom a turn may be too long: called between its pieces, wherever the loop breathes, each time that it has gone
/// on for `every_us` more since its poll. It must bear being called wherever a timer may fire. NULL: nobody any more.
void loop_on_long_turn(struct loop *loop, uint64_t every_us, void (*look)(void *context), void *context);

/// The clock as read after the latest poll of this loop: when the event being handled was seen.
uint64_t loop_polled_us(const struct loop *loop);

/// Watches a descriptor. Allocated here, freed after the close callback: `loop_unwatch` is synchronous for the caller.
/// NULL: no memory, or the descriptor cannot be watched. After LOOP_ERROR the watch rests until loop_watch_change.
struct loop_watch;
enum { LOOP_READABLE = 1, LOOP_WRITABLE = 2, LOOP_DISCONNECT = 4, LOOP_ERROR = 8 };
typedef void (*loop_watch_fn)(void *owner, int fd, unsigned events);
MUST_CHECK struct loop_watch *loop_watch(struct loop *loop, int fd, unsigned events, loop_watch_fn on_event,
                                         void *owner);
void loop_watch_change(struct loop_watch *watch, unsigned events);
void loop_unwatch(struct loop_watch **watch); // before the descriptor is closed; no event comes after it

struct loop_stats {
    uint64_t turns, messages, timers_fired;
    uint64_t timer_late_max_us;
};
void loop_stats(const struct loop *loop, struct loop_stats *stats);
/// Called for each fired timer with its lateness in µs; may be NULL. For benchmarks and the reserve.
void loop_on_timer_lateness(struct loop *loop, void (*observe)(void *context, uint64_t late_us), void *context);
