/// Note home: a loop that submits calls to a store and gets them back, as a live world does.
///
/// Threads: its loop's; deliver from any.
/// Memory:  embedded.
#pragma once

#include "app/store_home.h"
#include "io/loop.h"
#include "store/store.h"

struct note_home {
    struct store_home home;
    struct loop *loop;
    struct store *store;
};

static inline void note_home_on_back(struct message *message)
{
    struct store_call *call = CONTAINER_OF(message, struct store_call, message);

    if (atomic_load(&call->is_cancelled)) {
        store_call_destroy(&call);
        return;
    }
    call->on_done(call);
}

static inline void note_home_deliver(struct store_home *home, struct store_call *call)
{
    loop_post(CONTAINER_OF(home, struct note_home, home)->loop, &call->message);
}

static inline void note_home_submit(struct note_home *at, struct store_call *call)
{
    at->home.deliver = note_home_deliver;
    call->home = &at->home;
    call->message.on_receive = note_home_on_back;
    store_submit(at->store, call);
}

struct world;
static inline void note_home_give_up(struct world *world, struct store_call *call)
{
    (void)world;
    atomic_store(&call->is_cancelled, true);
}
