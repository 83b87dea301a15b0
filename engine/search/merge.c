#include "search/merge.h"

#include "base/text_map.h"

#include <string.h>

/// One sorted batch being read.
struct cursor {
    const struct attempt *attempt;
    const struct stock_batch *batch;
    const struct offer *next;
    const struct offer *end;
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

/// Restores the heap below `slot` (binary heap, smallest at 0).
static void heap_sink(struct cursor *heap, size_t count, size_t slot)
{
    for (;;) {
        size_t least = slot;
        for (size_t child = 2 * slot + 1; child <= 2 * slot + 2 && child < count; child++) {
            if (cursor_compare(&heap[child], &heap[least]) < 0) {
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

static void merge_take(struct merge_result *result, struct text_map *items, struct merge_limits limits,
                       const struct cursor *cursor)
{
    struct merge_pick pick = { .offer = cursor->next, .attempt = cursor->attempt };
    struct text_map_slot *slot = text_map_find(items, pick.offer->item);

    if (slot == NULL) {
        if (result->item_count >= limits.max_items) {
            return;
        }
        slot = text_map_insert(items, pick.offer->item);
        require(slot != NULL); // room was reserved
        result->items[result->item_count++] = pick;
    }
    if (slot->number >= limits.max_offers_per_item) {
        return;
    }
    slot->number++;
    result->picks[result->pick_count++] = pick;
}

/// Moves to the next offer that is held. False: the batch is used up.
static bool cursor_advance(struct cursor *cursor)
{
    const struct offer *first = cursor->batch->batch->offers;

    while (cursor->next != cursor->end && stock_is_gone(cursor->batch, (size_t)(cursor->next - first))) {
        cursor->next++;
    }
    if (cursor->next == cursor->end) {
        return false;
    }
    // A worker wrote the batch some time ago: waiting for this memory was two thirds of a merge.
    __builtin_prefetch(cursor->next->item.data);
    __builtin_prefetch(cursor->next + 1);
    return true;
}

static size_t merge_open(struct cursor *heap, const struct attempt *attempts, size_t count)
{
    size_t cursors = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < attempts[i].stock.count; j++) {
            const struct stock_batch *batch = &attempts[i].stock.batches[j];
            const struct offer_batch *offers = batch->batch;
            heap[cursors] = (struct cursor){ &attempts[i], batch, offers->offers, offers->offers + offers->count };
            cursors += cursor_advance(&heap[cursors]);
        }
    }
    for (size_t i = cursors / 2; i-- > 0;) {
        heap_sink(heap, cursors, i);
    }
    return cursors;
}

static void merge_run(struct merge_result *result, struct text_map *items, struct merge_limits limits,
                      struct cursor *heap, size_t cursors)
{
    while (cursors > 0) {
        merge_take(result, items, limits, &heap[0]);
        heap[0].next++;
        if (!cursor_advance(&heap[0])) {
            heap[0] = heap[--cursors];
        }
        heap_sink(heap, cursors, 0);
    }
}

bool merge_offers(struct arena *arena, const struct attempt *attempts, size_t count, struct merge_limits limits,
                  struct merge_result *result)
{
    size_t batches = 0;
    struct text_map items;

    *result = (struct merge_result){ 0 };
    for (size_t i = 0; i < count; i++) {
        result->found += attempts[i].stock.live;
        batches += attempts[i].stock.count;
    }
    if (result->found == 0) {
        return true;
    }
    size_t most = limits.max_items < result->found ? limits.max_items : result->found;
    struct cursor *heap = arena_alloc_array(arena, batches, sizeof(*heap));
    result->picks = arena_alloc_array(arena, result->found, sizeof(*result->picks));
    result->items = arena_alloc_array(arena, most, sizeof(*result->items));
    text_map_init(&items);
    bool is_fine = heap != NULL && result->picks != NULL && result->items != NULL && text_map_reserve(&items, most);
    if (is_fine) {
        merge_run(result, &items, limits, heap, merge_open(heap, attempts, count));
    }
    text_map_fini(&items);
    return is_fine;
}
