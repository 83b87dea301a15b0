/// Fixture world: the ports of search/ in virtual time, over the exchanges of a fixture and real script workers.
///
/// A request is answered by the next exchange, however it looks; what it should have looked like is its watcher's
/// affair. Time jumps from event to event and stands still while scripts run. No socket is opened.
///
/// Threads: one; workers bring calls back through fixture_world_deliver.
/// Memory:  owns its events; pool and exchanges are borrowed.
#pragma once

#include "app/fixture.h"
#include "app/fixture_login.h"
#include "script/worker_pool.h"
#include "search/ports.h"

#include <pthread.h>

struct fixture_world {
    struct world world;
    struct timer_heap timers;
    uint64_t now_us;
    struct worker_pool *workers;
    const struct fixture_exchanges *exchanges;
    size_t sent;
    uint64_t last_answer_us; // when the last of the answers to what was sent comes
    /// Told of each request as it is sent; `exchange` NULL: there is none left for it.
    void (*on_send)(void *owner, const struct fixture_exchange *exchange, size_t index,
                    const struct http_request *request);
    void *owner;
    struct block *facts;     // of the search, once its START call is back
    struct failure *trouble; // what a person is told of the script's error; NULL: there was none
    struct fixture_login login;
    uint64_t calls;
    pthread_mutex_t lock;
    pthread_cond_t is_back;
    struct script_call *returned; // under the lock
};

void fixture_world_init(struct fixture_world *played, struct worker_pool *workers,
                        const struct fixture_exchanges *exchanges);
void fixture_world_fini(struct fixture_world *played);

/// A copy takes the place of what is kept.
void fixture_world_keep_trouble(struct fixture_world *played, const struct failure *trouble);

/// Until nothing is left to happen.
void fixture_world_run(struct fixture_world *played);

/// Has a worker run the call and waits for it. False: the pool did not take it.
MUST_CHECK bool fixture_world_call(struct fixture_world *played, struct script_call *call);

/// The answer of an exchange as one from the wire; NULL without memory.
MUST_CHECK struct http_response *fixture_world_response(const struct fixture_exchange *exchange);

/// For worker_pool_options.deliver. On a worker's thread.
void fixture_world_deliver(void *home, struct script_call *call);
