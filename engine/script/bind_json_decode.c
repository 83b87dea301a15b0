#include "base/json_read.h"
#include "script/bind.h"
#include "script/bind_json.h"
#include "script/bind_support.h"
#include "script/json_shapes.h"
#include "script/sandbox.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// One pass over the tokens builds the values. The members of a table wait on the Lua stack until it is complete, so
// that most tables are made in their final size; a long list is flushed in between. What the values of an object are
// called is told by its shape as long as it has one.
enum { PENDING_MAX = 64 };

struct decoder {
    struct json_reader reader;
    struct json_shapes *shapes;
    int makers;             // stack index of their makers
    int array_mark;         // … of the mark of arrays
    struct buffer *scratch; // strings without their escapes
    bool keeps_nulls;       // within lists
    const char *error;      // NULL: fine; else a constant sentence, at reader.offset
};

static bool decode_value(lua_State *L, struct decoder *decoder, enum json_token token);

static void push_string(lua_State *L, struct decoder *decoder)
{
    if (!decoder->reader.has_escapes) {
        bind_push_text(L, decoder->reader.value);
        return;
    }
    buffer_clear(decoder->scratch);
    bind_push_text(L, json_unescape(&decoder->reader, decoder->scratch));
    if (decoder->scratch->is_full) {
        decoder->error = "not enough memory for a string";
    }
}

// Literals of at most 15 digits and a small scale are exact in double arithmetic; others go through strtod.
static bool number_is_simple(struct text literal, double *value)
{
    static const double powers[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
    uint64_t digits = 0;
    size_t scale = 0, i = literal.data[0] == '-' ? 1 : 0;
    bool is_fraction = false;

    if (literal.length > 16) {
        return false;
    }
    for (size_t count = 0; i < literal.length; i++) {
        char c = literal.data[i];
        if (c == '.') {
            is_fraction = true;
            continue;
        }
        if (c < '0' || c > '9' || ++count > 15) {
            return false;
        }
        digits = digits * 10 + (uint64_t)(c - '0');
        scale += is_fraction ? 1 : 0;
    }
    *value = (double)digits / powers[scale];
    if (literal.data[0] == '-') {
        *value = -*value;
    }
    return true;
}

static bool push_number(lua_State *L, struct decoder *decoder)
{
    struct text literal = decoder->reader.value;
    char terminated[512];
    double value = 0;

    if (!number_is_simple(literal, &value)) {
        if (literal.length >= sizeof terminated) {
            decoder->error = "a number of more than 511 characters";
            return false;
        }
        memcpy(terminated, literal.data, literal.length);
        terminated[literal.length] = '\0';
        value = strtod(terminated, NULL);
        if (!isfinite(value)) {
            decoder->error = "a number out of range";
            return false;
        }
    }
    lua_pushnumber(L, value);
    return true;
}

// Stores `pending` values above `base`; the table stands at `base` once it exists.
static void flush_array(lua_State *L, const struct decoder *decoder, int base, int *pending, int *stored, bool is_last)
{
    if (*stored == 0) {
        lua_createtable(L, is_last ? *pending : *pending * 2, 0);
        lua_pushvalue(L, decoder->array_mark);
        lua_setmetatable(L, -2);
        lua_insert(L, base);
    }
    for (int i = *pending; i > 0; i--) {
        lua_rawseti(L, base, *stored + i);
    }
    *stored += *pending;
    *pending = 0;
}

static bool has_stack(lua_State *L, struct decoder *decoder, int count)
{
    if (!lua_checkstack(L, count + 8)) {
        decoder->error = "not enough memory for its depth";
    }
    return decoder->error == NULL;
}

static bool decode_array(lua_State *L, struct decoder *decoder)
{
    int base = lua_gettop(L) + 1;
    int pending = 0, stored = 0;

    if (!has_stack(L, decoder, PENDING_MAX)) {
        return false;
    }
    for (;;) {
        enum json_token token = json_next(&decoder->reader);
        if (token == JSON_END_ARRAY) {
            flush_array(L, decoder, base, &pending, &stored, true);
            return true;
        }
        if (token == JSON_NULL && decoder->keeps_nulls) {
            lua_pushlightuserdata(L, NULL);
        } else if (!decode_value(L, decoder, token)) {
            return false;
        }
        if (++pending == PENDING_MAX) {
            flush_array(L, decoder, base, &pending, &stored, false);
        }
    }
}

// The values above `base`, one for each key of the shape, become the table at `base`, without a maker.
static void make_object(lua_State *L, const struct json_shape *shape, int base)
{
    lua_createtable(L, 0, (int)shape->depth);
    lua_replace(L, base);
    for (; shape->parent != NULL; shape = shape->parent) {
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            continue;
        }
        bind_push_text(L, shape->key);
        lua_insert(L, -2);
        lua_rawset(L, base);
    }
}

