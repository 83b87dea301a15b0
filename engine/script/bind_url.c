#include "script/bind.h"
#include "script/bind_json.h"
#include "script/bind_support.h"

#include <stdlib.h>
#include <string.h>

static bool is_unreserved(unsigned char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

static void append_encoded(struct buffer *out, struct text text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.length && !out->is_full; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (is_unreserved(c)) {
            buffer_append_byte(out, (char)c);
        } else {
            char escaped[3] = { '%', hex[c >> 4], hex[c & 15] };
            buffer_append(out, escaped, sizeof escaped);
        }
    }
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int url_encode(lua_State *L)
{
    struct text text = bind_check_text(L, 1);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    append_encoded(out, text);
    bind_push_result(L, out);
    return 1;
}

static int url_decode(lua_State *L)
{
    struct text text = bind_check_text(L, 1);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '%') {
            int high = i + 2 < text.length ? hex_value(text.data[i + 1]) : -1;
            int low = high >= 0 ? hex_value(text.data[i + 2]) : -1;
            if (low < 0) {
                bind_drop_buffer(out);
                return bind_refuse(L, "two hexadecimal digits expected after %% at byte %d", (int)i + 1);
            }
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        buffer_append_byte(out, c);
    }
    bind_push_result(L, out);
    return 1;
}

// ---- query strings -------------------------------------------------------------------------------------------------

// The scalar at the top of the stack. False: it is none.
static bool append_scalar(lua_State *L, struct buffer *out)
{
    char bytes[BIND_NUMBER_MAX];
    struct text literal = { NULL, 0 };

    switch (lua_type(L, -1)) {
    case LUA_TSTRING:
        append_encoded(out, bind_to_text(L, -1));
        return true;
    case LUA_TNUMBER:
        literal = bind_json_number(lua_tonumber(L, -1), bytes);
        append_encoded(out, literal);
        return literal.data != NULL;
    case LUA_TBOOLEAN:
        buffer_append_c(out, lua_toboolean(L, -1) ? "true" : "false");
        return true;
    default:
        return false;
    }
}

static bool append_pair(lua_State *L, struct buffer *out, struct text key)
{
    if (out->length > 0) {
        buffer_append_byte(out, '&');
    }
    append_encoded(out, key);
    buffer_append_byte(out, '=');
    if (append_scalar(L, out)) {
        return true;
    }
    lua_pushfstring(L, "query field `%s`: text, a number or a flag expected, got %s", key.data, luaL_typename(L, -1));
    return false;
}

// The value at the top of the stack, once or, when it is a list, for each of its elements.
static bool append_values(lua_State *L, struct buffer *out, struct text key)
{
    if (!bind_unwrap(L, -1)) {
        return append_pair(L, out, key);
    }
    int list = lua_gettop(L);
    int count = (int)lua_objlen(L, list);

    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        if (!append_pair(L, out, key)) {
            return false;
        }
        lua_pop(L, 1);
    }
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static bool append_map(lua_State *L, int map, struct buffer *out)
{
    size_t count = 0, i = 0;

    for (lua_pushnil(L); lua_next(L, map) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            lua_pushliteral(L, "a query is a map with text keys or a list of {key, value} pairs");
            return false;
        }
        count++;
    }
    struct text *keys = lua_newuserdata(L, (count + 1) * sizeof *keys);
    for (lua_pushnil(L); lua_next(L, map) != 0; lua_pop(L, 1)) {
        keys[i++] = bind_to_text(L, -2);
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (i = 0; i < count; i++) {
        bind_push_text(L, keys[i]);
        lua_rawget(L, map);
        if (!append_values(L, out, keys[i])) {
            return false;
        }
        lua_pop(L, 1);
    }
    return true;
}

static bool append_pairs(lua_State *L, int list, int count, struct buffer *out)
{
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        if (!bind_unwrap(L, -1)) {
            lua_pushfstring(L, "query pair %d: a table {key, value} expected, got %s", i, luaL_typename(L, -1));
            return false;
        }
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        if (lua_type(L, -2) != LUA_TSTRING) {
            lua_pushfstring(L, "query pair %d: the key must be text, got %s", i, luaL_typename(L, -2));
            return false;
        }
        if (!append_values(L, out, bind_to_text(L, -2))) {
            return false;
        }
        lua_pop(L, 3);
    }
    return true;
}

bool bind_url_query(lua_State *L, int index, struct buffer *out)
{
    struct buffer *query = NULL;
    int top = lua_gettop(L);

    lua_pushvalue(L, index);
    if (!bind_unwrap(L, top + 1)) {
        lua_pushfstring(L, "a query is a map or a list, got %s", luaL_typename(L, top + 1));
        lua_replace(L, top + 1);
        return false;
    }
    query = bind_push_buffer(L, BIND_OUTPUT_MAX);
    int count = (int)lua_objlen(L, top + 1);
    bool is_ok = count > 0 ? append_pairs(L, top + 1, count, query) : append_map(L, top + 1, query);
    if (is_ok && query->is_full) {
        lua_pushliteral(L, "the query is too long");
        is_ok = false;
    }
    if (is_ok) {
        buffer_append_text(out, buffer_text(query));
        buffer_fini(query);
        buffer_init(query, 0);
        lua_settop(L, top);
        return true;
    }
    buffer_fini(query);
    buffer_init(query, 0);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return false;
}

static int url_query(lua_State *L)
{
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    if (!bind_url_query(L, 1, out)) {
        return luaL_argerror(L, 1, lua_tostring(L, -1));
    }
    bind_push_result(L, out);
    return 1;
}

// join(base, path, query): exactly one slash between base and path, `?` or `&` before the query.
static int url_join(lua_State *L)
{
    struct text base = bind_check_text(L, 1);
    struct text path = lua_isnoneornil(L, 2) ? (struct text){ NULL, 0 } : bind_check_text(L, 2);

    lua_settop(L, 3);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);
    if (path.length > 0) {
        while (base.length > 0 && base.data[base.length - 1] == '/') {
            base.length--;
        }
    }
    buffer_append_text(out, base);
    if (path.length > 0 && path.data[0] != '/' && path.data[0] != '?') {
        buffer_append_byte(out, '/');
    }
    buffer_append_text(out, path);
    if (!lua_isnil(L, 3)) {
        bool has_query = out->length > 0 && memchr(out->data, '?', out->length) != NULL;
        struct buffer *query = bind_push_buffer(L, BIND_OUTPUT_MAX);
        if (!bind_url_query(L, 3, query)) {
            bind_drop_buffer(out);
            return luaL_argerror(L, 3, lua_tostring(L, -1));
        }
        if (query->length > 0) {
            buffer_append_byte(out, has_query ? '&' : '?');
            buffer_append_text(out, buffer_text(query));
        }
        bind_drop_buffer(query);
    }
    bind_push_result(L, out);
    return 1;
}

void bind_url(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "encode", url_encode }, { "decode", url_decode }, { "query", url_query }, { "join", url_join }, { NULL, NULL }
    };

    bind_push_module(L, functions);
}
