// START: the product makes facts of the query, then each candidate is asked in turn. A candidate is finished when it
// has a verdict other than OK or a request; so a call that was taken from a lost worker goes on where that one stopped.

#include "script/run_start.h"
#include "base/clock.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/sells.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/// For `ctx`: what is left is what the ceiling, once it is known, leaves.
static struct run_context start_context(const struct start_work *work)
{
    uint64_t elapsed_us = run_time_left(work->now_us, work->times.arrival_us);
    uint64_t left_us = run_time_left(work->times.end_us, work->now_us);

    if (work->ceiling_us != UINT64_MAX) {
        uint64_t ceiling_left_us = run_time_left(work->ceiling_us, elapsed_us);
        left_us = ceiling_left_us < left_us ? ceiling_left_us : left_us;
    }
    return (struct run_context){ .serial = work->serial,
                                 .wall_us = work->times.arrival_wall_us,
                                 .elapsed_us = elapsed_us,
                                 .remaining_us = left_us,
                                 .part = 1,
                                 .parts = 1,
                                 .step = 1,
                                 .login = block_text(work->login) };
}

static void start_push_context(lua_State *L, struct start_work *work)
{
    const struct run_context context = start_context(work);
    run_push_context(L, start_run(work)->state, &context);
}

/// Not a section: nothing of the script runs. What its supplier sells is the set's own memory.
static int start_call_sells(lua_State *L)
{
    struct start_work *work = lua_touserdata(L, 1);
    const struct script_supplier *supplier = script_set_supplier(start_run(work)->state->set, work->supplier);

    state_push_search(L, start_run(work)->state, work->facts);
    work->is_skipped = sells_refuse(L, lua_gettop(L), supplier, work->reason, sizeof work->reason);
    return 0;
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
    sandbox_copy_message(L, work->reason, sizeof work->reason, lua_tostring(L, -1));
    return 0;
}

static int start_call_ceiling(lua_State *L)
{
    struct start_work *work = lua_touserdata(L, 1);
    struct run_ceiling ceiling = { .supplier = work->supplier,
                                   .facts = start_facts(work),
                                   .knowledge = work->knowledge,
                                   .began_us = run_time_left(work->now_us, work->times.arrival_us),
                                   .progress = { .elapsed_us = run_time_left(work->now_us, work->times.arrival_us),
                                                 .remaining_us = run_time_left(work->times.end_us, work->now_us),
                                                 .eligible = work->eligible,
                                                 .cheapest_micros = INT64_MAX } };

    run_call_ceiling(L, start_run(work)->state, &ceiling);
    work->script_ceiling_us = ceiling.us;
    work->progress_reads = ceiling.reads;
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

static int start_call_sign(lua_State *L)
{
    struct start_work *work = lua_touserdata(L, 1);
    struct run_context context = start_context(work);

    context.wall_us = run_wall_us(start_run(work), work->times);
    for (const struct http_request *part = work->request->next; part != NULL; part = part->next) {
        context.parts++;
    }
    run_sign_all(L, start_run(work), work->supplier, context, &work->request);
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
        if (is_memory && round == 0) {
            continue;
        }
        if (end == RUN_FAILED) {
            run_note_trial(run, work->supplier, run->failure.verdict, run->failure.message);
        } else if (end == RUN_DONE && function != start_call_skip) {
            run_note_trial(run, work->supplier, SCRIPT_OK, NULL);
        }
        return end;
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
        free(work->call->candidates[candidate].trouble); // of an earlier go
        work->call->candidates[candidate].trouble = run_take_trouble(start_run(work));
    }
    return end;
}

/// Its requests, signed; when it has to log in first, they are left for later.
static enum run_end start_build(struct start_work *work, size_t index)
{
    struct start_candidate *candidate = &work->call->candidates[index];

    if (candidate->login != NULL && candidate->login->value == NULL) {
        candidate->verdict = SCRIPT_OK; // its requests are built when there is a login
        return RUN_DONE;
    }
    http_request_destroy(&work->request); // of one that failed after it was made
    enum run_end end = start_step(work, index, start_call_build);
    if (end == RUN_DONE && state_may_have(start_run(work)->state, work->supplier, STATE_SIGN)) {
        end = start_step(work, index, start_call_sign);
    }
    if (end != RUN_DONE) {
        return start_fail(work, index, end);
    }
    candidate->request = work->request;
    candidate->verdict = SCRIPT_OK;
    work->request = NULL;
    return RUN_DONE;
}

