// The watchdog sleeps until the earliest time at which a running section should be looked at. A worker that begins a
// section with an earlier time wakes it. It publishes its time before the last look over the workers, so that no
// section that begins in between is overlooked.

#include "base/clock.h"
#include "base/log.h"
#include "script/worker.h"

#include <signal.h>
#include <time.h>

enum { WATCHDOG_RETRY_US = 100000 }; // until a worker that could not be started is tried again

void watchdog_expect(void *context, uint64_t check_us)
{
    struct worker_pool *pool = context;
    struct watchdog *watchdog = &pool->watchdog;

    if (check_us < atomic_load(&watchdog->next_us)) {
        pthread_mutex_lock(&watchdog->lock);
        pthread_cond_signal(&watchdog->wake);
        pthread_mutex_unlock(&watchdog->lock);
    }
}

/// Hands the call of a lost worker to another one, or back.
static void watchdog_finish(struct worker_pool *pool, struct script_call *call, const struct guard_blame *blame)
{
    if (run_lose(call, blame)) {
        if (worker_pool_requeue(pool, call)) {
            return;
        }
        run_fail_all(call, SCRIPT_DROPPED, "the engine is stopping");
    }
    pthread_mutex_lock(&pool->lock);
    pool->calls++;
    pthread_mutex_unlock(&pool->lock);
    worker_pool_deliver(pool, call);
}

/// The worker in the slot is lost; its guard's lock is held, and given back here. From then on its thread may end at
/// any time.
static void watchdog_give_up(struct worker_pool *pool, size_t slot)
{
    struct worker *worker = pool->workers[slot];
    struct guard_blame blame = worker->guard.blame;
    struct script_call *call = guard_take_away(&worker->guard);
    struct script_set *set = call->set;
    const struct script_file *file = blame.script.is_product ? script_set_product_file(set, blame.script.index)
                                                             : script_set_supplier_file(set, blame.script.index);

    pool->workers[slot] = NULL;
    pool_states_lose(&pool->states, slot);
    atomic_fetch_add(&pool->lost, 1);
    script_set_note_limit(set, blame.script, SCRIPT_LIMIT_STUCK, 1);
    if (!blame.script.is_product) {
        script_set_note_trial(set, blame.script, SCRIPT_TIMEOUT, "stuck inside a function of C");
    }
    if (script_set_quarantine(set, blame.script)) {
        atomic_fetch_add(&pool->quarantined, 1);
        log_line(LOG_ERROR, "script", "stuck and quarantined script=%.*s file=%.*s", TEXT_ARGS(file->name),
                 TEXT_ARGS(file->path));
    }
    pthread_mutex_unlock(&worker->guard.lock);

    pthread_mutex_lock(&pool->lock);
    pool->live--;
    pool->timeouts++;
    bool is_stopping = pool->is_stopping;
    pthread_cond_broadcast(&pool->gone);
    pthread_mutex_unlock(&pool->lock);
    if (!is_stopping && worker_start(pool, slot) != STATUS_OK) {
        log_line(LOG_ERROR, "script", "a lost worker could not be replaced; trying again");
    }
    watchdog_finish(pool, call, &blame);
}

/// Looks at one slot; when to look again.
static uint64_t watchdog_look(struct worker_pool *pool, size_t slot, uint64_t now_us)
{
    uint64_t next_us = UINT64_MAX;
    struct worker *worker = pool->workers[slot];

    if (worker == NULL) {
        pthread_mutex_lock(&pool->lock);
        bool is_stopping = pool->is_stopping;
        pthread_mutex_unlock(&pool->lock);
        bool is_missing = !is_stopping && worker_start(pool, slot) != STATUS_OK;
        return is_missing ? now_us + WATCHDOG_RETRY_US : UINT64_MAX;
    }
    pthread_mutex_lock(&worker->guard.lock);
    if (guard_check(&worker->guard, now_us, &next_us)) {
        watchdog_give_up(pool, slot);
        return now_us + WATCHDOG_RETRY_US;
    }
    pthread_mutex_unlock(&worker->guard.lock);
    return next_us;
}

/// The earliest time of all slots.
static uint64_t watchdog_look_at_all(struct worker_pool *pool)
{
    uint64_t now_us = clock_now_us();
    uint64_t next_us = UINT64_MAX;

    for (size_t i = 0; i < pool->options.threads; i++) {
        uint64_t slot_us = watchdog_look(pool, i, now_us);
        next_us = slot_us < next_us ? slot_us : next_us;
    }
    return next_us;
}

static void watchdog_sleep(struct watchdog *watchdog, uint64_t until_us)
{
    if (until_us == UINT64_MAX) {
        pthread_cond_wait(&watchdog->wake, &watchdog->lock);
        return;
    }
    const struct timespec until = { .tv_sec = (time_t)(until_us / 1000000),
                                    .tv_nsec = (long)(until_us % 1000000) * 1000 };
    pthread_cond_timedwait(&watchdog->wake, &watchdog->lock, &until);
}

static void *watchdog_main(void *context)
{
    struct worker_pool *pool = context;
    struct watchdog *watchdog = &pool->watchdog;

    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->is_stopping) {
        uint64_t next_us = watchdog_look_at_all(pool);
        atomic_store(&watchdog->next_us, next_us);
        if (watchdog_look_at_all(pool) < next_us) {
            continue; // a section began meanwhile
        }
        watchdog_sleep(watchdog, next_us);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

enum status watchdog_start(struct worker_pool *pool)
{
    struct watchdog *watchdog = &pool->watchdog;
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&watchdog->thread, NULL, watchdog_main, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    watchdog->is_running = error == 0;
    return error == 0 ? STATUS_OK : STATUS_IO;
}

void watchdog_stop(struct worker_pool *pool)
{
    struct watchdog *watchdog = &pool->watchdog;

    if (!watchdog->is_running) {
        return;
    }
    pthread_mutex_lock(&watchdog->lock);
    watchdog->is_stopping = true;
    pthread_cond_signal(&watchdog->wake);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    watchdog->is_running = false;
}
