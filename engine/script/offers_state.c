#include "script/offers_state.h"

#include "script/bind_support.h"
#include "script/offers.h"

enum { OFFER_BYTES_MAX = 64 << 10 };

static const char SCRATCH_KEY, OBSERVED_KEY; // in the registry

static void push_schema_name(lua_State *L, const char *product)
{
    lua_pushfstring(L, "offers:%s", product);
}

bool offers_compile_product(lua_State *L, int index)
{
    int absolute = index < 0 && index > LUA_REGISTRYINDEX ? lua_gettop(L) + index + 1 : index;

    if (!schema_compile(L, absolute)) {
        return false;
    }
    lua_getfield(L, absolute, "name");
    if (lua_type(L, -1) != LUA_TSTRING) {
        lua_pop(L, 2);
        lua_pushliteral(L, "a product has a `name`");
        return false;
    }
    push_schema_name(L, lua_tostring(L, -1));
    lua_pushvalue(L, -3);
    lua_rawset(L, LUA_REGISTRYINDEX);
    lua_pop(L, 2);
    return true;
}

const struct schema *offers_state_schema(lua_State *L, const char *product)
{
    push_schema_name(L, product);
    lua_rawget(L, LUA_REGISTRYINDEX);
    const struct schema *schema = lua_touserdata(L, -1); // the registry keeps it
    if (schema != NULL) {
        schema_push_readers(L, -1);
        lua_replace(L, -2);
    }
    return schema;
}

void offers_set_observed(lua_State *L, uint64_t wall_us)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&OBSERVED_KEY);
    lua_pushnumber(L, (double)wall_us);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

struct buffer *offers_state_scratch(lua_State *L, int number)
{
    lua_pushlightuserdata(L, (void *)((uintptr_t)&SCRATCH_KEY));
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_newtable(L);
        for (int i = 1; i <= OFFERS_SCRATCHES; i++) {
            (void)bind_push_buffer(L, OFFER_BYTES_MAX);
            lua_rawseti(L, -2, i);
        }
        lua_pushlightuserdata(L, (void *)((uintptr_t)&SCRATCH_KEY));
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, -1, number);
    struct buffer *buffer = lua_touserdata(L, -1);
    lua_pop(L, 2);
    return buffer;
}

void offers_state_observed(lua_State *L, char observed_at[CALENDAR_TEXT_MAX])
{
    struct moment moment;

    lua_pushlightuserdata(L, (void *)(uintptr_t)&OBSERVED_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_type(L, -1) == LUA_TNUMBER && calendar_of_epoch_us((int64_t)lua_tonumber(L, -1), &moment)) {
        moment.micros = 0;
        (void)calendar_write_utc(&moment, observed_at);
    }
    lua_pop(L, 1);
}
