#include "search/merge.h"

#include "base/text_map.h"

#include <stdlib.h>
#include <string.h>

/// One sorted batch being read, in one of its orders.
struct cursor {
    const struct attempt *attempt;
    const struct stock_batch *batch;
    const uint16_t *order; // NULL: as it lies, by price
    size_t at;
    const struct offer *next;
};

struct merge {
    struct merge_result *result;
    struct merge_limits limits;
    struct cursor *heap;
    size_t cursors;
    struct text_map items; // `number`: the item's, from 1 on, once it has an offer; `value`: its place was reserved
    uint32_t *taken;       // offers by item
    size_t reserved;       // items that have a place, but no offer yet
    size_t looks_left;     // offers that this pass may still look at
    int (*compare)(const struct cursor *a, const struct cursor *b);
};

static int cursor_compare(const struct cursor *a, const struct cursor *b)
{
    // offer_compare ends with the id; between suppliers the name comes before it.
    const struct offer *x = a->next;
    const struct offer *y = b->next;

    if (x->flag != y->flag) {
        return x->flag < y->flag ? -1 : 1;
    }
    if (x->total_micros != y->total_micros) {
        return x->total_micros < y->total_micros ? -1 : 1;
    }
    int order = strcmp(x->currency, y->currency);
    if (order == 0) {
        order = text_compare(x->item, y->item);
    }
    if (order == 0) {
        order = text_compare(a->attempt->supplier->name, b->attempt->supplier->name);
    }
    return order != 0 ? order : text_compare(x->id, y->id);
}

static int cursor_compare_duration(const struct cursor *a, const struct cursor *b)
{
    int order = offer_compare_duration(a->next, b->next);
    return order != 0 ? order : cursor_compare(a, b);
}

/// Restores the heap below `slot` (binary heap, smallest at 0).
static void heap_sink(struct merge *merge, size_t slot)
{
    struct cursor *heap = merge->heap;

    for (;;) {
        size_t least = slot;
        for (size_t child = 2 * slot + 1; child <= 2 * slot + 2 && child < merge->cursors; child++) {
            if (merge->compare(&heap[child], &heap[least]) < 0) {
                least = child;
            }
        }
        if (least == slot) {
            return;
        }
        struct cursor moved = heap[slot];
        heap[slot] = heap[least];
        heap[least] = moved;
        slot = least;
    }
}

/// Moves to the next offer that is held. False: the batch is used up.
static bool cursor_settle(struct cursor *cursor)
{
    const struct offer_batch *offers = cursor->batch->batch;

    for (; cursor->at < offers->count; cursor->at++) {
        size_t index = cursor->order != NULL ? cursor->order[cursor->at] : cursor->at;
        if (!stock_is_gone(cursor->batch, index)) {
            cursor->next = &offers->offers[index];
            // A worker wrote the batch some time ago: waiting for this memory was two thirds of a merge.
            __builtin_prefetch(cursor->next->item.data);
            __builtin_prefetch(cursor->next + 1);
            return true;
        }
    }
    return false;
}

/// The next one in the order of the heap is at its top, until there is none or the pass has looked at enough.
static void heap_advance(struct merge *merge)
{
    if (--merge->looks_left == 0) {
        merge->cursors = 0;
        return;
    }
    merge->heap[0].at++;
    if (!cursor_settle(&merge->heap[0])) {
        merge->heap[0] = merge->heap[--merge->cursors];
    }
    heap_sink(merge, 0);
}

static void heap_open(struct merge *merge, const struct attempt *attempts, size_t count, bool is_by_duration)
{
    merge->cursors = 0;
    merge->looks_left = is_by_duration ? MERGE_MAX_QUICK_LOOKS : MERGE_MAX_LOOKS;
    merge->compare = is_by_duration ? cursor_compare_duration : cursor_compare;
    for (size_t i = 0; i < count; i++) {
        const struct stock *shown = attempt_shown(&attempts[i]);
        for (size_t j = 0; j < shown->count && !attempt_is_dark(&attempts[i]); j++) {
            const struct stock_batch *batch = &shown->batches[j];
            const uint16_t *order = is_by_duration ? batch->batch->by_duration : NULL;
            if (is_by_duration && order == NULL) {
                continue;
            }
            struct cursor *cursor = &merge->heap[merge->cursors];
            *cursor = (struct cursor){ .attempt = &attempts[i], .batch = batch, .order = order };
            merge->cursors += cursor_settle(cursor);
        }
    }
    for (size_t i = merge->cursors / 2; i-- > 0;) {
        heap_sink(merge, i);
    }
}

