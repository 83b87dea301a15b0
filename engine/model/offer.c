#include "model/offer.h"

#include <stdlib.h>
#include <string.h>

enum { SORT_FEW = 64 }; // up to which number insertion is the quicker sort

// `references` is a plain integer in the header, so that the structure stays plain data; it is touched here only.

struct offer_batch *offer_batch_create(size_t memory_ceiling)
{
    struct offer_batch *batch = calloc(1, sizeof(*batch));

    if (batch != NULL) {
        batch->references = 1;
        arena_init(&batch->arena, memory_ceiling);
    }
    return batch;
}

struct offer_batch *offer_batch_acquire(struct offer_batch *batch)
{
    if (batch != NULL) {
        uint32_t before = __atomic_fetch_add(&batch->references, 1, __ATOMIC_RELAXED);
        require(before != 0);
    }
    return batch;
}

void offer_batch_release(struct offer_batch **batch)
{
    struct offer_batch *gone = *batch;

    *batch = NULL;
    if (gone == NULL) {
        return;
    }
    uint32_t before = __atomic_fetch_sub(&gone->references, 1, __ATOMIC_ACQ_REL);
    require(before != 0);
    if (before == 1) {
        facet_table_close(&gone->facets);
        arena_fini(&gone->arena);
        free(gone);
    }
}

int offer_compare(const struct offer *a, const struct offer *b)
{
    if (a->flag != b->flag) {
        return a->flag < b->flag ? -1 : 1;
    }
    if (a->total_micros != b->total_micros) {
        return a->total_micros < b->total_micros ? -1 : 1;
    }
    int order = memcmp(a->currency, b->currency, sizeof(a->currency));
    if (order == 0) {
        order = text_compare(a->item, b->item);
    }
    return order != 0 ? order : text_compare(a->id, b->id);
}

static int offer_compare_any(const void *a, const void *b)
{
    return offer_compare(a, b);
}

int offer_compare_duration(const struct offer *a, const struct offer *b)
{
    if (a->flag != b->flag) {
        return a->flag < b->flag ? -1 : 1;
    }
    return (a->duration_min > b->duration_min) - (a->duration_min < b->duration_min);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/// What mostly decides between two offers, beside their place.
struct price_key {
    uint32_t flag, place;
    int64_t total_micros;
};

static bool is_before(const struct offer_batch *batch, const struct price_key *a, const struct price_key *b)
{
    if (a->flag == b->flag && a->total_micros == b->total_micros) {
        return offer_compare(&batch->offers[a->place], &batch->offers[b->place]) < 0;
    }
    return a->flag != b->flag ? a->flag < b->flag : a->total_micros < b->total_micros;
}

/// A few offers by insertion, of small keys: an offer is moved once.
static void sort_few(struct offer_batch *batch)
{
    struct price_key keys[SORT_FEW];
    struct offer sorted[SORT_FEW];

    for (size_t i = 0; i < batch->count; i++) {
        const struct offer *offer = &batch->offers[i];
        struct price_key key = { offer->flag, (uint32_t)i, offer->total_micros };
        size_t at = i;
        for (; at > 0 && is_before(batch, &key, &keys[at - 1]); at--) {
            keys[at] = keys[at - 1];
        }
        keys[at] = key;
    }
    for (size_t i = 0; i < batch->count; i++) {
        sorted[i] = batch->offers[keys[i].place];
    }
    memcpy(batch->offers, sorted, batch->count * sizeof(*sorted));
}

static void sort_numbers(uint64_t *numbers, size_t count)
{
    if (count > SORT_FEW) {
        qsort(numbers, count, sizeof(*numbers), compare_keys);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint64_t number = numbers[i]; // NOLINT(clang-analyzer-core.uninitialized.Assign): its caller has filled them
        size_t at = i;
        for (; at > 0 && number < numbers[at - 1]; at--) {
            numbers[at] = numbers[at - 1];
        }
        numbers[at] = number;
    }
}

/// Flag, duration and place in the order of price in one number each, so that sorting looks at nothing else.
static void sort_by_duration(struct offer_batch *batch)
{
    uint64_t keys[OFFER_MAX_PER_BATCH];
    bool has_duration = false;

    if (batch->count > COUNT_OF(keys)) {
        return;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct offer *offer = &batch->offers[i];
        keys[i] = (uint64_t)offer->flag << 48 | (uint64_t)offer->duration_min << 16 | i;
        has_duration = has_duration || offer->duration_min != UINT32_MAX;
    }
    uint16_t *order = has_duration ? arena_alloc_array(&batch->arena, batch->count, sizeof(*order)) : NULL;
    if (order == NULL) {
        return;
    }
    sort_numbers(keys, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        order[i] = (uint16_t)keys[i];
    }
    batch->by_duration = order;
}

void offer_batch_sort(struct offer_batch *batch)
{
    if (batch->count > 1 && batch->count <= SORT_FEW) {
        sort_few(batch);
    } else if (batch->count > 1) {
        qsort(batch->offers, batch->count, sizeof(*batch->offers), offer_compare_any);
    }
    sort_by_duration(batch);
}
