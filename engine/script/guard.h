/// Guard: the lease a worker holds on its call, and the watch over the script that runs for it.
///
/// Untrusted code runs only between guard_enter and guard_leave. Only there can the watchdog stop the script or, when
/// it is stuck in C, take the lease away; so whatever a worker touches in between must be its own. Limits are CPU time:
/// a worker that got no processor is not stopped for it.
///
/// Threads: one worker's; the watchdog looks at it under `lock`.
/// Memory:  embedded in its worker.
/// Time:    the caller's monotonic clock.
#pragma once

#include "model/script_call.h"
#include "script/sandbox.h"
#include "script/script_set.h"

#include <pthread.h>

/// Who is to blame when a section does not end.
struct guard_blame {
    struct script_id script;
    size_t candidate; // of a START call
};

struct guard {
    pthread_mutex_t lock;
    pthread_t thread;
    int32_t thread_id;        // the kernel's
    struct script_call *call; // the lease; NULL: none, or taken away
    bool is_lost;
    bool is_inside;
    struct guard_blame blame;
    uint64_t section; // counts; never 0 while inside
    uint64_t limit_us, begun_us, cpu_begun_us;
    uint64_t read_us, cpu_read_us;           // when the thread's CPU time was asked for last, and what it was
    uint64_t signalled_us, cpu_signalled_us; // 0: not yet
    uint64_t check_us;                       // when the watchdog should look
    // what the signal handler reads, on the worker's own thread
    _Atomic uint64_t armed;   // the section that may be stopped; 0: none
    _Atomic uint64_t stopped; // the section that the watchdog wants to stop
    struct sandbox *sandbox;
    void (*on_watch)(void *context, uint64_t check_us); // tells the watchdog when to look
    void *context;
};

/// Installs the signal handler, once in a process.
MUST_CHECK enum status guard_install(void);

void guard_init(struct guard *guard, void (*on_watch)(void *context, uint64_t check_us), void *context);
void guard_fini(struct guard *guard);

/// On the worker's thread, before anything else.
void guard_attach(struct guard *guard);
void guard_detach(struct guard *guard);

/// The thread's CPU time, on the worker's thread. Asking is a system call, so what it said last is taken for a while.
uint64_t guard_read_cpu_us(struct guard *guard);

void guard_lease(struct guard *guard, struct script_call *call);
/// Gives the lease back. False: it was taken away.
bool guard_return(struct guard *guard);

void guard_enter(struct guard *guard, struct sandbox *sandbox, const struct guard_blame *blame, uint64_t limit_us);
/// False: the lease is gone, the call must not be touched any more.
MUST_CHECK bool guard_leave(struct guard *guard);

/// The watchdog's look, under `lock`: signals when the limit has passed. True: the worker is lost. `*next_us`: when to
/// look again, UINT64_MAX when nothing runs.
bool guard_check(struct guard *guard, uint64_t now_us, uint64_t *next_us);

/// Under `lock`, of a lost worker: takes the lease and puts the thread behind all others.
struct script_call *guard_take_away(struct guard *guard);
