// ASK: one function of a supplier by itself. What `revalidate.read` gives is held against the contract here, and goes
// on as JSON; an offer in it is taken as those of `normalise` are.

#include "base/json_write.h"
#include "model/ask_call.h"
#include "script/amount.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/calendar.h"
#include "script/freeze.h"
#include "script/offers.h"
#include "script/progress.h"
#include "script/rates.h"
#include "script/run_body.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

enum { ASK_BATCH_MAX = 1 << 20, ASK_RESULT_MAX = 1 << 20 };

/// Context of the sections: copies and references, nothing of the call's own memory.
struct ask_work {
    struct run_work work;
    struct run_response view;
    struct run_context context;
    const struct ask_call *call; // only outside of sections
    enum ask_what what;
    struct block *facts, *input, *body, *state;
    struct rates *rates; // NULL: nothing is converted
    struct login login;
    struct buffer plain;
    size_t supplier, product;
    // out
    uint64_t ceiling_us;
    struct http_request *request;
    struct offer_batch *batch;
    struct buffer result; // empty: it goes on
    struct next_step next;
};

static int ask_prepare(lua_State *L)
{
    struct ask_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;

    state_trim_accounts(L, state);
    state_push_search(L, state, work->facts);
    state_learn_account(L, state, work->call->account);
    if (work->call->response != NULL) {
        run_response_make(L, &work->view, work->call->response);
    }
    offers_set_observed(L, run_wall_us(work->work.run, work->call->times));
    offers_set_rates(L, work->rates);
    return 0;
}

/// Pushes the input as a read-only table.
static void ask_push_input(lua_State *L, const struct ask_work *work)
{
    if (!bind_json_decode(L, block_text(work->input))) {
        lua_error(L);
    }
    freeze_deep(L);
}

/// Leaves the supplier's table at 1 and the function to call at 2.
static void ask_push_function(lua_State *L, const struct ask_work *work)
{
    static const char *const names[] = {
        [ASK_CEILING] = "ceiling", [ASK_REVALIDATE_REQUEST] = "build_request", [ASK_REVALIDATE_READ] = "read"
    };

    lua_settop(L, 0);
    state_push_product(L, work->work.run->state, work->product); // compiles the offer's schema
    lua_settop(L, 0);
    state_push_supplier(L, work->work.run->state, work->supplier);
    if (work->what != ASK_CEILING) {
        lua_getfield(L, 1, "revalidate");
        if (!lua_istable(L, -1)) {
            luaL_error(L, "the supplier has no `revalidate`");
        }
        lua_replace(L, 1);
    }
    lua_getfield(L, 1, names[work->what]);
    if (!lua_isfunction(L, 2)) {
        luaL_error(L, "the supplier has no function %s%s", work->what == ASK_CEILING ? "" : "revalidate.",
                   names[work->what]);
    }
}

static int ask_ceiling(lua_State *L)
{
    struct ask_work *work = lua_touserdata(L, 1);

    struct run_ceiling ceiling = { .supplier = work->supplier, .facts = work->facts };

    ask_push_function(L, work);
    if (!bind_json_decode(L, block_text(work->input))) {
        lua_error(L);
    }
    progress_read(L, lua_gettop(L), &ceiling.progress);
    run_call_ceiling(L, work->work.run->state, &ceiling);
    work->ceiling_us = ceiling.us;
    return 0;
}

static int ask_revalidate_request(lua_State *L)
{
    struct ask_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;

    ask_push_function(L, work);
    lua_pushvalue(L, 2);
    ask_push_input(L, work);
    run_push_context(L, state, &work->context);
    lua_call(L, 2, 1);
    run_check_failure(L, 3);
    const struct state_account *account = state_find_account(L, state, work->context.serial);
    if (account == NULL) {
        return luaL_error(L, "the account is not known to this worker");
    }
    run_take_requests(L, 3, 2, account, &work->request);
    for (const struct http_request *second = work->request->next; second != NULL; second = second->next) {
        work->context.parts++;
    }
    run_sign_all(L, work->work.run, work->supplier, work->context, &work->request);
    return 0;
}

