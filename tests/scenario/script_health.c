#include "scenario/script_health.h"

static void set_number(lua_State *lua, const char *key, uint64_t number)
{
    lua_pushnumber(lua, (lua_Number)number);
    lua_setfield(lua, -2, key);
}

static void set_name(lua_State *lua, const char *key, const char *name)
{
    if (name != NULL) {
        lua_pushstring(lua, name);
        lua_setfield(lua, -2, key);
    }
}

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
        { "times", health->told },       { "pending_us", (double)health->pending_us },
        { "value", health->value },      { "noted", health->noted },
        { "items", health->items },      { "refusals", health->auth.refusals },
        { "parks", health->auth.parks },
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

/// What was told of each supplier's health, last; absent: nothing.
static void set_health(lua_State *lua, const struct play *play, const struct play_result *result)
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

/// The record of what went on of each supplier, the last one; absent: there is none. What was not compared is absent.
static void set_late(lua_State *lua, const struct play *play, const struct play_result *result)
{
    lua_newtable(lua);
    for (size_t i = 0; i < play->supplier_count; i++) {
        const struct virtual_health *health = &result->health[i];
        const struct search_record_entry *entry = &health->late_entry;
        if (health->lates == 0) {
            continue;
        }
        lua_newtable(lua);
        set_name(lua, "line", health->late_kind == RECORD_PROBE ? "probe" : "late");
        set_name(lua, "outcome", outcome_name(entry->outcome));
        set_name(lua, "bound", bound_name(entry->bound));
        set_name(lua, "mode", mode_name(entry->mode));
        set_number(lua, "times", health->lates);
        set_number(lua, "late_us", health->late.late_us);
        set_number(lua, "offers", entry->offers);
        set_number(lua, "requests", entry->requests);
        if (health->late.is_compared) {
            set_number(lua, "new", health->late.new_items);
            set_number(lua, "cheapest", health->late.cheapest_items);
        }
        lua_setfield(lua, -2, play->suppliers[i].behaviour.name);
    }
    lua_setfield(lua, -2, "late");
}

void script_set_health(lua_State *lua, const struct play *play, const struct play_result *result)
{
    set_health(lua, play, result);
    set_late(lua, play, result);
}
