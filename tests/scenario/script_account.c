#include "scenario/script_account.h"

static uint64_t get_number(lua_State *lua, const char *key)
{
    lua_getfield(lua, -1, key);
    uint64_t number = lua_isnil(lua, -1) ? 0 : (uint64_t)lua_tonumber(lua, -1);
    lua_pop(lua, 1);
    return number;
}

void script_read_account(lua_State *lua, struct virtual_supplier *behaviour)
{
    behaviour->used = (uint32_t)get_number(lua, "used");
    behaviour->blocked_us = get_number(lua, "blocked_us");
    lua_getfield(lua, -1, "limits");
    if (lua_istable(lua, -1)) {
        behaviour->limits = (struct request_limits){
            .per_second = (uint32_t)get_number(lua, "rps"),
            .per_minute = (uint32_t)get_number(lua, "per_minute"),
            .per_day = (uint32_t)get_number(lua, "per_day"),
            .concurrent = (uint32_t)get_number(lua, "concurrent"),
        };
    }
    lua_pop(lua, 1);
    behaviour->auth_refusals = (uint32_t)get_number(lua, "auth_refusals");
    behaviour->worth = (uint32_t)get_number(lua, "worth");
    lua_getfield(lua, -1, "is_tried_out");
    behaviour->is_tried_out = lua_toboolean(lua, -1) != 0;
    lua_pop(lua, 1);
}
