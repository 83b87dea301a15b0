/// Stage: the world and the pool that a test of the worker pool plays on.
///
/// Threads: one test.
/// Memory:  open_all and close_all around each test.
#pragma once

#include "unit/script_pool_support.h"

#include <time.h>

static struct support_world world;
static struct support_pool pool;

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
enum { HAS_THREAD_SANITIZER = 1 };
#else
enum { HAS_THREAD_SANITIZER = 0 };
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
enum { HAS_ADDRESS_SANITIZER = 1 };
#else
enum { HAS_ADDRESS_SANITIZER = 0 };
#endif

/// Under a thread sanitizer signals wait for the next call of a library function, which a loop of a script never makes.
static inline bool has_late_signals(void)
{
    return HAS_THREAD_SANITIZER;
}

/// The allocator of a sanitizer keeps what was freed.
static inline bool has_honest_memory(void)
{
    return !HAS_THREAD_SANITIZER && !HAS_ADDRESS_SANITIZER;
}

/// Lost workers come back when their bomb has burnt down; then they free what they hold.
static inline void await_the_lost(void)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    while (!has_late_signals() && support_counts(&pool).lost > 0) {
        nanosleep(&pause, NULL);
    }
}

static inline int open_all(void **state)
{
    (void)state;
    support_open(&world);
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    if (pool.pool != NULL) {
        await_the_lost();
        support_pool_close(&pool);
    }
    support_close(&world);
    return 0;
}

static inline void start_pool(uint32_t threads)
{
    // The limits are wide, for builds with sanitizers on a busy machine.
    support_pool_open(&pool, (struct worker_pool_options){ .threads = threads,
                                                           .buries_aside = true,
                                                           .build_limit_us = has_late_signals() ? 100000 : 20000,
                                                           .normalise_limit_us = 100000,
                                                           .memory_growth = 4 << 20 });
}

static inline void assert_verdict(enum script_verdict found, enum script_verdict wanted, const char *who,
                                  struct text message)
{
    if (found != wanted) {
        fail_msg("%s: %s instead of %s: %.*s", who, script_verdict_name(found), script_verdict_name(wanted),
                 TEXT_ARGS(message));
    }
}

static inline struct block *facts_of(const char *thing)
{
    struct start_call *call = support_start(&world, thing);
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_OK);
    struct block *facts = block_acquire(call->facts);
    script_call_destroy(&call->call);
    return facts;
}
