// Documents are kept by a weak table in the registry: they are as long-lived as without it. The walk is one of depth
// first over plain tables, by identity, and asks no metamethod.

#include "script/trouble_path.h"

#include "base/plain.h"
#include "base/redact.h"
#include "script/freeze.h"
#include "script/plan_where.h"
#include "script/sandbox.h"
#include "script/trouble_chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_DEPTH = 64, PATH_STACK = 4, KEY_SHOWN = 40, KEYS_LOOKED_AT = 5000, NEAREST_MAX = 64 };

static const char roots_key; // registry: documents by number, weak

void trouble_open_roots(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&roots_key);
    lua_createtable(L, TROUBLE_ROOTS_MAX, 0);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

void trouble_keep_root(lua_State *L, bool is_declared)
{
    struct trouble *trouble = sandbox_trouble(L);

    if (trouble == NULL || !lua_istable(L, -1)) {
        return;
    }
    lua_pushlightuserdata(L, (void *)(uintptr_t)&roots_key);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_istable(L, -1)) {
        lua_pushvalue(L, -2);
        uint32_t place = trouble->root_count++ % TROUBLE_ROOTS_MAX;
        trouble->declared = (trouble->declared & ~(1U << place)) | (uint32_t)is_declared << place;
        lua_rawseti(L, -2, (int)place + 1);
    }
    lua_pop(L, 1);
}

// ---- keys

/// A key as it is shown: cut, in one line, without secrets; as a name, or in brackets.
static void show_key(char *place, size_t size, struct text key)
{
    char shown[KEY_SHOWN + 1];

    (void)redact_copy(shown, sizeof shown, key);
    plain_clean(shown, strlen(shown));
    (void)snprintf(place, size, "%s", shown);
}

/// The smallest keys, in their order.
struct key_list {
    char items[TROUBLE_KEYS_MAX][KEY_SHOWN + 1];
    size_t count, all;
};

static void add_key(struct key_list *list, struct text key)
{
    char shown[KEY_SHOWN + 1];
    size_t at = list->count;

    show_key(shown, sizeof shown, key);
    list->all++;
    while (at > 0 && strcmp(list->items[at - 1], shown) > 0) {
        at--;
    }
    if (at == TROUBLE_KEYS_MAX) {
        return;
    }
    size_t moved = list->count - at - (list->count == TROUBLE_KEYS_MAX ? 1 : 0);
    memmove(list->items[at + 1], list->items[at], moved * sizeof list->items[0]);
    memcpy(list->items[at], shown, sizeof shown);
    list->count += list->count < TROUBLE_KEYS_MAX ? 1 : 0;
}

void trouble_keys(lua_State *L, int table, char keys[TROUBLE_KEYS])
{
    struct key_list list = { .count = 0 };
    size_t length = 0, looked = 0;
    int top = lua_gettop(L);

    keys[0] = '\0';
    if (!lua_checkstack(L, PATH_STACK)) {
        return;
    }
    for (lua_pushnil(L); looked++ < KEYS_LOOKED_AT && lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            struct text key;
            key.data = lua_tolstring(L, -2, &key.length);
            add_key(&list, key);
        }
    }
    lua_settop(L, top);
    if (list.all == 0) {
        size_t items = lua_objlen(L, table);
        (void)snprintf(keys, TROUBLE_KEYS, items == 0 ? "{ }" : "a list of %zu", items);
        return;
    }
    for (size_t i = 0; i < list.count && length < TROUBLE_KEYS - KEY_SHOWN - 16; i++) {
        length += (size_t)snprintf(keys + length, TROUBLE_KEYS - length, "%s%s", i == 0 ? "{ " : ", ", list.items[i]);
    }
    (void)snprintf(keys + length, TROUBLE_KEYS - length, list.all > list.count ? ", ... }" : " }");
}

bool trouble_nearest(lua_State *L, int table, const char *name, char *place, size_t size)
{
    const char *names[NEAREST_MAX];
    size_t count = 0, looked = 0;
    int top = lua_gettop(L);

    for (lua_pushnil(L); count < NEAREST_MAX && looked++ < KEYS_LOOKED_AT && lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            names[count++] = lua_tostring(L, -2); // as long as the table keeps it
        }
    }
    const char *nearest = text_nearest(text_of(name), names, count);
    if (nearest != NULL) {
        show_key(place, size, text_of(nearest));
    }
    lua_settop(L, top);
    return nearest != NULL;
}

// ---- the way to a table

struct walk {
    lua_State *L;
    const void *target;
    size_t steps;
    size_t length;
    char *path;
};

