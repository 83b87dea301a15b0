#include "app/switches.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

// The loops ask for each attempt, and mostly there is no switch at all: then `count` alone tells. Else they compare
// hashes under the lock, of a few entries as a rule.

struct switch_entry {
    uint64_t hash; // of the supplier's name
    struct switch_item item;
};

struct switches {
    atomic_size_t count; // written under the lock
    pthread_mutex_t lock;
    struct switch_entry entries[SWITCHES_MAX]; // in the order in which they were set
};

/// One row, one kind.
static const struct {
    const char *name;
    enum switch_about about;
} KINDS[SWITCH_KIND_COUNT] = {
    [SWITCH_DISABLED] = { "disabled", SWITCH_ABOUT_ASKING },
    [SWITCH_DRAINING] = { "draining", SWITCH_ABOUT_ASKING },
    [SWITCH_BREAKER_OPEN] = { "breaker_open", SWITCH_ABOUT_BREAKER },
    [SWITCH_BREAKER_CLOSED] = { "breaker_closed", SWITCH_ABOUT_BREAKER },
    [SWITCH_CEILING] = { "ceiling", SWITCH_ABOUT_CEILING },
};

const char *switch_kind_name(enum switch_kind kind)
{
    return KINDS[kind].name;
}

bool switch_kind_read(struct text name, enum switch_kind *kind)
{
    for (size_t i = 0; i < SWITCH_KIND_COUNT; i++) {
        if (text_equals_c(name, KINDS[i].name)) {
            *kind = (enum switch_kind)i;
            return true;
        }
    }
    return false;
}

enum switch_about switch_about_of(enum switch_kind kind)
{
    return KINDS[kind].about;
}

enum status switches_create(struct switches **switches)
{
    struct switches *made = calloc(1, sizeof(*made));

    *switches = made;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    require(pthread_mutex_init(&made->lock, NULL) == 0);
    return STATUS_OK;
}

void switches_destroy(struct switches **switches)
{
    if (*switches != NULL) {
        pthread_mutex_destroy(&(*switches)->lock);
        free(*switches);
        *switches = NULL;
    }
}

/// Under the lock; NULL: there is none, whether its end has come or not.
static struct switch_entry *find(struct switches *switches, enum switch_about about, struct text supplier,
                                 struct text account)
{
    uint64_t hash = text_hash(supplier);
    size_t count = atomic_load(&switches->count);

    for (size_t i = 0; i < count; i++) {
        struct switch_entry *entry = &switches->entries[i];
        if (entry->hash == hash && switch_about_of(entry->item.kind) == about &&
            text_equals_c(supplier, entry->item.supplier) && text_equals_c(account, entry->item.account)) {
            return entry;
        }
    }
    return NULL;
}

static void take_out(struct switches *switches, struct switch_entry *entry)
{
    size_t count = atomic_load(&switches->count);
    size_t behind = count - 1 - (size_t)(entry - switches->entries);

    memmove(entry, entry + 1, behind * sizeof(*entry));
    atomic_store(&switches->count, count - 1);
}

static const struct text ALL_ACCOUNTS = TEXT("");

static bool look(struct switches *switches, enum switch_about about, struct text supplier, struct text account,
                 uint64_t now_us, struct switch_item *found)
{
    const struct switch_entry *entry = find(switches, about, supplier, account);

    if (entry == NULL || now_us >= entry->item.until_us) {
        return false;
    }
    if (found != NULL) {
        *found = entry->item;
    }
    return true;
}

bool switches_are_none(struct switches *switches)
{
    return switches == NULL || atomic_load(&switches->count) == 0;
}

bool switches_find(struct switches *switches, enum switch_about about, struct text supplier, struct text account,
                   uint64_t now_us, struct switch_item *found)
{
    if (switches_are_none(switches)) {
        return false;
    }
    pthread_mutex_lock(&switches->lock);
    bool is_found = look(switches, about, supplier, ALL_ACCOUNTS, now_us, found) ||
                    (account.length > 0 && look(switches, about, supplier, account, now_us, found));
    pthread_mutex_unlock(&switches->lock);
    return is_found;
}

bool switches_look(struct switches *switches, enum switch_about about, struct text supplier, struct text account,
                   uint64_t now_us, struct switch_item *found)
{
    if (switches_are_none(switches)) {
        return false;
    }
    pthread_mutex_lock(&switches->lock);
    bool is_found = look(switches, about, supplier, account, now_us, found);
    pthread_mutex_unlock(&switches->lock);
    return is_found;
}

enum status switches_set(struct switches *switches, const struct switch_item *item)
{
    enum status status = STATUS_OK;

    pthread_mutex_lock(&switches->lock);
    size_t count = atomic_load(&switches->count);
    struct switch_entry *entry =
        find(switches, switch_about_of(item->kind), text_of(item->supplier), text_of(item->account));
    if (entry != NULL) {
        entry->item = *item;
    } else if (count < SWITCHES_MAX) {
        switches->entries[count] = (struct switch_entry){ text_hash(text_of(item->supplier)), *item };
        atomic_store(&switches->count, count + 1);
    } else {
        status = STATUS_FULL;
    }
    pthread_mutex_unlock(&switches->lock);
    return status;
}

