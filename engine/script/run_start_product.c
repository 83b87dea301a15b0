// The query of a START call. Facts are copied out of Lua within the section and go into the call outside of it.

#include "script/bind.h"
#include "script/bind_support.h"
#include "script/run_start.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

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

/// Copies a fact as text; what is no text, number or flag, or is too long, stays absent.
static void start_keep_fact(lua_State *L, int search, const char *name, char *fact)
{
    struct text text = { NULL, 0 };

    lua_getfield(L, search, name);
    if (lua_type(L, -1) == LUA_TBOOLEAN) {
        text = lua_toboolean(L, -1) ? TEXT("true") : TEXT("false");
    } else if (lua_type(L, -1) == LUA_TSTRING || lua_type(L, -1) == LUA_TNUMBER) {
        text.data = lua_tolstring(L, -1, &text.length);
    }
    if (text.length > 0 && text.length < RULE_FACT_SIZE) {
        memcpy(fact, text.data, text.length);
        fact[text.length] = '\0';
    }
    lua_pop(L, 1);
}

/// The facts that rules ask for. Which product it is need not be a fact of its own.
static void start_keep_facts(lua_State *L, struct start_work *work, int search)
{
    memset(work->segment_facts, 0, sizeof work->segment_facts);
    for (size_t i = 0; i < work->segment_count; i++) {
        if (strcmp(work->segments[i], "product") == 0) {
            snprintf(work->segment_facts[i], RULE_FACT_SIZE, "%.*s", TEXT_ARGS(work->product_name));
        } else {
            start_keep_fact(L, search, work->segments[i], work->segment_facts[i]);
        }
    }
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
    start_keep_facts(L, work, search);
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

/// A copy: a section that is lost may outlive the rules.
static void start_name_segments(struct start_work *work)
{
    const struct rule_set *rules = work->call->rules;

    for (size_t i = 0; rules != NULL && i < rules->segment_count; i++) {
        snprintf(work->segments[i], RULE_SEGMENT_SIZE, "%.*s", TEXT_ARGS(rules->segments[i]));
        work->segment_count++;
    }
}

static void start_commit_rules(struct start_work *work)
{
    struct rule_fact facts[RULE_SEGMENTS_MAX];

    if (work->call->rules == NULL) {
        return;
    }
    for (size_t i = 0; i < work->segment_count; i++) {
        const char *fact = work->segment_facts[i];
        facts[i] = rule_fact_of(text_of(fact[0] != '\0' ? fact : NULL));
    }
    start_call_take_facts(work->call, facts);
    work->times = work->call->times;
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
    start_commit_rules(work);
    work->facts = block_acquire(block);
    work->client_facts = block_acquire(call->client_facts);
}

enum run_end start_product(struct start_work *work)
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
    start_name_segments(work);
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
