// A binary heap in an array.

#include "script/call_queue.h"

#include <stdlib.h>

void call_queue_init(struct call_queue *queue)
{
    *queue = (struct call_queue){ .count = 0 };
}

void call_queue_fini(struct call_queue *queue)
{
    require(queue->count == 0);
    free(queue->slots);
}

static bool call_queue_is_before(const struct call_queue_slot *a, const struct call_queue_slot *b)
{
    return a->deadline_us != b->deadline_us ? a->deadline_us < b->deadline_us : a->order < b->order;
}

enum status call_queue_put(struct call_queue *queue, struct script_call *call)
{
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity == 0 ? 64 : queue->capacity * 2;
        struct call_queue_slot *slots = realloc(queue->slots, capacity * sizeof *slots);
        if (slots == NULL) {
            return STATUS_NO_MEMORY;
        }
        queue->slots = slots;
        queue->capacity = capacity;
    }
    const struct call_queue_slot slot = { call->deadline_us, queue->next_order++, call };
    size_t at = queue->count++;
    while (at > 0 && call_queue_is_before(&slot, &queue->slots[(at - 1) / 2])) {
        queue->slots[at] = queue->slots[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->slots[at] = slot;
    return STATUS_OK;
}

struct script_call *call_queue_take(struct call_queue *queue)
{
    if (queue->count == 0) {
        return NULL;
    }
    struct script_call *first = queue->slots[0].call;
    const struct call_queue_slot last = queue->slots[--queue->count];
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= queue->count) {
            break;
        }
        if (child + 1 < queue->count && call_queue_is_before(&queue->slots[child + 1], &queue->slots[child])) {
            child++;
        }
        if (!call_queue_is_before(&queue->slots[child], &last)) {
            break;
        }
        queue->slots[at] = queue->slots[child];
        at = child;
    }
    queue->slots[at] = last;
    return first;
}

bool call_queue_is_late(const struct call_queue *queue, uint64_t now_us)
{
    return queue->count > 0 && queue->slots[0].deadline_us <= now_us;
}
