#include "model/data_set.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MISSES_KEPT = 8, MISS_SIZE = 96 };

/// What is counted of a name, from one set to the next.
struct data_counts {
    atomic_uint references;
    atomic_uint_fast64_t hits, misses;
};

struct data_entry {
    char *name;
    struct data_table *table;
    struct data_counts *counts;
    char kept[MISSES_KEPT][MISS_SIZE]; // under the lock
    size_t kept_count;
};

struct data_set {
    atomic_uint references;
    size_t count, capacity;
    bool keeps_misses;
    pthread_mutex_t lock;
    struct data_entry entries[];
};

static void counts_release(struct data_counts *counts)
{
    if (counts != NULL && atomic_fetch_sub_explicit(&counts->references, 1, memory_order_acq_rel) == 1) {
        free(counts);
    }
}

struct data_set *data_set_create(size_t capacity)
{
    struct data_set *set = calloc(1, sizeof(*set) + capacity * sizeof(set->entries[0]));
    if (set != NULL) {
        atomic_init(&set->references, 1);
        pthread_mutex_init(&set->lock, NULL);
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
        data_table_release(&released->entries[i].table);
        counts_release(released->entries[i].counts);
    }
    pthread_mutex_destroy(&released->lock);
    free(released);
}

enum status data_set_add(struct data_set *set, struct text name, struct data_table **table)
{
    require(set->count < set->capacity);
    char *kept = strndup(name.data, name.length);
    struct data_counts *counts = calloc(1, sizeof(*counts));
    if (kept == NULL || counts == NULL) {
        free(kept);
        free(counts);
        return STATUS_NO_MEMORY;
    }
    atomic_init(&counts->references, 1);
    struct data_entry *entry = &set->entries[set->count++];
    entry->name = kept;
    entry->counts = counts;
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

struct data_table *data_set_acquire_table(const struct data_set *set, size_t index)
{
    require(index < set->count);
    return data_table_acquire(set->entries[index].table);
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

void data_set_follow(struct data_set *set, const struct data_set *previous)
{
    for (size_t i = 0; i < data_set_count(previous); i++) {
        ptrdiff_t index = data_set_find(set, text_of(previous->entries[i].name));
        if (index >= 0) {
            counts_release(set->entries[index].counts);
            set->entries[index].counts = previous->entries[i].counts;
            atomic_fetch_add_explicit(&set->entries[index].counts->references, 1, memory_order_relaxed);
        }
    }
}

struct data_set *data_set_apart(const struct data_set *set)
{
    struct data_set *apart = set == NULL ? NULL : data_set_create(set->count);

    for (size_t i = 0; i < data_set_count(set) && apart != NULL; i++) {
        struct data_table *table = data_set_acquire_table(set, i);
        if (data_set_add(apart, text_of(set->entries[i].name), &table) != STATUS_OK) {
            data_table_release(&table);
            data_set_release(&apart);
        }
    }
    return apart;
}

void data_set_note_hit(struct data_set *set, size_t index)
{
    require(index < set->count);
    atomic_fetch_add_explicit(&set->entries[index].counts->hits, 1, memory_order_relaxed);
}

/// "acme/LON", cut where it is long.
static void print_key(const struct data_entry *entry, const struct text *key, char out[MISS_SIZE])
{
    size_t count, length = 0;

    (void)data_table_keys(entry->table, &count);
    out[0] = '\0';
    for (size_t i = 0; i < count && length < MISS_SIZE; i++) {
        int more = snprintf(out + length, MISS_SIZE - length, "%s%.*s", i == 0 ? "" : "/", TEXT_ARGS(key[i]));
        length += more > 0 ? (size_t)more : 0;
    }
}

static void keep_miss(struct data_set *set, struct data_entry *entry, const struct text *key)
{
    char printed[MISS_SIZE];
    bool is_known = false;

    print_key(entry, key, printed);
    pthread_mutex_lock(&set->lock);
    for (size_t i = 0; i < entry->kept_count; i++) {
        is_known = is_known || strcmp(entry->kept[i], printed) == 0;
    }
    if (!is_known && entry->kept_count < MISSES_KEPT) {
        memcpy(entry->kept[entry->kept_count++], printed, sizeof(printed));
    }
    pthread_mutex_unlock(&set->lock);
}

void data_set_note_miss(struct data_set *set, size_t index, const struct text *key)
{
    require(index < set->count);
    atomic_fetch_add_explicit(&set->entries[index].counts->misses, 1, memory_order_relaxed);
    if (set->keeps_misses) {
        keep_miss(set, &set->entries[index], key);
    }
}

uint64_t data_set_hits(const struct data_set *set, size_t index)
{
    require(index < set->count);
    return atomic_load_explicit(&set->entries[index].counts->hits, memory_order_relaxed);
}

uint64_t data_set_misses(const struct data_set *set, size_t index)
{
    require(index < set->count);
    return atomic_load_explicit(&set->entries[index].counts->misses, memory_order_relaxed);
}

void data_set_keep_misses(struct data_set *set)
{
    if (set != NULL) {
        set->keeps_misses = true;
    }
}

void data_set_tell_misses(const struct data_set *set, size_t index, struct buffer *out)
{
    require(index < set->count);
    for (size_t i = 0; i < set->entries[index].kept_count; i++) {
        buffer_printf(out, "%s%s", i == 0 ? "" : ", ", set->entries[index].kept[i]);
    }
}
