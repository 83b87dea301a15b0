#include "script/bind_support.h"

#include "script/freeze.h"

#include <math.h>

static const char BUFFER_KEY; // its address names the metatable in the registry

static int buffer_collect(lua_State *L)
{
    buffer_fini(lua_touserdata(L, 1));
    return 0;
}

struct buffer *bind_push_buffer(lua_State *L, size_t ceiling)
{
    struct buffer *buffer = lua_newuserdata(L, sizeof *buffer);

    buffer_init(buffer, ceiling);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&BUFFER_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, buffer_collect);
        lua_setfield(L, -2, "__gc");
        lua_pushlightuserdata(L, (void *)(uintptr_t)&BUFFER_KEY);
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
    lua_setmetatable(L, -2);
    return buffer;
}

void bind_drop_buffer(struct buffer *buffer)
{
    size_t ceiling = buffer->ceiling;

    buffer_fini(buffer);
    buffer_init(buffer, ceiling);
}

void bind_push_result(lua_State *L, struct buffer *buffer)
{
    if (buffer->is_full) {
        bind_drop_buffer(buffer);
        luaL_error(L, "the result is larger than %d bytes", (int)buffer->ceiling);
    }
    bind_push_text(L, buffer_text(buffer));
    bind_drop_buffer(buffer);
}

struct text bind_to_text(lua_State *L, int index)
{
    struct text text = { NULL, 0 };

    if (lua_type(L, index) == LUA_TSTRING) {
        text.data = lua_tolstring(L, index, &text.length);
    }
    return text;
}

void bind_at_most(lua_State *L, int count)
{
    if (lua_gettop(L) > count) {
        luaL_argerror(L, count + 1, lua_pushfstring(L, "%d argument(s) at most, got %d", count, lua_gettop(L)));
    }
}

bool bind_gives_nil(lua_State *L, int count)
{
    for (int i = 1; i <= count; i++) {
        if (lua_isnil(L, i)) {
            lua_pushnil(L);
            return true;
        }
    }
    return false;
}

struct text bind_check_text(lua_State *L, int argument)
{
    struct text text = bind_to_text(L, argument);

    if (text.data == NULL) {
        bind_expected(L, argument, "text");
    }
    if (text.length > BIND_INPUT_MAX) {
        luaL_argerror(L, argument, "text of at most 4 MiB expected");
    }
    return text;
}

void bind_push_text(lua_State *L, struct text text)
{
    lua_pushlstring(L, text.data == NULL ? "" : text.data, text.length);
}

int64_t bind_check_integer(lua_State *L, int argument, int64_t least, int64_t most)
{
    double value = lua_type(L, argument) == LUA_TNUMBER ? lua_tonumber(L, argument) : NAN;

    if (!(value >= (double)least && value <= (double)most) || value != floor(value)) {
        luaL_argerror(L, argument,
                      lua_pushfstring(L, "a whole number from %f to %f expected", (double)least, (double)most));
    }
    return (int64_t)value;
}

int bind_expected(lua_State *L, int argument, const char *expected)
{
    return luaL_argerror(L, argument, lua_pushfstring(L, "%s expected, got %s", expected, luaL_typename(L, argument)));
}

int bind_refuse(lua_State *L, const char *format, ...)
{
    va_list arguments;

    lua_pushnil(L);
    va_start(arguments, format);
    lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    return 2;
}

void bind_push_module(lua_State *L, const luaL_Reg *functions)
{
    lua_newtable(L);
    for (; functions->name != NULL; functions++) {
        lua_pushcfunction(L, functions->func);
        lua_setfield(L, -2, functions->name);
    }
}

bool bind_unwrap(lua_State *L, int index)
{
    if (lua_istable(L, index)) {
        return true;
    }
    int absolute = index < 0 ? lua_gettop(L) + index + 1 : index;
    if (!freeze_raw(L, absolute)) {
        return false;
    }
    lua_replace(L, absolute);
    return true;
}

void bind_keep_pointer(lua_State *L, const void *key, const void *pointer)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    if (pointer != NULL) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)pointer);
    } else {
        lua_pushnil(L);
    }
    lua_rawset(L, LUA_REGISTRYINDEX);
}

const void *bind_kept_pointer(lua_State *L, const void *key)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    lua_rawget(L, LUA_REGISTRYINDEX);
    const void *pointer = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return pointer;
}
