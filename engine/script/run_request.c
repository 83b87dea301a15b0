// A request is read with raw access only, so that no metamethod of the script runs here. Maps are written in the order
// of their sorted keys: the order of `pairs` differs from run to run.

#include "base/redact.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/run.h"

#include <lauxlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    REQUEST_URL_MAX = 16 << 10,
    REQUEST_BODY_MAX = 4 << 20,
    REQUEST_HEADERS_MAX = 64,
    REQUEST_HEADER_BYTES_MAX = 32 << 10,
};

static const char *const request_fields[] = {
    "method", "url", "path", "query", "headers", "json", "form", "body", "tag"
};

/// What the transport decides; a script that set them could smuggle a second request in.
static const char *const reserved_headers[] = { "host",       "content-length", "transfer-encoding",
                                                "connection", "expect",         "keep-alive",
                                                "te",         "trailer",        "upgrade" };

struct request_draft {
    lua_State *L;
    int table;    // index of the plain table
    int function; // whom to blame
    int anchor;   // index of a table that keeps strings alive
    const struct state_account *account;
    bool is_signature; // headers of `sign`
    struct text url;
    struct text body;
    struct text method;
    const char *content_type;
    struct header headers[REQUEST_HEADERS_MAX + 1];
    size_t header_count;
    size_t header_bytes;
    struct buffer *buffers[2]; // of URL and body; freed whatever happens
    size_t buffer_count;
};

static struct buffer *request_push_buffer(struct request_draft *draft, size_t ceiling)
{
    require(draft->buffer_count < COUNT_OF(draft->buffers));
    struct buffer *buffer = bind_push_buffer(draft->L, ceiling);
    draft->buffers[draft->buffer_count++] = buffer;
    return buffer;
}

static void request_drop_buffers(struct request_draft *draft)
{
    for (size_t i = 0; i < draft->buffer_count; i++) {
        bind_drop_buffer(draft->buffers[i]);
    }
}

/// Raises; the message may show what stands in the buffers.
__attribute__((format(printf, 2, 3), noreturn)) static void request_breach(struct request_draft *draft,
                                                                           const char *format, ...)
{
    char message[256];
    va_list arguments;

    va_start(arguments, format);
    (void)redact_vprint(message, sizeof message, format, arguments);
    va_end(arguments);
    request_drop_buffers(draft);
    static const char builder[] = "build_request"; // for whom all sentences are written
    size_t skipped = draft->is_signature && strncmp(message, builder, sizeof builder - 1) == 0 ? sizeof builder - 1 : 0;
    trouble_code_unless(draft->L, CODE_REQUEST_MALFORMED);
    run_breach(draft->L, draft->function, "%s%s", skipped > 0 ? "sign" : "", message + skipped);
    __builtin_unreachable(); // it raises
}

/// The same, when the request is larger than any may be.
__attribute__((noreturn)) static void request_exceed(struct request_draft *draft, const char *sentence)
{
    sandbox_note_limit(draft->L, SCRIPT_LIMIT_REQUEST);
    request_breach(draft, "%s", sentence);
}

/// Pushes a field of the request; its index.
static int request_push(struct request_draft *draft, const char *name)
{
    lua_pushstring(draft->L, name);
    lua_rawget(draft->L, draft->table);
    return lua_gettop(draft->L);
}

static bool request_has(struct request_draft *draft, const char *name)
{
    bool has = !lua_isnil(draft->L, request_push(draft, name));
    lua_pop(draft->L, 1);
    return has;
}

/// The string in a field, left on the stack; absent when there is none.
static struct text request_text(struct request_draft *draft, const char *name)
{
    struct text text = { NULL, 0 };
    int index = request_push(draft, name);

    if (lua_type(draft->L, index) == LUA_TSTRING) {
        text.data = lua_tolstring(draft->L, index, &text.length);
    } else if (!lua_isnil(draft->L, index)) {
        request_breach(draft, "build_request: `%s` must be a string, not a %s", name, luaL_typename(draft->L, index));
    }
    return text;
}

bool run_is_request_field(const char *name)
{
    bool is_field = false;

    for (size_t i = 0; i < COUNT_OF(request_fields) && !is_field; i++) {
        is_field = strcmp(request_fields[i], name) == 0;
    }
    return is_field;
}

