// The frozen table of the response in hand is in the registry, its view in the state. json and text compare and look
// there, so a response of an earlier call cannot reach memory that is gone.

#include "script/run_response.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/drift.h"
#include "script/field_watch.h"
#include "script/freeze.h"
#include "script/inflate.h"
#include "script/reading.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

enum { TOO_MANY_REQUESTS = 429, UNAVAILABLE = 503 };

static const char response_table_key; // registry: the frozen table
static const char response_state_key; // registry: light userdata, the state

static void response_push_key(lua_State *L, const void *key)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    lua_rawget(L, LUA_REGISTRYINDEX);
}

static void response_set_key(lua_State *L, const void *key)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    lua_insert(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

/// The view in hand; NULL outside of a call that has a response.
static struct run_response *response_in_hand(lua_State *L)
{
    response_push_key(L, &response_state_key);
    const struct state *state = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return state == NULL ? NULL : state->response;
}

struct run_response *run_response_at(lua_State *L, int index)
{
    struct run_response *view = response_in_hand(L);

    response_push_key(L, &response_table_key);
    bool is_in_hand = view != NULL && freeze_is(L, index) && lua_rawequal(L, index, -1);
    lua_pop(L, 1);
    return is_in_hand ? view : NULL;
}

static struct run_response *response_check(lua_State *L, const char *name)
{
    struct run_response *view = run_response_at(L, 1);

    if (view == NULL) {
        luaL_error(L, "call it as response:%s(), within the call that got the response", name);
    }
    return view;
}

int run_response_unparsable(lua_State *L, struct run_response *view, const char *sentence)
{
    luaL_where(L, 1);
    lua_pushstring(L, sentence);
    lua_concat(L, 2);
    run_keep(view->run->unparsable, sizeof view->run->unparsable, lua_tostring(L, -1));
    trouble_code(L, CODE_UNPARSABLE);
    return lua_error(L);
}

/// Makes sure that the body is valid UTF-8, or raises.
static void response_check_charset(lua_State *L, struct run_response *view)
{
    if (!charset_check(&view->reading, &view->converted, &view->body)) {
        run_response_unparsable(L, view, "the body is larger than the cap once it is UTF-8");
    }
}

/// The script has the whole body in its hands.
static void response_note_all(const struct run_response *view)
{
    reading_note_all(view->unread.seen == NULL ? NULL : view->unread.seen->reading);
}

/// The whole document, or by the shape in argument 2. False: a message is pushed instead.
static bool response_decode(lua_State *L, struct run_response *view)
{
    view->unread.count = 0;
    if (lua_isnoneornil(L, 2)) {
        response_note_all(view);
    }
    return lua_isnoneornil(L, 2) ? bind_json_decode(L, view->body) : bind_shape_decode(L, 2, view->body, &view->unread);
}

/// By the shape in argument 2, as argument 3 says.
static bool response_decode_xml(lua_State *L, struct run_response *view)
{
    view->unread.count = 0;
    lua_getfield(L, 3, "lenient");
    bool is_lenient = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
    return bind_shape_decode_xml(L, 2, view->body, is_lenient, &view->unread);
}

void run_response_expect(lua_State *L, struct run_response *view, bool is_xml)
{
    struct text body = text_trim(view->body);
    const char *wanted = is_xml ? "XML" : "JSON";

    if (body.length == 0) {
        run_response_unparsable(L, view, lua_pushfstring(L, "the body is empty, %s was expected", wanted));
    } else if ((body.data[0] == '<') != is_xml) {
        run_response_unparsable(
            L, view, lua_pushfstring(L, "the body is %s, %s was expected", is_xml ? "no XML" : "HTML or XML", wanted));
    }
}

bool run_response_reread(lua_State *L, struct run_response *view)
{
    const char *before = view->body.data;

    response_check_charset(L, view);
    return view->body.data != before;
}

/// One value, or an error. The body may be in another charset than UTF-8; if that changes it, it is decoded again.
static int response_read(lua_State *L, struct run_response *view, bool is_xml)
{
    bool (*decode)(lua_State *, struct run_response *) = is_xml ? response_decode_xml : response_decode;

    bool is_declared = !lua_isnoneornil(L, 2);
    run_response_expect(L, view, is_xml);
    bool is_read = decode(L, view);
    if (!is_read && run_response_reread(L, view)) {
        lua_pop(L, 1);
        is_read = decode(L, view);
    }
    if (!is_read) {
        lua_pushstring(L, is_xml ? "the body is no XML: " : "the body is no JSON: ");
        lua_insert(L, -2);
        lua_concat(L, 2);
        return run_response_unparsable(L, view, lua_tostring(L, -1));
    }
    trouble_keep_root(L, is_declared);
    return 1;
}

static int response_json(lua_State *L)
{
    return response_read(L, response_check(L, "json"), false);
}

/// response:xml(shape, { lenient = true })
static int response_xml(lua_State *L)
{
    struct run_response *view = response_check(L, "xml");

    lua_settop(L, 3);
    if (!freeze_is_table(L, 2)) {
        return bind_expected(L, 2, "the shape of what is read");
    }
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    if (!freeze_is_table(L, 3)) {
        return bind_expected(L, 3, "a table like { lenient = true }");
    }
    return response_read(L, view, true);
}

static int response_text(lua_State *L)
{
    struct run_response *view = response_check(L, "text");

    response_note_all(view);
    response_check_charset(L, view);
    lua_pushlstring(L, view->body.data == NULL ? "" : view->body.data, view->body.length);
    return 1;
}

/// `__index` of the table behind the frozen one: fields that are made late.
/// Upvalue: whether a name that there never is raises.
static int response_on_index(lua_State *L)
{
    static const char *const names[] = { "status", "headers", "body", "json", "xml", "text" };

    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "body") != 0) {
        if (lua_toboolean(L, lua_upvalueindex(1))) {
            field_watch_refuse(L, "response", 2, names, COUNT_OF(names));
        }
        lua_pushnil(L);
        return 1;
    }
    struct run_response *view = response_in_hand(L);
    response_push_key(L, &response_table_key);
    if (view == NULL || !freeze_raw(L, -1) || !lua_rawequal(L, -1, 1)) {
        return luaL_error(L, "this response belongs to an earlier call");
    }
    response_note_all(view);
    response_check_charset(L, view);
    lua_pushlstring(L, view->body.data == NULL ? "" : view->body.data, view->body.length);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

