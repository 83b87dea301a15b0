// The dead are taken out by the caller, under the locks, and destroyed by whoever has time: the burial thread. There is
// one for as long as the pool: a thread for each burial would now and then be alive beside the threads of a reload, and
// for one thread more than ever before malloc begins another arena, which stays. The thread owns its chain, and the
// pool as a lost worker does.

#include "script/worker.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BURIAL_NICE = 19 };

size_t worker_pool_bury(struct worker_pool *pool)
{
    return pool_states_destroy_chain(&pool->states, pool_states_take_dead(&pool->states));
}

/// Waits for a chain; NULL: the pool stops, and nothing is left.
static struct state *burial_take(struct burial *burial)
{
    pthread_mutex_lock(&burial->lock);
    while (burial->chain == NULL && !burial->is_stopping) {
        pthread_cond_wait(&burial->wake, &burial->lock);
    }
    struct state *chain = burial->chain;
    burial->chain = NULL;
    pthread_mutex_unlock(&burial->lock);
    return chain;
}

static void *burial_main(void *context)
{
    struct worker_pool *pool = context;
    struct state *chain;

    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), BURIAL_NICE); // a thread of Linux has a nice value of its own
    while ((chain = burial_take(&pool->burial)) != NULL) {
        pool_states_destroy_chain(&pool->states, chain);
    }
    worker_pool_drop(&pool);
    return NULL;
}

enum status burial_start(struct worker_pool *pool)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;

    if (pthread_attr_init(&attributes) != 0) {
        return STATUS_NO_MEMORY;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals of the process are for other threads
    atomic_fetch_add(&pool->holds, 1);
    int error = pthread_create(&thread, &attributes, burial_main, pool);
    if (error != 0) {
        atomic_fetch_sub(&pool->holds, 1); // the caller's is left
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0 ? STATUS_OK : STATUS_IO;
}

void worker_pool_bury_aside(struct worker_pool *pool)
{
    struct burial *burial = &pool->burial;
    struct state *chain = pool_states_take_dead(&pool->states);

    if (!pool->options.buries_aside) {
        pool_states_destroy_chain(&pool->states, chain);
    } else if (chain != NULL) {
        pthread_mutex_lock(&burial->lock);
        pool_states_join(&burial->chain, chain);
        pthread_cond_signal(&burial->wake);
        pthread_mutex_unlock(&burial->lock);
    }
}

void burial_stop(struct worker_pool *pool)
{
    pthread_mutex_lock(&pool->burial.lock);
    pool->burial.is_stopping = true;
    pthread_cond_signal(&pool->burial.wake);
    pthread_mutex_unlock(&pool->burial.lock);
}
