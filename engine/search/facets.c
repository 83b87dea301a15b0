#include "search/facets.h"

#include "base/micros.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES_FIRST = 64, VALUES_MAX = 1 << 16 };

/// The values of all answers together.
struct sum {
    const struct offer_batch *first; // names and decimals are the same in all
    struct facet_value *values;
    size_t count, capacity;
    struct text_map index[FACETS_MAX]; // value -> its number + 1
};

static bool sum_has_room(struct sum *sum)
{
    if (sum->count < sum->capacity) {
        return true;
    }
    size_t capacity = sum->capacity == 0 ? VALUES_FIRST : 2 * sum->capacity;
    void *grown = capacity <= VALUES_MAX ? realloc(sum->values, capacity * sizeof(*sum->values)) : NULL;
    if (grown == NULL) {
        return false;
    }
    sum->values = grown;
    sum->capacity = capacity;
    return true;
}

static bool sum_add(struct sum *sum, const struct facet_value *value, uint32_t count, int64_t lowest_micros)
{
    if (count == 0) {
        return true;
    }
    struct text_map_slot *slot = text_map_insert(&sum->index[value->facet], value->value);
    if (slot == NULL || (slot->number == 0 && !sum_has_room(sum))) {
        return false;
    }
    if (slot->number == 0) {
        sum->values[sum->count++] = *value;
        slot->number = (uint32_t)sum->count;
        sum->values[slot->number - 1].count = 0;
        sum->values[slot->number - 1].lowest_micros = INT64_MAX;
    }
    struct facet_value *total = &sum->values[slot->number - 1];
    total->count += count;
    total->lowest_micros = lowest_micros < total->lowest_micros ? lowest_micros : total->lowest_micros;
    return true;
}

/// A batch some of whose offers are gone is counted anew.
static bool sum_add_remains(struct sum *sum, const struct stock_batch *held)
{
    const struct offer_batch *batch = held->batch;

    for (size_t i = 0; i < batch->count; i++) {
        const struct offer *offer = &batch->offers[i];
        for (size_t j = 0; j < offer->mark_count && !stock_is_gone(held, i); j++) {
            if (!sum_add(sum, &batch->facets.values[offer->marks[j]], 1, offer_comparable_micros(offer))) {
                return false;
            }
        }
    }
    return true;
}

static bool sum_add_batch(struct sum *sum, const struct stock_batch *held)
{
    const struct facet_table *facets = &held->batch->facets;

    if (sum->first == NULL && facets->name_count > 0) {
        sum->first = held->batch;
    }
    if (held->live < held->batch->count) {
        return sum_add_remains(sum, held);
    }
    for (size_t i = 0; i < facets->value_count; i++) {
        const struct facet_value *value = &facets->values[i];
        if (!sum_add(sum, value, value->count, value->lowest_micros)) {
            return false;
        }
    }
    return true;
}

static bool sum_add_all(struct sum *sum, const struct attempt *attempts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct stock *shown = attempt_shown(&attempts[i]);
        for (size_t j = 0; j < shown->count && !attempt_is_dark(&attempts[i]); j++) {
            if (!sum_add_batch(sum, &shown->batches[j])) {
                return false;
            }
        }
    }
    return true;
}

/// Facet by facet, then numbers by size, then texts by their bytes.
static int compare_values(const void *a, const void *b)
{
    const struct facet_value *x = a;
    const struct facet_value *y = b;

    if (x->facet != y->facet) {
        return x->facet < y->facet ? -1 : 1;
    }
    if (x->is_text != y->is_text) {
        return x->is_text ? 1 : -1;
    }
    if (!x->is_text) {
        long long left = strtoll(x->value.data, NULL, 10);
        long long right = strtoll(y->value.data, NULL, 10);
        return (left > right) - (left < right);
    }
    return text_compare(x->value, y->value);
}

static int compare_counts(const void *a, const void *b)
{
    const struct facet_value *x = a;
    const struct facet_value *y = b;

    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return compare_values(a, b);
}

static void write_value(const struct facet_value *value, int decimals, struct json_writer *json)
{
    char lowest[MICROS_TEXT_MAX];

    json_begin_object(json);
    json_key(json, "value");
    if (value->is_text) {
        json_text(json, value->value);
    } else {
        json_raw(json, value->value);
    }
    json_field_u64(json, "count", value->count);
    if (value->lowest_micros != INT64_MAX) {
        micros_write(value->lowest_micros, decimals, lowest);
        json_field_c(json, "lowest", lowest);
    }
    json_end_object(json);
}

/// Values are sorted by facet already.
static void write_sum(struct sum *sum, struct json_writer *json)
{
    size_t next = 0;

    for (size_t facet = 0; sum->first != NULL && facet < sum->first->facets.name_count; facet++) {
        size_t begin = next;
        while (next < sum->count && sum->values[next].facet == facet) {
            next++;
        }
        size_t shown = next - begin;
        if (shown > FACET_VALUES_SHOWN) {
            qsort(sum->values + begin, shown, sizeof(*sum->values), compare_counts);
            shown = FACET_VALUES_SHOWN;
            qsort(sum->values + begin, shown, sizeof(*sum->values), compare_values);
        }
        json_key_text(json, sum->first->facets.names[facet]);
        json_begin_array(json);
        for (size_t i = 0; i < shown; i++) {
            write_value(&sum->values[begin + i], sum->first->decimals, json);
        }
        json_end_array(json);
    }
}

void facets_write(const struct attempt *attempts, size_t count, struct json_writer *json)
{
    struct sum sum = { .first = NULL };

    for (size_t i = 0; i < FACETS_MAX; i++) {
        text_map_init(&sum.index[i]);
    }
    json_begin_object(json);
    if (sum_add_all(&sum, attempts, count)) {
        if (sum.count > 1) {
            qsort(sum.values, sum.count, sizeof(*sum.values), compare_values);
        }
        write_sum(&sum, json);
    }
    json_end_object(json);
    for (size_t i = 0; i < FACETS_MAX; i++) {
        text_map_fini(&sum.index[i]);
    }
    free(sum.values);
}
