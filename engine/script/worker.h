/// Worker: one thread of the pool, and what the pool's parts share.
///
/// Order of locks: watchdog, then a guard, then the pool or one of its states' (pool_states.h). A worker never asks for
/// an earlier one while it holds a later. A lost worker takes none but its own guard's.
///
/// Threads: as said at each field.
/// Memory:  a worker belongs to its thread, which frees it. The pool is counted: its owner and every thread hold it.
#pragma once

#include "script/call_lanes.h"
#include "script/guard.h"
#include "script/pool_states.h"
#include "script/run.h"
#include "script/worker_pool.h"

struct worker {
    struct worker_pool *pool;
    struct guard guard;
    size_t slot;
    struct state *state; // of the call in hand; NULL: none
    uint64_t cpu_us;     // of its thread, at the end of the last call
};

struct watchdog {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic uint64_t next_us; // when it looks again
    bool is_stopping;         // under lock
    bool is_running;
};

/// The thread that destroys states; the pool's owner tells it.
struct burial {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct state *chain; // to be destroyed
    bool is_stopping;
};

struct worker_pool {
    struct worker_pool_options options;
    _Atomic uint32_t holds;
    _Atomic uint32_t lost;        // lost threads that are alive
    _Atomic uint32_t quarantined; // scripts, since the pool began
    atomic_bool is_hurried;       // what is prepared ends early
    struct pool_states states;
    struct worker **workers; // by slot, under the watchdog's lock; NULL: missing
    struct watchdog watchdog;
    struct burial burial;

    pthread_mutex_t lock; // of all below
    pthread_cond_t wake;  // a call has come, or the pool stops
    pthread_cond_t gone;  // a worker has left
    struct call_lanes lanes;
    bool is_stopping;
    uint32_t live; // workers that are not lost
    uint64_t calls, errors, timeouts, memory, dropped, loads;
};

/// Starts a worker in an empty slot; the watchdog's lock is held (or nobody else knows the pool yet).
MUST_CHECK enum status worker_start(struct worker_pool *pool, size_t slot);

/// Sets `done_us` and hands the call back.
void worker_pool_deliver(struct worker_pool *pool, struct script_call *call);
/// Puts a call back that a lost worker had begun. False: the pool is stopping.
bool worker_pool_requeue(struct worker_pool *pool, struct script_call *call);
void worker_pool_drop(struct worker_pool **pool);

MUST_CHECK enum status burial_start(struct worker_pool *pool);
/// Lets the burial thread end once it has destroyed what it has.
void burial_stop(struct worker_pool *pool);

MUST_CHECK enum status watchdog_start(struct worker_pool *pool);
void watchdog_stop(struct worker_pool *pool);
/// Tells when the watchdog should look, if that is earlier than it means to; `context` is the pool.
void watchdog_expect(void *context, uint64_t check_us);
