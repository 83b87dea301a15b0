// The dead are taken out by the caller, under the locks, and destroyed by whoever has time: a burial thread owns its
// chain, and the pool as a lost worker does.

#include "script/worker.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BURIAL_NICE = 19 };

struct burial {
    struct worker_pool *pool;
    struct state *chain;
};

size_t worker_pool_bury(struct worker_pool *pool)
{
    return pool_states_destroy_chain(&pool->states, pool_states_take_dead(&pool->states));
}

static void *burial_main(void *context)
{
    struct burial *burial = context;

    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), BURIAL_NICE); // a thread of Linux has a nice value of its own
    pool_states_destroy_chain(&burial->pool->states, burial->chain);
    worker_pool_drop(&burial->pool);
    free(burial);
    return NULL;
}

static bool burial_start(struct burial *burial)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;

    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals of the process are for other threads
    int error = pthread_create(&thread, &attributes, burial_main, burial);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

void worker_pool_bury_aside(struct worker_pool *pool)
{
    struct state *chain = pool_states_take_dead(&pool->states);
    struct burial *burial = chain != NULL ? malloc(sizeof *burial) : NULL;

    if (burial == NULL) {
        pool_states_destroy_chain(&pool->states, chain);
        return;
    }
    atomic_fetch_add(&pool->holds, 1);
    *burial = (struct burial){ .pool = pool, .chain = chain };
    if (!burial_start(burial)) {
        atomic_fetch_sub(&pool->holds, 1); // the caller's is left
        pool_states_destroy_chain(&pool->states, chain);
        free(burial);
    }
}
