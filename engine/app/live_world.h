/// Live world: the ports of search/ over real sockets, timers, script workers and logins.
///
/// `logins` is opened and closed by its thread.
///
/// Threads: one per loop thread, except live_world_deliver, which workers call.
/// Memory:  borrows everything.
#pragma once

#include "app/gate.h"
#include "app/login_book.h"
#include "app/permits.h"
#include "app/shadow.h"
#include "app/store_home.h"
#include "app/switches.h"
#include "io/fetch.h"
#include "io/loop.h"
#include "script/worker_pool.h"
#include "search/ports.h"
#include "store/store.h"

struct live_world {
    struct world world;
    struct loop *loop;
    struct fetch_pool *fetches;
    struct worker_pool *workers;
    struct permits *permits;
    struct login_desk logins;
    struct switches *switches;  // of operators; NULL: there are none
    struct shadow_desk shadows; // of nobody, until somebody keeps shadows here
    struct gate *gate;          // of its loop; NULL: there is none
    uint64_t calls_out;         // script calls not yet back
    struct store *store;        // NULL: there is none
    struct store_home home;     // where its calls come back to
    /// As `late_ended` of the ports; NULL: nobody wants to know. Set by its thread.
    void (*on_late)(void *owner, struct search_record *record, enum outcome spoiled, const struct failure *trouble);
    void *late_owner;
};

void live_world_init(struct live_world *live, struct loop *loop, struct fetch_pool *fetches,
                     struct worker_pool *workers, struct permits *permits);

/// For worker_pool_options.deliver: brings a call home to its loop. On a worker's thread.
void live_world_deliver(void *home, struct script_call *call);
