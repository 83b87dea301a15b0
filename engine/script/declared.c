#include "script/declared.h"

#include "base/json_read.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS_FIRST = 4, PATH_DEPTH_MAX = 64 };

struct declared *declared_root(struct arena *arena)
{
    return arena_alloc(arena, sizeof(struct declared));
}

static uint32_t name_slot(struct text name, uint32_t mask)
{
    return (uint32_t)(text_hash(name) >> 7) & mask;
}

struct declared *declared_find(const struct declared *object, struct text name)
{
    if (object->places == NULL) {
        return NULL;
    }
    for (uint32_t slot = name_slot(name, object->mask); object->places[slot] != 0; slot = (slot + 1) & object->mask) {
        struct declared *member = object->members[object->places[slot] - 1];
        if (text_equals(member->name, name)) {
            return member;
        }
    }
    return NULL;
}

static void index_member(struct declared *object, uint32_t place)
{
    uint32_t slot = name_slot(object->members[place]->name, object->mask);

    while (object->places[slot] != 0) {
        slot = (slot + 1) & object->mask;
    }
    object->places[slot] = (uint8_t)(place + 1);
}

/// Twice the room, at most a quarter of the hash used. What was there before stays in the arena.
static bool grow(struct arena *arena, struct declared *object)
{
    uint32_t room = object->places == NULL ? MEMBERS_FIRST : (object->mask + 1) / 2;
    struct declared **members = arena_alloc_array(arena, room, sizeof(struct declared *));
    uint8_t *places = arena_alloc(arena, (size_t)room * 4);

    if (members == NULL || places == NULL) {
        return false;
    }
    if (object->member_count > 0) {
        memcpy(members, object->members, object->member_count * sizeof(struct declared *));
    }
    object->members = members;
    object->places = places;
    object->mask = room * 4 - 1;
    for (uint32_t i = 0; i < object->member_count; i++) {
        index_member(object, i);
    }
    return true;
}

enum declared_result declared_member(struct arena *arena, struct declared *node, struct text name,
                                     struct declared **member)
{
    if (node->kind != DECLARED_OBJECT && node->kind != DECLARED_SCALAR) {
        return DECLARED_CONFLICT;
    }
    if (node->kind == DECLARED_OBJECT && (*member = declared_find(node, name)) != NULL) {
        return DECLARED_OK;
    }
    if (node->member_count == DECLARED_MEMBERS_MAX - 1 || name.length > DECLARED_NAME_MAX) {
        return DECLARED_TOO_MANY;
    }
    struct declared *made = arena_alloc(arena, sizeof *made);
    bool has_room = node->places != NULL && node->member_count < (node->mask + 1) / 4;
    if (made == NULL || (!has_room && !grow(arena, node))) {
        return DECLARED_NO_MEMORY;
    }
    *made = (struct declared){ .parent = node, .place = node->member_count, .spelt = json_spell_key(arena, name) };
    if (made->spelt.data == NULL) {
        return DECLARED_NO_MEMORY;
    }
    made->name = json_spelt_name(made->spelt);
    node->kind = DECLARED_OBJECT;
    node->members[node->member_count++] = made;
    index_member(node, made->place);
    *member = made;
    return DECLARED_OK;
}

enum declared_result declared_element(struct arena *arena, struct declared *node, enum declared_kind kind,
                                      struct declared **element)
{
    if (node->kind == kind) {
        *element = node->element;
        return DECLARED_OK;
    }
    if (node->kind != DECLARED_SCALAR) {
        return DECLARED_CONFLICT;
    }
    struct declared *made = declared_root(arena);
    if (made == NULL) {
        return DECLARED_NO_MEMORY;
    }
    made->parent = node;
    node->kind = kind;
    node->element = made;
    *element = made;
    return DECLARED_OK;
}

void declared_path(const struct declared *node, char *out, size_t size)
{
    const struct declared *chain[PATH_DEPTH_MAX];
    size_t depth = 0;
    size_t length = 0;

    for (const struct declared *at = node; at->parent != NULL && depth < PATH_DEPTH_MAX; at = at->parent) {
        chain[depth++] = at;
    }
    (void)snprintf(out, size, "%s", depth == 0 ? "." : "");
    while (depth > 0 && length < size) {
        const struct declared *at = chain[--depth];
        bool is_member = at->parent->kind == DECLARED_OBJECT;
        const char *mark = at->parent->kind == DECLARED_LIST ? "[]" : "{}";
        int added = is_member
                        ? snprintf(out + length, size - length, "%s%.*s", length > 0 ? "." : "", TEXT_ARGS(at->name))
                        : snprintf(out + length, size - length, "%s", mark);
        length += added > 0 ? (size_t)added : 0;
    }
}
