/// Engine: the running whole: one generation, the resolver, the script workers and the loop threads.
///
/// Threads: the calling (control) thread starts and stops everything and handles signals; it serves no traffic.
/// Memory:  owns everything it started; all of it is gone when engine_run returns.
#pragma once

#include "app/complaints.h"
#include "app/generation.h"
#include "app/settings.h"
#include "app/timing.h"
#include "io/resolver.h"
#include "script/worker_pool.h"

#include <stdatomic.h>

struct admin;
struct attribution;
struct io_thread;
struct login_book;
struct metrics;
struct permits;
struct search_record;

struct engine {
    struct settings *settings;
    struct generation *generation;
    struct resolver *resolver;
    struct worker_pool *workers;
    struct login_book *logins; // of the generation's accounts
    struct io_thread *threads;
    size_t thread_count;        // made, be they whole or not; the control thread's
    atomic_size_t threads_live; // whole ones, which the resolver may tell of a new book
    struct permits *permits;    // of the generation's accounts; outlives the loops
    struct timing timing;
    struct complaints complaints; // of the generation's suppliers
    bool replies_are_full;        // to callers without the token too
    struct text reply_token;      // absent: none
    struct metrics *metrics;      // both outlive the loops
    struct attribution *attribution;
    struct admin *admin; // NULL: none
    uint64_t started_us, started_wall_us;
    atomic_bool is_draining; // SIGTERM came: not ready, no new searches
};

/// Runs the engine until SIGTERM or SIGINT ends it; findings of the scripts go to `report`. STATUS_OK: it ran and
/// stopped; otherwise it could not start and `why` tells.
MUST_CHECK enum status engine_run(struct settings *settings, settings_finding report, void *context,
                                  struct failure *why);

/// May searches be sent here? False with the reason in `*because`, a constant.
bool engine_is_ready(struct engine *engine, const char **because);

/// Counts what became of a search and hands its record over; NULL is passed over. Any thread, never waits.
void engine_attribute(struct engine *engine, struct search_record *record);
