/// Stock: the offers that one attempt holds so far, in the batches they came in.
///
/// Batches never change; what a later step replaces is marked as gone. An id is held at most once.
///
/// Threads: its search's.
/// Memory:  counted references to batches, and the marks (malloc), until stock_fini.
#pragma once

#include "model/script_call.h"

struct stock_batch {
    struct offer_batch *batch;
    uint32_t part;
    size_t live;
    uint8_t *is_gone; // one mark an offer; NULL: none is gone
};

struct stock {
    struct stock_batch *batches;
    size_t count, capacity;
    size_t live; // offers held
};

void stock_init(struct stock *stock);
void stock_fini(struct stock *stock);

/// Called for each offer that goes and is not there again under its id; before its batch may be released.
typedef void (*stock_gone)(void *context, const struct offer *offer);

/// Takes the batch of a part's step (NULL: none came) as `merge` says; acquires it. `on_gone` may be NULL. False: no
/// memory, nothing changed.
MUST_CHECK bool stock_add(struct stock *stock, uint32_t part, struct offer_batch *batch, enum merge_kind merge,
                          stock_gone on_gone, void *context);

static inline bool stock_is_gone(const struct stock_batch *batch, size_t index)
{
    return batch->is_gone != NULL && batch->is_gone[index] != 0;
}
