#include "search/stock.h"

#include "base/text_map.h"

#include <stdlib.h>

void stock_init(struct stock *stock)
{
    *stock = (struct stock){ 0 };
}

static void stock_batch_fini(struct stock_batch *batch)
{
    offer_batch_release(&batch->batch);
    free(batch->is_gone);
}

void stock_fini(struct stock *stock)
{
    for (size_t i = 0; i < stock->count; i++) {
        stock_batch_fini(&stock->batches[i]);
    }
    free(stock->batches);
    *stock = (struct stock){ 0 };
}

/// The ids of a new batch, to find those that it replaces.
static bool ids_of(struct text_map *ids, const struct offer_batch *batch)
{
    if (!text_map_reserve(ids, batch->count)) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        (void)!text_map_insert(ids, batch->offers[i].id);
    }
    return true;
}

/// All memory that an addition can need, so that it cannot fail half-way.
static bool stock_prepare(struct stock *stock)
{
    if (stock->count == stock->capacity) {
        size_t capacity = stock->capacity == 0 ? 2 : 2 * stock->capacity;
        void *grown = realloc(stock->batches, capacity * sizeof(*stock->batches));
        if (grown == NULL) {
            return false;
        }
        stock->batches = grown;
        stock->capacity = capacity;
    }
    for (size_t i = 0; i < stock->count; i++) {
        struct stock_batch *old = &stock->batches[i];
        if (old->is_gone == NULL) {
            old->is_gone = calloc(old->batch->count, 1);
            if (old->is_gone == NULL) {
                return false;
            }
        }
    }
    return true;
}

/// What a new batch does to those before it.
struct sweep {
    struct text_map ids; // of the new batch
    stock_gone on_gone;
    void *context;
};

static void stock_sweep(struct stock *stock, struct stock_batch *old, const struct sweep *sweep, bool is_replaced)
{
    for (size_t i = 0; i < old->batch->count; i++) {
        const struct offer *offer = &old->batch->offers[i];
        if (old->is_gone[i] != 0) {
            continue;
        }
        struct text_map_slot *slot = text_map_find(&sweep->ids, offer->id);
        bool is_there_again = slot != NULL;
        if (is_there_again) {
            slot->number = 1; // it takes a place that was taken before
        }
        if (!is_there_again && !is_replaced) {
            continue;
        }
        old->is_gone[i] = 1;
        old->live--;
        stock->live--;
        if (!is_there_again && sweep->on_gone != NULL) {
            sweep->on_gone(sweep->context, offer);
        }
    }
}

/// Batches of which nothing is held any more give their memory back.
static void stock_compact(struct stock *stock)
{
    size_t kept = 0;

    for (size_t i = 0; i < stock->count; i++) {
        if (stock->batches[i].live == 0) {
            stock->bytes -= stock->is_kept_elsewhere ? 0 : stock->batches[i].batch->arena.used;
            stock_batch_fini(&stock->batches[i]);
        } else {
            stock->batches[kept++] = stock->batches[i];
        }
    }
    stock->count = kept;
}

/// Whether the batch still fits, without those that it replaces as a whole.
static bool has_room(const struct stock *stock, uint32_t part, const struct offer_batch *batch, enum merge_kind merge)
{
    size_t bytes = stock->bytes + batch->arena.used;

    for (size_t i = 0; i < stock->count && merge == MERGE_REPLACE && !stock->is_kept_elsewhere; i++) {
        bytes -= stock->batches[i].part == part ? stock->batches[i].batch->arena.used : 0;
    }
    return bytes <= STOCK_MAX_BYTES;
}

/// Leaves out what is one too many from the end of the new batch, where its least wanted offers are, but for those that
/// replace one: they need no new place.
static void stock_trim(struct stock *stock, struct stock_batch *last, const struct sweep *sweep)
{
    for (size_t i = last->batch->count; i-- > 0 && stock->live > STOCK_MAX_OFFERS;) {
        const struct text_map_slot *slot = text_map_find(&sweep->ids, last->batch->offers[i].id);
        if (slot == NULL || slot->number == 0) {
            last->is_gone[i] = 1;
            last->live--;
            stock->live--;
            stock->limit = STOCK_FULL_OF_OFFERS;
        }
    }
}

/// Appends it; its place and, when it may have to be trimmed, its marks are there.
static void stock_append(struct stock *stock, uint32_t part, struct offer_batch *batch, uint8_t *is_gone,
                         const struct sweep *sweep)
{
    struct stock_batch *last = &stock->batches[stock->count++];

    *last = (struct stock_batch){
        .batch = offer_batch_acquire(batch),
        .part = part,
        .live = batch->count,
        .is_gone = is_gone,
    };
    stock->live += batch->count;
    stock->bytes += batch->arena.used;
    stock_trim(stock, last, sweep);
    stock_compact(stock);
}

bool stock_add(struct stock *stock, uint32_t part, struct offer_batch *batch, enum merge_kind merge, stock_gone on_gone,
               void *context)
{
    struct sweep sweep = { .on_gone = on_gone, .context = context };
    bool has_offers = batch != NULL && batch->count > 0;
    uint8_t *is_gone = NULL;

    if (merge == MERGE_KEEP || (batch == NULL && merge == MERGE_ADD)) {
        return true;
    }
    if (has_offers && !has_room(stock, part, batch, merge)) {
        stock->limit = STOCK_FULL_OF_BYTES;
        return true;
    }
    if (has_offers && stock->live + batch->count > STOCK_MAX_OFFERS) {
        is_gone = calloc(batch->count, 1);
        if (is_gone == NULL) {
            return false;
        }
    }
    text_map_init(&sweep.ids);
    if (!stock_prepare(stock) || (batch != NULL && stock->count > 0 && !ids_of(&sweep.ids, batch))) {
        text_map_fini(&sweep.ids);
        free(is_gone);
        return false;
    }
    for (size_t i = 0; i < stock->count; i++) {
        struct stock_batch *old = &stock->batches[i];
        stock_sweep(stock, old, &sweep, merge == MERGE_REPLACE && old->part == part);
    }
    stock_compact(stock);
    if (has_offers) {
        stock_append(stock, part, batch, is_gone, &sweep);
    }
    text_map_fini(&sweep.ids);
    return true;
}

void stock_drop(struct stock *stock, stock_gone on_gone, void *context)
{
    for (size_t i = 0; i < stock->count && on_gone != NULL; i++) {
        const struct stock_batch *held = &stock->batches[i];
        for (size_t j = 0; j < held->batch->count; j++) {
            if (!stock_is_gone(held, j)) {
                on_gone(context, &held->batch->offers[j]);
            }
        }
    }
    stock_fini(stock);
}