static void request_check_field(struct request_draft *draft, const char *name)
{
    if (run_is_request_field(name)) {
        return;
    }
    const char *nearest = text_nearest(text_of(name), request_fields, COUNT_OF(request_fields));
    if (nearest == NULL) {
        request_breach(draft, "build_request: unknown field `%s`", name);
    }
    request_breach(draft, "build_request: unknown field `%s`, did you mean `%s`?", name, nearest);
}

static void request_check_fields(struct request_draft *draft)
{
    lua_State *L = draft->L;

    lua_pushnil(L);
    while (lua_next(L, draft->table) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING) {
            request_breach(draft, "a request must be a table of named fields");
        }
        request_check_field(draft, lua_tostring(L, -1));
    }
}

static bool request_is_token(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        if (!is_letter && (byte == 0 || strchr("!#$%&'*+-.^_`|~", byte) == NULL)) {
            return false;
        }
    }
    return text.length > 0;
}

// ---- url

static void request_join_url(struct request_draft *draft, struct buffer *url)
{
    struct text whole = request_text(draft, "url");
    struct text path = request_text(draft, "path");
    struct text base = draft->account->base_url;

    if ((whole.data == NULL) == (path.data == NULL)) {
        request_breach(draft, "build_request: give either `url` or `path`");
    }
    if (whole.data != NULL) {
        buffer_append_text(url, whole);
        return;
    }
    if (base.data == NULL) {
        request_breach(draft, "build_request: `path` needs the option base_url");
    }
    if (text_starts_with(path, TEXT("http://")) || text_starts_with(path, TEXT("https://"))) {
        request_breach(draft, "build_request: `path` is a whole URL, and base_url goes before it: write `url =`");
    }
    while (base.length > 0 && base.data[base.length - 1] == '/') {
        base.length--;
    }
    buffer_append_text(url, base);
    if (path.length == 0 || path.data[0] != '/') {
        buffer_append_byte(url, '/');
    }
    buffer_append_text(url, path);
}

/// "host" stands for the scheme's own port, "host:port" for that one.
static bool request_host_is(struct text allowed, const struct url_parts *parts)
{
    struct text host;
    uint16_t port;

    if (!host_split(allowed, &host, &port)) {
        return false;
    }
    port = port != 0 ? port : parts->is_https ? 443 : 80;
    return text_equals_nocase(host, parts->host) && port == parts->port;
}

static void request_check_host(struct request_draft *draft)
{
    struct url_parts parts;

    if (!url_split(draft->url, &parts)) {
        request_breach(draft, "build_request: \"%.*s\" is no http or https URL",
                       draft->url.length > 100 ? 100 : (int)draft->url.length, draft->url.data);
        return;
    }
    for (size_t i = 0; i < draft->account->host_count; i++) {
        if (request_host_is(draft->account->hosts[i], &parts)) {
            return;
        }
    }
    trouble_code(draft->L, CODE_HOST_NOT_ALLOWED);
    request_breach(draft, "build_request: %.*s:%u is not among the supplier's hosts", TEXT_ARGS(parts.host),
                   parts.port);
}

static void request_read_url(struct request_draft *draft)
{
    lua_State *L = draft->L;
    struct buffer *url = request_push_buffer(draft, REQUEST_URL_MAX);

    request_join_url(draft, url);
    int query = request_push(draft, "query");
    if (!lua_isnil(L, query)) {
        bool has_query = url->length > 0 && memchr(url->data, '?', url->length) != NULL;
        size_t length = url->length;
        buffer_append_byte(url, has_query ? '&' : '?');
        if (!bind_url_query(L, query, url)) {
            request_breach(draft, "build_request: query: %s", lua_tostring(L, -1));
        }
        if (!url->is_full && url->length == length + 1) {
            url->length = length; // an empty query leaves no mark
        }
    }
    if (url->is_full) {
        request_exceed(draft, "build_request: the URL is longer than 16 KiB");
    }
    draft->url = buffer_text(url);
    request_check_host(draft);
}

// ---- body

static void request_read_json(struct request_draft *draft, int index)
{
    struct buffer *json = request_push_buffer(draft, REQUEST_BODY_MAX);

    if (!bind_json_encode(draft->L, index, json)) {
        request_breach(draft, "build_request: json: %s", lua_tostring(draft->L, -1));
    }
    if (json->is_full) {
        request_exceed(draft, "build_request: the body is larger than 4 MiB");
    }
    draft->body = buffer_text(json);
    draft->content_type = "application/json";
}

