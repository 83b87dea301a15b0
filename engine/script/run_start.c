// START: the product makes facts of the query, then each candidate is asked in turn. A candidate is finished when it
// has a verdict other than OK or a request; so a call that was taken from a lost worker goes on where that one stopped.

#include "base/clock.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/run.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { START_FACTS_MAX = 1 << 20, START_ERRORS_MAX = 256 << 10, START_KEY_MAX = 256 << 10 };

/// Context of every section of a START call: copies and references, nothing of the call's own memory.
struct start_work {
    struct run_work work;
    struct start_call *call; // only outside of sections
    struct script_times times;
    struct block *body;
    struct block *facts;
    struct block *client_facts; // NULL: nobody said who asks
    char search_id[64];
    size_t product;
    struct text product_name; // the set's
    size_t candidate_count;
    uint64_t prepared; // the renewal of the state that knows the search and the accounts; 0: none
    // what the product said
    struct buffer out;        // facts, or errors
    struct buffer client_out; // facts with `client`; empty: none
    struct buffer key_out;    // empty: none
    bool is_refused;
    char currency[4];
    char market[16]; // of the search; empty: none
    // the candidate in hand
    size_t supplier;
    uint64_t serial;
    uint64_t now_us;
    uint64_t ceiling_us; // 0: the script has none
    bool is_skipped;
    char reason[256];
    struct http_request *request;
};

static struct run *start_run(struct start_work *work)
{
    return work->work.run;
}

// ---- the product's query

static void start_push_invalid_json(lua_State *L)
{
    const char *sentence = lua_tostring(L, -1);
    lua_createtable(L, 1, 0);
    lua_createtable(L, 0, 3);
    lua_pushliteral(L, "");
    lua_setfield(L, -2, "pointer");
    lua_pushliteral(L, "invalid_json");
    lua_setfield(L, -2, "code");
    lua_pushstring(L, sentence == NULL ? "the body is no JSON document" : sentence);
    lua_setfield(L, -2, "detail");
    lua_rawseti(L, -2, 1);
}

/// The value at the top of the stack.
static void start_encode(lua_State *L, struct buffer *out, int function, size_t ceiling, const char *what)
{
    buffer_fini(out);
    buffer_init(out, ceiling);
    if (!bind_json_encode(L, -1, out)) {
        run_breach(L, function, "query: the %s cannot be JSON: %s", what, lua_tostring(L, -1));
    }
    if (out->is_full) {
        run_breach(L, function, "query: the %s are larger than %zu KiB", what, ceiling >> 10);
    }
}

/// What the product at index 1 names in `key`, of the search at `search`: canonical JSON, so equal bytes for equal
/// searches. A private search has none.
static void start_encode_key(lua_State *L, struct start_work *work, int search, int function)
{
    int top = lua_gettop(L);

    buffer_clear(&work->key_out);
    lua_getfield(L, search, "private");
    lua_getfield(L, 1, "key");
    if (lua_toboolean(L, top + 1) || !bind_unwrap(L, top + 2)) {
        lua_settop(L, top);
        return;
    }
    lua_newtable(L); // top + 3
    bind_push_text(L, work->product_name);
    lua_setfield(L, top + 3, "product");
    for (int i = 1;; i++) {
        lua_rawgeti(L, top + 2, i);
        if (lua_type(L, -1) != LUA_TSTRING) {
            lua_pop(L, 1);
            break;
        }
        lua_pushvalue(L, -1);
        lua_gettable(L, search);
        lua_settable(L, top + 3);
    }
    start_encode(L, &work->key_out, function, START_KEY_MAX, "parts of the key");
    lua_settop(L, top);
}

/// Who asks is told apart: only scripts that want it get those facts.
static void start_encode_client(lua_State *L, struct start_work *work, int search, int function)
{
    buffer_clear(&work->client_out);
    lua_getfield(L, search, "client");
    if (!lua_isnil(L, -1)) {
        lua_pushvalue(L, search);
        start_encode(L, &work->client_out, function, START_FACTS_MAX, "facts");
        lua_pop(L, 1);
        lua_pushnil(L);
        lua_setfield(L, search, "client");
    }
    lua_pop(L, 1);
}