// ---- what `read` gives

struct ask_status {
    const char *name;
    bool needs_price; // `now`, or an offer with it
    bool needs_offer;
    bool is_sold; // may carry either
};

static const struct ask_status ASK_STATUSES[] = {
    { "confirmed", false, false, true }, { "price_changed", true, false, true }, { "changed", false, true, true },
    { "sold_out", false, false, false }, { "expired", false, false, false },     { "retry", false, false, false },
};

static const struct ask_status *ask_status_of(lua_State *L, int result)
{
    lua_getfield(L, result, "status");
    for (size_t i = 0; i < COUNT_OF(ASK_STATUSES); i++) {
        if (lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), ASK_STATUSES[i].name) == 0) {
            lua_pop(L, 1);
            return &ASK_STATUSES[i];
        }
    }
    run_breach(L, 2,
               "revalidate.read: `status` must be \"confirmed\", \"price_changed\", \"changed\", \"sold_out\", "
               "\"expired\" or \"retry\", not %s",
               lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, -1));
}

/// What the supplier says makes no sense: its answer is unparsable, as an answer without a valid offer is.
static void ask_refuse(lua_State *L, struct ask_work *work, const char *what, const char *why)
{
    (void)run_response_unparsable(L, &work->view, lua_pushfstring(L, "revalidate.read: %s: %s", what, why));
}

/// The price now: its total, with the currency's decimals, and the currency.
static void ask_write_now(lua_State *L, struct ask_work *work, int now, struct json_writer *json)
{
    int64_t micros;
    const char *why = "";
    char amount[AMOUNT_TEXT_MAX];

    lua_getfield(L, now, "currency");
    lua_getfield(L, now, "total");
    struct text currency = bind_to_text(L, -2);
    struct text total = bind_to_text(L, -1);
    int decimals = amount_exponent(currency);
    if (currency.data == NULL || total.data == NULL) {
        run_breach(L, 2, "revalidate.read: now.%s: a text expected, as money",
                   currency.data == NULL ? "currency" : "total");
    }
    if (decimals < 0) {
        ask_refuse(L, work, "now.currency", "a currency of ISO 4217 expected");
    }
    if (!amount_parse(total, decimals, &micros, &why)) {
        ask_refuse(L, work, "now.total", why);
    }
    (void)amount_write(micros, decimals, amount);
    json_begin_object(json);
    json_field_c(json, "total", amount);
    json_field_text(json, "currency", currency);
    json_end_object(json);
    lua_pop(L, 2);
}

/// The offer at the top goes through its product's schema.
static void ask_write_offer(lua_State *L, struct ask_work *work, struct json_writer *json)
{
    const struct script_supplier *supplier = script_set_supplier(work->work.run->state->set, work->supplier);

    lua_createtable(L, 1, 0);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, 1);
    int list = lua_gettop(L);
    state_push_search(L, work->work.run->state, work->facts);
    enum status status = offers_take(L, list, list + 1, supplier->product.data, supplier->name, work->batch);
    if (work->batch->dropped > 0) {
        ask_refuse(L, work, "offer", work->batch->dropped_first);
    }
    if (status != STATUS_OK || work->batch->count != 1) {
        run_breach(L, 2, "revalidate.read: offer: it could not be taken");
    }
    json_raw(json, work->batch->offers[0].json);
    lua_settop(L, list - 1);
}