static void request_read_form(struct request_draft *draft, int index)
{
    struct buffer *form = request_push_buffer(draft, REQUEST_BODY_MAX);

    if (!bind_url_query(draft->L, index, form)) {
        request_breach(draft, "build_request: form: %s", lua_tostring(draft->L, -1));
    }
    if (form->is_full) {
        request_exceed(draft, "build_request: the body is larger than 4 MiB");
    }
    draft->body = form->length > 0 ? buffer_text(form) : TEXT("");
    draft->content_type = "application/x-www-form-urlencoded";
}

static void request_read_body(struct request_draft *draft)
{
    int kinds = request_has(draft, "json") + request_has(draft, "form") + request_has(draft, "body");

    if (kinds > 1) {
        request_breach(draft, "build_request: give only one of `json`, `form` and `body`");
    }
    if (request_has(draft, "json")) {
        request_read_json(draft, request_push(draft, "json"));
    } else if (request_has(draft, "form")) {
        request_read_form(draft, request_push(draft, "form"));
    } else {
        draft->body = request_text(draft, "body");
        if (draft->body.length > REQUEST_BODY_MAX) {
            request_exceed(draft, "build_request: the body is larger than 4 MiB");
        }
    }
}

static void request_read_method(struct request_draft *draft)
{
    struct text method = request_text(draft, "method");
    char upper[16];

    if (method.data == NULL) {
        draft->method = draft->body.data == NULL ? TEXT("GET") : TEXT("POST");
        return;
    }
    if (method.length >= sizeof upper || !request_is_token(method)) {
        request_breach(draft, "build_request: `method` is no HTTP method");
    }
    for (size_t i = 0; i < method.length; i++) {
        char byte = method.data[i];
        upper[i] = byte >= 'a' && byte <= 'z' ? (char)(byte - 'a' + 'A') : byte;
    }
    lua_pushlstring(draft->L, upper, method.length);
    draft->method = (struct text){ lua_tostring(draft->L, -1), method.length };
}

// ---- headers

/// Stable and few: an insertion sort.
static void request_sort_headers(struct request_draft *draft)
{
    for (size_t i = 1; i < draft->header_count; i++) {
        struct header header = draft->headers[i];
        size_t at = i;
        for (; at > 0 && text_compare(draft->headers[at - 1].name, header.name) > 0; at--) {
            draft->headers[at] = draft->headers[at - 1];
        }
        draft->headers[at] = header;
    }
}

static void request_add_header(struct request_draft *draft, struct text name, struct text value)
{
    if (draft->header_count >= REQUEST_HEADERS_MAX) {
        request_exceed(draft, "build_request: more than 64 headers");
    }
    draft->header_bytes += name.length + value.length + 4;
    if (draft->header_bytes > REQUEST_HEADER_BYTES_MAX) {
        request_exceed(draft, "build_request: the headers are larger than 32 KiB");
    }
    draft->headers[draft->header_count++] = (struct header){ name, value };
}

static void request_check_header_name(struct request_draft *draft, struct text name)
{
    if (!request_is_token(name)) {
        request_breach(draft, "build_request: \"%.*s\" is no header name", name.length > 60 ? 60 : (int)name.length,
                       name.data);
    }
    for (size_t i = 0; i < COUNT_OF(reserved_headers); i++) {
        if (text_equals_nocase(name, text_of(reserved_headers[i]))) {
            request_breach(draft, "build_request: the header %s is the engine's to set", reserved_headers[i]);
        }
    }
}

/// One value at the top of the stack. A string stays alive in the request's table; a number that became one is kept in
/// the anchor.
static void request_read_header(struct request_draft *draft, struct text name)
{
    lua_State *L = draft->L;
    struct text value;
    int type = lua_type(L, -1);

    if (type != LUA_TSTRING && type != LUA_TNUMBER) {
        request_breach(draft, "build_request: header %.*s must be a string, a number or a list of them",
                       TEXT_ARGS(name));
    }
    lua_pushvalue(L, -1);
    value.data = lua_tolstring(L, -1, &value.length);
    lua_rawseti(L, draft->anchor, (int)draft->header_count + 1);
    for (size_t i = 0; i < value.length; i++) {
        unsigned char byte = (unsigned char)value.data[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7F) {
            request_breach(draft, "build_request: header %.*s holds a control character", TEXT_ARGS(name));
        }
    }
    request_add_header(draft, name, value);
}

