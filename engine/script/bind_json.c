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

/// The digits, at the end of `out`.
static struct text whole_number(int64_t value, char out[BIND_NUMBER_MAX])
{
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t start = BIND_NUMBER_MAX;

    do {
        out[--start] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        out[--start] = '-';
    }
    return (struct text){ out + start, BIND_NUMBER_MAX - start };
}

struct text bind_json_number(double value, char out[BIND_NUMBER_MAX])
{
    int length = 0;

    if (!isfinite(value)) {
        return (struct text){ NULL, 0 };
    }
    if (value == floor(value) && fabs(value) < 1e15) {
        return whole_number((int64_t)value, out);
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

struct encoder_step {
    struct text key; // absent: an index
    size_t index;
};

struct encoder {
    struct json_writer writer;
    struct encoder_step steps[ENCODE_DEPTH_MAX]; // to the value in hand, for the sentence
    uint32_t depth;
};

static bool encode_value(lua_State *L, struct encoder *encoder, int index);

/// `rooms[2].rates: `, as far as it fits.
static void print_path(const struct encoder *encoder, char *out, size_t size)
{
    size_t length = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < encoder->depth && length < size; i++) {
        const struct encoder_step *step = &encoder->steps[i];
        struct text key = { step->key.data, step->key.length < 60 ? step->key.length : 60 };
        int added = key.data == NULL
                        ? snprintf(out + length, size - length, "[%zu]", step->index)
                        : snprintf(out + length, size - length, "%s%.*s", i > 0 ? "." : "", TEXT_ARGS(key));
        length += added > 0 ? (size_t)added : 0;
    }
}

static bool encode_failed(lua_State *L, const struct encoder *encoder, const char *sentence)
{
    char path[200];

    print_path(encoder, path, sizeof path);
    lua_pushfstring(L, "%s%s%s", path, path[0] != '\0' ? ": " : "", sentence);
    return false;
}

static bool encode_array(lua_State *L, struct encoder *encoder, int index, size_t count)
{
    struct encoder_step *step = &encoder->steps[encoder->depth++];

    json_begin_array(&encoder->writer);
    for (size_t i = 1; i <= count; i++) {
        *step = (struct encoder_step){ .index = i };
        lua_rawgeti(L, index, (int)i);
        if (!encode_value(L, encoder, lua_gettop(L))) {
            return false;
        }
        lua_pop(L, 1);
    }
    json_end_array(&encoder->writer);
    encoder->depth--;
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/// Few keys, as most tables have, are moved to their places; many are sorted.
static void sort_keys(struct text *keys, size_t count)
{
    if (count > KEYS_ON_STACK) {
        qsort(keys, count, sizeof *keys, compare_keys);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct text key = keys[i];
        size_t at = i;
        for (; at > 0 && text_compare(key, keys[at - 1]) < 0; at--) {
            keys[at] = keys[at - 1];
        }
        keys[at] = key;
    }
}

/// `keys` are all of the table's, in any order; their views stay valid while the table holds them.
static bool encode_keys(lua_State *L, struct encoder *encoder, int index, struct text *keys, size_t count)
{
    struct encoder_step *step = &encoder->steps[encoder->depth++];

    sort_keys(keys, count);
    json_begin_object(&encoder->writer);
    for (size_t i = 0; i < count; i++) {
        *step = (struct encoder_step){ .key = keys[i] };
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
    }
    json_end_object(&encoder->writer);
    encoder->depth--;
    return true;
}

static bool encode_large_object(lua_State *L, struct encoder *encoder, int index, size_t count)
{
    size_t i = 0;

    if (count > BIND_KEYS_MAX) {
        return encode_failed(L, encoder, "a table of at most 50000 keys expected");
    }
    struct text *keys = lua_newuserdata(L, count * sizeof *keys);
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        keys[i++] = bind_to_text(L, -2);
    }
    if (!encode_keys(L, encoder, index, keys, count)) {
        return false;
    }
    lua_pop(L, 1);
    return true;
}

// A table is an array when it is marked or holds 1 … n; an object when all its keys are text; an unmarked empty one is
// {}.
static bool encode_table(lua_State *L, struct encoder *encoder, int index)
{
    struct text keys[KEYS_ON_STACK];
    size_t count = 0, texts = 0, length = lua_objlen(L, index);
    bool is_array = bind_json_is_marked(L, index);

    if (encoder->depth == ENCODE_DEPTH_MAX) {
        return encode_failed(L, encoder, "nested deeper than 30 levels");
    }
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        count++;
        if (lua_type(L, -2) != LUA_TSTRING) {
            continue;
        }
        if (texts < KEYS_ON_STACK) {
            keys[texts] = bind_text_at(L, -2);
        }
        texts++;
    }
    if (texts == 0 && (is_array || count > 0)) {
        return count == length ? encode_array(L, encoder, index, length)
                               : encode_failed(L, encoder, "a list without holes expected");
    }
    if (texts != count || is_array) {
        return encode_failed(L, encoder, "a table is either a list or has text keys, not both");
    }
    return count <= KEYS_ON_STACK ? encode_keys(L, encoder, index, keys, count)
                                  : encode_large_object(L, encoder, index, count);
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
    struct encoder encoder = { .depth = 0 };
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