/// Until when the price holds, as an instant: one that nobody can compare would never be over.
static void ask_write_expiry(lua_State *L, struct ask_work *work, int result, struct json_writer *json)
{
    struct moment moment, utc;
    char out[CALENDAR_TEXT_MAX];

    lua_getfield(L, result, "expires_at");
    if (!lua_isnil(L, -1)) {
        if (lua_type(L, -1) != LUA_TSTRING) {
            run_breach(L, 2, "revalidate.read: expires_at: a text expected, not a %s", luaL_typename(L, -1));
        }
        if (!calendar_parse(bind_to_text(L, -1), &moment) || !moment.has_offset ||
            !calendar_of_epoch_us(calendar_epoch_us(&moment), &utc)) {
            ask_refuse(L, work, "expires_at", "a time with Z or an offset expected");
        }
        json_field_text(json, "expires_at", (struct text){ out, calendar_write_utc(&utc, out) });
    }
    lua_pop(L, 1);
}

/// The way to book, as JSON.
static void ask_write_handoff(lua_State *L, int result, struct json_writer *json)
{
    struct buffer *out = bind_push_buffer(L, ASK_RESULT_MAX);

    lua_getfield(L, result, "handoff");
    if (!lua_isnil(L, -1)) {
        if (!freeze_is_table(L, -1)) {
            run_breach(L, 2, "revalidate.read: handoff: {url} or {ref} expected, not a %s", luaL_typename(L, -1));
        }
        if (!bind_json_encode(L, lua_gettop(L), out) || out->is_full) {
            run_breach(L, 2, "revalidate.read: handoff cannot be told as JSON");
        }
        json_key(json, "handoff");
        json_raw(json, buffer_text(out));
    }
    bind_drop_buffer(out);
    lua_pop(L, 2);
}

static void ask_write_result(lua_State *L, int result, struct ask_work *work)
{
    static const char *const known[] = { "status", "offer", "now", "expires_at", "handoff", "next" };
    const struct ask_status *status = ask_status_of(L, result);
    struct json_writer json;

    run_check_fields(L, result, 2, "revalidate.read", known, COUNT_OF(known));
    json_writer_init(&json, &work->result);
    json_begin_object(&json);
    json_field_c(&json, "status", status->name);
    lua_getfield(L, result, "offer");
    bool has_offer = !lua_isnil(L, -1);
    if (has_offer) {
        json_key(&json, "offer");
        ask_write_offer(L, work, &json);
    }
    lua_pop(L, 1);
    lua_getfield(L, result, "now");
    bool has_now = !lua_isnil(L, -1);
    if (has_now && !freeze_is_table(L, -1)) {
        run_breach(L, 2, "revalidate.read: `now` must be {total, currency}, not a %s", luaL_typename(L, -1));
    }
    if (has_now) {
        json_key(&json, "now");
        ask_write_now(L, work, lua_gettop(L), &json);
    }
    lua_pop(L, 1);
    if (status->needs_offer && !has_offer) {
        run_breach(L, 2, "revalidate.read: `%s` needs the new `offer`", status->name);
    }
    if (status->needs_price && !has_offer && !has_now) {
        run_breach(L, 2, "revalidate.read: `%s` needs `now`, or the new `offer`", status->name);
    }
    if (!status->is_sold && (has_offer || has_now)) {
        run_breach(L, 2, "revalidate.read: `%s` has neither `offer` nor `now`", status->name);
    }
    ask_write_expiry(L, work, result, &json);
    ask_write_handoff(L, result, &json);
    json_end_object(&json);
}

/// What is sold is so when all parts have said it: who tells it of the first sells what nobody has asked about.
static void ask_check_part(lua_State *L, const struct ask_work *work, const struct ask_status *status)
{
    if (status->is_sold && work->context.part < work->context.parts) {
        run_breach(
            L, 2,
            "revalidate.read: `%s` of part %d of %d: only the last one can say it; return { next = { state = … } "
            "}, which it gets as ctx.state",
            status->name, (int)work->context.part, (int)work->context.parts);
    }
}

