/// Stock: the offers that one attempt holds so far, in the batches they came in.
///
/// Batches never change; what a later step replaces is marked as gone. An id is held at most once. It is full at a
/// number of offers and at a size: the batch that reaches the first gives its best offers only, one that would go over
/// the second is not taken.
///
/// Threads: its search's.
/// Memory:  counted references to batches, and the marks (malloc), until stock_fini.
#pragma once

#include "model/script_call.h"

/// What the attempt holds, all its parts together. The bytes are those of whole batches: one offer keeps its batch.
enum { STOCK_MAX_OFFERS = OFFER_MAX_PER_BATCH, STOCK_MAX_BYTES = 32 << 20 };

enum stock_limit { STOCK_HAS_ROOM, STOCK_FULL_OF_OFFERS, STOCK_FULL_OF_BYTES };

struct stock_batch {
    struct offer_batch *batch;
    uint32_t part;
    size_t live;
    uint8_t *is_gone; // one mark an offer; NULL: none is gone
};

struct stock {
    struct stock_batch *batches;
    size_t count, capacity;
    size_t live;            // offers held
    size_t bytes;           // of the batches
    enum stock_limit limit; // once reached, it stays
    bool is_kept_elsewhere; // a stream keeps every batch to its end: one that goes frees no bytes
};

void stock_init(struct stock *stock);
void stock_fini(struct stock *stock);

/// Called for each offer that goes and is not there again under its id; before its batch may be released.
typedef void (*stock_gone)(void *context, const struct offer *offer);

/// Takes the batch of a part's step (NULL: none came) as `merge` says, as far as the limits allow; acquires it.
/// `on_gone` may be NULL. False: no memory, nothing changed. What was taken is the last of `batches`.
MUST_CHECK bool stock_add(struct stock *stock, uint32_t part, struct offer_batch *batch, enum merge_kind merge,
                          stock_gone on_gone, void *context);

/// All of it goes, as those that are not there again.
void stock_drop(struct stock *stock, stock_gone on_gone, void *context);

/// The batch as it is held; NULL: nothing of it is.
static inline const struct stock_batch *stock_find(const struct stock *stock, const struct offer_batch *batch)
{
    const struct stock_batch *last = stock->count > 0 ? &stock->batches[stock->count - 1] : NULL;
    return last != NULL && last->batch == batch ? last : NULL;
}

static inline bool stock_is_gone(const struct stock_batch *batch, size_t index)
{
    return batch->is_gone != NULL && batch->is_gone[index] != 0;
}
