// What the second result of normalise says of the account's quota. The values often come from headers, and a supplier's
// odd header is no bug of the script: what cannot be read was not said. A value of another type is a bug.

#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/run.h"

#include <lauxlib.h>
#include <string.h>

/// Pushes a field of the plain table at `table`; its type.
static int quota_push(lua_State *L, int table, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, table);
    return lua_type(L, -1);
}

static void quota_check_fields(lua_State *L, int table, int function)
{
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        int type = lua_type(L, -1);
        if (strcmp(name, "remaining") != 0 && strcmp(name, "reset_at") != 0) {
            run_breach(L, function, "normalise: quota: unknown field `%s`; there are `remaining` and `reset_at`", name);
        }
        if (type != LUA_TNUMBER && bind_to_text(L, -1).data == NULL) {
            run_breach(L, function, "normalise: `quota.%s` must be a number or text, not a %s", name,
                       luaL_typename(L, -1));
        }
    }
}

/// Nothing is left: less than one request.
static bool quota_is_used(lua_State *L, int table)
{
    int64_t whole = 1;

    if (quota_push(L, table, "remaining") == LUA_TNUMBER) {
        return lua_tonumber(L, -1) < 1;
    }
    struct text text = bind_to_text(L, -1);
    return text.data != NULL && text_to_whole(text_trim(text), TEXT_DOUBLE_DIGITS, &whole) && whole < 1;
}

static struct wait quota_reset(lua_State *L, int table)
{
    if (quota_push(L, table, "reset_at") == LUA_TNUMBER) {
        return wait_of_reset(lua_tonumber(L, -1));
    }
    struct text text = bind_to_text(L, -1);
    return text.data != NULL ? wait_of_reset_text(text) : (struct wait){ 0 };
}

void run_take_quota(lua_State *L, int table, int function, struct run_details *details)
{
    int top = lua_gettop(L);

    if (quota_push(L, table, "quota") != LUA_TNIL) {
        if (!freeze_raw(L, lua_gettop(L))) {
            run_breach(L, function, "normalise: `quota` must be a table");
        }
        int quota = lua_gettop(L);
        quota_check_fields(L, quota, function);
        details->is_quota_used = quota_is_used(L, quota);
        details->quota_reset = quota_reset(L, quota);
    }
    lua_settop(L, top);
}
