// LOGIN: `login.build_request` makes the request, `login.read` reads what came. The value is kept as JSON, and is a
// secret from the moment that it is known.

#include "base/clock.h"
#include "base/redact.h"
#include "script/bind.h"
#include "script/freeze.h"
#include "script/run_body.h"

#include <lauxlib.h>
#include <stdio.h>

enum { LOGIN_VALUE_MAX = 8 << 10, LOGIN_MEMBER_SECRET_MIN = 8 };

static const double LOGIN_LIFE_MOST_S = 1e9;

/// Context of the sections: copies and references, nothing of the call's own memory.
struct login_work {
    struct run_work work;
    struct run_response view;
    struct run_context context;
    const struct login_call *call; // only outside of sections
    struct block *body;            // NULL: the request is to be built
    struct buffer plain;
    size_t supplier;
    struct http_request *request;
    struct block *value;
    uint64_t life_us;
};

/// Pushes the supplier's table, its `login` and that one's function `name`; 3 is the function.
static void login_push_function(lua_State *L, struct login_work *work, const char *name)
{
    lua_settop(L, 0);
    state_push_supplier(L, work->work.run->state, work->supplier);
    lua_getfield(L, 1, "login");
    if (!lua_istable(L, 2)) {
        luaL_error(L, "the supplier has no login");
    }
    lua_getfield(L, 2, name);
    if (!lua_isfunction(L, 3)) {
        luaL_error(L, "the supplier has no function login.%s", name);
    }
}

static int login_call_prepare(lua_State *L)
{
    struct login_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;

    state_trim_accounts(L, state);
    state_learn_account(L, state, work->call->account);
    if (work->call->response != NULL) {
        run_response_make(L, &work->view, work->call->response);
    }
    return 0;
}

static int login_call_build(lua_State *L)
{
    struct login_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;

    login_push_function(L, work, "build_request");
    lua_pushvalue(L, 3);
    run_push_context(L, state, &work->context);
    lua_call(L, 1, 1);
    const struct state_account *account = state_find_account(L, state, work->context.serial);
    if (account == NULL) {
        return luaL_error(L, "the account is not known to this worker");
    }
    work->request = run_take_request(L, 4, 3, account);
    return 0;
}

static int login_call_sign(lua_State *L)
{
    struct login_work *work = lua_touserdata(L, 1);

    run_sign_all(L, work->work.run, work->supplier, work->context, &work->request);
    return 0;
}

/// A member of a value is a secret unless it is too short to be one, such as "EU".
static void login_hide(lua_State *L, int index, size_t least)
{
    struct text secret;

    if (lua_type(L, index) == LUA_TSTRING) {
        secret.data = lua_tolstring(L, index, &secret.length);
        if (secret.length >= least) {
            redact_add_passing(secret);
        }
        return;
    }
    luaL_checkstack(L, 4, "the value is nested too deeply");
    if (!freeze_raw(L, index)) {
        return;
    }
    int table = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        login_hide(L, lua_gettop(L), LOGIN_MEMBER_SECRET_MIN);
    }
    lua_pop(L, 1);
}

static void login_take_value(lua_State *L, struct login_work *work, int table)
{
    struct buffer json;

    lua_pushliteral(L, "value");
    lua_rawget(L, table);
    int value = lua_gettop(L);
    if (lua_type(L, value) != LUA_TSTRING && !freeze_is_table(L, value)) {
        trouble_code(L, CODE_LOGIN_FAILED);
        run_breach(L, 3, "login.read must give a `value` that is a string or a table, not a %s",
                   luaL_typename(L, value));
    }
    if (lua_type(L, value) == LUA_TSTRING && lua_objlen(L, value) == 0) {
        trouble_code(L, CODE_LOGIN_FAILED);
        run_breach(L, 3, "login.read gave an empty `value`");
    }
    buffer_init(&json, LOGIN_VALUE_MAX);
    bool is_json = bind_json_encode(L, value, &json);
    bool is_full = json.is_full;
    if (is_json && !is_full) {
        block_release(&work->value);
        work->value = block_from_buffer(&json);
    }
    buffer_fini(&json);
    if (is_full) {
        trouble_code(L, CODE_LOGIN_FAILED);
        run_breach(L, 3, "login.read gave a `value` that is larger than 8 KiB");
    }
    if (!is_json) {
        trouble_code(L, CODE_LOGIN_FAILED);
        run_breach(L, 3, "login.read gave a `value` that cannot be kept: %s", lua_tostring(L, -1));
    }
    if (work->value == NULL) {
        luaL_error(L, "there is no memory for the login");
    }
    login_hide(L, value, REDACT_SECRET_MIN);
}

static void login_take_life(lua_State *L, struct login_work *work, int table)
{
    lua_pushliteral(L, "expires_in_s");
    lua_rawget(L, table);
    work->life_us = UINT64_MAX;
    if (lua_isnil(L, -1)) {
        return;
    }
    lua_Number seconds = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    if (!(seconds > 0 && seconds <= LOGIN_LIFE_MOST_S)) {
        trouble_code(L, CODE_LOGIN_FAILED);
        run_breach(L, 3, "login.read must give `expires_in_s` as a number above 0, or nil for a login that lasts");
    }
    work->life_us = (uint64_t)(seconds * 1e6);
}

