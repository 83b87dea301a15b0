// A watched table has a metatable whose `__index` is asked for what it lacks; its view's `__index` is the table, so the
// interpreter gets there by itself. The function has the path of its table, and what is needed to judge a name. Our own
// C code reads the same tables with lua_getfield: what no function of Lua asks for is nil.

#include "script/field_watch.h"

#include "script/freeze.h"
#include "script/trouble.h"

#include <ctype.h>
#include <lauxlib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 64, PATH_SIZE = 160, DEPTH_MAX = 6 };

static bool is_of_word(char byte)
{
    return isalnum((unsigned char)byte) != 0 || byte == '_';
}

/// A word by itself; a form that begins otherwise needs nothing before it.
static bool has_form(struct text source, struct text word)
{
    const char *at = source.data, *end = source.data == NULL ? NULL : source.data + source.length;

    while (at != NULL && (at = memmem(at, (size_t)(end - at), word.data, word.length)) != NULL) {
        const char *behind = at + word.length;
        if ((at == source.data || !is_of_word(word.data[0]) || !is_of_word(at[-1])) &&
            (behind == end || !is_of_word(behind[-1]) || !is_of_word(*behind))) {
            return true;
        }
        at++;
    }
    return false;
}

/// Is the name written as that of a field, `.name` or `["name"]`? One out of a variable may well be of nothing.
static bool is_written(struct text source, const char *name)
{
    char forms[3][80];
    bool is_there = false;

    (void)snprintf(forms[0], sizeof forms[0], ".%s", name);
    (void)snprintf(forms[1], sizeof forms[1], "[\"%s\"]", name);
    (void)snprintf(forms[2], sizeof forms[2], "['%s']", name);
    for (size_t i = 0; i < COUNT_OF(forms) && !is_there; i++) {
        is_there = has_form(source, text_of(forms[i]));
    }
    return is_there;
}

/// Does a script ask for the name, as one that is written in it?
static bool is_asked_by_script(lua_State *L, const char *name)
{
    const struct trouble *trouble = sandbox_trouble(L);
    struct text path, source;
    lua_Debug caller;

    if (lua_getstack(L, 1, &caller) == 0 || lua_getinfo(L, "S", &caller) == 0 || strcmp(caller.what, "C") == 0) {
        return false;
    }
    bool has_source = trouble != NULL && trouble->find_source != NULL &&
                      trouble->find_source(trouble->context, text_of(caller.short_src), &path, &source);
    return has_source && is_written(source, name);
}

_Noreturn static void refuse(lua_State *L, const char *path, const char *name, const char *const *known, size_t count)
{
    const char *nearest = text_nearest(text_of(name), known, count);
    char all[200] = "";
    size_t length = 0;

    trouble_code(L, CODE_NAME_UNKNOWN);
    if (nearest != NULL) {
        luaL_error(L, "there is no %s.%s: did you mean \"%s\"?", path, name, nearest);
    }
    for (size_t i = 0; i < count && length < sizeof all; i++) {
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", i == 0 ? "" : ", ", known[i]);
    }
    if (length >= sizeof all) {
        memcpy(all + sizeof all - 4, "...", 4);
    }
    luaL_error(L, "there is no %s.%s: it has %s", path, name, count > 0 ? all : "no fields");
    __builtin_unreachable(); // luaL_error does not return, but its header does not say so
}

void field_watch_refuse(lua_State *L, const char *path, int index, const char *const *known, size_t count)
{
    if (lua_type(L, index) == LUA_TSTRING && is_asked_by_script(L, lua_tostring(L, index))) {
        refuse(L, path, lua_tostring(L, index), known, count);
    }
}

/// The names of the table at 1, added to those that are there.
static size_t add_names(lua_State *L, const char **names, size_t count)
{
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL; // stays alive in its table
        bool is_known = name == NULL || count == NAMES_MAX;
        for (size_t i = 0; i < count && !is_known; i++) {
            is_known = strcmp(names[i], name) == 0;
        }
        if (!is_known) {
            names[count++] = name;
        }
    }
    return count;
}

static void set_miss(lua_State *L, int table, lua_CFunction miss, int upvalues)
{
    lua_pushcclosure(L, miss, upvalues);
    lua_createtable(L, 0, 1);
    lua_insert(L, -2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, table);
}

// ---- what has a list

/// Upvalues: the path, the optional names, their number.
static int on_missing_known(lua_State *L)
{
    const char *const *optional = lua_touserdata(L, lua_upvalueindex(2));
    size_t optional_count = (size_t)lua_tointeger(L, lua_upvalueindex(3));
    const char *names[NAMES_MAX], *wanted = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;

    lua_settop(L, 2);
    lua_pushnil(L);
    for (size_t i = 0; i < optional_count && i < NAMES_MAX; i++) {
        names[i] = optional[i];
        if (wanted != NULL && strcmp(wanted, optional[i]) == 0) {
            return 1;
        }
    }
    field_watch_refuse(L, lua_tostring(L, lua_upvalueindex(1)), 2, names, add_names(L, names, optional_count));
    lua_settop(L, 3);
    return 1;
}

