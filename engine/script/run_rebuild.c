// REQUEST: one supplier's requests apart from the start of a search: built when there is a login, or signed when they
// are sent.

#include "script/run.h"

#include <lauxlib.h>
#include <stdio.h>

/// Context of the sections: copies and references, nothing of the call's own memory.
struct rebuild_work {
    struct run_work work;
    struct run_context context;
    const struct request_call *call; // only outside of sections
    struct script_times times;
    struct block *facts;
    struct block *login;
    size_t supplier;
    struct http_request *request;
};

static int rebuild_call_prepare(lua_State *L)
{
    struct rebuild_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;

    state_trim_accounts(L, state);
    state_push_search(L, state, work->facts);
    state_learn_account(L, state, work->call->account);
    return 0;
}

static int rebuild_call_build(lua_State *L)
{
    struct rebuild_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;

    lua_settop(L, 0);
    state_push_supplier(L, state, work->supplier);
    lua_getfield(L, 1, "build_request"); // 2: for errors
    lua_pushvalue(L, 2);
    state_push_search(L, state, work->facts);
    run_push_context(L, state, &work->context);
    lua_call(L, 2, 1);
    const struct state_account *account = state_find_account(L, state, work->context.serial);
    if (account == NULL) {
        return luaL_error(L, "the account is not known to this worker");
    }
    run_take_requests(L, 3, 2, account, &work->request);
    return 0;
}

static int rebuild_call_sign(lua_State *L)
{
    struct rebuild_work *work = lua_touserdata(L, 1);
    struct run_context context = work->context;

    context.wall_us = run_wall_us(work->work.run, work->times);
    run_sign_all(L, work->work.run, work->supplier, context, &work->request);
    return 0;
}

static uint32_t count_of(const struct http_request *request)
{
    uint32_t count = 0;

    for (; request != NULL; request = request->next) {
        count++;
    }
    return count;
}

static enum run_end rebuild_once(struct rebuild_work *work, enum request_job job)
{
    struct run *run = work->work.run;
    struct guard_blame blame = { .script = { .index = work->supplier } };
    enum run_end end = run_section(run, NULL, 0, rebuild_call_prepare, &work->work);

    if (end == RUN_DONE && job == REQUEST_BUILD) {
        http_request_destroy(&work->request);
        end = run_section(run, &blame, run->build_limit_us, rebuild_call_build, &work->work);
        work->context.parts = count_of(work->request);
    }
    if (end == RUN_DONE && state_may_have(run->state, work->supplier, STATE_SIGN)) {
        end = run_section(run, &blame, run->build_limit_us, rebuild_call_sign, &work->work);
    }
    return end;
}

static void rebuild_fail(struct request_call *call, const struct run_failure *failure)
{
    call->verdict = failure->verdict;
    snprintf(call->message, sizeof call->message, "%s", failure->message);
    snprintf(call->code, sizeof call->code, "%s", failure->code);
    call->retry_after_ms = wait_left_ms(failure->wait, call->times.arrival_wall_us);
}

/// Works on a request of its own, for a worker that is lost leaves the call's alone.
static enum run_end rebuild_run(struct rebuild_work *work, struct request_call *call)
{
    struct run *run = work->work.run;
    struct script_id script = { .index = work->supplier };

    if (script_set_tell_quarantine(run->state->set, script, call->message, sizeof call->message)) {
        call->verdict = SCRIPT_ERROR;
        return RUN_FAILED;
    }
    if (call->job == REQUEST_SIGN && (work->request = http_request_create(call->request)) == NULL) {
        call->verdict = SCRIPT_MEMORY;
        return RUN_FAILED;
    }
    enum run_end end = rebuild_once(work, call->job);
    if (end == RUN_FAILED && run->failure.verdict == SCRIPT_MEMORY) {
        end = rebuild_once(work, call->job);
    }
    if (end == RUN_FAILED) {
        run_count_failure(run);
        rebuild_fail(call, &run->failure);
    } else if (end == RUN_DONE) {
        http_request_destroy(&call->request);
        call->request = work->request;
        work->request = NULL;
        call->verdict = SCRIPT_OK;
    }
    return end;
}

bool run_request(struct run *run, struct request_call *call)
{
    uint64_t now_us = run_now_us(run);
    struct rebuild_work work = {
        .work = { .run = run },
        .context = { .serial = call->account->serial,
                     .wall_us = call->times.arrival_wall_us,
                     .elapsed_us = run_time_left(now_us, call->times.arrival_us),
                     .remaining_us = run_time_left(call->allocation_end_us, now_us),
                     .part = call->part,
                     .parts = call->parts,
                     .step = call->step,
                     .attempt = call->attempt,
                     .is_hedge = call->is_hedge },
        .call = call,
        .times = call->times,
        .facts = block_acquire(call->facts),
        .login = block_acquire(call->login.value),
        .supplier = call->account->supplier,
    };

    work.context.login = block_text(work.login);
    enum run_end end = rebuild_run(&work, call);
    if (end != RUN_LOST) {
        run_note_trial(run, work.supplier, call->verdict, call->message);
    }
    http_request_destroy(&work.request);
    block_release(&work.facts);
    block_release(&work.login);
    return end != RUN_LOST;
}
