// What a script says about how to go on: several requests of build_request (parts), and the second result of normalise
// (the next step, how its offers join the earlier ones, whether they are all).

#include "script/bind.h"
#include "script/freeze.h"
#include "script/run.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEP_PARTS_MAX = 16, STEP_STATE_MAX = 64 << 10, STEP_AFTER_MAX_MS = 600000, STEP_WARNINGS_MAX = 100 };

void run_take_requests(lua_State *L, int index, int function, const struct state_account *account,
                       struct http_request **requests)
{
    struct http_request **end = requests;

    run_check_failure(L, index);
    if (!freeze_raw(L, index)) {
        run_breach(L, function, "build_request must return a request or a list of them, not a %s",
                   luaL_typename(L, index));
    }
    int list = lua_gettop(L);
    size_t count = lua_objlen(L, list);
    if (count == 0) {
        *end = run_take_request(L, index, function, account);
        return;
    }
    if (count > STEP_PARTS_MAX) {
        run_breach(L, function, "build_request: %d requests are the most, not %d", STEP_PARTS_MAX, (int)count);
    }
    for (size_t i = 1; i <= count; i++) {
        lua_rawgeti(L, list, (int)i);
        *end = run_take_request(L, lua_gettop(L), function, account);
        end = &(*end)->next;
        lua_settop(L, list);
    }
}

/// Pushes a field of the plain table at `table`; its type.
static int step_push(lua_State *L, int table, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, table);
    return lua_type(L, -1);
}

static void step_take_merge(lua_State *L, int table, int function, struct run_details *details)
{
    static const char *const kinds[] = { [MERGE_ADD] = "add", [MERGE_REPLACE] = "replace", [MERGE_KEEP] = "keep" };
    int type = step_push(L, table, "merge");

    if (type == LUA_TNIL) {
        return;
    }
    for (size_t i = 0; type == LUA_TSTRING && i < COUNT_OF(kinds); i++) {
        if (strcmp(lua_tostring(L, -1), kinds[i]) == 0) {
            details->merge = (enum merge_kind)i;
            return;
        }
    }
    run_breach(L, function, "normalise: `merge` must be \"add\", \"replace\" or \"keep\"");
}

static void step_take_complete(lua_State *L, int table, int function, struct run_details *details)
{
    int type = step_push(L, table, "complete");

    if (type != LUA_TNIL && type != LUA_TBOOLEAN) {
        run_breach(L, function, "normalise: `complete` must be true or false");
    }
    details->is_incomplete = type == LUA_TBOOLEAN && !lua_toboolean(L, -1);
}

static void step_take_warnings(lua_State *L, int table, int function, struct run_details *details)
{
    if (step_push(L, table, "warnings") == LUA_TNIL) {
        return;
    }
    if (!freeze_raw(L, lua_gettop(L))) {
        run_breach(L, function, "normalise: `warnings` must be a list of strings");
    }
    int list = lua_gettop(L);
    size_t count = lua_objlen(L, list);
    if (count > STEP_WARNINGS_MAX) {
        sandbox_note_limit(L, SCRIPT_LIMIT_WARNINGS);
        count = STEP_WARNINGS_MAX;
    }
    for (size_t i = 1; i <= count; i++) {
        lua_rawgeti(L, list, (int)i);
        if (lua_type(L, -1) != LUA_TSTRING) {
            run_breach(L, function, "normalise: `warnings` must be a list of strings");
        }
        if (details->warning_count++ == 0) {
            sandbox_copy_message(L, details->warning, sizeof details->warning, lua_tostring(L, -1));
        }
        lua_pop(L, 1);
    }
}

/// `who` is the function that gave it, as its messages begin.
static void step_take_state(lua_State *L, int table, int function, const char *who, struct next_step *next)
{
    struct buffer buffer;

    if (step_push(L, table, "state") == LUA_TNIL) {
        return;
    }
    buffer_init(&buffer, STEP_STATE_MAX);
    bool is_json = bind_json_encode(L, lua_gettop(L), &buffer);
    bool is_full = buffer.is_full;
    if (is_json && !is_full) {
        next->state = block_from_buffer(&buffer);
    }
    buffer_fini(&buffer);
    if (is_full) {
        sandbox_note_limit(L, SCRIPT_LIMIT_STATE);
        trouble_code(L, CODE_STATE_TOO_LARGE);
        run_breach(L, function, "%s: `next.state` is larger than 64 KiB", who);
    }
    if (!is_json) {
        run_breach(L, function, "%s: `next.state` cannot be kept: %s", who, lua_tostring(L, -1));
    }
    if (next->state == NULL) {
        luaL_error(L, "there is no memory for the state");
    }
}

bool run_take_next(lua_State *L, int table, int function, const char *who, bool needs_request,
                   const struct state_account *account, struct next_step *out)
{
    static const char *const known[] = { "after_ms", "request", "state" };
    char where[64];

    if (step_push(L, table, "next") == LUA_TNIL) {
        return false;
    }
    if (!freeze_raw(L, lua_gettop(L))) {
        run_breach(L, function, "%s: `next` must be a table", who);
    }
    int next = lua_gettop(L);
    (void)snprintf(where, sizeof where, "%s: next", who);
    run_check_fields(L, next, function, where, known, COUNT_OF(known));
    int type = step_push(L, next, "after_ms");
    lua_Number after_ms = type == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    if ((type != LUA_TNIL && type != LUA_TNUMBER) || !(after_ms >= 0 && after_ms <= STEP_AFTER_MAX_MS)) {
        run_breach(L, function, "%s: `next.after_ms` must be a number from 0 to %d", who, STEP_AFTER_MAX_MS);
    }
    out->after_us = (uint64_t)(after_ms * 1000);
    step_take_state(L, next, function, who, out);
    bool has_request = step_push(L, next, "request") != LUA_TNIL;
    if (!has_request && needs_request) {
        run_breach(L, function, "%s: `next` needs a request", who);
    }
    if (has_request) {
        out->request = run_take_request(L, lua_gettop(L), function, account);
    }
    return true;
}

void run_take_details(lua_State *L, int index, int function, const struct state_account *account,
                      struct run_details *details)
{
    static const char *const known[] = { "next", "merge", "complete", "quota", "warnings" };

    if (lua_isnoneornil(L, index)) {
        return;
    }
    luaL_checkstack(L, 40, "the details are nested too deeply");
    if (!freeze_raw(L, index)) {
        run_breach(L, function, "normalise: the second result must be a table, not a %s", luaL_typename(L, index));
    }
    int table = lua_gettop(L);
    run_check_fields(L, table, function, "normalise", known, COUNT_OF(known));
    step_take_merge(L, table, function, details);
    step_take_complete(L, table, function, details);
    step_take_warnings(L, table, function, details);
    run_take_quota(L, table, function, details);
    (void)run_take_next(L, table, function, "normalise", true, account, &details->next);
    lua_settop(L, table - 1);
}

void run_details_fini(struct run_details *details)
{
    http_request_destroy(&details->next.request);
    block_release(&details->next.state);
    *details = (struct run_details){ 0 };
}
