#include "base/text.h"

#include "script/bind.h"
#include "script/bind_support.h"
#include "script/plan.h"
#include "script/plan_term.h"
#include "script/sandbox.h"

#include <stdlib.h>

enum { PATH_MAX_STEPS = 32 };

static int check_list(lua_State *L)
{
    if (!bind_unwrap(L, 1)) {
        bind_expected(L, 1, "a list");
    }
    return (int)lua_objlen(L, 1);
}

// map(list, f): a new list of f(value, index); nil results are left out. map(path, table) is a term of a plan.
static int text_map(lua_State *L)
{
    bind_at_most(L, 4);
    if (lua_type(L, 1) == LUA_TSTRING || term_at(L, 1) != NULL) {
        return plan_map(L);
    }
    int count = check_list(L), kept = 0;

    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_createtable(L, count, 0);
    uint32_t depth = sandbox_nest(L, "map");
    for (int i = 1; i <= count; i++) {
        lua_pushvalue(L, 2);
        lua_rawgeti(L, 1, i);
        lua_pushinteger(L, i);
        lua_call(L, 2, 1);
        sandbox_called_back(L);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
        } else {
            lua_rawseti(L, 3, ++kept);
        }
    }
    sandbox_unnest(L, depth);
    return 1;
}

// filter(list, f): a new list of the values for which f(value, index) holds.
static int text_filter(lua_State *L)
{
    bind_at_most(L, 2);
    int count = check_list(L), kept = 0;

    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_newtable(L);
    uint32_t depth = sandbox_nest(L, "filter");
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, i);
        lua_pushvalue(L, 2);
        lua_pushvalue(L, -2);
        lua_pushinteger(L, i);
        lua_call(L, 2, 1);
        sandbox_called_back(L);
        bool is_kept = lua_toboolean(L, -1) != 0;
        lua_pop(L, 1);
        if (is_kept) {
            lua_rawseti(L, 3, ++kept);
        } else {
            lua_pop(L, 1);
        }
    }
    sandbox_unnest(L, depth);
    return 1;
}

// first(list, f): the first value for which f(value, index) holds, or the first of all; nil when there is none.
static int text_first(lua_State *L)
{
    bind_at_most(L, 2);
    int count = check_list(L);

    if (lua_isnoneornil(L, 2)) {
        lua_rawgeti(L, 1, 1);
        return 1;
    }
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    uint32_t depth = sandbox_nest(L, "first");
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, i);
        lua_pushvalue(L, 2);
        lua_pushvalue(L, -2);
        lua_pushinteger(L, i);
        lua_call(L, 2, 1);
        sandbox_called_back(L);
        if (lua_toboolean(L, -1)) {
            lua_pop(L, 1);
            sandbox_unnest(L, depth);
            return 1;
        }
        lua_pop(L, 2);
    }
    sandbox_unnest(L, depth);
    lua_pushnil(L);
    return 1;
}

// get(value, key, key, …): walks down and gives nil as soon as there is nothing to walk into.
static int text_get(lua_State *L)
{
    int steps = lua_gettop(L) - 1;

    luaL_argcheck(L, steps <= PATH_MAX_STEPS, PATH_MAX_STEPS + 1, "at most 32 keys expected");
    lua_pushvalue(L, 1);
    for (int i = 1; i <= steps; i++) {
        if (lua_isnil(L, i + 1)) {
            return luaL_argerror(L, i + 1, "a key expected, got nil");
        }
        if (!bind_unwrap(L, -1)) {
            lua_pushnil(L);
            return 1;
        }
        lua_pushvalue(L, i + 1);
        lua_rawget(L, -2);
        lua_replace(L, -2);
    }
    return 1;
}

// ---- sorted_pairs --------------------------------------------------------------------------------------------------

struct sort_key {
    struct text text; // absent: the key is a number
    double number;
};

static int compare_keys(const void *a, const void *b)
{
    const struct sort_key *left = a, *right = b;

    if ((left->text.data == NULL) != (right->text.data == NULL)) {
        return left->text.data == NULL ? -1 : 1;
    }
    if (left->text.data != NULL) {
        return text_compare(left->text, right->text);
    }
    return left->number < right->number ? -1 : left->number > right->number;
}

static int next_sorted(lua_State *L)
{
    int position = (int)lua_tointeger(L, lua_upvalueindex(3)) + 1;

    lua_pushinteger(L, position);
    lua_replace(L, lua_upvalueindex(3));
    lua_rawgeti(L, lua_upvalueindex(2), position);
    if (lua_isnil(L, -1)) {
        return 1;
    }
    lua_pushvalue(L, -1);
    lua_rawget(L, lua_upvalueindex(1));
    return 2;
}

// sorted_pairs(table): like pairs, numbers first, then texts, each in order.
static int text_sorted_pairs(lua_State *L)
{
    bind_at_most(L, 1);
    size_t count = 0, i = 0;

    if (!bind_unwrap(L, 1)) {
        return bind_expected(L, 1, "a table");
    }
    lua_settop(L, 1);
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        int type = lua_type(L, -2);
        if (type != LUA_TSTRING && type != LUA_TNUMBER) {
            return luaL_argerror(L, 1, "keys that are text or numbers expected");
        }
        count++;
    }
    luaL_argcheck(L, count <= BIND_KEYS_MAX, 1, "a table of at most 50000 keys expected");
    struct sort_key *keys = lua_newuserdata(L, (count + 1) * sizeof *keys);
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        keys[i] = (struct sort_key){ bind_to_text(L, -2), 0 };
        keys[i].number = keys[i].text.data == NULL ? lua_tonumber(L, -2) : 0;
        i++;
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    lua_pushvalue(L, 1);
    lua_createtable(L, (int)count, 0);
    for (i = 0; i < count; i++) {
        if (keys[i].text.data != NULL) {
            bind_push_text(L, keys[i].text);
        } else {
            lua_pushnumber(L, keys[i].number);
        }
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_sorted, 3);
    return 1;
}

void bind_text(lua_State *L)
{
    static const luaL_Reg functions[] = { { "map", text_map },
                                          { "filter", text_filter },
                                          { "first", text_first },
                                          { "get", text_get },
                                          { "sorted_pairs", text_sorted_pairs },
                                          { NULL, NULL } };

    bind_push_module(L, functions);
}
