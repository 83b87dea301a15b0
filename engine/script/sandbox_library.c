// Each library is a new table with the functions that are allowed, so what another LuaJIT adds is not there. Replaced
// are
//
//   string   find, match, gmatch, gsub (bind_pattern.c); rep, bounded by its result
//   table    all: they see through frozen tables, or refuse to write into them; sort looks at the stop while it
//   compares

#include "script/sandbox_library.h"
#include "script/bind.h"
#include "script/freeze.h"
#include "script/sandbox.h"

#include <lauxlib.h>
#include <lualib.h>

enum {
    REP_MAX = 4 << 20, // bytes that string.rep may make
    COMPARE_STEPS = 32,
};

// ---- string

/// Calls the function in the upvalue with all arguments.
static int library_call(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/// What asks a `__tostring`, which may come back here: each level takes C stack.
static int library_telling(lua_State *L)
{
    uint32_t depth = sandbox_nest(L, "__tostring");
    int count = library_call(L);
    sandbox_unnest(L, depth);
    return count;
}

static int library_rep(lua_State *L)
{
    size_t length;
    size_t separator_length = 0;

    luaL_checklstring(L, 1, &length);
    lua_Number count = luaL_checknumber(L, 2);
    if (!lua_isnoneornil(L, 3)) {
        luaL_checklstring(L, 3, &separator_length);
    }
    if (length + separator_length == 0 || !(count > 0)) {
        lua_pushliteral(L, "");
        return 1;
    }
    if (count * (lua_Number)(length + separator_length) > REP_MAX) {
        return luaL_error(L, "string.rep: the result would be larger than 4 MiB");
    }
    return library_call(L);
}

// ---- table

static void library_check_writable(lua_State *L)
{
    if (freeze_is(L, 1)) {
        luaL_error(L, "this table is read-only");
    }
    luaL_checktype(L, 1, LUA_TTABLE);
}

static int library_reading(lua_State *L)
{
    if (freeze_is(L, 1) && freeze_raw(L, 1)) {
        lua_replace(L, 1);
    }
    return library_call(L);
}

static int library_insert(lua_State *L)
{
    library_check_writable(L);
    if (lua_gettop(L) >= 3) {
        lua_Number position = luaL_checknumber(L, 2);
        if (!(position >= 1 && position <= (lua_Number)lua_objlen(L, 1) + 1)) {
            return luaL_error(L, "table.insert: position %f is outside of the list", position);
        }
    }
    return library_call(L);
}

static int library_remove(lua_State *L)
{
    library_check_writable(L);
    return library_call(L);
}

/// What sort compares by when it is given nothing: long texts cost more.
static int library_less(lua_State *L)
{
    size_t length = 0;

    if (lua_type(L, 1) == LUA_TSTRING && lua_type(L, 2) == LUA_TSTRING) {
        size_t other = lua_objlen(L, 2);
        length = lua_objlen(L, 1);
        length = other < length ? other : length;
    }
    sandbox_spend(L, COMPARE_STEPS + length / 16);
    lua_pushboolean(L, lua_lessthan(L, 1, 2));
    return 1;
}

/// A comparison that is a function of C, in the upvalue: no hook ends it.
static int library_compare(lua_State *L)
{
    sandbox_called_back(L);
    return library_call(L);
}

static int library_sort(lua_State *L)
{
    library_check_writable(L);
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_pushcfunction(L, library_less);
        lua_replace(L, 2);
    } else if (lua_iscfunction(L, 2)) {
        lua_pushcclosure(L, library_compare, 1);
    }
    uint32_t depth = sandbox_nest(L, "sort");
    int count = library_call(L);
    sandbox_unnest(L, depth);
    return count;
}

// ---- opening

struct library_function {
    const char *name;
    lua_CFunction wrapper; // with Lua's own as its upvalue; NULL: Lua's own
};

static const struct library_function string_functions[] = {
    { "byte", NULL },    { "char", NULL },  { "format", library_telling },
    { "len", NULL },     { "lower", NULL }, { "rep", library_rep },
    { "reverse", NULL }, { "sub", NULL },   { "upper", NULL },
};

static const struct library_function table_functions[] = {
    { "concat", library_reading }, { "insert", library_insert }, { "maxn", library_reading },
    { "remove", library_remove },  { "sort", library_sort },
};

static const struct library_function math_functions[] = {
    { "abs", NULL },   { "acos", NULL }, { "asin", NULL },  { "atan", NULL }, { "atan2", NULL }, { "ceil", NULL },
    { "cos", NULL },   { "cosh", NULL }, { "deg", NULL },   { "exp", NULL },  { "floor", NULL }, { "fmod", NULL },
    { "frexp", NULL }, { "huge", NULL }, { "ldexp", NULL }, { "log", NULL },  { "log10", NULL }, { "max", NULL },
    { "min", NULL },   { "modf", NULL }, { "pi", NULL },    { "pow", NULL },  { "rad", NULL },   { "sin", NULL },
    { "sinh", NULL },  { "sqrt", NULL }, { "tan", NULL },   { "tanh", NULL },
};

static const struct library_function bit_functions[] = {
    { "arshift", NULL }, { "band", NULL }, { "bnot", NULL }, { "bor", NULL },    { "bswap", NULL }, { "bxor", NULL },
    { "lshift", NULL },  { "rol", NULL },  { "ror", NULL },  { "rshift", NULL }, { "tobit", NULL }, { "tohex", NULL },
};

/// Pushes a table with those functions of the library that Lua calls `name`.
static void library_push(lua_State *L, const char *name, const struct library_function *functions, size_t count)
{
    lua_createtable(L, 0, (int)count);
    lua_getfield(L, LUA_GLOBALSINDEX, name);
    for (size_t i = 0; i < count; i++) {
        lua_getfield(L, -1, functions[i].name);
        if (functions[i].wrapper != NULL) {
            lua_pushcclosure(L, functions[i].wrapper, 1);
        }
        lua_setfield(L, -3, functions[i].name);
    }
    lua_pop(L, 1);
}

/// Methods of strings are the functions of the library on top.
static void library_set_methods(lua_State *L)
{
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 2);
}

void sandbox_library_open(lua_State *L, int target)
{
    static const luaL_Reg opened[] = {
        { "", luaopen_base },     { "string", luaopen_string }, { "table", luaopen_table },
        { "math", luaopen_math }, { "bit", luaopen_bit },
    };

    for (size_t i = 0; i < COUNT_OF(opened); i++) {
        lua_pushcfunction(L, opened[i].func);
        lua_pushstring(L, opened[i].name);
        lua_call(L, 1, 0);
    }
    library_push(L, "string", string_functions, COUNT_OF(string_functions));
    bind_pattern(L);
    library_set_methods(L);
    freeze_shallow(L);
    lua_setfield(L, target, "string");
    library_push(L, "table", table_functions, COUNT_OF(table_functions));
    freeze_shallow(L);
    lua_setfield(L, target, "table");
    library_push(L, "math", math_functions, COUNT_OF(math_functions));
    freeze_shallow(L);
    lua_setfield(L, target, "math");
    library_push(L, "bit", bit_functions, COUNT_OF(bit_functions));
    freeze_shallow(L);
    lua_setfield(L, target, "bit");
}
