#include "app/switch_purge.h"

#include "app/store_home.h"
#include "base/clock.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

enum { PATIENCE_S = 5 };

/// Where the call comes home; whoever of the two leaves last frees it.
struct purge {
    struct store_home home;
    struct store_call *call;
    sem_t is_home;
    atomic_bool has_come; // what makes `call` seen: the sanitizers know no sem_clockwait
    atomic_bool is_left;  // by one of them
};

static void leave(struct purge *purge)
{
    if (atomic_exchange(&purge->is_left, true)) {
        store_call_destroy(&purge->call);
        (void)sem_destroy(&purge->is_home);
        free(purge);
    }
}

/// On a thread of the store's.
static void on_home(struct store_home *home, struct store_call *call)
{
    struct purge *purge = CONTAINER_OF(home, struct purge, home);

    purge->call = call;
    atomic_store(&purge->has_come, true);
    (void)sem_post(&purge->is_home);
    leave(purge);
}

/// The home delivers by itself; that there is one says that the call is wanted back.
static void on_done(struct store_call *call)
{
    (void)call;
}

static struct store_call *call_of(const struct switch_request *request, struct purge *purge)
{
    const struct text none = { NULL, 0 };
    struct store_call *call = store_call_create(STORE_PURGE, none, none, 1, 0);
    struct text account = request->account[0] != '\0' ? text_of(request->account) : none;

    if (call != NULL && !store_call_name(call, 0, text_of(request->supplier), account)) {
        store_call_destroy(&call);
    }
    if (call != NULL) {
        call->home = &purge->home;
        call->on_done = on_done;
        call->now_ms = clock_wall_us() / 1000;
    }
    return call;
}

static bool is_home_in_time(struct purge *purge)
{
    struct timespec until;
    int waited = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    do {
        waited = sem_clockwait(&purge->is_home, CLOCK_MONOTONIC, &until);
    } while (waited != 0 && errno == EINTR);
    return waited == 0 && atomic_load(&purge->has_come);
}

static void refuse(struct switch_request *request, const char *sentence, const char *help)
{
    request->end = SWITCH_REFUSED;
    failure_set(&request->because, "%s", sentence);
    failure_help(&request->because, "%s", help);
}

static void settle(struct switch_request *request, const struct store_call *call)
{
    request->purged = call->count;
    request->end = call->count > 0 ? SWITCH_DONE : SWITCH_UNCHANGED;
    if (call->state == STORE_FAULT) {
        refuse(request, "the store could not do it, or not all of it", "`lastcall status` tells what is wrong with it");
    }
}

void switch_purge(struct store *store, struct switch_request *request)
{
    if (store == NULL) {
        refuse(request, "there is no store, so nothing is kept of it", "set store.backend, and restart the engine");
        return;
    }
    struct purge *purge = calloc(1, sizeof *purge);
    struct store_call *call = purge != NULL ? call_of(request, purge) : NULL;
    if (call == NULL) {
        free(purge);
        refuse(request, "there was no memory for it", "ask again");
        return;
    }
    purge->home.deliver = on_home;
    require(sem_init(&purge->is_home, 0, 0) == 0);
    store_submit(store, call);
    if (is_home_in_time(purge)) {
        settle(request, purge->call);
    } else {
        refuse(request, "the store has not done it yet, and goes on with it", "ask again to see what is left");
    }
    leave(purge);
}
