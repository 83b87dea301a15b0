// CEILING: each question is a section of its own. One that fails leaves the old ceiling where it is, which is the
// search's affair; here it is a verdict. A question is finished when it has a verdict, so a call that was taken from a
// lost worker goes on with the next one.

#include "base/clock.h"
#include "script/progress.h"
#include "script/run.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/// Context of the sections: copies and references, nothing of the call's own memory.
struct ceiling_work {
    struct run_work work;
    struct run_ceiling ceiling;
    struct block *facts, *client_facts;
};

void run_call_ceiling(lua_State *L, struct state *state, struct run_ceiling *ceiling)
{
    ceiling->us = 0;
    ceiling->reads = 0;
    lua_settop(L, 0);
    state_push_supplier(L, state, ceiling->supplier);
    lua_getfield(L, 1, "ceiling"); // 2: for errors
    if (!lua_isfunction(L, 2)) {
        return;
    }
    lua_pushvalue(L, 2);
    state_push_search(L, state, ceiling->facts);
    const struct progress *progress = progress_push(L, &ceiling->progress, ceiling->knowledge, ceiling->began_us);
    lua_pushvalue(L, -1);
    lua_insert(L, 3); // 3: stays alive
    state->sandbox->pure = "ceiling";
    lua_call(L, 2, 1);
    state->sandbox->pure = NULL;
    ceiling->reads = progress_reads(progress);
    run_check_failure(L, -1);
    if (lua_isnil(L, -1)) {
        return;
    }
    lua_Number ms = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : (lua_Number)NAN;
    if (!(ms >= 0.001 && ms <= 1e9)) {
        run_breach(L, 2, "ceiling must return a number of milliseconds above 0, or nil; not %s",
                   lua_type(L, -1) == LUA_TNUMBER ? lua_tostring(L, -1) : luaL_typename(L, -1));
    }
    ceiling->us = (uint64_t)(ms * 1000);
}

static int ceiling_call_prepare(lua_State *L)
{
    struct ceiling_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;

    state_push_search(L, state, work->facts);
    if (work->client_facts != NULL) {
        state_push_search(L, state, work->client_facts);
    }
    return 0;
}

static int ceiling_call_script(lua_State *L)
{
    struct ceiling_work *work = lua_touserdata(L, 1);

    run_call_ceiling(L, work->work.run->state, &work->ceiling);
    return 0;
}

/// Twice, when memory ran out: the garbage of others may have filled the state.
static enum run_end ceiling_run(struct ceiling_work *work, size_t index)
{
    struct run *run = work->work.run;
    struct guard_blame blame = { .script = { .index = work->ceiling.supplier }, .candidate = index };

    for (int round = 0;; round++) {
        enum run_end end = run_section(run, NULL, 0, ceiling_call_prepare, &work->work);
        if (end == RUN_DONE) {
            end = run_section(run, &blame, run->build_limit_us, ceiling_call_script, &work->work);
        }
        bool is_memory = end == RUN_FAILED && run->failure.verdict == SCRIPT_MEMORY;
        if (!is_memory || round == 1) {
            return end;
        }
    }
}

static void ceiling_say(struct ceiling_ask *ask, enum script_verdict verdict, const char *message)
{
    ask->verdict = verdict;
    snprintf(ask->message, sizeof(ask->message), "%s", message);
}

static enum run_end ceiling_ask(struct ceiling_work *work, struct ceiling_call *call, size_t index)
{
    struct ceiling_ask *ask = &call->asks[index];
    struct run *run = work->work.run;
    const struct script_supplier *supplier = script_set_supplier(run->state->set, ask->supplier);
    uint64_t cpu_us = guard_read_cpu_us(run->guard);
    uint64_t now_us = run_now_us(run);

    work->ceiling.supplier = ask->supplier;
    knowledge_drop(&work->ceiling.knowledge); // the one before
    work->ceiling.knowledge = knowledge_hold(ask->knowledge);
    work->ceiling.began_us = run_time_left(ask->began_us, call->times.arrival_us);
    work->ceiling.facts = work->client_facts != NULL && supplier->want_count > 0 ? work->client_facts : work->facts;
    work->ceiling.progress.elapsed_us = run_time_left(now_us, call->times.arrival_us);
    work->ceiling.progress.remaining_us = run_time_left(call->times.end_us, now_us);
    enum run_end end = ceiling_run(work, index);
    if (end == RUN_LOST) {
        return end;
    }
    if (end == RUN_FAILED) {
        run_count_failure(run);
        ceiling_say(ask, run->failure.verdict, run->failure.message);
        free(ask->trouble); // of an earlier go
        ask->trouble = run_take_trouble(run);
    } else {
        ask->verdict = SCRIPT_OK;
        ask->script_us = work->ceiling.us;
        ask->reads = work->ceiling.reads;
    }
    run_note_trial(run, ask->supplier, ask->verdict, ask->message);
    ask->script_cpu_us = guard_read_cpu_us(run->guard) - cpu_us;
    return RUN_DONE;
}

/// The first that has no verdict yet; `ask_count`: none.
static size_t ceiling_next(const struct ceiling_call *call, size_t from)
{
    while (from < call->ask_count && call->asks[from].verdict != SCRIPT_DROPPED) {
        from++;
    }
    return from;
}

bool run_ceilings(struct run *run, struct ceiling_call *call)
{
    struct ceiling_work work = { .work = { .run = run },
                                 .ceiling = { .progress = call->progress },
                                 .facts = block_acquire(call->facts),
                                 .client_facts = block_acquire(call->client_facts) };
    bool is_lost = false; // then the call is somebody else's

    for (size_t i = ceiling_next(call, 0); i < call->ask_count; i = ceiling_next(call, i + 1)) {
        struct script_id script = { .index = call->asks[i].supplier };
        char why[256];
        if (atomic_load(&call->call.is_cancelled)) {
            break;
        }
        if (script_set_tell_quarantine(run->state->set, script, why, sizeof why)) {
            ceiling_say(&call->asks[i], SCRIPT_ERROR, why);
            run_note_trial(run, script.index, SCRIPT_ERROR, why);
        } else if (ceiling_ask(&work, call, i) == RUN_LOST) {
            is_lost = true;
            break;
        }
    }
    block_release(&work.facts);
    block_release(&work.client_facts);
    knowledge_drop(&work.ceiling.knowledge);
    return !is_lost;
}

void run_fail_ceilings(struct ceiling_call *call, enum script_verdict verdict, const char *message)
{
    for (size_t i = ceiling_next(call, 0); i < call->ask_count; i = ceiling_next(call, i + 1)) {
        ceiling_say(&call->asks[i], verdict, message);
    }
}

bool run_lose_ceiling(struct ceiling_call *call, size_t index, const char *message)
{
    ceiling_say(&call->asks[index], SCRIPT_TIMEOUT, message);
    return ceiling_next(call, 0) < call->ask_count;
}
