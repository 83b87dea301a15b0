#include "scenario/script_patience.h"

#include <lauxlib.h>

static double get_real(lua_State *lua, const char *key, double otherwise)
{
    lua_getfield(lua, -1, key);
    double number = lua_isnil(lua, -1) ? otherwise : (double)luaL_checknumber(lua, -1);
    lua_pop(lua, 1);
    return number;
}

void script_read_past(lua_State *lua, struct play_supplier *supplier)
{
    supplier->weight = (uint64_t)(get_real(lua, "weight", 0) * 1e6);
    lua_getfield(lua, -1, "past");
    if (lua_istable(lua, -1)) {
        supplier->behaviour.past = (struct virtual_past){
            .calls = (uint32_t)get_real(lua, "calls", 400),
            .arrive_percent = (uint32_t)get_real(lua, "percent", 100),
            .from_us = (uint64_t)get_real(lua, "from_us", 0),
            .to_us = (uint64_t)get_real(lua, "to_us", 0),
            .gave_up_us = (uint64_t)get_real(lua, "gave_up_us", 30e6),
            .items = get_real(lua, "items", -1),
        };
    }
    lua_pop(lua, 1);
}

void script_read_patience(lua_State *lua, struct play *play)
{
    struct patience_settings *patience = &play->patience;

    lua_getfield(lua, -1, "patience");
    if (lua_istable(lua, -1)) {
        lua_getfield(lua, -1, "early");
        patience->finishes_early = lua_toboolean(lua, -1) != 0;
        lua_pop(lua, 1);
        patience->delay_cost = get_real(lua, "delay_cost", 0);
        patience->least_gain = get_real(lua, "least", patience->least_gain);
        patience->novelty = get_real(lua, "novelty", 0);
        patience->held_cost = get_real(lua, "held_cost", 0);
    }
    lua_pop(lua, 1);
}