/// True: there is no result yet; another request goes out.
static bool ask_take_next(lua_State *L, int result, struct ask_work *work)
{
    static const char *const alone[] = { "next" };
    const struct state_account *account = state_find_account(L, work->work.run->state, work->context.serial);
    bool is_last = work->context.part == work->context.parts;
    int top = lua_gettop(L);

    if (account == NULL) {
        luaL_error(L, "the account is not known to this worker");
    }
    bool has_next = run_take_next(L, result, 2, "revalidate.read", is_last, account, &work->next);
    lua_settop(L, top);
    if (!has_next) {
        return false;
    }
    run_check_fields(L, result, 2, "revalidate.read: a result with `next`", alone, COUNT_OF(alone));
    if (work->next.request != NULL) {
        struct run_context context = work->context;
        context.step++;
        context.state = block_text(work->next.state);
        run_sign_all(L, work->work.run, work->supplier, context, &work->next.request);
    }
    return true;
}

static int ask_revalidate_read(lua_State *L)
{
    struct ask_work *work = lua_touserdata(L, 1);

    ask_push_function(L, work);
    lua_pushvalue(L, 2);
    run_response_push(L);
    ask_push_input(L, work);
    run_push_context(L, work->work.run->state, &work->context);
    lua_call(L, 3, 1);
    run_check_failure(L, 3);
    if (!freeze_raw(L, 3)) {
        return run_breach(L, 2, "revalidate.read must return a table with a `status` or `next`, not a %s",
                          luaL_typename(L, 3));
    }
    int result = lua_gettop(L);
    if (!ask_take_next(L, result, work)) {
        ask_check_part(L, work, ask_status_of(L, result));
        ask_write_result(L, result, work);
    }
    return 0;
}

// ---- the call

static enum run_end ask_once(struct ask_work *work)
{
    static const lua_CFunction functions[] = { [ASK_CEILING] = ask_ceiling,
                                               [ASK_REVALIDATE_REQUEST] = ask_revalidate_request,
                                               [ASK_REVALIDATE_READ] = ask_revalidate_read };
    struct run *run = work->work.run;
    struct guard_blame blame = { .script = { .index = work->supplier } };
    uint64_t limit_us = work->what == ASK_REVALIDATE_READ ? run->normalise_limit_us : run->build_limit_us;

    offer_batch_release(&work->batch);
    http_request_destroy(&work->request);
    http_request_destroy(&work->next.request);
    block_release(&work->next.state);
    work->context.parts = work->what == ASK_REVALIDATE_REQUEST ? 1 : work->context.parts;
    buffer_clear(&work->result);
    work->batch = offer_batch_create(ASK_BATCH_MAX);
    work->view.unread.count = 0;
    work->view.is_planned = true; // a plan makes offers of an answer, which this is not
    work->view.supplier = script_set_supplier(run->state->set, work->supplier);
    if (work->batch == NULL) {
        run->failure = (struct run_failure){ .verdict = SCRIPT_MEMORY, .message = "there is no memory for the offer" };
        return RUN_FAILED;
    }
    enum run_end end = run_section(run, NULL, 0, ask_prepare, &work->work);
    return end != RUN_DONE ? end : run_section(run, &blame, limit_us, functions[work->what], &work->work);
}

/// RUN_FAILED with `is_told`: the call has its verdict already.
static enum run_end ask_run(struct ask_work *work, struct ask_call *call, bool *is_told)
{
    struct run *run = work->work.run;
    const struct script_supplier *supplier = script_set_supplier(run->state->set, work->supplier);
    ptrdiff_t product = script_set_find_product(run->state->set, supplier->product);
    const char *why = "";

    require(product >= 0); // checked when the set was loaded
    work->product = (size_t)product;
    if (script_set_tell_quarantine(run->state->set, (struct script_id){ .index = work->supplier }, call->message,
                                   sizeof call->message)) {
        call->verdict = SCRIPT_ERROR;
        *is_told = true;
        return RUN_FAILED;
    }
    if (call->response != NULL) {
        call->verdict =
            run_body_open(&work->view, call->response, block_text(work->body), supplier->body_cap, &work->plain, &why);
        if (call->verdict != SCRIPT_OK) {
            snprintf(call->message, sizeof call->message, "%s", why);
            *is_told = true;
            return RUN_FAILED;
        }
    }
    enum run_end end = ask_once(work);
    if (end == RUN_FAILED && run->failure.verdict == SCRIPT_MEMORY) {
        end = ask_once(work);
    }
    return end;
}

