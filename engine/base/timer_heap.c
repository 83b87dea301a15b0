#include "base/timer_heap.h"

#include <stdlib.h>

// A binary heap of pointers; timer->slot is the place + 1, kept up to date by timer_heap_place.

void timer_heap_init(struct timer_heap *heap)
{
    *heap = (struct timer_heap){ 0 };
}

void timer_heap_fini(struct timer_heap *heap)
{
    free(heap->slots);
    timer_heap_init(heap);
}

static bool timer_is_before(const struct timer *a, const struct timer *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void timer_heap_place(struct timer_heap *heap, size_t place, struct timer *timer)
{
    heap->slots[place] = timer;
    timer->slot = place + 1;
}

// Finds the place for `timer`, whose own place is free: up while it is earlier than the parent, else down.
static void timer_heap_sift(struct timer_heap *heap, size_t place, struct timer *timer)
{
    while (place != 0 && timer_is_before(timer, heap->slots[(place - 1) / 2])) {
        timer_heap_place(heap, place, heap->slots[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= heap->count) {
            break;
        }
        if (child + 1 < heap->count && timer_is_before(heap->slots[child + 1], heap->slots[child])) {
            child++;
        }
        if (!timer_is_before(heap->slots[child], timer)) {
            break;
        }
        timer_heap_place(heap, place, heap->slots[child]);
        place = child;
    }
    timer_heap_place(heap, place, timer);
}

static bool timer_heap_grow(struct timer_heap *heap)
{
    size_t capacity = heap->capacity != 0 ? heap->capacity * 2 : 64;
    struct timer **slots = realloc(heap->slots, capacity * sizeof(struct timer *));

    if (slots == NULL) {
        return false;
    }
    heap->slots = slots;
    heap->capacity = capacity;
    return true;
}

enum status timer_heap_start(struct timer_heap *heap, struct timer *timer, uint64_t at_us)
{
    require(timer->on_due != NULL);
    if (timer->slot == 0) {
        if (heap->count == heap->capacity && !timer_heap_grow(heap)) {
            return STATUS_NO_MEMORY;
        }
        timer_heap_place(heap, heap->count, timer);
        heap->count++;
    }
    require(timer->slot <= heap->count && heap->slots[timer->slot - 1] == timer);
    timer->at_us = at_us;
    timer->order = heap->next_order++;
    timer_heap_sift(heap, timer->slot - 1, timer);
    return STATUS_OK;
}

void timer_heap_cancel(struct timer_heap *heap, struct timer *timer)
{
    if (timer->slot == 0) {
        return;
    }
    size_t place = timer->slot - 1;
    require(place < heap->count && heap->slots[place] == timer);
    timer->slot = 0;
    heap->count--;
    if (place != heap->count) {
        timer_heap_sift(heap, place, heap->slots[heap->count]);
    }
}

uint64_t timer_heap_next_us(const struct timer_heap *heap)
{
    return heap->count != 0 ? heap->slots[0]->at_us : UINT64_MAX;
}

bool timer_heap_fire(struct timer_heap *heap, uint64_t now_us)
{
    if (heap->count == 0 || heap->slots[0]->at_us > now_us) {
        return false;
    }
    struct timer *timer = heap->slots[0];
    timer_heap_cancel(heap, timer);
    timer->on_due(timer);
    return true;
}
