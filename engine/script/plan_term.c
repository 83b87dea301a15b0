// `up(2).currency` and `ref(…).name` extend their paths by indexing: each step gives a new term, so a term can be kept
// in a local and used twice.

#include "script/plan_term.h"

#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/plan.h"

static const char TERM_KEY; // registry: the metatable of terms

static const char *const TERM_NAMES[] = {
    [TERM_NONE] = "?",  [TERM_CONST] = "const", [TERM_UP] = "up",       [TERM_MONEY] = "money",
    [TERM_MAP] = "map", [TERM_REF] = "ref",     [TERM_ASKED] = "asked", [TERM_TIME] = "time",
};

enum { TERM_REF_PATH = 4 }; // the argument of ref that indexing extends

static int term_on_index(lua_State *L);

static int term_on_text(lua_State *L)
{
    const struct term *term = lua_touserdata(L, 1);
    lua_pushfstring(L, "%s of a plan", TERM_NAMES[term->op]);
    return 1;
}

static void push_metatable(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&TERM_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (!lua_isnil(L, -1)) {
        return;
    }
    lua_pop(L, 1);
    lua_createtable(L, 0, 3);
    lua_pushcfunction(L, term_on_index);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, term_on_text);
    lua_setfield(L, -2, "__tostring");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushlightuserdata(L, (void *)(uintptr_t)&TERM_KEY);
    lua_pushvalue(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

/// Pushes a term whose arguments are the `count` values on top, which it takes.
static struct term *push_term(lua_State *L, enum term_op op, int count)
{
    int first = lua_gettop(L) - count + 1;
    struct term *term = lua_newuserdata(L, sizeof *term);

    *term = (struct term){ .op = op };
    push_metatable(L);
    lua_setmetatable(L, -2);
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushvalue(L, first + i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfenv(L, -2);
    lua_insert(L, first);
    lua_settop(L, first);
    return term;
}

const struct term *term_at(lua_State *L, int index)
{
    const struct term *term = lua_touserdata(L, index);

    if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) {
        return NULL;
    }
    push_metatable(L);
    bool is_term = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    return is_term ? term : NULL;
}

void term_push_argument(lua_State *L, int index, int number)
{
    lua_getfenv(L, index);
    lua_rawgeti(L, -1, number);
    lua_remove(L, -2);
}

static int term_on_index(lua_State *L)
{
    const struct term *term = term_at(L, 1);

    if (term == NULL || (term->op != TERM_UP && term->op != TERM_REF)) {
        return luaL_error(L, "only up(n) and ref(…) have fields in a plan");
    }
    enum term_op op = term->op;
    int levels = term->levels;
    lua_settop(L, 2);
    term_push_argument(L, 1, op == TERM_REF ? TERM_REF_PATH : 1); // 3: the path so far
    if (lua_type(L, 2) == LUA_TNUMBER) {
        lua_pushfstring(L, "%s[%d]", lua_tostring(L, 3), (int)lua_tointeger(L, 2));
    } else {
        struct text name = bind_check_text(L, 2);
        bool is_first = lua_objlen(L, 3) == 0;
        lua_pushfstring(L, "%s%s%s", lua_tostring(L, 3), is_first ? "" : ".", name.data);
    }
    if (op == TERM_REF) { // list, key and path before it
        for (int i = 1; i < TERM_REF_PATH; i++) {
            term_push_argument(L, 1, i);
            lua_insert(L, -2);
        }
        (void)push_term(L, op, TERM_REF_PATH);
    } else {
        push_term(L, op, 1)->levels = levels;
    }
    return 1;
}

int term_up(lua_State *L)
{
    bind_at_most(L, 1);
    int levels = (int)bind_check_integer(L, 1, 1, PLAN_LEVELS_MAX);

    lua_pushliteral(L, "");
    push_term(L, TERM_UP, 1)->levels = levels;
    return 1;
}

int term_const(lua_State *L)
{
    bind_at_most(L, 1);
    int type = lua_type(L, 1);

    if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN) {
        return bind_expected(L, 1, "a text, a number, true or false");
    }
    lua_settop(L, 1);
    (void)push_term(L, TERM_CONST, 1);
    return 1;
}

/// A path: a text, or one from further out.
static bool is_path(lua_State *L, int index)
{
    const struct term *term = term_at(L, index);
    return lua_type(L, index) == LUA_TSTRING || (term != NULL && term->op == TERM_UP);
}

/// A list of paths, as many as there may be.
static bool is_paths(lua_State *L, int index)
{
    int top = lua_gettop(L);

    if (!freeze_is_table(L, index) || !freeze_raw(L, index)) {
        return false;
    }
    size_t count = lua_objlen(L, -1);
    bool is = count > 0 && count <= PLAN_KEYS_MAX;
    for (size_t i = 1; is && i <= count; i++) {
        lua_rawgeti(L, top + 1, (int)i);
        is = is_path(L, lua_gettop(L));
    }
    lua_settop(L, top);
    return is;
}

/// ref(list, key, path): the element of a list or map whose `key` is what `path` says; of several, all.
int term_ref(lua_State *L)
{
    bind_at_most(L, 3);
    lua_settop(L, 3);
    if (lua_isnil(L, 3)) {
        lua_pushliteral(L, ".");
        lua_replace(L, 3);
    }
    for (int i = 1; i <= 3; i++) {
        if (!is_path(L, i) && (i == 1 || !is_paths(L, i))) {
            return bind_expected(L, i, freeze_is_table(L, i) && i > 1 ? "one to four paths" : "a path");
        }
    }
    lua_pushliteral(L, ""); // … and a path from what is named
    (void)push_term(L, TERM_REF, TERM_REF_PATH);
    return 1;
}

/// asked(path): what the search says there.
int term_asked(lua_State *L)
{
    bind_at_most(L, 1);
    if (lua_type(L, 1) != LUA_TSTRING || lua_objlen(L, 1) == 0) {
        return bind_expected(L, 1, "a path in the search: \"currency\", \"query.cabin\"");
    }
    lua_settop(L, 1);
    (void)push_term(L, TERM_ASKED, 1);
    return 1;
}

int plan_time(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TSTRING && term_at(L, 1) == NULL) {
        return bind_expected(L, 1, "where an object with year, month, day, hour and minute is");
    }
    lua_settop(L, 1);
    (void)push_term(L, TERM_TIME, 1);
    return 1;
}

int plan_money(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        return bind_expected(L, 1, "where the currency is");
    }
    if (lua_isnoneornil(L, 2)) {
        return bind_expected(L, 2, "where the amount is");
    }
    lua_settop(L, 3);
    (void)push_term(L, TERM_MONEY, 3);
    return 1;
}

int plan_map(lua_State *L)
{
    if (!freeze_is_table(L, 2)) {
        return bind_expected(L, 2, "a table from what comes to what it means");
    }
    lua_settop(L, 3);
    (void)push_term(L, TERM_MAP, 3);
    return 1;
}