/// Appends the key at `index`; the length before it.
static size_t walk_append(struct walk *walk, int index)
{
    size_t before = walk->length, room = TROUBLE_PATH - walk->length;
    char shown[KEY_SHOWN + 1] = "?";
    int added;

    if (lua_type(walk->L, index) == LUA_TNUMBER) {
        added = snprintf(walk->path + before, room, "[%.14g]", lua_tonumber(walk->L, index));
    } else {
        struct text key = { "?", 1 };
        if (lua_type(walk->L, index) == LUA_TSTRING) {
            key.data = lua_tolstring(walk->L, index, &key.length);
        }
        show_key(shown, sizeof shown, key);
        added = snprintf(walk->path + before, room, chain_is_name(text_of(shown)) ? ".%s" : "[\"%s\"]", shown);
    }
    walk->length += added < 0 ? 0 : (size_t)added < room ? (size_t)added : room - 1;
    return before;
}

/// Is the target the table on top, or below it? `path` leads there then.
static bool walk_table(struct walk *walk, int depth)
{
    lua_State *L = walk->L;
    int top = lua_gettop(L);

    if (lua_topointer(L, top) == walk->target) {
        return true;
    }
    if (depth == PATH_DEPTH || !lua_checkstack(L, PATH_STACK)) {
        return false;
    }
    for (lua_pushnil(L); lua_next(L, top) != 0; lua_settop(L, top + 1)) {
        if (++walk->steps > TROUBLE_STEPS || sandbox_is_interrupted(L)) {
            break;
        }
        if (!lua_istable(L, -1)) {
            continue;
        }
        size_t before = walk_append(walk, top + 1);
        if (walk_table(walk, depth + 1)) {
            lua_settop(L, top);
            return true;
        }
        walk->length = before;
        walk->path[before] = '\0';
    }
    lua_settop(L, top);
    return false;
}

/// From the table on top, which is popped, and stands at what `path` holds.
static bool walk_from(struct walk *walk)
{
    walk->length = strlen(walk->path);
    bool is_found = walk_table(walk, 0);

    lua_pop(walk->L, 1);
    return is_found;
}

static bool find_in_roots(struct walk *walk, const struct trouble *trouble, bool *is_declared)
{
    lua_State *L = walk->L;
    bool is_found = false;

    lua_pushlightuserdata(L, (void *)(uintptr_t)&roots_key);
    lua_rawget(L, LUA_REGISTRYINDEX);
    for (uint32_t i = 0; i < trouble->root_count && i < TROUBLE_ROOTS_MAX && !is_found && lua_istable(L, -1); i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        if (lua_istable(L, -1)) {
            (void)snprintf(walk->path, TROUBLE_PATH, "body");
            is_found = walk_from(walk);
            *is_declared = (trouble->declared & 1U << i) != 0;
        } else {
            lua_pop(L, 1); // collected
        }
    }
    lua_pop(L, 1);
    return is_found;
}

/// The level of the function that the plan in hand has called, at `level` or further out; -1: it did not.
static int level_of_call(lua_State *L, const struct trouble *trouble, int level)
{
    lua_Debug where;

    for (; lua_getstack(L, level + 1, &where) != 0 && lua_getinfo(L, "f", &where) != 0; level++) {
        bool is_plan = lua_iscfunction(L, -1) && plan_at(L, lua_gettop(L)) == trouble->row->plan;
        lua_pop(L, 1);
        if (is_plan) {
            return level;
        }
    }
    return -1;
}

/// What the plan's function was given are its parameters, unless it has set them to something else since, or another
/// function stands in its place (a tail call).
static bool find_in_arguments(struct walk *walk, const struct trouble *trouble, int level)
{
    lua_State *L = walk->L;
    lua_Debug where;

    level = trouble->row == NULL ? -1 : level_of_call(L, trouble, level);
    if (level < 0 || lua_getstack(L, level, &where) == 0) {
        return false;
    }
    for (int number = 1; plan_where(trouble->row, number, walk->path, TROUBLE_PATH); number++) {
        if (lua_getlocal(L, &where, number) == NULL) {
            return false;
        }
        bool is_given = number <= PLAN_GIVEN_MAX && lua_topointer(L, -1) == trouble->row->given[number - 1];
        if (!lua_istable(L, -1) || !is_given) {
            lua_pop(L, 1);
        } else if (walk_from(walk)) {
            return true;
        }
    }
    return false;
}

bool trouble_path(lua_State *L, const struct trouble *trouble, int table, int level, char path[TROUBLE_PATH],
                  bool *is_declared)
{
    struct walk walk = { .L = L, .target = lua_topointer(L, table), .path = path };

    path[0] = '\0';
    if (!lua_checkstack(L, 2 * PATH_STACK)) {
        return false;
    }
    bool is_found = find_in_roots(&walk, trouble, is_declared);
    if (!is_found && find_in_arguments(&walk, trouble, level)) {
        *is_declared = true;
        is_found = true;
    }
    if (!is_found) {
        path[0] = '\0';
    }
    return is_found;
}
