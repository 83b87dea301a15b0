// A view holds the table behind it as its environment (lua_setfenv of a userdata), which scripts have no way to read.
// Its metatable is its own, so that `__index` can be the table itself: the interpreter then finds a field without a
// call.

#include "script/freeze.h"

#include "script/trouble.h"

#include <lauxlib.h>
#include <stdint.h>

struct frozen {
    const void *mark;
};

static const char freeze_mark;       // its address marks our userdata
static const char freeze_length_key; // registry keys of the two functions every metatable shares
static const char freeze_write_key;

static int freeze_on_length(lua_State *L)
{
    lua_getfenv(L, 1);
    lua_pushinteger(L, (lua_Integer)lua_objlen(L, -1));
    return 1;
}

static int freeze_on_write(lua_State *L)
{
    trouble_code(L, CODE_FROZEN);
    if (lua_type(L, 2) == LUA_TSTRING) {
        return luaL_error(L, "this table is read-only: field \"%s\" cannot be set", lua_tostring(L, 2));
    }
    if (lua_type(L, 2) == LUA_TNUMBER) {
        return luaL_error(L, "this table is read-only: item [%d] cannot be set", (int)lua_tointeger(L, 2));
    }
    return luaL_error(L, "this table is read-only");
}

static void freeze_push_shared(lua_State *L, const void *key, lua_CFunction function)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (!lua_isnil(L, -1)) {
        return;
    }
    lua_pop(L, 1);
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    lua_pushcfunction(L, function);
    lua_rawset(L, LUA_REGISTRYINDEX);
    lua_pushcfunction(L, function);
}

/// Replaces the table on top with a view of it.
void freeze_shallow(lua_State *L)
{
    if (!lua_istable(L, -1)) {
        return;
    }
    luaL_checkstack(L, 6, "too many nested tables");
    struct frozen *frozen = lua_newuserdata(L, sizeof *frozen);
    frozen->mark = &freeze_mark;
    lua_pushvalue(L, -2);
    lua_setfenv(L, -2);
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    freeze_push_shared(L, &freeze_length_key, freeze_on_length);
    lua_setfield(L, -2, "__len");
    freeze_push_shared(L, &freeze_write_key, freeze_on_write);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    lua_remove(L, -2);
}

/// Freezes the table on top and what is below it. `seen` maps tables to their views.
static void freeze_walk(lua_State *L, int seen)
{
    luaL_checkstack(L, 8, "too many nested tables");
    lua_pushvalue(L, -1);
    lua_rawget(L, seen);
    if (!lua_isnil(L, -1)) {
        lua_remove(L, -2);
        return;
    }
    lua_pop(L, 1);
    int table = lua_gettop(L);
    lua_pushvalue(L, table);
    freeze_shallow(L);
    lua_pushvalue(L, table);
    lua_pushvalue(L, -2);
    lua_rawset(L, seen);
    lua_pushnil(L);
    while (lua_next(L, table) != 0) {
        if (!lua_istable(L, -1)) {
            lua_pop(L, 1);
            continue;
        }
        freeze_walk(L, seen);
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, table); // an existing key: safe while walking
    }
    lua_remove(L, table);
}

void freeze_deep(lua_State *L)
{
    if (!lua_istable(L, -1)) {
        return;
    }
    luaL_checkstack(L, 4, "too many nested tables");
    lua_newtable(L);
    lua_insert(L, -2);
    freeze_walk(L, lua_gettop(L) - 1);
    lua_remove(L, -2);
}

bool freeze_is(lua_State *L, int index)
{
    if (lua_type(L, index) != LUA_TUSERDATA || lua_objlen(L, index) != sizeof(struct frozen)) {
        return false;
    }
    const struct frozen *frozen = lua_touserdata(L, index);
    return frozen->mark == &freeze_mark;
}

bool freeze_raw(lua_State *L, int index)
{
    if (lua_istable(L, index)) {
        lua_pushvalue(L, index);
        return true;
    }
    if (freeze_is(L, index)) {
        lua_getfenv(L, index);
        return true;
    }
    return false;
}

bool freeze_is_table(lua_State *L, int index)
{
    return lua_istable(L, index) || freeze_is(L, index);
}
