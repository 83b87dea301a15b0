/// Worker pool: the threads that run Lua, and the guard over them.
///
/// START calls come first, then NORMALISE by earliest deadline, last those of suppliers that are over their share of
/// the processor. A watchdog signals a worker whose script is past
/// its limit; the worker's own handler sets the hook that ends it. A worker stuck inside a C function is counted lost:
/// its script is quarantined, its call ends as SCRIPT_TIMEOUT (a START call's other candidates go on elsewhere), the
/// thread is moved to SCHED_IDLE and replaced. A lost worker that wakes up finds its lease gone and touches nothing.
///
/// Threads: submit from any; workers run at nice 10; results go out through `deliver`, on the worker's thread, or on
///          the watchdog's when the worker was lost.
/// Memory:  owns threads and Lua states; calls are handed over and given back.
/// Time:    reads the monotonic clock.
#pragma once

#include "model/script_call.h"
#include "script/cpu_share.h"
#include "script/script_set.h"

struct worker_pool;

struct worker_pool_options {
    uint32_t threads;            // at least 1
    uint64_t build_limit_us;     // CPU time per skip, ceiling, build_request call; 0: 5,000
    uint64_t normalise_limit_us; // and per normalise, and a product's query; 0: 50,000
    uint64_t memory_growth;      // bytes a call may add; 0: 16 MiB
    uint32_t max_lost;           // live lost threads before is_healthy fails; 0: 8
    uint64_t prepare_limit_us;   // that a preparation may take; 0: 20 s
    bool watches_fields;         // reading what a search or ctx never has raises: for authors, see script/field_watch.h
    bool buries_aside;           // has a thread for worker_pool_bury_aside
    /// Called on a worker's or the watchdog's thread for each finished call. Must not wait, nor destroy the pool.
    void (*deliver)(void *home, struct script_call *call);
};

struct worker_pool_counts {
    uint64_t calls, errors, timeouts, memory, dropped;
    uint64_t loads; // files that were loaded within calls, for want of a prepared state
    uint32_t workers, lost, quarantined, queued;
    uint32_t states; // that exist: workers', prepared ones, those to be buried, and those of lost threads
};

MUST_CHECK enum status worker_pool_create(const struct worker_pool_options *options, struct worker_pool **pool,
                                          struct failure *why);
/// Stops after the calls in hand; queued calls are delivered as SCRIPT_DROPPED. Lost threads are left behind.
void worker_pool_destroy(struct worker_pool **pool);

MUST_CHECK enum status worker_pool_submit(struct worker_pool *pool, struct script_call *call);

/// Files that are too slow to be loaded for all workers in the time of a preparation, though they have a processor of
/// their own; not a machine that has no time.
struct worker_pool_slow {
    bool is_too_slow;
    struct script_id script; // the slowest
    uint64_t load_us;        // CPU time of it
};

/// Builds a state for each worker that has none for this set, with all of its products and suppliers loaded, so that
/// the first call of a worker has nothing to load. Waits for it, until `prepare_limit_us` at most, and holds no lock.
/// The work is done on a thread of its own, which has the caller's priority and is given up when a file gets stuck in
/// it. What fails (a file, memory, time) is left to the first call, which tells. Gives the number of states. The caller
/// owns the set; the pool must not be destroyed meanwhile. `slow` tells whether the files were too slow; NULL: not
/// asked.
size_t worker_pool_prepare(struct worker_pool *pool, struct script_set *set, struct worker_pool_slow *slow);
/// From now on preparations end after the file in hand, for the engine stops. Any thread.
void worker_pool_hurry(struct worker_pool *pool);
/// Destroys, on the calling thread, the states that workers have put aside and all states of retired sets, whether or
/// not a worker uses any more calls; the one a lost thread is in stays with it. To be called after a set was retired.
/// Gives their number.
size_t worker_pool_bury(struct worker_pool *pool);
/// The same on a thread of the pool's (`buries_aside`) that runs behind all others: the caller only takes them out of
/// the workers' hands, for which its own priority should not be low. Without the thread the caller does it all.
void worker_pool_bury_aside(struct worker_pool *pool);
void worker_pool_counts(struct worker_pool *pool, struct worker_pool_counts *counts);
/// What the scripts of a supplier have used; threads that are lost are left out.
struct cpu_usage worker_pool_usage(struct worker_pool *pool, struct text supplier);
/// False when too many lost threads are alive.
bool worker_pool_is_healthy(struct worker_pool *pool);
