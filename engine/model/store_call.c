#include "model/store_call.h"

#include <stdlib.h>
#include <string.h>

enum { STORE_CALL_CEILING = 1 << 20 };

static struct store_call *create(enum store_job job)
{
    struct store_call *call = calloc(1, sizeof *call);

    if (call != NULL) {
        call->job = job;
        arena_init(&call->memory, STORE_CALL_CEILING);
    }
    return call;
}

/// A text that is there is a copy; false: no memory.
static bool keep(struct store_call *call, struct text *out, struct text text)
{
    *out = (struct text){ 0 };
    if (text.data == NULL) {
        return true;
    }
    *out = arena_copy(&call->memory, text);
    return out->data != NULL;
}

struct store_call *store_call_create(enum store_job job, struct text product, struct text query, size_t entry_count,
                                     size_t part_count)
{
    struct store_call *call = create(job);

    if (call == NULL) {
        return NULL;
    }
    call->entry_count = entry_count;
    call->part_count = part_count;
    call->entries = arena_alloc_array(&call->memory, entry_count, sizeof *call->entries);
    call->parts = arena_alloc_array(&call->memory, part_count, sizeof *call->parts);
    bool has_entries = entry_count == 0 || call->entries != NULL;
    bool has_parts = part_count == 0 || call->parts != NULL;
    if (!has_entries || !has_parts || !keep(call, &call->product, product) || !keep(call, &call->query, query)) {
        call->entry_count = 0;
        call->part_count = 0;
        store_call_destroy(&call);
    }
    return call;
}

struct store_call *store_call_create_note(enum store_job job, struct text name, struct block *value)
{
    struct store_call *call = create(job);

    if (call == NULL) {
        return NULL;
    }
    call->value = block_acquire(value);
    if (!keep(call, &call->name, name)) {
        store_call_destroy(&call);
    }
    return call;
}

bool store_call_name(struct store_call *call, size_t entry, struct text supplier, struct text account)
{
    struct store_entry *named = &call->entries[entry];
    return keep(call, &named->supplier, supplier) && keep(call, &named->account, account);
}

bool store_call_fill(struct store_call *call, size_t part, struct offer_batch *batch, const uint8_t *is_gone)
{
    struct store_part *filled = &call->parts[part];

    if (is_gone != NULL) {
        filled->is_gone = arena_alloc_array(&call->memory, batch->count, sizeof *filled->is_gone);
        if (filled->is_gone == NULL && batch->count > 0) {
            return false;
        }
        memcpy(filled->is_gone, is_gone, batch->count);
    }
    filled->batch = offer_batch_acquire(batch);
    return true;
}

void store_call_destroy(struct store_call **call)
{
    struct store_call *gone = *call;

    *call = NULL;
    if (gone == NULL) {
        return;
    }
    for (size_t i = 0; i < gone->entry_count; i++) {
        offer_batch_release(&gone->entries[i].offers);
    }
    for (size_t i = 0; i < gone->part_count; i++) {
        offer_batch_release(&gone->parts[i].batch);
    }
    block_release(&gone->value);
    arena_fini(&gone->memory);
    free(gone);
}