/// Whether its declarations, then its function, leave it out.
static enum run_end start_ask_skip(struct start_work *work, size_t index)
{
    const struct state *state = start_run(work)->state;
    enum run_end end = RUN_DONE;

    work->is_skipped = false;
    if (script_set_supplier(state->set, work->supplier)->sells_count > 0) {
        end = run_section(start_run(work), NULL, 0, start_call_sells, &work->work);
    }
    if (end == RUN_DONE && !work->is_skipped && state_may_have(state, work->supplier, STATE_SKIP)) {
        end = start_step(work, index, start_call_skip);
    }
    return end;
}

/// How long after arrival the ceiling in force allows, as far as it is known; UINT64_MAX: there is none.
static uint64_t start_ceiling_of(const struct start_work *work, const struct start_candidate *candidate,
                                 uint64_t script_us)
{
    struct ceiling ceiling = start_candidate_ceiling(work->call, candidate, script_us);
    return start_ceiling_us(&ceiling, run_time_left(work->now_us, work->times.arrival_us));
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
    if (candidate->is_dark && !work->call->asks_dark) {
        start_say(work->call, index, SCRIPT_DROPPED, "dark: asked behind all others");
        return RUN_DONE;
    }
    work->serial = candidate->account->serial;
    block_release(&work->login);
    work->login = candidate->login != NULL ? block_acquire(candidate->login->value) : NULL;
    knowledge_drop(&work->knowledge);
    work->knowledge = knowledge_hold(candidate->knowledge);
    work->now_us = run_now_us(start_run(work));
    work->script_ceiling_us = 0;
    work->progress_reads = 0;
    work->ceiling_us = start_ceiling_of(work, candidate, 0); // what is known without its script
    end = start_ask_skip(work, index);
    if (end != RUN_DONE) {
        return start_fail(work, index, end);
    }
    if (work->is_skipped) {
        start_say(work->call, index, SCRIPT_SKIPPED, work->reason);
        return RUN_DONE;
    }
    if (ceiling_terms_ask_script(&candidate->terms) && state_may_have(state, work->supplier, STATE_CEILING)) {
        end = start_step(work, index, start_call_ceiling);
        if (end != RUN_DONE) {
            return start_fail(work, index, end);
        }
    }
    candidate->ceiling = start_candidate_ceiling(work->call, candidate, work->script_ceiling_us);
    candidate->progress_reads = work->progress_reads;
    work->ceiling_us = start_ceiling_of(work, candidate, work->script_ceiling_us);
    work->now_us = run_now_us(start_run(work));
    uint64_t elapsed_us = run_time_left(work->now_us, work->times.arrival_us);
    if (work->now_us >= work->times.end_us || elapsed_us >= work->ceiling_us) {
        start_say(work->call, index, SCRIPT_DROPPED, "no time is left");
        return RUN_DONE;
    }
    return start_build(work, index);
}

static enum run_end start_candidates(struct start_work *work)
{
    struct start_call *call = work->call;
    const struct script_set *set = start_run(work)->state->set;
    uint64_t cpu_us = guard_read_cpu_us(start_run(work)->guard); // asking takes a system call: one for each candidate

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
            run_note_trial(start_run(work), script.index, SCRIPT_ERROR, why);
        } else {
            if (start_candidate(work, i) == RUN_LOST) {
                return RUN_LOST;
            }
            uint64_t begun_us = cpu_us;
            cpu_us = guard_read_cpu_us(start_run(work)->guard);
            call->candidates[i].script_cpu_us = cpu_us - begun_us;
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
                               .eligible = call->eligible };
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
    block_release(&work.login);
    knowledge_drop(&work.knowledge);
    block_release(&work.body);
    block_release(&work.facts);
    block_release(&work.client_facts);
    return end != RUN_LOST;
}
