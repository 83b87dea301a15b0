// `lock` guards whose turn it is: the thread's until it is done, then the waiter's. Nothing else of what it works on is
// shared meanwhile.

#include "script/side_thread.h"

#include "base/clock.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SIDE_STACK = 32 << 20,  // address space, touched only by deep recursion through C functions of Lua
    SIDE_GRACE_US = 500000, // of CPU time, that the step's own limit gets to act
    SIDE_LOOK_US = 20000,   // the shortest time between two looks
};

void side_thread_init(struct side_thread *side)
{
    pthread_condattr_t attributes;

    *side = (struct side_thread){ .thread_id = 0 };
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&side->lock, NULL);
    pthread_cond_init(&side->done, &attributes);
    pthread_condattr_destroy(&attributes);
}

void side_thread_fini(struct side_thread *side)
{
    pthread_mutex_destroy(&side->lock);
    pthread_cond_destroy(&side->done);
}

static void *side_main(void *context)
{
    struct side_thread *side = context;

    pthread_mutex_lock(&side->lock);
    side->thread_id = (int32_t)syscall(SYS_gettid);
    pthread_mutex_unlock(&side->lock);
    side->work.run(side->work.context);
    pthread_mutex_lock(&side->lock);
    side->is_done = true;
    bool is_given_up = side->is_given_up;
    pthread_cond_signal(&side->done);
    pthread_mutex_unlock(&side->lock);
    if (is_given_up) {
        side->work.on_return(side->work.context);
    }
    return NULL;
}

enum status side_thread_start(struct side_thread *side, const struct side_work *work)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;

    side->work = *work;
    if (pthread_attr_init(&attributes) != 0) {
        return STATUS_NO_MEMORY;
    }
    pthread_attr_setstacksize(&attributes, SIDE_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals of the process are for other threads
    int error = pthread_create(&side->thread, &attributes, side_main, side);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0 ? STATUS_OK : STATUS_IO;
}

void side_thread_step(struct side_thread *side)
{
    atomic_store(&side->step_cpu_us, clock_thread_cpu_us());
}

/// CPU time of the step in hand; the thread cannot end while the lock is held and it is not done.
static uint64_t side_used_us(const struct side_thread *side)
{
    clockid_t clock;
    struct timespec time;

    uint64_t step_us = atomic_load(&side->step_cpu_us); // before the time is read, which is later then
    if (pthread_getcpuclockid(side->thread, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return 0;
    }
    uint64_t cpu_us = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    return cpu_us > step_us ? cpu_us - step_us : 0;
}

static void side_wait_until(struct side_thread *side, uint64_t until_us)
{
    const struct timespec until = { .tv_sec = (time_t)(until_us / 1000000),
                                    .tv_nsec = (long)(until_us % 1000000) * 1000 };
    pthread_cond_timedwait(&side->done, &side->lock, &until);
}

bool side_thread_await(struct side_thread *side, uint64_t limit_us)
{
    const uint64_t most_us = limit_us + SIDE_GRACE_US;
    struct sched_param none = { .sched_priority = 0 };
    uint64_t used_us = 0;

    pthread_mutex_lock(&side->lock);
    while (!side->is_done && used_us < most_us) {
        uint64_t left_us = most_us - used_us;
        side_wait_until(side, clock_now_us() + (left_us < SIDE_LOOK_US ? SIDE_LOOK_US : left_us));
        used_us = side->is_done ? 0 : side_used_us(side);
    }
    bool is_done = side->is_done;
    if (!is_done) {
        side->is_given_up = true;
        (void)sched_setscheduler(side->thread_id, SCHED_IDLE, &none);
        pthread_detach(side->thread);
        if (side->work.on_give_up != NULL) {
            side->work.on_give_up(side->work.context);
        }
    }
    pthread_mutex_unlock(&side->lock);
    if (is_done) {
        pthread_join(side->thread, NULL);
    }
    return is_done;
}
