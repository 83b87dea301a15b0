/// Side thread: runs what nobody trusts on a thread of its own, and gives that up when it takes too long.
///
/// Who works on a side thread bounds its own time (sandbox_bound). That does not end a function of C; half a second of
/// CPU time after such a limit the thread is given up: moved to the idle class and left behind with what it works on.
///
/// Threads: started and awaited by one thread, which waits.
/// Memory:  embedded in what it works on, which is the thread's until side_thread_await says that it is done, and for
///          good when it was given up.
/// Time:    reads the monotonic clock and the thread's CPU time.
#pragma once

#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct side_work {
    void (*run)(void *context);        // on the side thread
    void (*on_give_up)(void *context); // on the waiter's, before the side thread may come back; NULL: nothing to do
    void (*on_return)(void *context);  // on the side thread, when it comes back after all: frees everything
    void *context;
};

struct side_thread {
    pthread_mutex_t lock;
    pthread_cond_t done;
    pthread_t thread;
    int32_t thread_id; // the kernel's; 0: not yet running
    bool is_done;
    bool is_given_up;
    _Atomic uint64_t step_cpu_us; // when the step in hand began
    struct side_work work;
};

void side_thread_init(struct side_thread *side);
void side_thread_fini(struct side_thread *side);

/// The thread has a stack for deep recursion through C functions of Lua, and the caller's priority.
MUST_CHECK enum status side_thread_start(struct side_thread *side, const struct side_work *work);

/// On the side thread: it begins another step, with a limit of its own.
void side_thread_step(struct side_thread *side);

/// Waits until the thread is done. False: it was given up, because one step took more CPU time than `limit_us` and the
/// grace.
MUST_CHECK bool side_thread_await(struct side_thread *side, uint64_t limit_us);
