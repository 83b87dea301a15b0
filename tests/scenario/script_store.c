#include "scenario/script_store.h"

#include <lauxlib.h>
#include <string.h>

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

static enum indicative indicative_of(const char *name)
{
    if (name != NULL && strcmp(name, "first") == 0) {
        return INDICATIVE_FIRST;
    }
    return name != NULL && strcmp(name, "none") == 0 ? INDICATIVE_NONE : INDICATIVE_AT_END;
}

void script_read_store(lua_State *lua, struct play *play)
{
    lua_getfield(lua, -1, "indicative");
    play->indicative = indicative_of(lua_tostring(lua, -1));
    lua_pop(lua, 1);
    lua_getfield(lua, -1, "store");
    if (lua_istable(lua, -1)) {
        lua_getfield(lua, -1, "key");
        const char *key = lua_tostring(lua, -1);
        lua_pop(lua, 1);
        play->store = (struct virtual_store_given){ .is_on = true,
                                                    .key = key,
                                                    .after_us = get_number(lua, "after_us", 500),
                                                    .spread_us = get_number(lua, "spread_us", 0),
                                                    .reading_us = get_number(lua, "reading_us", 0),
                                                    .faults_in = (uint32_t)get_number(lua, "faults", 0),
                                                    .hangs = get_flag(lua, "hangs") };
        play->last_known =
            (struct last_known_settings){ .is_on = true,
                                          .fills = get_flag(lua, "fill"),
                                          .slice_us = get_number(lua, "slice_us", 15000),
                                          .max_age_ms = get_number(lua, "max_age_ms", 86400000),
                                          .empty_max_age_ms = get_number(lua, "empty_max_age_ms", 300000) };
    }
    lua_pop(lua, 1);
}

void script_read_stored(lua_State *lua, struct play_supplier *supplier)
{
    supplier->last_known = (struct last_known_terms){ .max_age_ms = get_number(lua, "max_age_ms", 0),
                                                      .fresh_for_ms = get_number(lua, "fresh_for_ms", 0),
                                                      .price_guard = get_number(lua, "price_guard", 0) * 10000 };
    lua_getfield(lua, -1, "stored");
    if (lua_istable(lua, -1)) {
        supplier->stored =
            (struct virtual_stored){ .is_there = true,
                                     .is_of_other = get_flag(lua, "other"),
                                     .age_ms = get_number(lua, "age_ms", 60000),
                                     .life_ms = get_number(lua, "life_ms", 86400000),
                                     .first_id = (uint32_t)get_number(lua, "from", 0),
                                     .offers = (uint32_t)get_number(lua, "offers", 0),
                                     .dearer_micros = (int64_t)get_number(lua, "dearer", 0) * OFFER_MICROS,
                                     .has_expired = get_flag(lua, "expired") };
    }
    lua_pop(lua, 1);
}

static void set_number(lua_State *lua, const char *key, uint64_t number)
{
    lua_pushnumber(lua, (lua_Number)number);
    lua_setfield(lua, -2, key);
}

void script_set_store(lua_State *lua, const struct play *play, const struct play_result *result)
{
    const uint64_t arrival_ms = PLAY_ARRIVAL_S * UINT64_C(1000);

    set_number(lua, "keeps", result->keeps);
    set_number(lua, "reads", result->reads);
    lua_newtable(lua);
    for (size_t i = 0; i < play->supplier_count; i++) {
        const struct play_kept *kept = &result->kept[i];
        if (!kept->is_there) {
            continue;
        }
        lua_newtable(lua);
        set_number(lua, "offers", kept->head.offers);
        set_number(lua, "life", kept->head.until_ms - kept->head.observed_ms);
        lua_pushboolean(lua, kept->head.observed_ms >= arrival_ms);
        lua_setfield(lua, -2, "new");
        lua_setfield(lua, -2, play->suppliers[i].behaviour.name);
    }
    lua_setfield(lua, -2, "kept");
}
