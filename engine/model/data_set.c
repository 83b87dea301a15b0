#include "model/data_set.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct data_entry {
    char *name;
    struct data_table *table;
    atomic_uint_fast64_t misses;
};

struct data_set {
    atomic_uint references;
    size_t count, capacity;
    struct data_entry entries[];
};

struct data_set *data_set_create(size_t capacity)
{
    struct data_set *set = calloc(1, sizeof(*set) + capacity * sizeof(set->entries[0]));
    if (set != NULL) {
        atomic_init(&set->references, 1);
        set->capacity = capacity;
    }
    return set;
}

struct data_set *data_set_acquire(struct data_set *set)
{
    if (set != NULL) {
        atomic_fetch_add_explicit(&set->references, 1, memory_order_relaxed);
    }
    return set;
}

void data_set_release(struct data_set **set)
{
    struct data_set *released = *set;
    *set = NULL;
    if (released == NULL || atomic_fetch_sub_explicit(&released->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < released->count; i++) {
        free(released->entries[i].name);
        data_table_destroy(&released->entries[i].table);
    }
    free(released);
}

enum status data_set_add(struct data_set *set, struct text name, struct data_table **table)
{
    require(set->count < set->capacity);
    char *kept = strndup(name.data, name.length);
    if (kept == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct data_entry *entry = &set->entries[set->count++];
    entry->name = kept;
    entry->table = *table;
    *table = NULL;
    return STATUS_OK;
}

size_t data_set_count(const struct data_set *set)
{
    return set == NULL ? 0 : set->count;
}

struct text data_set_name(const struct data_set *set, size_t index)
{
    require(index < set->count);
    return text_of(set->entries[index].name);
}

const struct data_table *data_set_table(const struct data_set *set, size_t index)
{
    require(index < set->count);
    return set->entries[index].table;
}

ptrdiff_t data_set_find(const struct data_set *set, struct text name)
{
    for (size_t i = 0; i < data_set_count(set); i++) {
        if (text_equals_c(name, set->entries[i].name)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

const char *data_set_nearest(const struct data_set *set, struct text name)
{
    enum { CANDIDATES = 64 };
    const char *candidates[CANDIDATES];
    size_t count = 0;

    for (; count < data_set_count(set) && count < CANDIDATES; count++) {
        candidates[count] = set->entries[count].name;
    }
    return text_nearest(name, candidates, count);
}

void data_set_note_miss(struct data_set *set, size_t index)
{
    require(index < set->count);
    atomic_fetch_add_explicit(&set->entries[index].misses, 1, memory_order_relaxed);
}

uint64_t data_set_misses(const struct data_set *set, size_t index)
{
    require(index < set->count);
    return atomic_load_explicit(&set->entries[index].misses, memory_order_relaxed);
}