/// The search is at `search`, a plain table: its id is set and its currency read, then it is encoded.
static void start_take_search(lua_State *L, struct start_work *work, int search, int function)
{
    size_t length = 0;

    if (!lua_istable(L, search)) {
        run_breach(L, function, "query must return a table, or nil and a list of errors; not a %s",
                   luaL_typename(L, search));
    }
    lua_pushstring(L, work->search_id);
    lua_setfield(L, search, "id");
    lua_getfield(L, search, "currency");
    const char *currency = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
    if (currency == NULL || length != 3) {
        run_breach(L, function, "query: the search needs a `currency` of three letters");
    }
    snprintf(work->currency, sizeof work->currency, "%s", currency);
    start_encode_client(L, work, search, function);
    start_encode_key(L, work, search, function);
    lua_pushvalue(L, search);
    start_encode(L, &work->out, function, START_FACTS_MAX, "facts");
}

static int start_call_query(lua_State *L)
{
    struct start_work *work = lua_touserdata(L, 1);

    lua_settop(L, 0);
    state_push_product(L, start_run(work)->state, work->product);
    lua_getfield(L, 1, "query"); // 2: for errors
    if (!bind_json_decode_keeping_nulls(L, block_text(work->body))) {
        start_push_invalid_json(L);
        work->is_refused = true;
        start_encode(L, &work->out, 2, START_ERRORS_MAX, "errors");
        return 0;
    }
    lua_pushvalue(L, 2);
    lua_insert(L, -2);
    state_push_now(L, start_run(work)->state, work->times.arrival_wall_us);
    lua_call(L, 2, 2); // 3: the search, 4: errors
    run_check_failure(L, 3);
    if (!lua_isnil(L, 3)) {
        start_take_search(L, work, 3, 2);
        return 0;
    }
    if (!lua_istable(L, 4) || lua_objlen(L, 4) == 0) {
        return run_breach(L, 2, "query returned nil without a list of errors");
    }
    work->is_refused = true;
    start_encode(L, &work->out, 2, START_ERRORS_MAX, "errors");
    return 0;
}

static void start_fail_product(struct start_call *call, const struct run_failure *failure)
{
    call->product_verdict =
        failure->verdict == SCRIPT_TIMEOUT || failure->verdict == SCRIPT_MEMORY ? failure->verdict : SCRIPT_ERROR;
    snprintf(call->message, sizeof call->message, "%s", failure->message);
}

/// Outside of sections: what the product said goes into the call.
static void start_commit_product(struct start_work *work)
{
    struct start_call *call = work->call;
    struct block *block = block_from_buffer(&work->out);

    if (block == NULL) {
        call->product_verdict = SCRIPT_MEMORY;
        snprintf(call->message, sizeof call->message, "there is no memory for the facts");
        return;
    }
    if (work->is_refused) {
        call->product_verdict = SCRIPT_FAIL_UNEXPECTED;
        call->errors = block;
        snprintf(call->message, sizeof call->message, "the query is not valid");
        return;
    }
    call->product_verdict = SCRIPT_OK;
    call->facts = block;
    // Without memory for these the search goes on: nobody learns who asks, and it is nobody else's.
    call->client_facts = work->client_out.length > 0 ? block_from_buffer(&work->client_out) : NULL;
    call->key = work->key_out.length > 0 ? block_from_buffer(&work->key_out) : NULL;
    memcpy(call->currency, work->currency, sizeof call->currency);
    work->facts = block_acquire(block);
    work->client_facts = block_acquire(call->client_facts);
}

static enum run_end start_product(struct start_work *work)
{
    struct start_call *call = work->call;
    struct run *run = start_run(work);
    ptrdiff_t found = script_set_find_product(run->state->set, call->product);

    if (found < 0) {
        call->product_verdict = SCRIPT_ERROR;
        snprintf(call->message, sizeof call->message, "there is no product \"%.*s\"", TEXT_ARGS(call->product));
        return RUN_FAILED;
    }
    work->product = (size_t)found;
    work->product_name = script_set_product(run->state->set, work->product);
    struct guard_blame blame = { .script = { .is_product = true, .index = work->product } };
    if (script_set_tell_quarantine(run->state->set, blame.script, call->message, sizeof call->message)) {
        call->product_verdict = SCRIPT_ERROR;
        return RUN_FAILED;
    }
    enum run_end end = run_section(run, &blame, run->normalise_limit_us, start_call_query, &work->work);
    if (end == RUN_FAILED && run->failure.verdict == SCRIPT_MEMORY) {
        end = run_section(run, &blame, run->normalise_limit_us, start_call_query, &work->work);
    }
    if (end == RUN_FAILED) {
        start_fail_product(call, &run->failure);
        run_count_failure(run);
    }
    if (end == RUN_DONE) {
        start_commit_product(work);
        return call->product_verdict == SCRIPT_OK ? RUN_DONE : RUN_FAILED;
    }
    return end;
}