// The rest of an object that has no shape, from the key in the reader's hand on; its table stands at `base`.
static bool decode_shapeless(lua_State *L, struct decoder *decoder, int base)
{
    enum json_token token = JSON_KEY;

    for (; token == JSON_KEY; token = json_next(&decoder->reader)) {
        push_string(L, decoder);
        token = json_next(&decoder->reader);
        if (token == JSON_NULL) {
            lua_pop(L, 1);
            continue;
        }
        if (!decode_value(L, decoder, token)) {
            return false;
        }
        lua_rawset(L, base);
    }
    return token == JSON_END_OBJECT;
}

static void finish_object(lua_State *L, struct decoder *decoder, struct json_shape *shape, int base)
{
    if (shape->maker == 0) {
        make_object(L, shape, base);
        json_shapes_learn(L, decoder->shapes, shape, decoder->makers);
        return;
    }
    lua_rawgeti(L, decoder->makers, shape->maker);
    lua_replace(L, base);
    lua_call(L, (int)shape->depth, 1);
}

static bool decode_object(lua_State *L, struct decoder *decoder)
{
    struct json_reader *reader = &decoder->reader;
    struct json_shape *shape = &decoder->shapes->root;
    int base = lua_gettop(L) + 1;

    if (sandbox_is_interrupted(L)) {
        decoder->error = "stopped";
        return false;
    }
    if (!has_stack(L, decoder, JSON_SHAPE_KEYS)) {
        return false;
    }
    lua_pushnil(L); // the place of the maker, then of the table
    for (;;) {
        if (shape->likely != NULL && json_take_key(reader, shape->likely->spelt)) {
            shape = shape->likely;
        } else {
            enum json_token token = json_next(reader);
            if (token == JSON_END_OBJECT) {
                finish_object(L, decoder, shape, base);
                return true;
            }
            if (token != JSON_KEY) {
                return false;
            }
            struct json_shape *next =
                reader->has_escapes ? NULL : json_shapes_step(decoder->shapes, shape, reader->value);
            if (next == NULL) {
                make_object(L, shape, base);
                return decode_shapeless(L, decoder, base);
            }
            shape = next;
        }
        if (!decode_value(L, decoder, json_next(reader))) {
            return false;
        }
    }
}

static bool decode_value(lua_State *L, struct decoder *decoder, enum json_token token)
{
    switch (token) {
    case JSON_BEGIN_OBJECT:
        return decode_object(L, decoder);
    case JSON_BEGIN_ARRAY:
        return decode_array(L, decoder);
    case JSON_STRING:
        push_string(L, decoder);
        return decoder->error == NULL;
    case JSON_NUMBER:
        return push_number(L, decoder);
    case JSON_TRUE:
    case JSON_FALSE:
        lua_pushboolean(L, token == JSON_TRUE);
        return true;
    case JSON_NULL:
        lua_pushnil(L);
        return true;
    default:
        return false;
    }
}

static bool decode_document(lua_State *L, struct text json, bool keeps_nulls)
{
    struct decoder decoder = { .keeps_nulls = keeps_nulls };
    int top = lua_gettop(L);

    luaL_checkstack(L, 8, "JSON");
    json_reader_init(&decoder.reader, json);
    decoder.scratch = bind_push_buffer(L, json.length + 16);
    decoder.shapes = json_shapes_push(L);
    bind_json_push_array_mark(L);
    decoder.makers = top + 2;
    decoder.array_mark = top + 3;
    bool is_ok = decode_value(L, &decoder, json_next(&decoder.reader)) && json_next(&decoder.reader) == JSON_END;
    buffer_fini(decoder.scratch);
    buffer_init(decoder.scratch, 0);
    sandbox_stop_here(L);
    if (is_ok) {
        lua_replace(L, top + 1);
        lua_settop(L, top + 1);
        return true;
    }
    const char *sentence = decoder.error != NULL ? decoder.error : decoder.reader.error;
    lua_settop(L, top);
    lua_pushfstring(L, "not JSON at byte %d: %s", (int)decoder.reader.offset + 1,
                    sentence != NULL ? sentence : "a value expected");
    return false;
}

bool bind_json_decode(lua_State *L, struct text json)
{
    return decode_document(L, json, false);
}

bool bind_json_decode_keeping_nulls(lua_State *L, struct text json)
{
    return decode_document(L, json, true);
}