bool switches_remove(struct switches *switches, enum switch_about about, struct text supplier, struct text account)
{
    pthread_mutex_lock(&switches->lock);
    struct switch_entry *entry = find(switches, about, supplier, account);
    if (entry != NULL) {
        take_out(switches, entry);
    }
    pthread_mutex_unlock(&switches->lock);
    return entry != NULL;
}

bool switches_take_over(struct switches *switches, uint64_t now_us, struct switch_item *over)
{
    bool is_found = false;

    pthread_mutex_lock(&switches->lock);
    for (size_t i = 0; i < atomic_load(&switches->count) && !is_found; i++) {
        struct switch_entry *entry = &switches->entries[i];
        is_found = now_us >= entry->item.until_us;
        if (is_found) {
            *over = entry->item;
            take_out(switches, entry);
        }
    }
    pthread_mutex_unlock(&switches->lock);
    return is_found;
}

size_t switches_list(struct switches *switches, struct switch_item *items)
{
    if (switches == NULL) {
        return 0;
    }
    pthread_mutex_lock(&switches->lock);
    size_t count = atomic_load(&switches->count);
    for (size_t i = 0; i < count; i++) {
        items[i] = switches->entries[i].item;
    }
    pthread_mutex_unlock(&switches->lock);
    return count;
}

uint64_t switches_next_us(struct switches *switches)
{
    uint64_t next_us = SWITCH_NEVER;

    pthread_mutex_lock(&switches->lock);
    for (size_t i = 0; i < atomic_load(&switches->count); i++) {
        uint64_t until_us = switches->entries[i].item.until_us;
        next_us = until_us < next_us ? until_us : next_us;
    }
    pthread_mutex_unlock(&switches->lock);
    return next_us;
}

bool switch_read_for(struct text words, uint64_t *for_us, struct value_problem *problem)
{
    static const struct value_problem RANGE = { "is too short or too long", "from 1s to 366d" };
    bool is_minutes = words.length > 1 && words.length < 20 && words.data[words.length - 1] == 'm';
    char spelt[32];

    if (is_minutes) { // of operators' durations nobody means milliseconds
        (void)snprintf(spelt, sizeof(spelt), "%.*sin", TEXT_ARGS(words));
        words = text_of(spelt);
    }
    if (!value_duration(words, for_us, problem)) {
        *problem = (struct value_problem){ "is not a duration", "write it like 90s, 30m, 2h or 7d" };
        return false;
    }
    if (*for_us < 1000000 || *for_us > SWITCH_LONGEST_US) {
        *problem = RANGE;
        return false;
    }
    return true;
}

bool switch_read_ceiling(struct text words, uint64_t *ceiling_us, struct value_problem *problem)
{
    if (!value_duration(words, ceiling_us, problem)) {
        *problem = (struct value_problem){ "is not a duration", "write it like 900ms or 2s" };
        return false;
    }
    if (*ceiling_us < 1000 || *ceiling_us > SWITCH_CEILING_MOST_US) {
        *problem = (struct value_problem){ "is too short or too long", "from 1ms to 5min" };
        return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------------------------- telling

static uint64_t left_us(const struct switch_item *item, uint64_t now_us)
{
    return item->until_us > now_us ? item->until_us - now_us : 0;
}

void switch_print(const struct switch_item *item, uint64_t now_us, uint64_t wall_us, char *out, size_t size)
{
    char until[CLOCK_UTC_SIZE] = "";
    bool has_end = item->until_us != SWITCH_NEVER;

    if (has_end) {
        (void)clock_print_utc(wall_us + left_us(item, now_us), until);
    }
    (void)snprintf(out, size, "by %s%s%s%s%s", item->who[0] != '\0' ? item->who : "an operator",
                   has_end ? " until " : "", until, item->why[0] != '\0' ? ": " : "", item->why);
}

void switch_write(const struct switch_item *item, uint64_t now_us, uint64_t wall_us, struct json_writer *json)
{
    char at[CLOCK_UTC_SIZE];

    json_begin_object(json);
    json_field_c(json, "state", switch_kind_name(item->kind));
    if (item->kind == SWITCH_CEILING) {
        json_field_u64(json, "ceiling_ms", item->ceiling_us / 1000);
    }
    if (item->account[0] != '\0') {
        json_field_c(json, "account", item->account);
    }
    if (item->who[0] != '\0') {
        json_field_c(json, "who", item->who);
    }
    if (item->why[0] != '\0') {
        json_field_c(json, "why", item->why);
    }
    (void)clock_print_utc(item->since_wall_us, at);
    json_field_c(json, "since", at);
    if (item->until_us != SWITCH_NEVER) {
        (void)clock_print_utc(wall_us + left_us(item, now_us), at);
        json_field_c(json, "until", at);
        json_field_u64(json, "ends_in_ms", left_us(item, now_us) / 1000);
    }
    json_end_object(json);
}
