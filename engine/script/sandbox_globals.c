// The globals of a state are one table that all chunks read through their environments. Libraries are frozen views, so
// no supplier can change them for another. Functions of Lua that a script could misuse are replaced here:
//
//   pcall, xpcall          pass the watchdog's stop and out of memory on, and may nest only so deep
//   pairs, ipairs, next,   see through frozen tables
//   type, unpack, rawget, getmetatable

#include "script/sandbox_globals.h"
#include "script/bind.h"
#include "script/bind_shape.h"
#include "script/freeze.h"
#include "script/plan.h"
#include "script/sandbox.h"
#include "script/sandbox_library.h"
#include "script/schema.h"

#include <lauxlib.h>
#include <stdatomic.h>

enum { GLOBALS_NAMES_MAX = 128 };

static const char globals_key;     // registry: the table of globals
static const char environment_key; // registry: the metatable of environments

static const char *const forbidden[] = { "io",         "os",      "ffi",       "jit",      "debug",   "package",
                                         "load",       "print",   "dofile",    "newproxy", "getfenv", "collectgarbage",
                                         "loadstring", "setfenv", "coroutine", "loadfile", "module",  "_G" };

static void globals_push_key(lua_State *L, const void *key)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    lua_rawget(L, LUA_REGISTRYINDEX);
}

