#include "script/bind_json.h"

#include "base/json_write.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/sandbox.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENCODE_DEPTH_MAX = 30, KEYS_ON_STACK = 24 };

static const char ARRAY_KEY; // its address names the array mark in the registry

void bind_json_push_array_mark(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&ARRAY_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 1);
        lua_pushliteral(L, "json.array");
        lua_setfield(L, -2, "__metatable");
        lua_pushlightuserdata(L, (void *)(uintptr_t)&ARRAY_KEY);
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
}

void bind_json_mark_array(lua_State *L, int index)
{
    lua_pushvalue(L, index);
    bind_json_push_array_mark(L);
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

bool bind_json_is_marked(lua_State *L, int index)
{
    if (!lua_getmetatable(L, index)) {
        return false;
    }
    bind_json_push_array_mark(L);
    bool is_marked = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    return is_marked;
}

struct text bind_json_number(double value, char out[BIND_NUMBER_MAX])
{
    int length = 0;

    if (!isfinite(value)) {
        return (struct text){ NULL, 0 };
    }
    if (value == floor(value) && fabs(value) < 1e15) {
        length = snprintf(out, BIND_NUMBER_MAX, "%.0f", value == 0 ? 0.0 : value);
        return (struct text){ out, (size_t)length };
    }
    for (int precision = 15; precision <= 17; precision++) {
        length = snprintf(out, BIND_NUMBER_MAX, "%.*g", precision, value);
        if (strtod(out, NULL) == value) {
            break;
        }
    }
    return (struct text){ out, (size_t)length };
}

// ---- encode --------------------------------------------------------------------------------------------------------

struct encoder {
    struct json_writer writer;
    char path[200]; // of the value in hand, for the sentence
    size_t path_length;
    uint32_t depth;
};

static bool encode_value(lua_State *L, struct encoder *encoder, int index);

static bool encode_failed(lua_State *L, const struct encoder *encoder, const char *sentence)
{
    lua_pushfstring(L, "%s%s%s", encoder->path, encoder->path_length > 0 ? ": " : "", sentence);
    return false;
}

static size_t path_grew(struct encoder *encoder, int added)
{
    size_t before = encoder->path_length;
    size_t room = sizeof encoder->path - 1 - before;

    if (added > 0) {
        encoder->path_length += (size_t)added < room ? (size_t)added : room;
    }
    return before;
}

static size_t path_enter_index(struct encoder *encoder, size_t index)
{
    char *end = encoder->path + encoder->path_length;

    return path_grew(encoder, snprintf(end, sizeof encoder->path - encoder->path_length, "[%zu]", index));
}

static size_t path_enter_key(struct encoder *encoder, struct text key)
{
    char *end = encoder->path + encoder->path_length;
    const char *point = encoder->path_length > 0 ? "." : "";

    return path_grew(encoder, snprintf(end, sizeof encoder->path - encoder->path_length, "%s%.*s", point,
                                       key.length < 60 ? (int)key.length : 60, key.data));
}

static void path_leave(struct encoder *encoder, size_t before)
{
    encoder->path_length = before;
    encoder->path[before] = '\0';
}

static bool encode_array(lua_State *L, struct encoder *encoder, int index, size_t count)
{
    json_begin_array(&encoder->writer);
    for (size_t i = 1; i <= count; i++) {
        size_t before = path_enter_index(encoder, i);
        lua_rawgeti(L, index, (int)i);
        if (!encode_value(L, encoder, lua_gettop(L))) {
            return false;
        }
        lua_pop(L, 1);
        path_leave(encoder, before);
    }
    json_end_array(&encoder->writer);
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static bool encode_object(lua_State *L, struct encoder *encoder, int index, size_t count)
{
    struct text few[KEYS_ON_STACK];
    size_t i = 0;

    if (count > BIND_KEYS_MAX) {
        return encode_failed(L, encoder, "a table of at most 50000 keys expected");
    }
    struct text *keys = count <= KEYS_ON_STACK ? few : lua_newuserdata(L, count * sizeof *keys);
    // The views stay valid while the table holds its keys.
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        keys[i++] = bind_to_text(L, -2);
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    json_begin_object(&encoder->writer);
    for (i = 0; i < count; i++) {
        size_t before = path_enter_key(encoder, keys[i]);
        if (!text_is_utf8(keys[i])) {
            return encode_failed(L, encoder, "the key is not UTF-8");
        }
        json_key_text(&encoder->writer, keys[i]);
        bind_push_text(L, keys[i]);
        lua_rawget(L, index);
        if (!encode_value(L, encoder, lua_gettop(L))) {
            return false;
        }
        lua_pop(L, 1);
        path_leave(encoder, before);
    }
    json_end_object(&encoder->writer);
    if (keys != few) {
        lua_pop(L, 1);
    }
    return true;
}

// A table is an array when it is marked or holds 1 … n; an object when all its keys are text; an unmarked empty one is
// {}.
static bool encode_table(lua_State *L, struct encoder *encoder, int index)
{
    size_t count = 0, texts = 0, length = lua_objlen(L, index);
    bool is_array = bind_json_is_marked(L, index);

    if (encoder->depth == ENCODE_DEPTH_MAX) {
        return encode_failed(L, encoder, "nested deeper than 30 levels");
    }
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        count++;
        texts += lua_type(L, -2) == LUA_TSTRING ? 1 : 0;
    }
    encoder->depth++;
    bool is_ok = false;
    if (texts == 0 && (is_array || count > 0)) {
        if (count != length) {
            return encode_failed(L, encoder, "a list without holes expected");
        }
        is_ok = encode_array(L, encoder, index, length);
    } else if (texts == count && !is_array) {
        is_ok = encode_object(L, encoder, index, count);
    } else {
        return encode_failed(L, encoder, "a table is either a list or has text keys, not both");
    }
    encoder->depth--;
    return is_ok;
}

static bool encode_number(lua_State *L, struct encoder *encoder, double value)
{
    char bytes[BIND_NUMBER_MAX];
    struct text literal = bind_json_number(value, bytes);

    if (literal.data == NULL) {
        return encode_failed(L, encoder, "not a finite number");
    }
    json_raw(&encoder->writer, literal);
    return true;
}

static bool encode_value(lua_State *L, struct encoder *encoder, int index)
{
    if (!lua_checkstack(L, 12) || sandbox_is_interrupted(L)) {
        return false;
    }
    switch (lua_type(L, index)) {
    case LUA_TSTRING:
        if (lua_objlen(L, index) > BIND_INPUT_MAX) {
            return encode_failed(L, encoder, "the text is too long");
        }
        if (!text_is_utf8(bind_to_text(L, index))) {
            return encode_failed(L, encoder, "the text is not UTF-8");
        }
        json_text(&encoder->writer, bind_to_text(L, index));
        return true;
    case LUA_TNUMBER:
        return encode_number(L, encoder, lua_tonumber(L, index));
    case LUA_TBOOLEAN:
        json_bool(&encoder->writer, lua_toboolean(L, index) != 0);
        return true;
    case LUA_TNIL:
        json_null(&encoder->writer);
        return true;
    case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(L, index) == NULL) {
            json_null(&encoder->writer); // json.null
            return true;
        }
        break;
    default:
        break;
    }
    if (bind_unwrap(L, index)) {
        return encode_table(L, encoder, index);
    }
    return encode_failed(L, encoder, lua_pushfstring(L, "a %s cannot be JSON", luaL_typename(L, index)));
}

