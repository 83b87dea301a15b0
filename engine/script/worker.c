// A worker takes calls until the pool stops or its lease is taken away. In the latter case it touches neither call,
// queue nor lock of the pool: it frees the state that it was in and ends.

#include "script/worker.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/ask_call.h"
#include "script/bind.h"

#include <signal.h>
#include <stdlib.h>

enum { WORKER_STACK = 32 << 20 }; // address space, touched only by deep recursion through C functions of Lua

/// False: the lease is gone.
static bool worker_run_kind(struct run *run, struct script_call *call)
{
    switch (call->kind) {
    case SCRIPT_CALL_START:
        return run_start(run, CONTAINER_OF(call, struct start_call, call));
    case SCRIPT_CALL_NORMALISE:
        return run_normalise(run, CONTAINER_OF(call, struct normalise_call, call));
    case SCRIPT_CALL_REQUEST:
        return run_request(run, CONTAINER_OF(call, struct request_call, call));
    case SCRIPT_CALL_LOGIN:
        return run_login(run, CONTAINER_OF(call, struct login_call, call));
    case SCRIPT_CALL_CEILING:
        return run_ceilings(run, CONTAINER_OF(call, struct ceiling_call, call));
    case SCRIPT_CALL_ASK:
        return run_ask(run, CONTAINER_OF(call, struct ask_call, call));
    }
    return true;
}

/// False: the lease is gone.
static bool worker_run(struct worker *worker, struct script_call *call)
{
    struct worker_pool *pool = worker->pool;
    struct run run = { .guard = &worker->guard,
                       .build_limit_us = pool->options.build_limit_us,
                       .normalise_limit_us = pool->options.normalise_limit_us };
    bool is_ours = true;

    worker->state = pool_states_use(&pool->states, worker->slot, call->set);
    guard_lease(&worker->guard, call);
    run.state = worker->state;
    run.now_us = call->now_us;
    uint64_t loads = run.state != NULL ? run.state->loads : 0;
    if (run.state != NULL) {
        state_use_seed(run.state, call->seed);
    }
    if (run.state == NULL) {
        run_fail_all(call, SCRIPT_MEMORY, "there is no memory for a Lua state");
        run.memory++;
    } else {
        state_use_data(run.state, call->data);
        is_ours = worker_run_kind(&run, call);
    }
    if (!is_ours || !guard_return(&worker->guard)) {
        return false; // a lost state keeps the tables until it ends
    }
    free(call->trouble); // of an earlier go
    call->trouble = run_take_trouble(&run);
    if (run.state != NULL) {
        state_use_data(run.state, NULL);
        loads = run.state->loads - loads;
        worker->state = NULL;
        pool_states_rest(&pool->states, worker->slot);
    }
    uint64_t begun_us = worker->cpu_us; // between calls next to nothing is used
    worker->cpu_us = guard_read_cpu_us(&worker->guard);
    uint64_t cpu_us = worker->cpu_us - begun_us;
    call->script_cpu_us += cpu_us;
    pthread_mutex_lock(&pool->lock);
    call_lanes_charge(&pool->lanes, call, cpu_us, clock_now_us());
    pool->calls++;
    pool->errors += run.errors;
    pool->timeouts += run.timeouts;
    atomic_fetch_add(&pool->quarantined, run.quarantined);
    pool->memory += run.memory;
    pool->loads += loads;
    pthread_mutex_unlock(&pool->lock);
    worker_pool_deliver(pool, call);
    return true;
}

/// The next call, or NULL when the pool stops.
static struct script_call *worker_take(struct worker_pool *pool)
{
    struct script_call *call = NULL;

    pthread_mutex_lock(&pool->lock);
    while (!pool->is_stopping) {
        call = call_lanes_take(&pool->lanes, clock_now_us());
        if (call != NULL) {
            break;
        }
        pthread_cond_wait(&pool->wake, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return call;
}

static void worker_drop_call(struct worker_pool *pool, struct script_call *call)
{
    run_fail_all(call, SCRIPT_DROPPED, "no time was left for it");
    pthread_mutex_lock(&pool->lock);
    pool->calls++;
    pool->dropped++;
    pthread_mutex_unlock(&pool->lock);
    worker_pool_deliver(pool, call);
}

static void worker_leave(struct worker *worker)
{
    struct worker_pool *pool = worker->pool;

    pthread_mutex_lock(&pool->watchdog.lock);
    pool->workers[worker->slot] = NULL;
    pthread_mutex_unlock(&pool->watchdog.lock);
    pthread_mutex_lock(&pool->lock);
    pool->live--;
    pthread_cond_broadcast(&pool->gone);
    pthread_mutex_unlock(&pool->lock);
}

static void *worker_main(void *context)
{
    struct worker *worker = context;
    struct worker_pool *pool = worker->pool;
    bool is_lost = false;

    guard_attach(&worker->guard);
    worker->cpu_us = guard_read_cpu_us(&worker->guard);
    while (!is_lost) {
        struct script_call *call = worker_take(pool);
        if (call == NULL) {
            break;
        }
        uint64_t now_us = clock_now_us();
        if (now_us >= call->deadline_us || atomic_load(&call->is_cancelled)) {
            worker_drop_call(pool, call);
            continue;
        }
        if (atomic_load(&call->begun_us) == 0) {
            atomic_store(&call->begun_us, now_us);
        }
        is_lost = !worker_run(worker, call);
    }
    guard_detach(&worker->guard);
    if (is_lost) {
        pool_states_destroy(&pool->states, &worker->state);
        log_line(LOG_INFO, "script", "a lost worker has come back and ends");
        atomic_fetch_sub(&pool->lost, 1);
    } else {
        pool_states_clear(&pool->states, worker->slot);
        bind_crypto_leave_thread();
        worker_leave(worker);
    }
    guard_fini(&worker->guard);
    free(worker);
    worker_pool_drop(&pool);
    return NULL;
}

static enum status worker_create_thread(struct worker *worker)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;

    if (pthread_attr_init(&attributes) != 0) {
        return STATUS_NO_MEMORY;
    }
    pthread_attr_setstacksize(&attributes, WORKER_STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals of the process are for other threads
    int error = pthread_create(&thread, &attributes, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0 ? STATUS_OK : STATUS_IO;
}

enum status worker_start(struct worker_pool *pool, size_t slot)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        return STATUS_NO_MEMORY;
    }
    worker->pool = pool;
    worker->slot = slot;
    guard_init(&worker->guard, watchdog_expect, pool);
    pthread_mutex_lock(&pool->lock);
    pool->live++;
    pthread_mutex_unlock(&pool->lock);
    atomic_fetch_add(&pool->holds, 1);
    pool->workers[slot] = worker;
    enum status status = worker_create_thread(worker);
    if (status != STATUS_OK) {
        pool->workers[slot] = NULL;
        atomic_fetch_sub(&pool->holds, 1);
        pthread_mutex_lock(&pool->lock);
        pool->live--;
        pthread_mutex_unlock(&pool->lock);
        guard_fini(&worker->guard);
        free(worker);
    }
    return status;
}
