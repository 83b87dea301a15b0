#include "search/late.h"

#include "base/text_map.h"
#include "search/record.h"
#include "search/search_internal.h"

#include <stdlib.h>

/// Open addressing, at most half full. Two items with one hash count as one: nobody is told more than a sum of it.
struct late_item {
    uint64_t hash; // 0: a free slot
    int64_t micros;
};

static bool items_reserve(struct late_items *items, size_t count)
{
    size_t capacity = 16;

    while (capacity < 2 * count) {
        capacity *= 2;
    }
    *items = (struct late_items){ .slots = calloc(capacity, sizeof(*items->slots)), .capacity = capacity };
    return items->slots != NULL;
}

void late_items_fini(struct late_items *items)
{
    free(items->slots);
    *items = (struct late_items){ 0 };
}

/// The slot of the hash, or the free one where it belongs.
static struct late_item *items_slot(const struct late_items *items, uint64_t hash)
{
    for (size_t i = hash & (items->capacity - 1);; i = (i + 1) & (items->capacity - 1)) {
        if (items->slots[i].hash == hash || items->slots[i].hash == 0) {
            return &items->slots[i];
        }
    }
}

static void items_add(struct late_items *items, const struct offer *offer)
{
    uint64_t hash = text_map_hash(offer->item) | 1;
    struct late_item *slot = items_slot(items, hash);
    int64_t micros = offer_comparable_micros(offer);

    if (slot->hash == 0) {
        *slot = (struct late_item){ hash, micros };
        items->count++;
    } else if (micros < slot->micros) {
        slot->micros = micros;
    }
}

static void items_add_stock(struct late_items *items, const struct stock *stock)
{
    for (size_t i = 0; i < stock->count; i++) {
        const struct stock_batch *held = &stock->batches[i];
        for (size_t j = 0; j < held->batch->count; j++) {
            if (!stock_is_gone(held, j)) {
                items_add(items, &held->batch->offers[j]);
            }
        }
    }
}

void late_items_of(struct late_items *items, const struct search *search)
{
    size_t offers = 0;

    for (size_t i = 0; i < search->attempt_count; i++) {
        offers += attempt_is_dark(&search->attempts[i]) ? 0 : attempt_shown(&search->attempts[i])->live;
    }
    if (offers > LATE_MAX_LOOKS || !items_reserve(items, offers)) {
        return;
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        if (!attempt_is_dark(&search->attempts[i])) {
            items_add_stock(items, attempt_shown(&search->attempts[i]));
        }
    }
}

bool late_items_compare(const struct late_items *items, const struct stock *stock, uint32_t *new_items,
                        uint32_t *cheapest_items)
{
    struct late_items late;

    if (items->slots == NULL || !items_reserve(&late, stock->live)) {
        return false;
    }
    *new_items = *cheapest_items = 0;
    items_add_stock(&late, stock);
    for (size_t i = 0; i < late.capacity; i++) {
        const struct late_item *item = &late.slots[i];
        if (item->hash == 0) {
            continue;
        }
        const struct late_item *found = items_slot(items, item->hash);
        *new_items += found->hash == 0;
        *cheapest_items += found->hash != 0 && item->micros < found->micros;
    }
    late_items_fini(&late);
    return true;
}

void late_tell(struct search *search, const struct attempt *attempt)
{
    struct world *world = search->options.world;

    if (world->ops->late_ended == NULL) {
        return;
    }
    struct search_record *record = search_record_late(search, attempt);
    if (record == NULL) {
        return;
    }
    struct search_record_late *late = &record->late;
    late->is_compared = late_items_compare(&search->found, &attempt->stock, &late->new_items, &late->cheapest_items);
    world->ops->late_ended(world, record, attempt_spoiled(attempt), attempt->trouble);
}