static void ask_commit(struct ask_work *work, struct ask_call *call)
{
    call->verdict = SCRIPT_OK;
    call->ceiling_us = work->ceiling_us;
    call->request = work->request;
    work->request = NULL;
    if (work->what == ASK_REVALIDATE_READ && work->result.length == 0) {
        call->next = work->next;
        work->next = (struct next_step){ 0 };
    } else if (work->what == ASK_REVALIDATE_READ) {
        call->result = block_from_buffer(&work->result);
        bool has_hidden = work->batch->count == 1 && work->batch->offers[0].hidden.length > 0;
        call->hidden = has_hidden ? block_create(work->batch->offers[0].hidden) : NULL;
        bool is_whole = call->result != NULL && (call->hidden != NULL || !has_hidden);
        call->verdict = is_whole ? SCRIPT_OK : SCRIPT_MEMORY;
    }
}

static void ask_fail(struct run *run, struct ask_call *call)
{
    run_count_failure(run);
    call->verdict = run->failure.verdict;
    snprintf(call->message, sizeof call->message, "%s", run->failure.message);
    snprintf(call->code, sizeof call->code, "%s", run->failure.code);
    call->retry_after_ms = wait_left_ms(run->failure.wait, run_wall_us(run, call->times));
}

bool run_ask(struct run *run, struct ask_call *call)
{
    uint64_t now_us = run_now_us(run);
    struct ask_work work = {
        .work = { .run = run },
        .view = { .run = run, .status = call->response == NULL ? 0 : call->response->status },
        .context = { .serial = call->account->serial,
                     .wall_us = run_wall_us(run, call->times),
                     .elapsed_us = run_time_left(now_us, call->times.arrival_us),
                     .remaining_us = run_time_left(call->allocation_end_us, now_us),
                     .part = call->part,
                     .parts = call->parts,
                     .step = call->step,
                     .state = block_text(call->state),
                     .login = block_text(call->login.value) },
        .call = call,
        .what = call->what,
        .facts = block_acquire(call->facts),
        .rates = rates_acquire(call->call.rates),
        .input = block_acquire(call->input),
        .body = block_acquire(call->response == NULL ? NULL : call->response->body),
        .state = block_acquire(call->state),
        .login = login_hold(&call->login),
        .supplier = call->account->supplier,
    };
    bool is_told = false;

    buffer_init(&work.plain, 0);
    buffer_init(&work.view.converted, 0);
    buffer_init(&work.result, ASK_RESULT_MAX);
    enum run_end end = ask_run(&work, call, &is_told);
    if (end == RUN_DONE) {
        ask_commit(&work, call);
    } else if (end == RUN_FAILED && !is_told) {
        ask_fail(run, call);
    }
    if (call->response != NULL && call->retry_after_ms == 0 && end != RUN_LOST) {
        call->retry_after_ms = run_response_retry_after_ms(call->response, call->verdict, work.context.wall_us);
    }
    if (run->state != NULL) {
        run_response_forget(run->state);
    }
    buffer_fini(&work.plain);
    buffer_fini(&work.view.converted);
    buffer_fini(&work.result);
    http_request_destroy(&work.request);
    offer_batch_release(&work.batch);
    block_release(&work.facts);
    rates_release(&work.rates);
    block_release(&work.input);
    block_release(&work.body);
    block_release(&work.state);
    block_release(&work.next.state);
    http_request_destroy(&work.next.request);
    login_drop(&work.login);
    return end != RUN_LOST;
}
