#include "scenario/script_health.h"

static const char *name_of_health(enum health_end end)
{
    static const char *const names[] = { "good", "bad", "unreachable", "cut", "ours" };

    return names[end];
}

static void push_health(lua_State *lua, const struct virtual_health *health)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        { "times", health->told },  { "pending_us", (double)health->pending_us },
        { "value", health->value }, { "noted", health->noted },
        { "items", health->items },
    };

    lua_newtable(lua);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        lua_pushnumber(lua, numbers[i].value);
        lua_setfield(lua, -2, numbers[i].name);
    }
    lua_pushboolean(lua, health->has_won);
    lua_setfield(lua, -2, "won");
    lua_pushstring(lua, name_of_health(health->last));
    lua_setfield(lua, -2, "end");
}

void script_set_health(lua_State *lua, const struct play *play, const struct play_result *result)
{
    lua_newtable(lua);
    for (size_t i = 0; i < play->supplier_count; i++) {
        if (result->health[i].told > 0) {
            push_health(lua, &result->health[i]);
            lua_setfield(lua, -2, play->suppliers[i].behaviour.name);
        }
    }
    lua_setfield(lua, -2, "health");
}
