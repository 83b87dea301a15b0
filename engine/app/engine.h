/// Engine: the running whole: its generations, the resolver, the script workers and the loop threads.
///
/// Threads: the calling (control) thread starts and stops everything and handles signals; it serves no traffic. It is
///          the only one that frees a generation.
/// Memory:  owns everything it started; all of it is gone when engine_run returns.
#pragma once

#include "app/complaints.h"
#include "app/engine_move.h"
#include "app/generations.h"
#include "app/revalidate_flights.h"
#include "app/settings.h"
#include "app/timing.h"
#include "app/tokens.h"
#include "io/resolver.h"
#include "script/worker_pool.h"

#include <stdatomic.h>

struct admin;
struct attribution;
struct board;
struct io_thread;
struct login_book;
struct metrics;
struct nodes;
struct permits;
struct reload;
struct search_record;
struct shadows;
struct switch_desk;
struct switches;

struct engine {
    struct settings *settings; // those of the start; what may change while it runs is generation_settings'
    struct generations generations;
    uint64_t former_end_us; // when the last search of a former generation is over; whoever publishes
    pthread_t control;
    struct resolver *resolver;
    struct worker_pool *workers;
    struct login_book *logins; // of all accounts in use
    struct io_thread *threads;
    size_t thread_count;        // made, be they whole or not; the control thread's
    atomic_size_t threads_live; // whole ones, which the resolver may tell of a new book
    struct permits *permits;    // of all accounts in use; outlives the loops
    struct timing timing;
    struct complaints complaints;
    struct engine_moves moves;                    // the catalogues in use
    bool is_loopback;                             // the public listener is
    struct text reply_token;                      // absent: none
    struct tokens tokens;                         // outlive the loops
    struct revalidate_flights revalidate_flights; // likewise
    struct metrics *metrics;                      // both outlive the loops
    struct attribution *attribution;
    struct shadows *shadows;         // outlives the loops
    struct reload *reload;           // outlives the admin
    struct switches *switches;       // of operators; outlives the loops
    struct store *store;             // NULL: there is none; outlives the loops
    bool store_is_shared;            // other engines see what is kept there
    struct switch_desk *switch_desk; // NULL: nobody changes them
    struct nodes *nodes;             // NULL: no other engine hears of this one, as the next
    struct board *board;
    struct admin *admin; // NULL: none
    uint64_t started_us, started_wall_us;
    atomic_bool is_starting;      // not all of it is there yet: not ready
    atomic_bool is_draining;      // SIGTERM came: not ready
    atomic_bool refuses_searches; // its notice is over: no new searches
};

/// Before anything else, by the first thread: from now on the signals that ask for something (SIGHUP, SIGUSR1, and the
/// engine's own) wait until the engine serves, instead of ending the process. SIGTERM ends it until then.
void engine_let_signals_wait(void);

/// Runs the engine until SIGTERM or SIGINT ends it; findings of the scripts go to `report`. STATUS_OK: it ran and
/// stopped, and shutdown_is_over must be called when the log is down; otherwise it could not start and `why` tells.
MUST_CHECK enum status engine_run(struct settings *settings, settings_finding report, void *context,
                                  struct failure *why);

/// May searches be sent here? False with the reason in `*because`, a constant.
bool engine_is_ready(struct engine *engine, const char **because);

/// Acts on a signal that ends nothing. False: it is one that ends the engine. The control thread.
MUST_CHECK bool engine_takes_signal(struct engine *engine, int number);

/// The generation that a search begins on now, acquired; whoever reads anything of a generation asks here, once, and
/// keeps it as long. Any thread, never waits long.
struct generation *engine_generation(struct engine *engine);

/// Takes the generation in any case. STATUS_OK: what begins from now on begins on it; else nothing has changed. One
/// thread only.
MUST_CHECK enum status engine_publish(struct engine *engine, struct generation *generation);
/// Before one is built to be published: waits until fewer than GENERATIONS_MAX live, for no longer than the searches of
/// the former ones and their logins may take. False: there is no room, or the engine is draining.
MUST_CHECK bool engine_await_room(struct engine *engine);
size_t engine_generations_live(struct engine *engine);

/// Counts what became of a search and hands its record over; NULL is passed over. Any thread, never waits.
void engine_attribute(struct engine *engine, struct search_record *record);
