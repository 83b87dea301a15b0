#include "scenario/script_extra.h"

#include <lauxlib.h>

static uint64_t get_number(lua_State *lua, const char *key, uint64_t otherwise)
{
    lua_getfield(lua, -1, key);
    uint64_t number = lua_isnil(lua, -1) ? otherwise : (uint64_t)luaL_checknumber(lua, -1);
    lua_pop(lua, 1);
    return number;
}

static bool get_flag(lua_State *lua, const char *key)
{
    lua_getfield(lua, -1, key);
    bool flag = lua_toboolean(lua, -1) != 0;
    lua_pop(lua, 1);
    return flag;
}

static void set_number(lua_State *lua, const char *key, uint64_t number)
{
    lua_pushnumber(lua, (lua_Number)number);
    lua_setfield(lua, -2, key);
}

static void set_name(lua_State *lua, const char *key, const char *name)
{
    lua_pushstring(lua, name);
    lua_setfield(lua, -2, key);
}

void script_read_extra_settings(lua_State *lua, struct play *play)
{
    play->extra = (struct extra_settings){ .is_on = get_flag(lua, "has_extra"),
                                           .per_supplier = (double)get_number(lua, "extra_per_supplier", 3) / 100,
                                           .engine = (double)get_number(lua, "extra_engine", 10) / 100 };
    play->is_overloaded = get_flag(lua, "is_overloaded");
}

struct virtual_second script_second_of(const struct virtual_step *step)
{
    return (struct virtual_second){ .is_given = true,
                                    .result = step->result,
                                    .status = step->status,
                                    .phase = step->phase,
                                    .after_us = step->after_us,
                                    .connect_us = step->connect_us,
                                    .hangs = step->hangs,
                                    .normalise = step->normalise,
                                    .offers = step->offers };
}

/// What is known of a supplier, and what it says of calls made twice.
void script_read_extra(lua_State *lua, struct virtual_supplier *behaviour)
{
    behaviour->terms.may_hedge = get_flag(lua, "hedge");
    behaviour->terms.call_cost = (double)get_number(lua, "call_cost", 0);
    uint64_t status = get_number(lua, "retry_on", 0);
    if (status != 0) {
        behaviour->terms.has_retry_on = true;
        behaviour->terms.retry_on[behaviour->terms.retry_on_count++] = (uint16_t)status;
    }
    lua_getfield(lua, -1, "known");
    if (lua_istable(lua, -1)) {
        behaviour->extra = (struct virtual_extra_given){
            .is_known = !get_flag(lua, "unknown"),
            .early_us = get_number(lua, "early_us", 0),
            .median_us = get_number(lua, "median_us", 0),
            .late_us = get_number(lua, "late_us", get_number(lua, "median_us", 0)),
            .connect_us = get_number(lua, "connect_us", 0),
            .value = (double)get_number(lua, "value", 0),
            .calls = (uint32_t)get_number(lua, "calls", 0),
            .has_quota = get_flag(lua, "quota"),
            .is_not_closed = get_flag(lua, "breaker"),
            .running = (uint32_t)get_number(lua, "running", 0),
        };
    }
    lua_pop(lua, 1);
}

void script_push_extra(lua_State *lua, const struct play *play, const struct play_result *result)
{
    static const char *const FATES[] = { "won", "wasted", "late", "not_sent" };

    lua_newtable(lua);
    for (size_t i = 0; i < play->supplier_count; i++) {
        const struct play_extra *extra = &result->extra[i];
        lua_newtable(lua);
        for (enum extra_kind kind = EXTRA_RETRY; kind < EXTRA_KINDS; kind++) {
            for (enum extra_fate fate = EXTRA_WON; fate <= EXTRA_NOT_SENT; fate++) {
                if (extra->told[kind][fate] > 0) {
                    set_name(lua, extra_kind_name(kind), FATES[fate]);
                }
            }
        }
        if (extra->refused != EXTRA_YES) {
            set_name(lua, "refused", extra_answer_name(extra->refused));
        }
        set_number(lua, "loser_us", extra->loser_us);
        lua_setfield(lua, -2, play->suppliers[i].behaviour.name);
    }
    lua_setfield(lua, -2, "extra");
}
