#include "store/store_queue.h"

#include <errno.h>
#include <time.h>

void store_queue_init(struct store_queue *queue, size_t most, size_t most_bytes)
{
    *queue = (struct store_queue){ .most = most, .most_bytes = most_bytes };
    require(sem_init(&queue->wake, 0, 0) == 0);
}

void store_queue_fini(struct store_queue *queue)
{
    require(atomic_load(&queue->newest) == NULL);
    (void)sem_destroy(&queue->wake);
}

/// What is held in memory only because it waits here: the same before and after the call is served.
static size_t bytes_of(const struct store_call *call)
{
    size_t bytes = call->job == STORE_NOTE_PUT ? block_text(call->value).length : 0;

    for (size_t i = 0; i < call->part_count; i++) {
        bytes += call->parts[i].batch != NULL ? call->parts[i].batch->arena.used : 0;
    }
    return bytes;
}

bool store_queue_put(struct store_queue *queue, struct store_call *call)
{
    size_t bytes = bytes_of(call);
    size_t count = atomic_fetch_add(&queue->count, 1);
    size_t held = atomic_fetch_add(&queue->bytes, bytes);

    if (count >= queue->most || bytes > queue->most_bytes || held > queue->most_bytes - bytes) {
        store_queue_settle(queue, call);
        return false;
    }
    struct list *newest = atomic_load_explicit(&queue->newest, memory_order_relaxed);
    do {
        call->message.node.next = newest;
    } while (!atomic_compare_exchange_weak_explicit(&queue->newest, &newest, &call->message.node, memory_order_acq_rel,
                                                    memory_order_relaxed));
    store_queue_wake(queue);
    return true;
}

void store_queue_take(struct store_queue *queue, struct list *calls)
{
    struct list *node = atomic_exchange_explicit(&queue->newest, NULL, memory_order_acq_rel);
    struct list *oldest = NULL;

    while (node != NULL) {
        struct list *next = node->next;
        node->next = oldest;
        oldest = node;
        node = next;
    }
    while (oldest != NULL) {
        struct list *next = oldest->next;
        list_init(oldest);
        list_append(calls, oldest);
        oldest = next;
    }
}

void store_queue_settle(struct store_queue *queue, const struct store_call *call)
{
    atomic_fetch_sub(&queue->bytes, bytes_of(call));
    atomic_fetch_sub(&queue->count, 1);
}

void store_queue_wait(struct store_queue *queue, uint64_t until_us)
{
    struct timespec until = { .tv_sec = (time_t)(until_us / 1000000), .tv_nsec = (long)(until_us % 1000000) * 1000 };
    int waited = 0;

    do {
        waited = sem_clockwait(&queue->wake, CLOCK_MONOTONIC, &until);
    } while (waited != 0 && errno == EINTR);
    // What is put in from here on signals anew; what came before is seen by the take that follows.
    atomic_store(&queue->is_signalled, false);
}

void store_queue_wake(struct store_queue *queue)
{
    if (!atomic_exchange(&queue->is_signalled, true)) {
        (void)sem_post(&queue->wake);
    }
}
