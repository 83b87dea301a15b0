// A preparation belongs to its side thread until that is done, and for good when it was given up. What the thread has
// finished by then goes to the waiter all the same, so one that is given up keeps no more than the state it is at.

#include "base/clock.h"
#include "base/log.h"
#include "script/script_check.h"
#include "script/side_thread.h"
#include "script/state_fill.h"
#include "script/worker.h"

#include <stdlib.h>

enum { SLOW_FILE_US = 100000 }; // of CPU time: what is faster is not to blame

struct prepared {
    struct state *chain;
    size_t count;
    size_t stuck_in; // STATE_FILL_NOTHING
    struct worker_pool_slow slow;
};

struct preparation {
    struct side_thread side;
    struct state_fill fill;
    struct worker_pool *pool; // held, as lost workers hold it
    struct script_set *set;   // held
    size_t wanted;
    uint64_t limit_us;
    atomic_bool is_given_up;
    pthread_mutex_t lock;
    struct prepared finished; // under the lock
    struct prepared *given;   // the waiter's, while it waits
};

static void prepare_destroy(struct preparation *preparation)
{
    state_fill_fini(&preparation->fill);
    side_thread_fini(&preparation->side);
    pthread_mutex_destroy(&preparation->lock);
    script_set_drop(&preparation->set);
    worker_pool_drop(&preparation->pool);
    free(preparation);
}

static void prepare_on_file(void *context)
{
    struct preparation *preparation = context;

    side_thread_step(&preparation->side);
}

static bool prepare_is_hurried(void *context)
{
    const struct preparation *preparation = context;

    return atomic_load(&preparation->pool->is_hurried) || atomic_load(&preparation->is_given_up);
}

static struct preparation *prepare_create(struct worker_pool *pool, struct script_set *set, size_t wanted,
                                          struct prepared *given)
{
    struct preparation *preparation = calloc(1, sizeof *preparation);

    if (preparation == NULL) {
        return NULL;
    }
    side_thread_init(&preparation->side);
    pthread_mutex_init(&preparation->lock, NULL);
    atomic_fetch_add(&pool->holds, 1);
    preparation->pool = pool;
    preparation->set = script_set_hold(set);
    preparation->wanted = wanted;
    preparation->given = given;
    preparation->limit_us = pool->options.prepare_limit_us;
    preparation->fill = (struct state_fill){ .file_limit_us = SCRIPT_CHECK_RUN_US,
                                             .end_us = clock_now_us() + preparation->limit_us,
                                             .on_file = prepare_on_file,
                                             .is_hurried = prepare_is_hurried,
                                             .context = preparation };
    if (!state_fill_init(&preparation->fill, set)) {
        prepare_destroy(preparation);
        return NULL;
    }
    return preparation;
}

static bool prepare_is_over(struct preparation *preparation)
{
    return prepare_is_hurried(preparation) || clock_now_us() >= preparation->fill.end_us;
}

static void prepare_run(void *context)
{
    struct preparation *preparation = context;
    struct pool_states *states = &preparation->pool->states;

    for (size_t i = 0; i < preparation->wanted && !prepare_is_over(preparation); i++) {
        struct state *state = pool_states_create(states, preparation->set);
        if (state == NULL) {
            return;
        }
        if (!state_fill_run(&preparation->fill, state)) {
            pool_states_destroy(states, &state);
            return;
        }
        pthread_mutex_lock(&preparation->lock);
        state->next = preparation->finished.chain;
        preparation->finished.chain = state;
        preparation->finished.count++;
        pthread_mutex_unlock(&preparation->lock);
    }
}

/// Gives the waiter what is finished.
static void prepare_give(struct preparation *preparation)
{
    pthread_mutex_lock(&preparation->lock);
    *preparation->given = preparation->finished;
    preparation->finished = (struct prepared){ .chain = NULL };
    pthread_mutex_unlock(&preparation->lock);
    preparation->given->stuck_in = atomic_load(&preparation->fill.in_hand);
}

static void prepare_on_give_up(void *context)
{
    struct preparation *preparation = context;

    prepare_give(preparation);
    atomic_store(&preparation->is_given_up, true);
    atomic_fetch_add(&preparation->pool->lost, 1);
}

/// What was finished since then is not wanted any more.
static void prepare_on_return(void *context)
{
    struct preparation *preparation = context;
    struct worker_pool *pool = preparation->pool;

    pool_states_destroy_chain(&pool->states, preparation->finished.chain);
    log_line(LOG_INFO, "script", "a thread that got lost while it loaded a file has come back and ends");
    atomic_fetch_sub(&pool->lost, 1);
    prepare_destroy(preparation);
}

/// Of a thread that is done: was its time over, and would it have been over on an idle machine, too?
static void prepare_judge(const struct preparation *preparation, struct worker_pool_slow *slow)
{
    const struct state_fill *fill = &preparation->fill;
    const struct script_set *set = preparation->set;
    uint64_t files = (uint64_t)(script_set_product_count(set) + script_set_supplier_count(set)) * preparation->wanted;

    if (clock_now_us() < fill->end_us || fill->file_count == 0 || fill->slowest_us < SLOW_FILE_US) {
        return;
    }
    if (fill->file_count < files && fill->files_us / fill->file_count * files > preparation->limit_us) {
        *slow = (struct worker_pool_slow){ .is_too_slow = true,
                                           .script = state_fill_script(set, fill->slowest),
                                           .load_us = fill->slowest_us };
    }
}

/// The thread got stuck in a function of C, as a worker would in its first call.
static void prepare_blame(struct worker_pool *pool, struct script_set *set, size_t index)
{
    struct script_id script = state_fill_script(set, index);
    const struct script_file *file =
        script.is_product ? script_set_product_file(set, script.index) : script_set_supplier_file(set, script.index);
    script_set_note_limit(set, script, SCRIPT_LIMIT_STUCK, 1);
    if (script_set_quarantine(set, script)) {
        atomic_fetch_add(&pool->quarantined, 1);
        log_line(LOG_ERROR, "script", "stuck while it was loaded, and quarantined script=%.*s file=%.*s",
                 TEXT_ARGS(file->name), TEXT_ARGS(file->path));
    }
}

size_t worker_pool_prepare(struct worker_pool *pool, struct script_set *set, struct worker_pool_slow *slow)
{
    struct prepared made = { .stuck_in = STATE_FILL_NOTHING };
    size_t lack = pool_states_lack(&pool->states, set);
    struct preparation *preparation = lack > 0 ? prepare_create(pool, set, lack, &made) : NULL;
    const struct side_work work = {
        .run = prepare_run, .on_give_up = prepare_on_give_up, .on_return = prepare_on_return, .context = preparation
    };

    if (slow != NULL) {
        *slow = (struct worker_pool_slow){ .is_too_slow = false };
    }
    if (preparation == NULL) {
        return 0;
    }
    if (side_thread_start(&preparation->side, &work) != STATUS_OK) {
        prepare_destroy(preparation);
        return 0;
    }
    if (side_thread_await(&preparation->side, SCRIPT_CHECK_RUN_US)) {
        prepare_give(preparation);
        prepare_judge(preparation, &made.slow);
        prepare_destroy(preparation);
    } else if (made.stuck_in != STATE_FILL_NOTHING) {
        prepare_blame(pool, set, made.stuck_in);
    }
    pool_states_add_spare(&pool->states, made.chain);
    if (slow != NULL) {
        *slow = made.slow;
    }
    return made.count;
}

void worker_pool_hurry(struct worker_pool *pool)
{
    atomic_store(&pool->is_hurried, true);
}
