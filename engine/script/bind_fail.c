#include "script/bind.h"
#include "script/bind_support.h"

#include <math.h>

// A typed failure is a table {kind, message, code, retry_after_ms} with a metatable that scripts cannot reach or give.
static const char FAIL_KEY;

enum { RETRY_AFTER_MAX_S = 86400, MESSAGE_MAX = 500, CODE_MAX = 63 };

static const char *field_text(lua_State *L, int table, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, table);
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    lua_pop(L, 1);
    return text;
}

static int fail_to_string(lua_State *L)
{
    struct script_fail fail;

    if (!bind_fail_read(L, 1, &fail)) {
        lua_pushliteral(L, "fail");
        return 1;
    }
    lua_pushfstring(L, "fail.%s: %s", fail.kind, fail.message != NULL ? fail.message : "no message");
    return 1;
}

static void push_mark(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&FAIL_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 2);
        lua_pushliteral(L, "fail");
        lua_setfield(L, -2, "__metatable");
        lua_pushcfunction(L, fail_to_string);
        lua_setfield(L, -2, "__tostring");
        lua_pushlightuserdata(L, (void *)(uintptr_t)&FAIL_KEY);
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
}

bool bind_fail_read(lua_State *L, int index, struct script_fail *fail)
{
    int absolute = index < 0 && index > LUA_REGISTRYINDEX ? lua_gettop(L) + index + 1 : index;

    *fail = (struct script_fail){ .kind = NULL };
    if (lua_type(L, absolute) != LUA_TTABLE || !lua_getmetatable(L, absolute)) {
        return false;
    }
    push_mark(L);
    bool is_fail = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    if (!is_fail) {
        return false;
    }
    fail->kind = field_text(L, absolute, "kind");
    fail->message = field_text(L, absolute, "message");
    fail->code = field_text(L, absolute, "code");
    lua_pushliteral(L, "retry_after_ms");
    lua_rawget(L, absolute);
    double retry_after_ms = lua_tonumber(L, -1);
    lua_pop(L, 1);
    if (retry_after_ms > 0 && retry_after_ms <= RETRY_AFTER_MAX_S * 1000.0) {
        fail->retry_after_ms = (uint64_t)retry_after_ms;
    }
    return fail->kind != NULL;
}

// Pushes the failure; argument `message` (0: none) becomes its message.
static void push_fail(lua_State *L, const char *kind, int message)
{
    if (message != 0) {
        lua_settop(L, message); // an absent argument is nil, not the table to come
    }
    lua_createtable(L, 0, 4);
    lua_pushstring(L, kind);
    lua_setfield(L, -2, "kind");
    if (message != 0 && !lua_isnoneornil(L, message)) {
        struct text text = bind_check_text(L, message);
        lua_pushlstring(L, text.data, text.length < MESSAGE_MAX ? text.length : MESSAGE_MAX);
        lua_setfield(L, -2, "message");
    }
    push_mark(L);
    lua_setmetatable(L, -2);
}

// Seconds as a number or as the text of a header; anything that is no sensible wait counts as not said.
static double read_wait_ms(lua_State *L, int index)
{
    uint64_t seconds = 0;
    double value = NAN;

    if (lua_type(L, index) == LUA_TNUMBER) {
        value = lua_tonumber(L, index);
    } else if (lua_type(L, index) == LUA_TSTRING && text_to_u64(bind_to_text(L, index), &seconds)) {
        value = (double)seconds;
    }
    if (!(value > 0)) {
        return 0;
    }
    return value < RETRY_AFTER_MAX_S ? ceil(value * 1000) : RETRY_AFTER_MAX_S * 1000.0;
}

static int check_options(lua_State *L)
{
    lua_settop(L, 1);
    if (lua_isnil(L, 1)) {
        lua_newtable(L);
        lua_replace(L, 1);
    }
    return bind_unwrap(L, 1) ? 1 : bind_expected(L, 1, "a table");
}

static void copy_text_option(lua_State *L, const char *name, size_t most)
{
    lua_getfield(L, 1, name);
    if (!lua_isnil(L, -1)) {
        struct text text = bind_to_text(L, -1);
        if (text.data == NULL) {
            luaL_argerror(L, 1, lua_pushfstring(L, "`%s` must be text, got %s", name, luaL_typename(L, -1)));
        }
        lua_pushlstring(L, text.data, text.length < most ? text.length : most);
        lua_setfield(L, -3, name);
    }
    lua_pop(L, 1);
}

// quota{ retry_after = seconds, message = … }
static int fail_quota(lua_State *L)
{
    bind_at_most(L, 1);
    check_options(L);
    push_fail(L, "quota", 0);
    copy_text_option(L, "message", MESSAGE_MAX);
    lua_getfield(L, 1, "retry_after");
    lua_pushnumber(L, read_wait_ms(L, -1));
    lua_setfield(L, -3, "retry_after_ms");
    lua_pop(L, 1);
    return 1;
}

// supplier{ code = …, message = … }
static int fail_supplier(lua_State *L)
{
    bind_at_most(L, 1);
    check_options(L);
    push_fail(L, "supplier", 0);
    copy_text_option(L, "message", MESSAGE_MAX);
    copy_text_option(L, "code", CODE_MAX);
    return 1;
}

static int fail_busy(lua_State *L)
{
    bind_at_most(L, 1);
    push_fail(L, "busy", 1);
    return 1;
}

static int fail_login(lua_State *L)
{
    bind_at_most(L, 1);
    push_fail(L, "login", 1);
    return 1;
}

static int fail_auth(lua_State *L)
{
    bind_at_most(L, 1);
    push_fail(L, "auth", 1);
    return 1;
}

// unexpected(path): the body is readable but not what it should be.
static int fail_unexpected(lua_State *L)
{
    bind_at_most(L, 1);
    bind_check_text(L, 1);
    push_fail(L, "unexpected", 1);
    return 1;
}

bool bind_fail_make(lua_State *L, int index, struct text retry_after)
{
    lua_CFunction function = lua_tocfunction(L, index);

    if (function == fail_quota) {
        push_fail(L, "quota", 0);
        bind_push_text(L, retry_after);
        lua_pushnumber(L, read_wait_ms(L, -1));
        lua_setfield(L, -3, "retry_after_ms");
        lua_pop(L, 1);
        return true;
    }
    const char *kind = function == fail_busy       ? "busy"
                       : function == fail_login    ? "login"
                       : function == fail_auth     ? "auth"
                       : function == fail_supplier ? "supplier"
                                                   : NULL;
    if (kind != NULL) {
        push_fail(L, kind, 0);
    }
    return kind != NULL;
}

void bind_fail(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "quota", fail_quota }, { "busy", fail_busy },         { "login", fail_login },
        { "auth", fail_auth },   { "supplier", fail_supplier }, { "unexpected", fail_unexpected },
        { NULL, NULL }
    };

    bind_push_module(L, functions);
}