static void response_push_lower(lua_State *L, struct text name)
{
    luaL_Buffer lower;

    luaL_buffinit(L, &lower);
    for (size_t i = 0; i < name.length; i++) {
        char byte = name.data[i];
        luaL_addchar(&lower, (char)(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte));
    }
    luaL_pushresult(&lower);
}

void run_push_headers(lua_State *L, const struct header *headers, size_t count)
{
    lua_createtable(L, 0, (int)count);
    int map = lua_gettop(L);
    for (size_t i = 0; i < count; i++) {
        const struct header *header = &headers[i];
        response_push_lower(L, header->name);
        lua_pushvalue(L, -1);
        lua_rawget(L, map);
        if (lua_type(L, -1) == LUA_TSTRING) {
            lua_createtable(L, 2, 0);
            lua_insert(L, -2);
            lua_rawseti(L, -2, 1);
        }
        bool is_list = lua_istable(L, -1);
        lua_pushlstring(L, header->value.data == NULL ? "" : header->value.data, header->value.length);
        if (is_list) {
            lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
        } else {
            lua_remove(L, -2);
        }
        lua_rawset(L, map);
    }
}

void run_response_make(lua_State *L, struct run_response *view, const struct http_response *response)
{
    lua_createtable(L, 0, 6);
    lua_pushinteger(L, response->status);
    lua_setfield(L, -2, "status");
    run_push_headers(L, response->headers, response->header_count);
    freeze_deep(L);
    lua_setfield(L, -2, "headers");
    lua_pushcfunction(L, response_json);
    lua_setfield(L, -2, "json");
    lua_pushcfunction(L, response_xml);
    lua_setfield(L, -2, "xml");
    lua_pushcfunction(L, response_text);
    lua_setfield(L, -2, "text");
    lua_createtable(L, 0, 1);
    lua_pushboolean(L, view->run->state->watches_fields);
    lua_pushcclosure(L, response_on_index, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    freeze_shallow(L);
    response_set_key(L, &response_table_key);
    lua_pushlightuserdata(L, view->run->state);
    response_set_key(L, &response_state_key);
    view->run->state->response = view;
}

void run_response_push(lua_State *L)
{
    response_push_key(L, &response_table_key);
}

uint64_t run_response_retry_after_ms(const struct http_response *response, enum script_verdict verdict,
                                     uint64_t wall_us)
{
    bool is_quota = verdict == SCRIPT_FAIL_QUOTA || response->status == TOO_MANY_REQUESTS;
    bool is_busy = verdict == SCRIPT_FAIL_BUSY || response->status == UNAVAILABLE;

    return is_quota || is_busy ? wait_left_ms(wait_of_text(http_response_header(response, "retry-after")), wall_us) : 0;
}

void run_response_forget(struct state *state)
{
    state->response = NULL;
}