void field_watch_known(lua_State *L, const char *path, const char *const *optional, size_t count)
{
    int table = lua_gettop(L);

    lua_pushstring(L, path);
    lua_pushlightuserdata(L, (void *)(uintptr_t)optional);
    lua_pushinteger(L, (lua_Integer)count);
    set_miss(L, table, on_missing_known, 3);
}

// ---- searches

/// Could the product, or a module that it reaches, give a field that name?
static bool is_word_of_product(const struct script_file *product, struct text word)
{
    bool has = has_form(product->source, word);

    for (size_t i = 0; !has && product->shelf != NULL && i < script_shelf_count(product->shelf); i++) {
        struct text name = script_shelf_module(product->shelf, i)->file.name;
        const struct script_module *module = script_shelf_reached(product->shelf, product->source, name);
        has = module != NULL && has_form(module->file.source, word);
    }
    return has;
}

/// "search.query.slices[1]" as "search.query.slices[]": the items of a list are alike.
static void strip_indices(const char *path, char out[PATH_SIZE])
{
    size_t length = 0;

    for (; *path != '\0' && length + 1 < PATH_SIZE; path++) {
        if (!(length > 0 && out[length - 1] == '[' && isdigit((unsigned char)*path))) {
            out[length++] = *path;
        }
    }
    out[length] = '\0';
}

struct looking {
    const char *name;
    char from[PATH_SIZE]; // where it is not, without indices
    char found[PATH_SIZE];
};

static void path_of_value(lua_State *L, const char *path, int key, char out[PATH_SIZE])
{
    if (lua_type(L, key) == LUA_TSTRING) {
        (void)snprintf(out, PATH_SIZE, "%s.%s", path, lua_tostring(L, key));
    } else {
        (void)snprintf(out, PATH_SIZE, "%s[%d]", path, (int)lua_tointeger(L, key));
    }
}

/// Finds another part that has the name; the table at the top is raw, and what is nearer to the root comes first.
static bool find_elsewhere(lua_State *L, struct looking *looking, const char *path, uint32_t depth)
{
    char below[PATH_SIZE];
    int table = lua_gettop(L);
    bool is_found = false;

    luaL_checkstack(L, 8, "too many nested tables");
    strip_indices(path, below);
    lua_pushstring(L, looking->name);
    lua_rawget(L, table);
    if (!lua_isnil(L, -1) && strcmp(below, looking->from) != 0) {
        (void)snprintf(looking->found, sizeof looking->found, "%s", path);
        is_found = true;
    }
    lua_pop(L, 1);
    for (lua_pushnil(L); !is_found && depth < DEPTH_MAX && lua_next(L, table) != 0; lua_settop(L, table + 1)) {
        if (freeze_raw(L, lua_gettop(L))) {
            path_of_value(L, path, table + 1, below);
            is_found = find_elsewhere(L, looking, below, depth + 1);
        }
    }
    lua_settop(L, table);
    return is_found;
}

/// Upvalues: the path, the whole search as a plain table, the product's file.
static int on_missing_in_search(lua_State *L)
{
    const char *path = lua_tostring(L, lua_upvalueindex(1));
    const char *names[NAMES_MAX];

    lua_settop(L, 2);
    if (lua_type(L, 2) != LUA_TSTRING || !is_asked_by_script(L, lua_tostring(L, 2))) {
        lua_pushnil(L);
        return 1;
    }
    struct looking looking = { .name = lua_tostring(L, 2) };
    strip_indices(path, looking.from);
    lua_pushvalue(L, lua_upvalueindex(2));
    if (find_elsewhere(L, &looking, "search", 0)) {
        trouble_code(L, CODE_NAME_UNKNOWN);
        return luaL_error(L, "there is no %s.%s: %s.%s has it", path, looking.name, looking.found, looking.name);
    }
    if (!is_word_of_product(lua_touserdata(L, lua_upvalueindex(3)), text_of(looking.name))) {
        refuse(L, path, looking.name, names, add_names(L, names, 0));
    }
    lua_pushnil(L);
    return 1;
}

static void watch_part(lua_State *L, int root, const char *path, const struct script_file *product, uint32_t depth)
{
    char below[PATH_SIZE];
    int table = lua_gettop(L);

    luaL_checkstack(L, 8, "too many nested tables");
    if (lua_getmetatable(L, table) != 0) {
        lua_pop(L, 1); // a list
    } else {
        lua_pushstring(L, path);
        lua_pushvalue(L, root);
        lua_pushlightuserdata(L, (void *)(uintptr_t)product);
        set_miss(L, table, on_missing_in_search, 3);
    }
    for (lua_pushnil(L); depth < DEPTH_MAX && lua_next(L, table) != 0; lua_settop(L, table + 1)) {
        if (lua_istable(L, -1)) {
            path_of_value(L, path, table + 1, below);
            watch_part(L, root, below, product, depth + 1);
        }
    }
    lua_settop(L, table);
}

void field_watch_search(lua_State *L, const struct script_file *product)
{
    if (lua_istable(L, -1)) {
        watch_part(L, lua_gettop(L), "search", product, 0);
    }
}
