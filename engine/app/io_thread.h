/// I/O thread: one loop with its listener, its fetch pool, its world and the searches that live on it.
///
/// Threads: made and ended by the control thread; everything between runs on its own.
/// Memory:  owns what it lists but borrows the engine.
#pragma once

#include "app/engine.h"
#include "app/live_world.h"
#include "app/search_refusal.h"
#include "io/http_server.h"
#include "policy/budget.h"

#include <pthread.h>

/// How long replies may take once the loop is to end and all searches have.
enum { IO_THREAD_GRACE_US = 2000000 };

struct io_thread {
    struct engine *engine;
    pthread_t thread;
    bool is_running;
    struct loop *loop;
    struct fetch_pool *fetches;
    struct http_server *server;
    struct live_world live;
    struct reserve reserve;
    struct gate gate;
    struct search_refusal refusal;
    struct list calls;         // open struct search_call of search_route.c
    struct list revalidations; // open struct revalidate_call of revalidate_route.c
    struct timer drain_timer;
    struct message book_message; // the resolver has a new book
    atomic_bool is_book_posted;
    struct message sweep_message; // a generation is gone
    atomic_bool is_sweep_posted;
    struct message room_message; // too many generations live
    atomic_bool is_room_posted;
    struct message switch_message; // an operator has switched a supplier off
    atomic_bool is_switch_posted;
    struct message drain_message;
    struct timer drain_poll;
    struct message end_message; // searches are to end now
    bool has_ended_searches;
};

/// Makes loop, fetch pool and listener, and starts the thread.
MUST_CHECK enum status io_thread_start(struct io_thread *thread, struct engine *engine, struct failure *why);

/// The world by which notes are stored; NULL: there is no store. Its own thread.
static inline struct world *io_thread_store(struct io_thread *thread)
{
    return thread->engine->store != NULL ? &thread->live.world : NULL;
}

/// The resolver published a new book; any thread.
void io_thread_book_changed(struct io_thread *thread);

/// A generation is gone: kept connections to where only that one asked are closed; any thread.
void io_thread_sweep(struct io_thread *thread);

/// An operator has switched a supplier off: what goes on of it for nobody ends; any thread.
void io_thread_switched_off(struct io_thread *thread);

/// Too many generations live: what goes on for nobody on former ones ends; any thread.
void io_thread_make_room(struct io_thread *thread);

/// No new connections; ends the loop when every open request is answered. After `drain_us` open searches are ended.
/// Any thread, once.
void io_thread_drain(struct io_thread *thread);

/// Open searches end now, with what they have, as if their deadline had come; the loop ends when all is sent, after
/// IO_THREAD_GRACE_US at the latest. Any thread, once.
void io_thread_end_searches(struct io_thread *thread);

/// Ends the loop now; open requests are cut. Any thread.
void io_thread_stop(struct io_thread *thread);
void io_thread_join(struct io_thread *thread);

/// Closes the listener; open searches are cancelled. After io_thread_join.
void io_thread_close(struct io_thread *thread);

/// Receives what the workers still gave back, then frees everything. After io_thread_close and the end of the pool.
void io_thread_fini(struct io_thread *thread);

/// Takes the loop's and the fetch pool's numbers for the metrics, and attributes a search. The thread's own.
void io_thread_attribute(struct io_thread *thread, struct search_record *record);
