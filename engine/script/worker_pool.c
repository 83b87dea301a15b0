// Workers are detached: one that gets lost can never be joined. Destroying waits until every worker that is not lost
// has left, with the watchdog still awake, because the last call in hand may be the one that gets stuck.

#include "script/worker_pool.h"
#include "base/clock.h"
#include "script/worker.h"

#include <stdlib.h>

static const struct worker_pool_options pool_defaults = { .threads = 1,
                                                          .build_limit_us = 5000,
                                                          .normalise_limit_us = 50000,
                                                          .memory_growth = 16 << 20,
                                                          .max_lost = 8,
                                                          .prepare_limit_us = 20000000 };

static void pool_fill_in(struct worker_pool_options *options)
{
    if (options->threads == 0) {
        options->threads = pool_defaults.threads;
    }
    if (options->prepare_limit_us == 0) {
        options->prepare_limit_us = pool_defaults.prepare_limit_us;
    }
    if (options->build_limit_us == 0) {
        options->build_limit_us = pool_defaults.build_limit_us;
    }
    if (options->normalise_limit_us == 0) {
        options->normalise_limit_us = pool_defaults.normalise_limit_us;
    }
    if (options->memory_growth == 0) {
        options->memory_growth = pool_defaults.memory_growth;
    }
    if (options->max_lost == 0) {
        options->max_lost = pool_defaults.max_lost;
    }
}

static struct worker_pool *pool_allocate(const struct worker_pool_options *options)
{
    struct worker_pool *pool = calloc(1, sizeof *pool);
    pthread_condattr_t attributes;

    if (pool == NULL) {
        return NULL;
    }
    pool->options = *options;
    pool_fill_in(&pool->options);
    pool->workers = calloc(pool->options.threads, sizeof(struct worker *));
    if (pool->workers == NULL ||
        pool_states_init(&pool->states, pool->options.threads, (size_t)pool->options.memory_growth) != STATUS_OK) {
        free(pool->workers);
        free(pool);
        return NULL;
    }
    pool->states.watches_fields = pool->options.watches_fields;
    atomic_init(&pool->holds, 1);
    atomic_init(&pool->watchdog.next_us, UINT64_MAX);
    call_lanes_init(&pool->lanes, pool->options.threads);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, &attributes);
    pthread_cond_init(&pool->gone, &attributes);
    pthread_mutex_init(&pool->watchdog.lock, NULL);
    pthread_cond_init(&pool->watchdog.wake, &attributes);
    pthread_mutex_init(&pool->burial.lock, NULL);
    pthread_cond_init(&pool->burial.wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return pool;
}

void worker_pool_drop(struct worker_pool **pool)
{
    struct worker_pool *gone = *pool;

    *pool = NULL;
    if (atomic_fetch_sub(&gone->holds, 1) != 1) {
        return;
    }
    call_lanes_fini(&gone->lanes);
    pool_states_fini(&gone->states);
    pthread_mutex_destroy(&gone->lock);
    pthread_cond_destroy(&gone->wake);
    pthread_cond_destroy(&gone->gone);
    pthread_mutex_destroy(&gone->watchdog.lock);
    pthread_cond_destroy(&gone->watchdog.wake);
    pthread_mutex_destroy(&gone->burial.lock);
    pthread_cond_destroy(&gone->burial.wake);
    free(gone->workers);
    free(gone);
}