static void request_read_header_list(struct request_draft *draft, struct text name, int list)
{
    size_t count = lua_objlen(draft->L, list);

    for (size_t i = 1; i <= count; i++) {
        lua_rawgeti(draft->L, list, (int)i);
        request_read_header(draft, name);
        lua_pop(draft->L, 1);
    }
}

static void request_add_content_type(struct request_draft *draft)
{
    if (draft->content_type == NULL) {
        return;
    }
    for (size_t i = 0; i < draft->header_count; i++) {
        if (text_equals_nocase(draft->headers[i].name, TEXT("content-type"))) {
            return;
        }
    }
    draft->headers[draft->header_count++] = (struct header){ TEXT("content-type"), text_of(draft->content_type) };
}

/// Adds the headers of the map at `field`, unless it is nil.
static void request_read_header_map(struct request_draft *draft, int field)
{
    lua_State *L = draft->L;

    if (!lua_isnil(L, field) && !bind_unwrap(L, field)) {
        request_breach(draft, "build_request: `headers` must be a table");
    }
    lua_newtable(L);
    draft->anchor = lua_gettop(L);
    lua_pushnil(L);
    while (lua_istable(L, field) && lua_next(L, field) != 0) {
        struct text name;
        if (lua_type(L, -2) != LUA_TSTRING) {
            request_breach(draft, "build_request: `headers` must be a map of names");
        }
        name.data = lua_tolstring(L, -2, &name.length);
        request_check_header_name(draft, name);
        if (bind_unwrap(L, lua_gettop(L))) {
            request_read_header_list(draft, name, lua_gettop(L));
        } else {
            request_read_header(draft, name);
        }
        lua_pop(L, 1);
    }
}

static void request_read_headers(struct request_draft *draft)
{
    request_read_header_map(draft, request_push(draft, "headers"));
    request_sort_headers(draft);
    request_add_content_type(draft);
}

struct http_request *run_take_request(lua_State *L, int index, int function, const struct state_account *account)
{
    struct request_draft draft = { .L = L, .function = function, .account = account };

    run_check_failure(L, index);
    luaL_checkstack(L, 40, "the request is nested too deeply");
    if (!freeze_raw(L, index)) {
        run_breach(L, function, "build_request must return a table, not a %s", luaL_typename(L, index));
    }
    draft.table = lua_gettop(L);
    request_check_fields(&draft);
    request_read_url(&draft);
    request_read_body(&draft);
    request_read_method(&draft);
    request_read_headers(&draft);

    const struct http_request values = { .method = draft.method,
                                         .url = draft.url,
                                         .body = draft.body,
                                         .headers = draft.headers,
                                         .header_count = draft.header_count };
    struct http_request *request = http_request_create(&values);
    request_drop_buffers(&draft);
    if (request == NULL) {
        luaL_error(L, "there is no memory for the request");
    }
    return request;
}

struct http_request *run_sign_request(lua_State *L, int index, int function, const struct http_request *request,
                                      uint64_t now_us)
{
    struct request_draft draft = { .L = L, .function = function, .is_signature = true };
    struct http_request values = *request;

    luaL_checkstack(L, 40, "the headers are nested too deeply");
    if (!lua_isnil(L, index) && !freeze_is_table(L, index)) {
        run_breach(L, function, "sign must return a table of headers or nil, not a %s", luaL_typename(L, index));
    }
    request_read_header_map(&draft, index);
    request_sort_headers(&draft);
    size_t own = request->header_count - request->signed_count;
    struct header all[2 * REQUEST_HEADERS_MAX + 2];
    require(own <= COUNT_OF(all) - draft.header_count);
    for (size_t i = 0; i < own; i++) {
        all[i] = request->headers[i];
        for (size_t j = 0; j < draft.header_count; j++) {
            if (text_equals_nocase(all[i].name, draft.headers[j].name)) {
                request_breach(&draft, "build_request: the request has a header %.*s already",
                               TEXT_ARGS(draft.headers[j].name));
            }
        }
    }
    for (size_t i = 0; i < draft.header_count; i++) {
        all[own + i] = draft.headers[i];
    }
    values.headers = all;
    values.header_count = own + draft.header_count;
    values.signed_count = draft.header_count;
    values.signed_us = now_us;
    struct http_request *signed_request = http_request_create(&values);
    if (signed_request == NULL) {
        luaL_error(L, "there is no memory for the request");
    }
    return signed_request;
}
