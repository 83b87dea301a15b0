#include "search/merge.h"

#include <string.h>

/// One sorted batch being read.
struct cursor {
    const struct attempt *attempt;
    const struct offer   *next;
    const struct offer   *end;
};

/// A slot of the hash of items: open addressing, a power of two in size, at most half full.
struct item_slot {
    const struct text *item;
    uint64_t           hash;
    uint32_t           offers;
};

struct item_table {
    struct item_slot *slots;
    size_t            mask;
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
        heap[slot]          = heap[least];
        heap[least]         = moved;
        slot                = least;
    }
}

static struct item_slot *item_find(struct item_table *table, const struct text *item)
{
    uint64_t hash = text_hash(*item);

    for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
        struct item_slot *slot = &table->slots[i];
        if (slot->item == NULL) {
            slot->hash = hash;
            return slot;
        }
        if (slot->hash == hash && text_equals(*slot->item, *item)) {
            return slot;
        }
    }
}

static void merge_take(struct merge_result *result, struct item_table *table, struct merge_limits limits,
                       const struct cursor *cursor)
{
    struct merge_pick pick = { .offer = cursor->next, .attempt = cursor->attempt };
    struct item_slot *slot = item_find(table, &pick.offer->item);

    if (slot->item == NULL) {
        if (result->item_count >= limits.max_items) {
            return;
        }
        slot->item                           = &pick.offer->item;
        result->items[result->item_count++] = pick;
    }
    if (slot->offers >= limits.max_offers_per_item) {
        return;
    }
    slot->offers++;
    result->picks[result->pick_count++] = pick;
}

static bool merge_allocate(struct arena *arena, struct merge_result *result, struct item_table *table, size_t max_items)
{
    size_t items = max_items < result->found ? max_items : result->found;
    size_t slots = 16;

    while (slots < 2 * items + 2) {
        slots *= 2;
    }
    table->slots  = arena_alloc_array(arena, slots, sizeof *table->slots);
    table->mask   = slots - 1;
    result->picks = arena_alloc_array(arena, result->found, sizeof *result->picks);
    result->items = arena_alloc_array(arena, items, sizeof *result->items);
    return table->slots != NULL && result->picks != NULL && result->items != NULL;
}

bool merge_offers(struct arena *arena, const struct attempt *attempts, size_t count, struct merge_limits limits,
                  struct merge_result *result)
{
    struct item_table table;
    struct cursor    *heap    = arena_alloc_array(arena, count, sizeof *heap);
    size_t            cursors = 0;

    *result = (struct merge_result){ 0 };
    for (size_t i = 0; i < count; i++) {
        const struct offer_batch *batch = attempts[i].offers;
        if (batch != NULL && batch->count > 0) {
            result->found += batch->count;
            if (heap != NULL) {
                heap[cursors++] = (struct cursor){ &attempts[i], batch->offers, batch->offers + batch->count };
            }
        }
    }
    if (result->found == 0) {
        return true;
    }
    if (heap == NULL || !merge_allocate(arena, result, &table, limits.max_items)) {
        return false;
    }
    for (size_t i = cursors / 2; i-- > 0;) {
        heap_sink(heap, cursors, i);
    }
    while (cursors > 0) {
        merge_take(result, &table, limits, &heap[0]);
        heap[0].next++;
        if (heap[0].next == heap[0].end) {
            heap[0] = heap[--cursors];
        }
        heap_sink(heap, cursors, 0);
    }
    return true;
}
