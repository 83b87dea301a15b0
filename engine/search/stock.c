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
        bool is_there_again = text_map_find(&sweep->ids, offer->id) != NULL;
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
            stock_batch_fini(&stock->batches[i]);
        } else {
            stock->batches[kept++] = stock->batches[i];
        }
    }
    stock->count = kept;
}

bool stock_add(struct stock *stock, uint32_t part, struct offer_batch *batch, enum merge_kind merge, stock_gone on_gone,
               void *context)
{
    struct sweep sweep = { .on_gone = on_gone, .context = context };

    if (merge == MERGE_KEEP || (batch == NULL && merge == MERGE_ADD)) {
        return true;
    }
    text_map_init(&sweep.ids);
    if (!stock_prepare(stock) || (batch != NULL && stock->count > 0 && !ids_of(&sweep.ids, batch))) {
        text_map_fini(&sweep.ids);
        return false;
    }
    for (size_t i = 0; i < stock->count; i++) {
        struct stock_batch *old = &stock->batches[i];
        stock_sweep(stock, old, &sweep, merge == MERGE_REPLACE && old->part == part);
    }
    text_map_fini(&sweep.ids);
    stock_compact(stock);
    if (batch != NULL && batch->count > 0) {
        stock->batches[stock->count++] = (struct stock_batch){
            .batch = offer_batch_acquire(batch),
            .part = part,
            .live = batch->count,
        };
        stock->live += batch->count;
    }
    return true;
}
