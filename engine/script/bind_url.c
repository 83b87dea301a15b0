#include "model/exchange.h"
#include "script/bind.h"
#include "script/bind_json.h"
#include "script/bind_support.h"
#include "script/sandbox.h"

#include <stdlib.h>
#include <string.h>

enum { QUERY_PAIR_STEPS = 64 };

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
    bind_at_most(L, 1);
    struct text text = bind_check_text(L, 1);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    append_encoded(out, text);
    bind_push_result(L, out);
    return 1;
}

size_t bind_url_decode(struct text text, struct buffer *out)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '%') {
            int high = i + 2 < text.length ? hex_value(text.data[i + 1]) : -1;
            int low = high >= 0 ? hex_value(text.data[i + 2]) : -1;
            if (low < 0) {
                return i + 1;
            }
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        buffer_append_byte(out, c);
    }
    return 0;
}

static int url_decode(lua_State *L)
{
    bind_at_most(L, 1);
    struct text text = bind_check_text(L, 1);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    size_t wrong = bind_url_decode(text, out);
    if (wrong > 0) {
        bind_drop_buffer(out);
        return bind_refuse(L, "two hexadecimal digits expected after %% at byte %d", (int)wrong);
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
    sandbox_spend(L, key.length + QUERY_PAIR_STEPS); // unwinding frees the buffer
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
    if (count > BIND_KEYS_MAX) {
        lua_pushliteral(L, "a query of at most 50000 keys expected");
        return false;
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
    bind_at_most(L, 1);
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
    bind_at_most(L, 3);
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

// ---- parts ---------------------------------------------------------------------------------------------------------

static void set_part(lua_State *L, const char *name, struct text part)
{
    if (part.data != NULL) {
        bind_push_text(L, part);
        lua_setfield(L, -2, name);
    }
}

/// What stands in front of the first of these bytes, which `*rest` then begins with; absent rest: none of them.
static struct text head_before(struct text text, const char *bytes, struct text *rest)
{
    size_t at = 0;

    while (at < text.length && (text.data[at] == '\0' || strchr(bytes, text.data[at]) == NULL)) {
        at++;
    }
    *rest = at < text.length ? (struct text){ text.data + at, text.length - at } : (struct text){ NULL, 0 };
    return (struct text){ text.data, at };
}

static struct text without_first(struct text text)
{
    return text.data == NULL ? text : (struct text){ text.data + 1, text.length - 1 };
}

// parse(url): the parts of an http(s) URL as they stand, nothing decoded; nil and why when it is none.
static int url_parse(lua_State *L)
{
    bind_at_most(L, 1);
    if (lua_isnil(L, 1)) {
        return bind_refuse(L, "there is no URL");
    }
    struct text text = bind_check_text(L, 1), fragment, query;
    struct url_parts parts;

    struct text bare = head_before(text, "#", &fragment);
    if (!url_split(bare, &parts)) {
        return bind_refuse(L, "not an absolute http or https URL");
    }
    struct text path = head_before(parts.target.data == NULL ? TEXT("") : parts.target, "?", &query);
    lua_createtable(L, 0, 6);
    set_part(L, "scheme", parts.is_https ? TEXT("https") : TEXT("http"));
    set_part(L, "host", parts.host);
    lua_pushinteger(L, parts.port);
    lua_setfield(L, -2, "port");
    set_part(L, "path", path.length > 0 ? path : TEXT("/"));
    set_part(L, "query", without_first(query));
    set_part(L, "fragment", without_first(fragment));
    return 1;
}

/// The text field of the table at 1, or the absent text; anything else raises.
static struct text part_of(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING) {
        luaL_argerror(L, 1, lua_pushfstring(L, "field `%s`: text expected, got %s", name, luaL_typename(L, -1)));
    }
    return bind_to_text(L, -1);
}

static void check_parts(lua_State *L)
{
    static const char *const names[] = { "scheme", "host", "port", "path", "query", "fragment" };

    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        bool is_known = false;
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            is_known = is_known || strcmp(names[i], name) == 0;
        }
        if (!is_known) {
            luaL_argerror(L, 1, lua_pushfstring(L, "a URL has no part `%s`", name));
        }
    }
}

static void append_authority(lua_State *L, struct buffer *out)
{
    struct text scheme = part_of(L, "scheme"), host = part_of(L, "host");

    if (!text_equals(scheme, TEXT("http")) && !text_equals(scheme, TEXT("https"))) {
        luaL_argerror(L, 1, "field `scheme`: \"http\" or \"https\" expected");
    }
    if (host.length == 0 || memchr(host.data, '/', host.length) != NULL) {
        luaL_argerror(L, 1, "field `host`: a name expected");
    }
    bool is_v6 = memchr(host.data, ':', host.length) != NULL;
    buffer_printf(out, "%.*s://%s%.*s%s", TEXT_ARGS(scheme), is_v6 ? "[" : "", TEXT_ARGS(host), is_v6 ? "]" : "");
    lua_getfield(L, 1, "port");
    double port = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    if (!lua_isnil(L, -1) && !(port >= 1 && port <= 65535)) {
        luaL_argerror(L, 1, "field `port`: 1 to 65535 expected");
    }
    if (port >= 1 && (int)port != (text_equals(scheme, TEXT("https")) ? 443 : 80)) {
        buffer_printf(out, ":%d", (int)port);
    }
}

// build{ scheme, host, port, path, query, fragment }: parse turned round; `query` may be what url.query takes.
static int url_build(lua_State *L)
{
    bind_at_most(L, 1);
    if (!bind_unwrap(L, 1)) {
        return bind_expected(L, 1, "a table of parts");
    }
    check_parts(L);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);
    append_authority(L, out);
    struct text path = part_of(L, "path"), fragment = part_of(L, "fragment");
    if (path.length == 0 || path.data[0] != '/') {
        buffer_append_byte(out, '/');
    }
    buffer_append_text(out, path);
    lua_getfield(L, 1, "query");
    struct buffer *query = bind_push_buffer(L, BIND_OUTPUT_MAX);
    if (lua_type(L, -2) == LUA_TSTRING) {
        buffer_append_text(query, bind_to_text(L, -2));
    } else if (!lua_isnil(L, -2) && !bind_url_query(L, lua_gettop(L) - 1, query)) {
        bind_drop_buffer(out);
        return luaL_argerror(L, 1, lua_tostring(L, -1));
    }
    if (query->length > 0) {
        buffer_append_byte(out, '?');
        buffer_append_text(out, buffer_text(query));
    }
    bind_drop_buffer(query);
    if (fragment.length > 0) {
        buffer_append_byte(out, '#');
        buffer_append_text(out, fragment);
    }
    bind_push_result(L, out);
    return 1;
}

void bind_url(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "encode", url_encode }, { "decode", url_decode }, { "query", url_query }, { "join", url_join },
        { "parse", url_parse },   { "build", url_build },   { NULL, NULL }
    };

    bind_push_module(L, functions);
}
