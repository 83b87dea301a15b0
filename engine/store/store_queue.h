/// Store queue: calls on their way to a thread of a store.
///
/// Who puts a call in takes no lock, so a thread that the scheduler starves costs him nothing. It is full at a number
/// of calls, and at what their answers hold in memory.
///
/// Threads: any may put; one takes.
/// Memory:  the calls are the queue's until they are taken; embedded.
#pragma once

#include "model/store_call.h"

#include <semaphore.h>

struct store_queue {
    _Atomic(struct list *) newest; // those behind it by `next`
    atomic_size_t count, bytes;    // put in and not yet settled
    size_t most, most_bytes;
    atomic_bool is_signalled;
    sem_t wake;
};

void store_queue_init(struct store_queue *queue, size_t most, size_t most_bytes);
void store_queue_fini(struct store_queue *queue);

/// False: it is full, and the call is the caller's still.
MUST_CHECK bool store_queue_put(struct store_queue *queue, struct store_call *call);

/// Appends all that are there to `calls`, oldest first, by the node of their message.
void store_queue_take(struct store_queue *queue, struct list *calls);
/// What was taken is done, and holds no place any more.
void store_queue_settle(struct store_queue *queue, const struct store_call *call);

/// Waits until something is put in, somebody wakes it, or until then on the monotonic clock; sooner is possible.
void store_queue_wait(struct store_queue *queue, uint64_t until_us);
void store_queue_wake(struct store_queue *queue);

static inline struct store_call *store_call_of(struct list *node)
{
    return CONTAINER_OF(CONTAINER_OF(node, struct message, node), struct store_call, message);
}
