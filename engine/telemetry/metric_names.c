#include "telemetry/metric_names.h"

#include "base/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct metric_name {
    struct metric_name *next; // of its bucket; like the hash and the name it never changes
    uint64_t hash;
    atomic_size_t line;
    bool is_wanted; // of who sets the names
    size_t length;
    char name[];
};

enum status metric_names_init(struct metric_names *names, size_t most)
{
    *names = (struct metric_names){ .most = most };
    names->lines = calloc(most + 1, sizeof(*names->lines));
    names->buckets = calloc(METRIC_NAMES_BUCKETS, sizeof(*names->buckets));
    if (names->lines == NULL || names->buckets == NULL) {
        metric_names_fini(names);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

void metric_names_fini(struct metric_names *names)
{
    for (size_t i = 0; names->buckets != NULL && i < METRIC_NAMES_BUCKETS; i++) {
        struct metric_name *entry = atomic_load(&names->buckets[i]);
        while (entry != NULL) {
            struct metric_name *next = entry->next;
            free(entry);
            entry = next;
        }
    }
    free(names->buckets);
    free(names->lines);
    *names = (struct metric_names){ .most = 0 };
}

static struct text name_cut(struct text name)
{
    return (struct text){ name.data, name.length < METRIC_NAME_MAX ? name.length : METRIC_NAME_MAX };
}

static struct metric_name *names_lookup(const struct metric_names *names, struct text name)
{
    uint64_t hash = text_hash(name);
    struct metric_name *entry =
        atomic_load_explicit(&names->buckets[hash % METRIC_NAMES_BUCKETS], memory_order_acquire);

    while (entry != NULL && (entry->hash != hash || !text_equals(name, (struct text){ entry->name, entry->length }))) {
        entry = entry->next;
    }
    return entry;
}

size_t metric_names_find(const struct metric_names *names, struct text name)
{
    const struct metric_name *entry = names_lookup(names, name_cut(name));
    return entry == NULL ? names->most : atomic_load_explicit(&entry->line, memory_order_relaxed);
}

const char *metric_names_at(const struct metric_names *names, size_t line)
{
    const struct metric_name *entry = atomic_load_explicit(&names->lines[line], memory_order_acquire);
    return entry == NULL ? NULL : entry->name;
}

/// NULL: no memory, or too many.
static struct metric_name *names_enter(struct metric_names *names, struct text name)
{
    struct metric_name *entry = names_lookup(names, name);

    if (entry != NULL || names->ever == METRIC_NAMES_EVER) {
        return entry;
    }
    entry = calloc(1, sizeof(*entry) + name.length + 1);
    if (entry == NULL) {
        return NULL;
    }
    if (name.length > 0) {
        memcpy(entry->name, name.data, name.length);
    }
    entry->length = name.length;
    entry->hash = text_hash(name);
    atomic_init(&entry->line, names->most);
    _Atomic(struct metric_name *) *bucket = &names->buckets[entry->hash % METRIC_NAMES_BUCKETS];
    entry->next = atomic_load_explicit(bucket, memory_order_relaxed);
    atomic_store_explicit(bucket, entry, memory_order_release);
    names->ever++;
    return entry;
}

/// A line that nobody has, else one of a name that is gone; `most`: all are in use.
static size_t names_room(const struct metric_names *names)
{
    size_t room = names->most;

    for (size_t i = 0; i < names->most; i++) {
        const struct metric_name *owner = atomic_load_explicit(&names->lines[i], memory_order_relaxed);
        if (owner == NULL) {
            return i;
        }
        if (!owner->is_wanted && room == names->most) {
            room = i;
        }
    }
    return room;
}

static void names_give_line(struct metric_names *names, struct metric_name *entry,
                            void (*on_reuse)(void *context, size_t line), void *context)
{
    size_t line = names_room(names);

    if (line == names->most) {
        return;
    }
    struct metric_name *owner = atomic_load_explicit(&names->lines[line], memory_order_relaxed);
    if (owner != NULL) {
        atomic_store_explicit(&owner->line, names->most, memory_order_relaxed);
        on_reuse(context, line);
    }
    atomic_store_explicit(&names->lines[line], entry, memory_order_release);
    atomic_store_explicit(&entry->line, line, memory_order_relaxed);
}

void metric_names_set(struct metric_names *names, const struct text *wanted, size_t count,
                      void (*on_reuse)(void *context, size_t line), void *context)
{
    for (size_t i = 0; i < METRIC_NAMES_BUCKETS; i++) {
        struct metric_name *entry = atomic_load_explicit(&names->buckets[i], memory_order_relaxed);
        for (; entry != NULL; entry = entry->next) {
            entry->is_wanted = false;
        }
    }
    for (size_t i = 0; i < count; i++) { // all of them before any line changes hands
        struct metric_name *entry = names_enter(names, name_cut(wanted[i]));
        if (entry != NULL) {
            entry->is_wanted = true;
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct metric_name *entry = names_lookup(names, name_cut(wanted[i]));
        if (entry != NULL && atomic_load_explicit(&entry->line, memory_order_relaxed) == names->most) {
            names_give_line(names, entry, on_reuse, context);
        }
    }
}