static void globals_set_key(lua_State *L, const void *key)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    lua_insert(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

// ---- errors, passed on

/// pcall for our own use: the depth is back where it was, whatever happened; what may not be caught is raised again.
static int globals_protected(lua_State *L, int arguments, const char *what)
{
    uint32_t depth = sandbox_nest(L, what);
    int status = lua_pcall(L, arguments, LUA_MULTRET, 0);

    sandbox_unnest(L, depth);
    if (status != 0) {
        trouble_caught(L);
    }
    if (status == LUA_ERRMEM) {
        sandbox_of(L)->heap.is_exhausted = true;
    }
    sandbox_check(L);
    return status;
}

static int globals_pcall(lua_State *L)
{
    luaL_checkany(L, 1);
    int status = globals_protected(L, lua_gettop(L) - 1, "pcall");
    lua_pushboolean(L, status == 0);
    lua_insert(L, 1);
    return lua_gettop(L);
}

/// The handler runs after the stack has unwound; an error inside it is not caught. It counts as nested, so that a
/// handler which calls xpcall with itself ends.
static int globals_xpcall(lua_State *L)
{
    luaL_checkany(L, 1);
    luaL_checkany(L, 2);
    lua_pushvalue(L, 2);
    lua_remove(L, 2);
    lua_insert(L, 1); // handler, function, arguments
    int status = globals_protected(L, lua_gettop(L) - 2, "xpcall");
    if (status == 0) {
        lua_pushboolean(L, 1);
        lua_replace(L, 1);
        return lua_gettop(L);
    }
    lua_pushvalue(L, 1);
    lua_insert(L, -2);
    uint32_t depth = sandbox_nest(L, "xpcall");
    lua_call(L, 1, LUA_MULTRET);
    sandbox_unnest(L, depth);
    lua_pushboolean(L, 0);
    lua_replace(L, 1);
    return lua_gettop(L);
}

// ---- seeing through frozen tables

/// The frozen table at `index` is replaced by the one behind it.
static void globals_unfreeze(lua_State *L, int index)
{
    if (freeze_is(L, index) && freeze_raw(L, index)) {
        lua_replace(L, index);
    }
}

static int globals_next(lua_State *L)
{
    globals_unfreeze(L, 1);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (lua_next(L, 1) != 0) {
        return 2;
    }
    lua_pushnil(L);
    return 1;
}

/// Upvalues: Lua's next, for which the interpreter has a fast path, and ours.
static int globals_pairs(lua_State *L)
{
    bool is_frozen = freeze_is(L, 1);
    if (!is_frozen) {
        luaL_checktype(L, 1, LUA_TTABLE);
    }
    lua_pushvalue(L, is_frozen ? lua_upvalueindex(2) : lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

static int globals_ipairs_step(lua_State *L)
{
    lua_Integer next = luaL_checkinteger(L, 2) + 1;
    globals_unfreeze(L, 1);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushinteger(L, next);
    lua_rawgeti(L, 1, (int)next);
    return lua_isnil(L, -1) ? 1 : 2;
}

/// Upvalues: Lua's step, and ours.
static int globals_ipairs(lua_State *L)
{
    bool is_frozen = freeze_is(L, 1);
    if (!is_frozen) {
        luaL_checktype(L, 1, LUA_TTABLE);
    }
    lua_pushvalue(L, is_frozen ? lua_upvalueindex(2) : lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

static int globals_type(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushstring(L, freeze_is(L, 1) ? "table" : luaL_typename(L, 1));
    return 1;
}

static int globals_getmetatable(lua_State *L)
{
    luaL_checkany(L, 1);
    if (!lua_istable(L, 1) || !lua_getmetatable(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    lua_getfield(L, -1, "__metatable");
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
    }
    return 1;
}

/// Upvalue: a function that reads its first argument, a table.
static int globals_reading(lua_State *L)
{
    globals_unfreeze(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/// Upvalue: `tostring`, which asks a `__tostring`, which may come back here: each level takes C stack.
static int globals_tostring(lua_State *L)
{
    if (!luaL_getmetafield(L, 1, "__tostring")) {
        lua_pushvalue(L, lua_upvalueindex(1));
        lua_insert(L, 1);
        lua_call(L, lua_gettop(L) - 1, 1);
        return 1;
    }
    lua_pop(L, 1);
    uint32_t depth = sandbox_nest(L, "__tostring");
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    sandbox_unnest(L, depth);
    return 1;
}

// ---- require

static void globals_push_environment(lua_State *L, int modules, void *context);

/// Upvalues: the modules that the chunk, or one of its modules, has loaded; where the chunk's modules are found.
static int globals_require(lua_State *L)
{
    const struct sandbox *sandbox = sandbox_of(L);
    void *context = lua_touserdata(L, lua_upvalueindex(2));
    struct text name;
    struct text path = { NULL, 0 };
    struct text source;

    name.data = luaL_checklstring(L, 1, &name.length);
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1)); // 2
    lua_pushvalue(L, 1);
    lua_rawget(L, 2);
    if (lua_isboolean(L, -1) && !lua_toboolean(L, -1)) {
        trouble_code(L, CODE_MODULE_BROKEN);
        return luaL_error(L, "module \"%s\" requires itself", name.data);
    }
    if (!lua_isnil(L, -1)) {
        return 1;
    }
    lua_pop(L, 1);
    if (sandbox->find_module == NULL || !sandbox->find_module(context, name, &path, &source)) {
        trouble_code(L, CODE_MODULE_MISSING);
        return path.data != NULL
                   ? luaL_error(L, "there is no module \"%s\": did you mean \"%s\"?", name.data, path.data)
                   : luaL_error(L, "there is no module \"%s\" in the scripts directory", name.data);
    }
    if (!sandbox_compile(L, path, source)) {
        trouble_code(L, CODE_MODULE_BROKEN);
        return lua_error(L);
    }
    globals_push_environment(L, 2, context);
    lua_setfenv(L, -2);
    lua_pushvalue(L, 1);
    lua_pushboolean(L, 0);
    lua_rawset(L, 2); // being loaded
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
    freeze_deep(L);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -2);
    lua_rawset(L, 2);
    return 1;
}

// ---- environments

/// The nearest of the names in the table on top, which is popped.
static const char *globals_nearest_in(lua_State *L, const char *word)
{
    const char *names[GLOBALS_NAMES_MAX];
    size_t count = 0;

    lua_pushnil(L);
    while (count < GLOBALS_NAMES_MAX && lua_next(L, -2) != 0) {
        lua_pop(L, 1);
        names[count++] = lua_tostring(L, -1);
    }
    const char *nearest = text_nearest(text_of(word), names, count);
    lua_pop(L, count == GLOBALS_NAMES_MAX ? 2 : 1);
    return nearest;
}

const char *sandbox_globals_nearest(lua_State *L, const char *word)
{
    globals_push_key(L, &globals_key);
    return globals_nearest_in(L, word);
}

/// Raises: the table on top, which is the global `module`, has no such field.
static int globals_refuse_field(lua_State *L, const char *module, const char *field)
{
    const char *nearest = globals_nearest_in(L, field);

    trouble_code(L, CODE_GLOBAL_UNKNOWN);
    if (nearest != NULL) {
        return luaL_error(L, "there is no %s.%s: did you mean %s.%s?", module, field, module, nearest);
    }
    return luaL_error(L, "there is no %s.%s: scripts/README.md has what there is in %s", module, field, module);
}

void sandbox_globals_check_field(lua_State *L, const char *module, const char *field)
{
    globals_push_key(L, &globals_key);
    lua_pushstring(L, module);
    lua_rawget(L, -2);
    if (freeze_raw(L, lua_gettop(L))) {
        lua_pushstring(L, field);
        lua_rawget(L, -2);
        bool is_there = !lua_isnil(L, -1);
        lua_pop(L, 1);
        if (!is_there) {
            globals_refuse_field(L, module, field);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
}

/// Pushes the key under which the table on top, which it replaces, has the value at `index`; nil: it has not.
static void globals_find_key(lua_State *L, int index)
{
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        bool is_it = lua_rawequal(L, -1, index) != 0;
        lua_pop(L, 1);
        if (is_it) {
            lua_remove(L, -2);
            return;
        }
    }
    lua_pop(L, 1);
    lua_pushnil(L);
}

void sandbox_globals_push_name(lua_State *L, int index)
{
    int top = lua_gettop(L);

    globals_push_key(L, &globals_key);
    lua_pushvalue(L, top + 1);
    globals_find_key(L, index);
    for (lua_pushnil(L); lua_isnil(L, top + 2) && lua_next(L, top + 1) != 0; lua_settop(L, top + 3)) {
        if (!freeze_raw(L, top + 4)) {
            continue;
        }
        globals_find_key(L, index);
        if (lua_type(L, -1) == LUA_TSTRING) {
            lua_pushfstring(L, "%s.%s", lua_tostring(L, top + 3), lua_tostring(L, -1));
            lua_replace(L, top + 2);
        }
    }
    if (lua_isnil(L, top + 2)) {
        lua_pushliteral(L, "?");
        lua_replace(L, top + 2);
    }
    lua_settop(L, top + 2);
    lua_remove(L, top + 1);
}

/// A helper's table has no such field; upvalue: the helper's name.
static int globals_on_unknown_field(lua_State *L)
{
    const char *field = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";

    lua_settop(L, 2);
    lua_pushvalue(L, 1);
    return globals_refuse_field(L, lua_tostring(L, lua_upvalueindex(1)), field);
}

/// The table on top is the helper `name` from now on: what it does not have raises.
static void globals_guard_fields(lua_State *L, const char *name)
{
    if (!lua_istable(L, -1)) {
        return; // `lookup` is a function
    }
    lua_createtable(L, 0, 1);
    lua_pushstring(L, name);
    lua_pushcclosure(L, globals_on_unknown_field, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/// A global of Lua that scripts do not have; with what to use for it.
static int globals_refuse(lua_State *L, const char *name)
{
    static const char *const others[][2] = { { "print", ": use log.info" },
                                             { "os", ": use ctx.now, or `time`" },
                                             { "package", ": use require" },
                                             { "io", ": use a table, by `lookup`" } };
    const char *instead = "";

    for (size_t i = 0; i < COUNT_OF(others); i++) {
        instead = strcmp(others[i][0], name) == 0 ? others[i][1] : instead;
    }
    return luaL_error(L, "\"%s\" is not available to scripts%s", name, instead);
}

static int globals_on_unknown(lua_State *L)
{
    trouble_code(L, CODE_GLOBAL_UNKNOWN);
    if (lua_type(L, 2) != LUA_TSTRING) {
        return luaL_error(L, "unknown global");
    }
    const char *name = lua_tostring(L, 2);
    for (size_t i = 0; i < COUNT_OF(forbidden); i++) {
        if (strcmp(name, forbidden[i]) == 0) {
            return globals_refuse(L, name);
        }
    }
    const char *nearest = sandbox_globals_nearest(L, name);
    if (nearest != NULL) {
        return luaL_error(L, "unknown global \"%s\": did you mean \"%s\"?", name, nearest);
    }
    return luaL_error(L, "unknown global \"%s\"", name);
}

static int globals_on_write(lua_State *L)
{
    trouble_code(L, CODE_GLOBAL_WRITTEN);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    return luaL_error(L, "global \"%s\" cannot be set: declare it with local", name);
}

/// An environment whose `require` keeps what it loads in the table at `modules`.
static void globals_push_environment(lua_State *L, int modules, void *context)
{
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, modules);
    lua_pushlightuserdata(L, context);
    lua_pushcclosure(L, globals_require, 2);
    lua_setfield(L, -2, "require");
    globals_push_key(L, &environment_key);
    lua_setmetatable(L, -2);
}

void sandbox_globals_push_environment(lua_State *L)
{
    lua_newtable(L);
    globals_push_environment(L, lua_gettop(L), sandbox_of(L)->find_context);
    lua_remove(L, -2);
}

// ---- opening

/// Copies global `name` of the opened libraries into the table at `target`.
static void globals_copy(lua_State *L, int target, const char *name)
{
    lua_getfield(L, LUA_GLOBALSINDEX, name);
    lua_setfield(L, target, name);
}

static void globals_set_function(lua_State *L, int target, const char *name, lua_CFunction function)
{
    lua_pushcfunction(L, function);
    lua_setfield(L, target, name);
}

/// Field `name` of the table at `target` becomes `function`, with what it was as its upvalue.
static void globals_wrap(lua_State *L, int target, const char *name, lua_CFunction function)
{
    lua_getfield(L, target, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, target, name);
}

static void globals_open_base(lua_State *L, int target)
{
    static const char *const kept[] = { "assert",   "error",  "select", "tonumber", "tostring",
                                        "rawequal", "rawset", "rawget", "unpack",   "setmetatable" };

    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        globals_copy(L, target, kept[i]);
    }
    globals_wrap(L, target, "rawget", globals_reading);
    globals_wrap(L, target, "unpack", globals_reading);
    globals_wrap(L, target, "tostring", globals_tostring);
    globals_set_function(L, target, "pcall", globals_pcall);
    globals_set_function(L, target, "xpcall", globals_xpcall);
    globals_set_function(L, target, "type", globals_type);
    globals_set_function(L, target, "next", globals_next);
    globals_set_function(L, target, "getmetatable", globals_getmetatable);
    lua_newtable(L);
    lua_pushlightuserdata(L, NULL);
    lua_pushcclosure(L, globals_require, 2); // its name; each environment has one of its own
    lua_setfield(L, target, "require");

    lua_getfield(L, LUA_GLOBALSINDEX, "next");
    lua_pushcfunction(L, globals_next);
    lua_pushcclosure(L, globals_pairs, 2);
    lua_setfield(L, target, "pairs");

    lua_getfield(L, LUA_GLOBALSINDEX, "ipairs");
    lua_newtable(L);
    lua_call(L, 1, 1); // Lua's step function
    lua_pushcfunction(L, globals_ipairs_step);
    lua_pushcclosure(L, globals_ipairs, 2);
    lua_setfield(L, target, "ipairs");
}

/// The fields of the table on top become globals; it is popped.
static void globals_spread(lua_State *L, int target)
{
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_settable(L, target);
    }
    lua_pop(L, 1);
}

/// money(currency, amount) is a term of a plan, and so is time(path).
static int globals_money(lua_State *L)
{
    lua_remove(L, 1);
    return plan_money(L);
}

static int globals_time(lua_State *L)
{
    lua_remove(L, 1);
    return plan_time(L);
}

static void globals_make_callable(lua_State *L, int target, const char *name, lua_CFunction call)
{
    lua_getfield(L, target, name);
    lua_getmetatable(L, -1);
    lua_pushcfunction(L, call);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 2);
}

static void globals_open_bindings(lua_State *L, int target)
{
    static const struct {
        const char *name;
        void (*push)(lua_State *L);
    } modules[] = {
        { "json", bind_json },   { "url", bind_url },   { "crypto", bind_crypto }, { "time", bind_time },
        { "money", bind_money }, { "log", bind_log },   { "fail", bind_fail },     { "lookup", bind_lookup },
        { "xml", bind_xml },     { "soap", bind_soap }, { "form", bind_form },
    };

    for (size_t i = 0; i < COUNT_OF(modules); i++) {
        modules[i].push(L);
        globals_guard_fields(L, modules[i].name);
        freeze_shallow(L);
        lua_setfield(L, target, modules[i].name);
    }
    bind_text(L);
    globals_spread(L, target);
    bind_shape(L);
    globals_spread(L, target);
    bind_plan(L);
    globals_spread(L, target);
    globals_make_callable(L, target, "money", globals_money);
    globals_make_callable(L, target, "time", globals_time);
}

typedef void (*globals_extender)(lua_State *L, int target);
static _Atomic(globals_extender) globals_extension;

void sandbox_globals_extend(void (*extend)(lua_State *L, int target))
{
    atomic_store(&globals_extension, extend);
}

static void globals_clear(lua_State *L)
{
    lua_pushnil(L);
    while (lua_next(L, LUA_GLOBALSINDEX) != 0) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, LUA_GLOBALSINDEX);
    }
}

void sandbox_globals_open(lua_State *L)
{
    lua_newtable(L);
    int target = lua_gettop(L);

    sandbox_library_open(L, target);
    globals_open_base(L, target);
    globals_open_bindings(L, target);
    globals_extender extend = atomic_load(&globals_extension);
    if (extend != NULL) {
        extend(L, target);
    }
    schema_keep_next(L);
    globals_clear(L);

    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, globals_on_unknown);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, target);

    lua_createtable(L, 0, 3);
    lua_pushvalue(L, target);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, globals_on_write);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    globals_set_key(L, &environment_key);

    globals_set_key(L, &globals_key);
}
