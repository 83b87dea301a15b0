// An entry of the index is the nodes in hand of the levels that are looked through, the innermost first: with them the
// keys of an element can be read again.

#include "script/plan_keys.h"

#include "base/redact.h"
#include "script/sandbox.h"

#include <stdio.h>
#include <string.h>

enum { KEYS_PLAIN = 16, NUMBER_SIZE = 12, SHOWN_SIZE = 40 }; // so many elements are looked through one by one

struct names {
    struct text at[PLAN_KEYS_MAX]; // some in `numbers`
    char numbers[PLAN_KEYS_MAX][NUMBER_SIZE];
};

/// One name; false: there is nothing that could be one.
static bool read_name(const struct plan_row *row, const struct plan_path *path, char number[NUMBER_SIZE],
                      struct text *name)
{
    if (plan_is_number(row, path)) {
        uint32_t place = plan_row_number(row, path->level);
        (void)snprintf(number, NUMBER_SIZE, "%u", place);
        *name = text_of(number);
        return place != 0;
    }
    const struct tape_node *node = plan_find(row, path);
    if (!plan_is_name(node)) {
        return false;
    }
    *name = node->text;
    return true;
}

static bool read_names(const struct plan_row *row, const struct plan_path *paths, uint32_t count, struct names *names)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!read_name(row, &paths[i], names->numbers[i], &names->at[i])) {
            return false;
        }
    }
    return true;
}

/// Is the element in hand called so?
static bool is_called(const struct plan_row *row, const struct plan_keys *keys, const struct names *wanted)
{
    struct names names = { 0 };

    if (!read_names(row, keys->key, keys->count, &names)) {
        return false;
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        if (!text_equals(names.at[i], wanted->at[i])) {
            return false;
        }
    }
    return true;
}

static void take_in_hand(struct plan_row *row, const struct plan_keys *keys, const uint32_t *entry)
{
    for (uint32_t level = keys->level; level != keys->base; level = row->plan->levels[level].outer) {
        row->at[level] = *entry++;
    }
}

static void note_in_hand(const struct plan_row *row, const struct plan_keys *keys, uint32_t *entry)
{
    for (uint32_t level = keys->level; level != keys->base; level = row->plan->levels[level].outer) {
        *entry++ = row->at[level];
    }
}

static void leave(struct plan_row *row, const struct plan_keys *keys)
{
    static const uint32_t nowhere[PLAN_LEVELS_MAX] = { 0 };
    take_in_hand(row, keys, nowhere);
}

/// The entry of an element of those names, which is in hand then, or the empty one where it would be.
static uint32_t *find_entry(struct plan_row *row, uint32_t level, const struct names *names)
{
    const struct plan_keys *keys = row->plan->levels[level].keys;
    uint32_t *slots = &row->tape->slots[row->slots[level]];
    uint64_t hash = 0;

    for (uint32_t i = 0; i < keys->count; i++) {
        hash = text_hash_on(hash, names->at[i]);
    }
    for (uint32_t slot = (uint32_t)(hash >> 7) & row->mask[level];; slot = (slot + 1) & row->mask[level]) {
        uint32_t *entry = &slots[(size_t)slot * keys->depth];
        if (*entry == 0) {
            return entry;
        }
        take_in_hand(row, keys, entry);
        if (is_called(row, keys, names)) {
            return entry;
        }
    }
}

/// An open hash of the elements, of equal names to the first. Without memory there is none.
static void index_elements(struct plan_row *row, uint32_t level, uint32_t count)
{
    const struct plan_keys *keys = row->plan->levels[level].keys;
    uint32_t here[PLAN_LEVELS_MAX];
    struct names names = { 0 };
    uint32_t size = 4;

    while (size < count * 2) {
        size *= 2;
    }
    uint32_t needed = size * keys->depth;
    if (needed <= row->room[level]) {
        memset(&row->tape->slots[row->slots[level]], 0, needed * sizeof(uint32_t));
    } else if (tape_take_slots(row->tape, needed, &row->slots[level])) {
        row->room[level] = needed;
    } else {
        return;
    }
    row->mask[level] = size - 1;
    while (plan_row_next(row, keys->level, keys->base)) {
        sandbox_stop_here(row->L);
        if (!read_names(row, keys->key, keys->count, &names)) {
            continue;
        }
        note_in_hand(row, keys, here);
        uint32_t *entry = find_entry(row, level, &names);
        if (*entry == 0) {
            memcpy(entry, here, keys->depth * sizeof(uint32_t));
        }
        take_in_hand(row, keys, here);
    }
}

/// The list begins at another element than before.
static void begin_list(struct plan_row *row, uint32_t level)
{
    const struct plan_keys *keys = row->plan->levels[level].keys;
    uint32_t count = 0;

    row->based[level] = row->at[keys->base];
    row->mask[level] = 0;
    while (plan_row_next(row, keys->level, keys->base)) {
        sandbox_stop_here(row->L);
        count++;
    }
    if (count > KEYS_PLAIN) {
        index_elements(row, level, count);
    }
}

/// … is in hand then.
static bool look_up(struct plan_row *row, uint32_t level, const struct names *names)
{
    const struct plan_keys *keys = row->plan->levels[level].keys;

    if (row->mask[level] != 0) {
        return *find_entry(row, level, names) != 0;
    }
    while (plan_row_next(row, keys->level, keys->base)) {
        sandbox_stop_here(row->L);
        if (is_called(row, keys, names)) {
            return true;
        }
    }
    return false;
}

uint32_t plan_keys_find(struct plan_row *row, uint32_t level)
{
    const struct plan_keys *keys = row->plan->levels[level].keys;
    struct names names = { 0 };

    sandbox_stop_here(row->L);
    leave(row, keys);
    row->at[level] = 0;
    if (row->at[keys->base] == 0 || !read_names(row, keys->reference, keys->count, &names)) {
        return 0;
    }
    if (row->based[level] != row->at[keys->base]) {
        begin_list(row, level);
    }
    if (look_up(row, level, &names)) {
        row->at[level] = row->at[keys->level];
    } else {
        leave(row, keys);
    }
    return row->at[level];
}

bool plan_keys_are_there(const struct plan_row *row, const struct plan_keys *keys)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        const struct plan_path *path = &keys->reference[i];
        const struct tape_node *node = plan_is_number(row, path) ? NULL : plan_find(row, path);
        bool is_there = node != NULL ? node->kind != TAPE_NONE && node->kind != TAPE_NULL : plan_is_number(row, path);
        if (!is_there) {
            return false;
        }
    }
    return true;
}

void plan_keys_print(const struct plan_row *row, const struct plan_keys *keys, char *shown, size_t size)
{
    char number[NUMBER_SIZE], part[SHOWN_SIZE];
    size_t length = 0;

    for (uint32_t i = 0; i < keys->count && length < size; i++) {
        struct text name;
        if (!read_name(row, &keys->reference[i], number, &name)) {
            name = TEXT("?");
        }
        (void)redact_copy(part, sizeof part, name);
        int added = snprintf(shown + length, size - length, "%s%s", i > 0 ? ", " : "", part);
        length += added > 0 ? (size_t)added : 0;
    }
}
