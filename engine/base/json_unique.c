#include "base/json_unique.h"

#include "base/arena.h"
#include "base/json_write.h"
#include "base/text_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The keys of all open objects lie behind one another in `keys`, those of a level from its `first` on. A few are
// compared one by one; from LEVEL_FEW on a level has a map, so that an object of many keys costs no more than its size.

enum { LEVEL_FEW = 16 };

struct level {
    bool is_object;
    struct text key; // of the value at hand
    size_t count;    // values so far
    size_t first;    // its first key in `keys`
    bool has_map;
    struct text_map map;
};

struct walk {
    struct json_reader *reader;
    struct text pointer;
    json_duplicate found;
    void *context;
    bool is_enough; // nobody wants to hear of more
    struct level levels[JSON_MAX_DEPTH];
    size_t depth;
    struct text *keys;
    size_t key_count, key_capacity;
    struct arena arena; // keys without their escapes
    struct buffer scratch;
};

/// Appends the whole token or nothing. False: it does not fit, or cannot stand in a pointer.
static bool pointer_take(struct buffer *pointer, struct text token)
{
    size_t before = pointer->length;

    if (token.length >= pointer->ceiling - before || memchr(token.data, '\0', token.length) != NULL) {
        return false;
    }
    json_pointer_append(pointer, token);
    if (pointer->is_full) {
        pointer->length = before;
    }
    return !pointer->is_full;
}

static void walk_tell(struct walk *walk)
{
    struct buffer pointer;
    char number[24];

    buffer_init(&pointer, JSON_UNIQUE_POINTER_MAX);
    bool is_whole = buffer_append_text(&pointer, walk->pointer);
    for (size_t i = 0; i < walk->depth && is_whole; i++) {
        const struct level *level = &walk->levels[i];
        int length = snprintf(number, sizeof number, "%zu", level->count - 1);
        is_whole = pointer_take(&pointer, level->is_object ? level->key : (struct text){ number, (size_t)length });
    }
    struct text told = pointer.length > 0 ? buffer_text(&pointer) : TEXT("");
    walk->is_enough = !walk->found(walk->context, told, !is_whole);
    buffer_fini(&pointer);
}

/// The key that the reader is at; absent without memory.
static struct text walk_key(struct walk *walk)
{
    if (!walk->reader->has_escapes) {
        return walk->reader->value;
    }
    buffer_clear(&walk->scratch);
    return arena_copy(&walk->arena, json_unescape(walk->reader, &walk->scratch));
}

static bool walk_keep(struct walk *walk, struct text key)
{
    if (walk->key_count == walk->key_capacity) {
        size_t capacity = walk->key_capacity == 0 ? 64 : 2 * walk->key_capacity;
        void *grown = realloc(walk->keys, capacity * sizeof *walk->keys);
        if (grown == NULL) {
            return false;
        }
        walk->keys = grown;
        walk->key_capacity = capacity;
    }
    walk->keys[walk->key_count++] = key;
    return true;
}

/// From now on the level looks its keys up.
static bool level_make_map(struct walk *walk, struct level *level)
{
    text_map_init(&level->map);
    level->has_map = true;
    for (size_t i = level->first; i < walk->key_count; i++) {
        if (text_map_insert(&level->map, walk->keys[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static bool level_knows(const struct walk *walk, const struct level *level, struct text key)
{
    if (level->has_map) {
        return text_map_find(&level->map, key) != NULL;
    }
    for (size_t i = level->first; i < walk->key_count; i++) {
        if (text_equals(walk->keys[i], key)) {
            return true;
        }
    }
    return false;
}

static enum status walk_take_key(struct walk *walk)
{
    if (walk->is_enough) {
        return STATUS_OK;
    }
    struct level *level = &walk->levels[walk->depth - 1];
    struct text key = walk_key(walk);
    if (key.data == NULL) {
        return STATUS_NO_MEMORY;
    }
    level->key = key;
    if (level_knows(walk, level, key)) {
        walk_tell(walk);
        return STATUS_OK;
    }
    if (level->has_map) {
        return text_map_insert(&level->map, key) != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    }
    if (!walk_keep(walk, key)) {
        return STATUS_NO_MEMORY;
    }
    bool is_few = walk->key_count - level->first < LEVEL_FEW;
    return is_few || level_make_map(walk, level) ? STATUS_OK : STATUS_NO_MEMORY;
}

static void walk_enter(struct walk *walk, bool is_object)
{
    require(walk->depth < JSON_MAX_DEPTH);
    walk->levels[walk->depth++] = (struct level){ .is_object = is_object, .first = walk->key_count };
}

static void walk_leave(struct walk *walk)
{
    struct level *level = &walk->levels[--walk->depth];

    walk->key_count = level->first;
    if (level->has_map) {
        text_map_fini(&level->map);
    }
}

static enum status walk_take(struct walk *walk, enum json_token token)
{
    switch (token) {
    case JSON_BEGIN_OBJECT:
    case JSON_BEGIN_ARRAY:
        walk_enter(walk, token == JSON_BEGIN_OBJECT);
        return STATUS_OK;
    case JSON_END_OBJECT:
    case JSON_END_ARRAY:
        walk_leave(walk);
        return STATUS_OK;
    case JSON_KEY:
        return walk_take_key(walk);
    case JSON_ERROR:
    case JSON_END:
        return STATUS_INVALID;
    default:
        return STATUS_OK;
    }
}

static enum status walk_run(struct walk *walk, enum json_token token)
{
    enum status status = walk_take(walk, token);

    while (status == STATUS_OK && walk->depth > 0) {
        token = json_next(walk->reader);
        walk->levels[walk->depth - 1].count += token == JSON_END_ARRAY ? 0 : 1;
        status = walk_take(walk, token);
    }
    return status;
}

enum status json_skip_unique(struct json_reader *reader, enum json_token first, struct text pointer,
                             json_duplicate found, void *context)
{
    struct walk walk;

    walk.reader = reader;
    walk.pointer = pointer;
    walk.found = found;
    walk.context = context;
    walk.is_enough = false;
    walk.depth = 0;
    walk.keys = NULL;
    walk.key_count = 0;
    walk.key_capacity = 0;
    arena_init(&walk.arena, reader->input.length * 17 + 1024); // an escaped key takes at least its piece of 16 bytes
    buffer_init(&walk.scratch, reader->input.length);
    enum status status = walk_run(&walk, first);
    while (walk.depth > 0) {
        walk_leave(&walk);
    }
    free(walk.keys);
    arena_fini(&walk.arena);
    buffer_fini(&walk.scratch);
    return status;
}