/// Gives the quickest items their places, before price fills the others.
static void merge_reserve(struct merge *merge, uint32_t places)
{
    while (merge->cursors > 0 && merge->reserved < places) {
        const struct offer *offer = merge->heap[0].next;
        if (offer->duration_min != UINT32_MAX) {
            struct text_map_slot *slot = text_map_insert(&merge->items, offer->item);
            require(slot != NULL); // room was reserved
            merge->reserved += slot->value == NULL;
            slot->value = merge;
        }
        heap_advance(merge);
    }
}

static void merge_take(struct merge *merge)
{
    struct merge_result *result = merge->result;
    struct merge_pick pick = { .offer = merge->heap[0].next, .attempt = merge->heap[0].attempt };
    struct text_map_slot *slot = text_map_find(&merge->items, pick.offer->item);

    if (slot == NULL) {
        if (result->item_count + merge->reserved >= merge->limits.max_items) {
            return;
        }
        slot = text_map_insert(&merge->items, pick.offer->item);
        require(slot != NULL); // room was reserved
    }
    if (slot->number == 0) {
        merge->reserved -= slot->value != NULL;
        result->items[result->item_count++] = pick;
        slot->number = (uint32_t)result->item_count;
    }
    pick.item = slot->number - 1;
    if (merge->taken[pick.item] < merge->limits.max_offers_per_item) {
        merge->taken[pick.item]++;
        result->picks[result->pick_count++] = pick;
    }
}

static int compare_picks_by_duration(const void *a, const void *b)
{
    const struct merge_pick *x = a;
    const struct merge_pick *y = b;
    struct cursor left = { .attempt = x->attempt, .next = x->offer };
    struct cursor right = { .attempt = y->attempt, .next = y->offer };

    return cursor_compare_duration(&left, &right);
}

/// Puts picks, and with them the items, into the order of duration.
static void merge_reorder(struct merge *merge)
{
    struct merge_result *result = merge->result;

    if (result->pick_count < 2) {
        return;
    }
    qsort(result->picks, result->pick_count, sizeof(*result->picks), compare_picks_by_duration);
    memset(merge->taken, 0, result->item_count * sizeof(*merge->taken));
    result->item_count = 0;
    for (size_t i = 0; i < result->pick_count; i++) {
        if (merge->taken[result->picks[i].item]++ == 0) {
            result->items[result->item_count++] = result->picks[i];
        }
    }
}

static void merge_run(struct merge *merge, const struct attempt *attempts, size_t count)
{
    const struct merge_limits *limits = &merge->limits;

    if (merge->result->found > limits->max_items) { // else all items have a place
        heap_open(merge, attempts, count, true);
        merge_reserve(merge, sort_quick_places(limits->sort, limits->max_items));
    }
    heap_open(merge, attempts, count, false);
    while (merge->cursors > 0) {
        merge_take(merge);
        heap_advance(merge);
    }
    if (limits->sort == SORT_DURATION) {
        merge_reorder(merge);
    }
}

bool merge_offers(struct arena *arena, const struct attempt *attempts, size_t count, struct merge_limits limits,
                  struct merge_result *result)
{
    struct merge merge = { .result = result, .limits = limits };
    size_t batches = 0;

    *result = (struct merge_result){ 0 };
    for (size_t i = 0; i < count; i++) {
        if (!attempt_is_dark(&attempts[i])) {
            result->found += attempt_shown(&attempts[i])->live;
            batches += attempt_shown(&attempts[i])->count;
        }
    }
    if (result->found == 0) {
        return true;
    }
    size_t most = limits.max_items < result->found ? limits.max_items : result->found;
    merge.heap = arena_alloc_array(arena, batches, sizeof(*merge.heap));
    merge.taken = arena_alloc_array(arena, most, sizeof(*merge.taken));
    result->picks = arena_alloc_array(arena, result->found, sizeof(*result->picks));
    result->items = arena_alloc_array(arena, most, sizeof(*result->items));
    text_map_init(&merge.items);
    bool is_fine = merge.heap != NULL && merge.taken != NULL && result->picks != NULL && result->items != NULL &&
                   text_map_reserve(&merge.items, most);
    if (is_fine) {
        merge_run(&merge, attempts, count);
    }
    text_map_fini(&merge.items);
    return is_fine;
}