enum status worker_pool_create(const struct worker_pool_options *options, struct worker_pool **pool,
                               struct failure *why)
{
    *pool = NULL;
    if (guard_install() != STATUS_OK) {
        failure_set(why, "the signal handler for scripts could not be installed");
        return STATUS_IO;
    }
    struct worker_pool *made = pool_allocate(options);
    if (made == NULL) {
        failure_set(why, "there is no memory for the script workers");
        return STATUS_NO_MEMORY;
    }
    enum status status = STATUS_OK;
    pthread_mutex_lock(&made->watchdog.lock);
    for (size_t i = 0; i < made->options.threads && status == STATUS_OK; i++) {
        status = worker_start(made, i);
    }
    pthread_mutex_unlock(&made->watchdog.lock);
    if (status == STATUS_OK) {
        status = watchdog_start(made);
    }
    if (status == STATUS_OK && made->options.buries_aside) {
        status = burial_start(made);
    }
    if (status != STATUS_OK) {
        failure_set(why, "the threads for scripts could not be started");
        worker_pool_destroy(&made);
        return status;
    }
    *pool = made;
    return STATUS_OK;
}

void worker_pool_deliver(struct worker_pool *pool, struct script_call *call)
{
    call->done_us = clock_now_us();
    pool->options.deliver(call->home, call);
}

static void pool_drop_waiting(struct worker_pool *pool)
{
    struct script_call *call = call_lanes_take(&pool->lanes, UINT64_MAX);

    for (; call != NULL; call = call_lanes_take(&pool->lanes, UINT64_MAX)) {
        pool->calls++;
        pool->dropped++;
        pthread_mutex_unlock(&pool->lock);
        run_fail_all(call, SCRIPT_DROPPED, "the engine is stopping");
        worker_pool_deliver(pool, call);
        pthread_mutex_lock(&pool->lock);
    }
}

void worker_pool_destroy(struct worker_pool **pool)
{
    struct worker_pool *gone = *pool;

    if (gone == NULL) {
        return;
    }
    pthread_mutex_lock(&gone->lock);
    gone->is_stopping = true;
    pool_drop_waiting(gone);
    pthread_cond_broadcast(&gone->wake);
    while (gone->live > 0) {
        pthread_cond_wait(&gone->gone, &gone->lock);
    }
    pthread_mutex_unlock(&gone->lock);
    watchdog_stop(gone);
    burial_stop(gone);
    pool_states_clear_all(&gone->states);
    worker_pool_drop(pool);
}

static enum status pool_put(struct worker_pool *pool, struct script_call *call)
{
    pthread_mutex_lock(&pool->lock);
    enum status status = pool->is_stopping ? STATUS_CLOSED : call_lanes_put(&pool->lanes, call);
    if (status == STATUS_OK) {
        pthread_cond_signal(&pool->wake);
    }
    pthread_mutex_unlock(&pool->lock);
    return status;
}

enum status worker_pool_submit(struct worker_pool *pool, struct script_call *call)
{
    call->queued_us = clock_now_us();
    return pool_put(pool, call);
}

bool worker_pool_requeue(struct worker_pool *pool, struct script_call *call)
{
    return pool_put(pool, call) == STATUS_OK;
}

void worker_pool_counts(struct worker_pool *pool, struct worker_pool_counts *counts)
{
    pthread_mutex_lock(&pool->lock);
    *counts = (struct worker_pool_counts){ .calls = pool->calls,
                                           .errors = pool->errors,
                                           .timeouts = pool->timeouts,
                                           .memory = pool->memory,
                                           .dropped = pool->dropped,
                                           .loads = pool->loads,
                                           .workers = pool->live,
                                           .queued = (uint32_t)call_lanes_count(&pool->lanes) };
    pthread_mutex_unlock(&pool->lock);
    counts->lost = atomic_load(&pool->lost);
    counts->quarantined = atomic_load(&pool->quarantined);
    counts->states = atomic_load(&pool->states.live);
}

struct cpu_usage worker_pool_usage(struct worker_pool *pool, struct text supplier)
{
    pthread_mutex_lock(&pool->lock);
    struct cpu_usage usage = cpu_share_usage(&pool->lanes.share, supplier);
    pthread_mutex_unlock(&pool->lock);
    return usage;
}

bool worker_pool_is_healthy(struct worker_pool *pool)
{
    return atomic_load(&pool->lost) <= pool->options.max_lost;
}