// ---- candidates

/// The facts that the supplier in hand may see.
static struct block *start_facts(struct start_work *work)
{
    const struct script_supplier *supplier = script_set_supplier(start_run(work)->state->set, work->supplier);

    return work->client_facts != NULL && supplier->want_count > 0 ? work->client_facts : work->facts;
}

/// Pushes function `name` of the supplier in hand; false: it has none.
static bool start_push_function(lua_State *L, struct start_work *work, const char *name)
{
    lua_settop(L, 0);
    state_push_supplier(L, start_run(work)->state, work->supplier);
    lua_getfield(L, 1, name);
    return lua_isfunction(L, 2) != 0;
}

/// Pushes `ctx`: what is left is what the ceiling, once it is known, leaves.
static void start_push_context(lua_State *L, struct start_work *work)
{
    uint64_t elapsed_us = run_time_left(work->now_us, work->times.arrival_us);
    uint64_t left_us = run_time_left(work->times.end_us, work->now_us);

    if (work->ceiling_us != 0) {
        uint64_t ceiling_left_us = run_time_left(work->ceiling_us, elapsed_us);
        left_us = ceiling_left_us < left_us ? ceiling_left_us : left_us;
    }
    const struct run_context context = { .serial = work->serial,
                                         .wall_us = work->times.arrival_wall_us,
                                         .elapsed_us = elapsed_us,
                                         .remaining_us = left_us,
                                         .part = 1,
                                         .parts = 1,
                                         .step = 1 };
    run_push_context(L, start_run(work)->state, &context);
}

static int start_call_skip(lua_State *L)
{
    struct start_work *work = lua_touserdata(L, 1);

    work->is_skipped = false;
    if (!start_push_function(L, work, "skip")) {
        return 0;
    }
    lua_pushvalue(L, 2);
    state_push_search(L, start_run(work)->state, start_facts(work));
    start_push_context(L, work);
    lua_call(L, 2, 1);
    run_check_failure(L, -1);
    if (!lua_toboolean(L, -1)) {
        return 0;
    }
    if (lua_type(L, -1) != LUA_TSTRING) {
        return run_breach(L, 2, "skip must return a reason (a string) or nil, not a %s", luaL_typename(L, -1));
    }
    work->is_skipped = true;
    snprintf(work->reason, sizeof work->reason, "%s", lua_tostring(L, -1));
    return 0;
}

static void start_push_progress(lua_State *L, const struct start_work *work)
{
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        { "elapsed_ms", run_time_left(work->now_us, work->times.arrival_us) / 1000 },
        { "remaining_ms", run_time_left(work->times.end_us, work->now_us) / 1000 },
        { "offers", 0 },
        { "answered", 0 },
        { "eligible", work->candidate_count },
    };

    lua_createtable(L, 0, 8);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        lua_pushnumber(L, (lua_Number)numbers[i].value);
        lua_setfield(L, -2, numbers[i].name);
    }
    lua_createtable(L, 0, 1);
    lua_pushinteger(L, 0);
    lua_setfield(L, -2, "samples");
    lua_setfield(L, -2, "latency");
    freeze_deep(L);
}

static int start_call_ceiling(lua_State *L)
{
    struct start_work *work = lua_touserdata(L, 1);

    work->ceiling_us = 0;
    if (!start_push_function(L, work, "ceiling")) {
        return 0;
    }
    lua_pushvalue(L, 2);
    state_push_search(L, start_run(work)->state, start_facts(work));
    start_push_progress(L, work);
    lua_call(L, 2, 1);
    run_check_failure(L, -1);
    if (lua_isnil(L, -1)) {
        return 0;
    }
    lua_Number ms = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : (lua_Number)NAN;
    if (!(ms >= 0.001 && ms <= 1e9)) {
        return run_breach(L, 2, "ceiling must return a number of milliseconds above 0, or nil; not %s",
                          lua_type(L, -1) == LUA_TNUMBER ? lua_tostring(L, -1) : luaL_typename(L, -1));
    }
    work->ceiling_us = (uint64_t)(ms * 1000);
    return 0;
}

