/// Call queue: script calls by earliest deadline; equal deadlines keep the order they came in.
///
/// Threads: its owner's lock.
/// Memory:  owns an array of pointers; the calls stay the submitter's until they are taken.
#pragma once

#include "model/script_call.h"

struct call_queue_slot {
    uint64_t deadline_us;
    uint64_t order;
    struct script_call *call;
};

struct call_queue {
    struct call_queue_slot *slots;
    size_t count;
    size_t capacity;
    uint64_t next_order;
};

void call_queue_init(struct call_queue *queue);
void call_queue_fini(struct call_queue *queue);
MUST_CHECK enum status call_queue_put(struct call_queue *queue, struct script_call *call);
struct script_call *call_queue_take(struct call_queue *queue); // NULL: empty
/// Is what would be taken now past its deadline? False when empty.
bool call_queue_is_late(const struct call_queue *queue, uint64_t now_us);