bool bind_json_encode(lua_State *L, int index, struct buffer *out)
{
    struct encoder encoder = { .path_length = 0 };
    int top = lua_gettop(L);

    json_writer_init(&encoder.writer, out);
    lua_pushvalue(L, index);
    if (encode_value(L, &encoder, top + 1)) {
        lua_settop(L, top);
        return true;
    }
    if (sandbox_is_interrupted(L)) {
        buffer_fini(out);
        sandbox_stop_here(L);
    }
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return false;
}

// ---- the module ----------------------------------------------------------------------------------------------------

static int json_encode(lua_State *L)
{
    bind_at_most(L, 1);
    luaL_checkany(L, 1);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    if (!bind_json_encode(L, 1, out)) {
        buffer_fini(out);
        buffer_init(out, 0);
        return luaL_error(L, "json.encode: %s", lua_tostring(L, -1));
    }
    bind_push_result(L, out);
    return 1;
}

static int json_decode(lua_State *L)
{
    bind_at_most(L, 1);
    struct text json = bind_check_text(L, 1);

    if (bind_json_decode(L, json)) {
        return 1;
    }
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

static int json_array(lua_State *L)
{
    bind_at_most(L, 1);
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    if (lua_type(L, 1) != LUA_TTABLE || (lua_getmetatable(L, 1) && !bind_json_is_marked(L, 1))) {
        return bind_expected(L, 1, "a plain table");
    }
    bind_json_mark_array(L, 1);
    lua_pushvalue(L, 1);
    return 1;
}

void bind_json(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "encode", json_encode }, { "decode", json_decode }, { "array", json_array }, { NULL, NULL }
    };

    bind_push_module(L, functions);
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
}