static int start_call_build(lua_State *L)
{
    struct start_work *work = lua_touserdata(L, 1);
    struct state *state = start_run(work)->state;

    if (!start_push_function(L, work, "build_request")) {
        return luaL_error(L, "the supplier has no function build_request");
    }
    lua_pushvalue(L, 2);
    state_push_search(L, state, start_facts(work));
    start_push_context(L, work);
    lua_call(L, 2, 1);
    const struct state_account *account = state_find_account(L, state, work->serial);
    if (account == NULL) {
        return luaL_error(L, "the account is not known to this worker");
    }
    run_take_requests(L, 3, 2, account, &work->request);
    return 0;
}

/// What accounts are chosen by.
static void start_keep_market(lua_State *L, struct start_work *work, int search)
{
    lua_getfield(L, search, "market");
    bool has_market = lua_type(L, -1) == LUA_TSTRING;
    snprintf(work->market, sizeof work->market, "%s", has_market ? lua_tostring(L, -1) : "");
    lua_pop(L, 1);
}

/// Not a section: makes the search and the accounts of all candidates known to the state.
static int start_call_prepare(lua_State *L)
{
    struct start_work *work = lua_touserdata(L, 1);
    struct state *state = start_run(work)->state;
    const struct start_call *call = work->call;

    state_trim_accounts(L, state);
    state_push_search(L, state, work->facts);
    int search = lua_gettop(L);
    if (work->client_facts != NULL) {
        state_push_search(L, state, work->client_facts);
    }
    start_keep_market(L, work, search);
    for (size_t i = 0; i < call->candidate_count; i++) {
        const struct start_candidate *candidate = &call->candidates[i];
        for (size_t j = 0; j == 0 || j < candidate->account_count; j++) {
            state_learn_account(L, state, &candidate->account[j]);
        }
    }
    return 0;
}

/// Prepares the state, unless it was and is still the same.
static enum run_end start_prepare(struct start_work *work)
{
    struct state *state = start_run(work)->state;

    if (work->prepared == state->renewals && state->sandbox != NULL) {
        return RUN_DONE;
    }
    enum run_end end = run_section(start_run(work), NULL, 0, start_call_prepare, &work->work);
    work->prepared = end == RUN_DONE ? state->renewals : 0;
    return end;
}

static enum run_end start_step(struct start_work *work, size_t candidate, lua_CFunction function)
{
    struct run *run = start_run(work);
    struct guard_blame blame = { .script = { .index = work->supplier }, .candidate = candidate };

    for (int round = 0;; round++) {
        enum run_end end = start_prepare(work);
        if (end == RUN_DONE) {
            end = run_section(run, &blame, run->build_limit_us, function, &work->work);
        }
        bool is_memory = end == RUN_FAILED && run->failure.verdict == SCRIPT_MEMORY;
        if (!is_memory || round == 1) {
            return end;
        }
    }
}

static void start_say(struct start_call *call, size_t candidate, enum script_verdict verdict, const char *message)
{
    call->candidates[candidate].verdict = verdict;
    call->candidates[candidate].message = arena_copy(&call->memory, text_of(message));
}

static void start_say_no_account(struct start_work *work, size_t index)
{
    char reason[64];

    if (work->market[0] == '\0') {
        snprintf(reason, sizeof reason, "no account for a search without a market");
    } else {
        snprintf(reason, sizeof reason, "no account for market %s", work->market);
    }
    start_say(work->call, index, SCRIPT_SKIPPED, reason);
}

static enum run_end start_fail(struct start_work *work, size_t candidate, enum run_end end)
{
    if (end == RUN_FAILED) {
        run_count_failure(start_run(work));
        start_say(work->call, candidate, start_run(work)->failure.verdict, start_run(work)->failure.message);
    }
    return end;
}