static int login_call_read(lua_State *L)
{
    static const char *const known[] = { "value", "expires_in_s" };
    struct login_work *work = lua_touserdata(L, 1);

    login_push_function(L, work, "read");
    lua_pushvalue(L, 3);
    run_response_push(L);
    run_push_context(L, work->work.run->state, &work->context);
    lua_call(L, 2, 1); // 4
    run_check_failure(L, 4);
    if (!freeze_raw(L, 4)) {
        trouble_code(L, CODE_LOGIN_FAILED);
        return run_breach(L, 3, "login.read must return { value =, expires_in_s = }, not a %s", luaL_typename(L, 4));
    }
    run_check_fields(L, 5, 3, "login.read", known, COUNT_OF(known));
    login_take_value(L, work, 5);
    login_take_life(L, work, 5);
    return 0;
}

static enum run_end login_once(struct login_work *work, bool is_reading)
{
    struct run *run = work->work.run;
    struct guard_blame blame = { .script = { .index = work->supplier } };
    enum run_end end = run_section(run, NULL, 0, login_call_prepare, &work->work);

    if (end != RUN_DONE) {
        return end;
    }
    if (is_reading) {
        return run_section(run, &blame, run->normalise_limit_us, login_call_read, &work->work);
    }
    http_request_destroy(&work->request);
    end = run_section(run, &blame, run->build_limit_us, login_call_build, &work->work);
    if (end == RUN_DONE && state_may_have(run->state, work->supplier, STATE_SIGN)) {
        end = run_section(run, &blame, run->build_limit_us, login_call_sign, &work->work);
    }
    return end;
}

static void login_say(struct login_call *call, enum script_verdict verdict, const char *message)
{
    call->verdict = verdict;
    snprintf(call->message, sizeof call->message, "%s", message);
}

static enum run_end login_run(struct login_work *work, struct login_call *call)
{
    struct run *run = work->work.run;
    bool is_reading = call->response != NULL;
    const char *why = "";

    if (script_set_tell_quarantine(run->state->set, (struct script_id){ .index = work->supplier }, call->message,
                                   sizeof call->message)) {
        call->verdict = SCRIPT_ERROR;
        return RUN_FAILED;
    }
    if (is_reading) {
        enum script_verdict verdict =
            run_body_open(&work->view, call->response, block_text(work->body), call->body_cap, &work->plain, &why);
        if (verdict != SCRIPT_OK) {
            login_say(call, verdict, why);
            return RUN_FAILED;
        }
    }
    enum run_end end = login_once(work, is_reading);
    if (end == RUN_FAILED && run->failure.verdict == SCRIPT_MEMORY) {
        end = login_once(work, is_reading);
    }
    if (end == RUN_FAILED) {
        run_count_failure(run);
        login_say(call, run->failure.verdict, run->failure.message);
        snprintf(call->code, sizeof call->code, "%s", run->failure.code);
        call->retry_after_ms = wait_left_ms(run->failure.wait, work->context.wall_us);
    } else if (end == RUN_DONE) {
        call->verdict = SCRIPT_OK;
        call->request = work->request;
        call->value = work->value;
        call->life_us = work->life_us;
        work->request = NULL;
        work->value = NULL;
    }
    return end;
}

bool run_login(struct run *run, struct login_call *call)
{
    uint64_t now_us = run_now_us(run);
    struct login_work work = {
        .work = { .run = run },
        .view = { .run = run, .status = call->response != NULL ? call->response->status : 0 },
        .context = { .serial = call->account->serial,
                     .wall_us = run_wall_us(run, (struct script_times){ .arrival_us = call->began_us,
                                                                        .arrival_wall_us = call->began_wall_us }),
                     .elapsed_us = run_time_left(now_us, call->began_us),
                     .remaining_us = run_time_left(call->end_us, now_us),
                     .part = 1,
                     .parts = 1,
                     .step = 1 },
        .call = call,
        .body = call->response != NULL ? block_acquire(call->response->body) : NULL,
        .supplier = call->account->supplier,
    };

    buffer_init(&work.plain, 0);
    buffer_init(&work.view.converted, 0);
    enum run_end end = login_run(&work, call);
    if (call->response != NULL && call->retry_after_ms == 0) {
        call->retry_after_ms = run_response_retry_after_ms(call->response, call->verdict, work.context.wall_us);
    }
    if (end != RUN_LOST) {
        run_note_trial(run, work.supplier, call->verdict, call->message);
    }
    run_response_forget(run->state);
    buffer_fini(&work.plain);
    buffer_fini(&work.view.converted);
    http_request_destroy(&work.request);
    block_release(&work.value);
    block_release(&work.body);
    return end != RUN_LOST;
}
