/// Facet: the values by which a caller may filter, counted over the offers of one answer.
///
/// A product names facets and where in an offer their values stand; a worker counts them as it takes offers. An offer
/// counts once for each value that it has. Searches add up the tables of all answers and know no facet by name.
///
/// Threads: a worker's while it fills, immutable then.
/// Memory:  the arena of its batch; the index of values is malloc'ed until facet_table_close.
#pragma once

#include "base/arena.h"
#include "base/text_map.h"

enum {
    FACETS_MAX = 8,            // of a product
    FACET_VALUES_MAX = 4096,   // of an answer, all facets together
    FACET_MARKS_MAX = 128,     // values of one offer
    FACET_VALUE_BYTES_MAX = 64 // of a text that is a value
};

struct facet_value {
    struct text value;     // as in the reply, but for the quotes of a text
    uint32_t count;        // offers that have it
    int64_t lowest_micros; // of those that are comparable; INT64_MAX: none is
    uint8_t facet;
    bool is_text;
};

struct facet_table {
    struct text names[FACETS_MAX];
    size_t name_count;
    struct facet_value *values;
    size_t value_count;
    // while it is filled
    struct text_map index[FACETS_MAX];
    size_t capacity;
};

/// Copies the names. False: no memory.
MUST_CHECK bool facet_table_open(struct facet_table *table, struct arena *arena, const struct text *names,
                                 size_t count);

/// The number of a value, which is copied when it is new; -1: no memory, or more values than an answer may have.
ptrdiff_t facet_table_find(struct facet_table *table, struct arena *arena, uint8_t facet, struct text value,
                           bool is_text);

/// Nothing is added any more.
void facet_table_close(struct facet_table *table);

/// One offer more that has the value; `lowest_micros` INT64_MAX: it is not comparable.
static inline void facet_value_count(struct facet_value *value, int64_t lowest_micros)
{
    value->count++;
    value->lowest_micros = lowest_micros < value->lowest_micros ? lowest_micros : value->lowest_micros;
}