static enum run_end start_candidate(struct start_work *work, size_t index)
{
    struct start_candidate *candidate = &work->call->candidates[index];
    const struct state *state = start_run(work)->state;
    enum run_end end = RUN_DONE;

    work->supplier = candidate->account->supplier;
    end = start_prepare(work);
    if (end == RUN_FAILED && start_run(work)->failure.verdict == SCRIPT_MEMORY) {
        end = start_prepare(work);
    }
    if (end != RUN_DONE) {
        return start_fail(work, index, end);
    }
    if (!start_candidate_choose(candidate, text_of(work->market))) {
        start_say_no_account(work, index);
        return RUN_DONE;
    }
    work->serial = candidate->account->serial;
    work->is_skipped = false;
    work->now_us = clock_now_us();
    work->ceiling_us = candidate->ceiling_us;
    if (state_may_have(state, work->supplier, STATE_SKIP)) {
        end = start_step(work, index, start_call_skip);
    }
    if (end != RUN_DONE) {
        return start_fail(work, index, end);
    }
    if (work->is_skipped) {
        start_say(work->call, index, SCRIPT_SKIPPED, work->reason);
        return RUN_DONE;
    }
    if (candidate->ceiling_us == 0 && state_may_have(state, work->supplier, STATE_CEILING)) {
        end = start_step(work, index, start_call_ceiling);
        if (end != RUN_DONE) {
            return start_fail(work, index, end);
        }
        candidate->ceiling_is_from_script = work->ceiling_us != 0;
    }
    candidate->ceiling_out_us = work->ceiling_us == 0 ? UINT64_MAX : work->ceiling_us;
    work->now_us = clock_now_us();
    uint64_t elapsed_us = run_time_left(work->now_us, work->times.arrival_us);
    if (work->now_us >= work->times.end_us || elapsed_us >= candidate->ceiling_out_us) {
        start_say(work->call, index, SCRIPT_DROPPED, "no time is left");
        return RUN_DONE;
    }
    http_request_destroy(&work->request); // of one that failed after it was made
    end = start_step(work, index, start_call_build);
    if (end != RUN_DONE) {
        return start_fail(work, index, end);
    }
    candidate->request = work->request;
    candidate->verdict = SCRIPT_OK;
    work->request = NULL;
    return RUN_DONE;
}

static enum run_end start_candidates(struct start_work *work)
{
    struct start_call *call = work->call;
    const struct script_set *set = start_run(work)->state->set;

    for (size_t i = 0; i < call->candidate_count; i++) {
        if (run_is_finished(&call->candidates[i])) {
            continue;
        }
        struct script_id script = { .index = call->candidates[i].account->supplier };
        char why[256];
        if (atomic_load(&call->call.is_cancelled)) {
            start_say(call, i, SCRIPT_DROPPED, "the search has ended");
        } else if (script_set_tell_quarantine(set, script, why, sizeof why)) {
            start_say(call, i, SCRIPT_ERROR, why);
        } else {
            uint64_t cpu_us = clock_thread_cpu_us();
            if (start_candidate(work, i) == RUN_LOST) {
                return RUN_LOST;
            }
            call->candidates[i].script_cpu_us = clock_thread_cpu_us() - cpu_us;
        }
    }
    return RUN_DONE;
}

bool run_start(struct run *run, struct start_call *call)
{
    struct start_work work = { .work = { .run = run },
                               .call = call,
                               .times = call->times,
                               .body = block_acquire(call->body),
                               .facts = block_acquire(call->facts),
                               .client_facts = block_acquire(call->client_facts),
                               .candidate_count = call->candidate_count };
    enum run_end end = RUN_DONE;

    snprintf(work.search_id, sizeof work.search_id, "%.*s", TEXT_ARGS(call->search_id));
    buffer_init(&work.out, START_FACTS_MAX);
    buffer_init(&work.client_out, START_FACTS_MAX);
    buffer_init(&work.key_out, START_KEY_MAX);
    if (work.facts == NULL) {
        end = start_product(&work);
    }
    if (end == RUN_DONE) {
        end = start_candidates(&work);
    }
    buffer_fini(&work.out);
    buffer_fini(&work.client_out);
    buffer_fini(&work.key_out);
    http_request_destroy(&work.request);
    block_release(&work.body);
    block_release(&work.facts);
    block_release(&work.client_facts);
    return end != RUN_LOST;
}
