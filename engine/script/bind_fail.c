#include "base/plain.h"
#include "base/redact.h"
#include "script/bind.h"
#include "script/bind_support.h"

// A typed failure is a table {kind, message, code, retry_after_ms, retry_at_s} with a metatable that scripts cannot
// reach or give.
static const char FAIL_KEY;

enum { MESSAGE_MAX = 500, CODE_MAX = 63 };
#define INSTANT_MOST_S 1e12

static const char *field_text(lua_State *L, int table, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, table);
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    lua_pop(L, 1);
    return text;
}

static double field_number(lua_State *L, int table, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, table);
    double number = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return number;
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
    double after_ms = field_number(L, absolute, "retry_after_ms"); // scripts may have written to the table
    double at_s = field_number(L, absolute, "retry_at_s");
    fail->wait.after_ms = after_ms > 0 && after_ms <= WAIT_MAX_S * 1000.0 ? (uint64_t)after_ms : 0;
    fail->wait.at_s = at_s > 0 && at_s <= INSTANT_MOST_S ? (int64_t)at_s : 0;
    return fail->kind != NULL;
}

// Pushes at most so many of the bytes; secrets are taken out while they are whole, and what may not be shown.
static void push_words(lua_State *L, struct text text, size_t most)
{
    char words[MESSAGE_MAX + 1];

    lua_pushlstring(L, words, plain_strip(words, redact_copy(words, most + 1, text)));
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
        push_words(L, text, MESSAGE_MAX);
        lua_setfield(L, -2, "message");
    }
    push_mark(L);
    lua_setmetatable(L, -2);
}

// Puts the wait that the value on top says into the failure below it, and takes that value off.
static void set_wait(lua_State *L)
{
    struct text text = bind_to_text(L, -1);
    struct wait wait = lua_type(L, -1) == LUA_TNUMBER ? wait_of_seconds(lua_tonumber(L, -1))
                       : text.data != NULL            ? wait_of_text(text)
                                                      : (struct wait){ 0 };

    lua_pop(L, 1);
    lua_pushnumber(L, (lua_Number)wait.after_ms);
    lua_setfield(L, -2, "retry_after_ms");
    lua_pushnumber(L, (lua_Number)wait.at_s);
    lua_setfield(L, -2, "retry_at_s");
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
        push_words(L, text, most);
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
    set_wait(L);
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
        set_wait(L);
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
