// Any bytes as what a Redis says: to the parser alone, and to the store at work, which has asked for everything that it
// can ask for. Never a crash, a leak or a hang, and every call comes home once.
#include "store/store_redis.h"

#include "base/log.h"
#include "support/some_offers.h"

#include <stdlib.h>

enum { PIECES = 3, CALLS = 7, HOUR_MS = 3600000 };

static const uint64_t NOW_MS = 1790000000000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct stage {
    uint64_t now_us;
    struct timer_heap timers;
    struct list posted;
    struct transport_peer *peer;
    bool is_ended;
    unsigned home;
};

static void post(void *context, struct message *message)
{
    list_append(&((struct stage *)context)->posted, &message->node);
}

static void serve(struct stage *stage)
{
    while (!list_is_empty(&stage->posted)) {
        struct message *message = CONTAINER_OF(list_take_first(&stage->posted), struct message, node);
        message->on_receive(message);
    }
}

static uint64_t now_us(void *context)
{
    return ((struct stage *)context)->now_us;
}

static enum status timer_start(void *context, struct timer *timer, uint64_t at_us)
{
    return timer_heap_start(&((struct stage *)context)->timers, timer, at_us);
}

static void timer_cancel(void *context, struct timer *timer)
{
    timer_heap_cancel(&((struct stage *)context)->timers, timer);
}

static void connect_to(void *context, struct transport_peer *peer)
{
    ((struct stage *)context)->peer = peer;
}

static bool write_to(void *context, struct text bytes)
{
    (void)context;
    (void)bytes;
    return true;
}

static void close_it(void *context)
{
    ((struct stage *)context)->peer = NULL;
}

static void ended(void *context)
{
    ((struct stage *)context)->is_ended = true;
}

static void join(void *context)
{
    serve(context);
    require(((struct stage *)context)->is_ended);
}

static void come_home(void *home, struct store_call *call)
{
    ((struct stage *)home)->home++;
    store_call_destroy(&call);
}

static void on_done(struct store_call *call)
{
    (void)call;
}

static void ask_for_everything(struct stage *stage, struct store *store)
{
    static const enum store_job JOBS[CALLS] = { STORE_INDEX,    STORE_READ,     STORE_KEEP,       STORE_PURGE,
                                                STORE_NOTE_GET, STORE_NOTE_PUT, STORE_NOTE_DELETE };
    static struct offer_batch *batch;

    if (batch == NULL) {
        batch = some_offers(2, 1, 100);
    }
    for (size_t i = 0; i < CALLS; i++) {
        struct store_call *call = store_call_create(JOBS[i], TEXT("flights"), TEXT("q"), 2, JOBS[i] == STORE_KEEP);
        require(call != NULL);
        call->home = stage;
        call->on_done = on_done;
        call->now_ms = NOW_MS;
        call->name = TEXT("lease");
        call->life_ms = 1;
        call->entries[0].head.until_ms = NOW_MS + HOUR_MS;
        require(store_call_name(call, 0, TEXT("acme"), TEXT("main")));
        require(store_call_name(call, 1, TEXT("bravo"), TEXT("main")));
        require(JOBS[i] != STORE_KEEP || store_call_fill(call, 0, batch, NULL));
        store_submit(store, call);
        serve(stage);
    }
}

static void say(struct stage *stage, struct text bytes)
{
    if (stage->peer != NULL) {
        stage->peer->on_bytes(stage->peer, bytes);
    }
    serve(stage);
}

static void work_with(const uint8_t *data, size_t size, bool is_greeted)
{
    struct stage stage = { .now_us = 1000000 };
    struct store_redis_options options = { .prefix = TEXT("lastcall"),
                                           .password = TEXT("sesame"),
                                           .press_above = 64,
                                           .transport = { &stage, post, post, now_us, timer_start, timer_cancel,
                                                          connect_to, write_to, close_it, ended, join },
                                           .deliver = come_home };

    timer_heap_init(&stage.timers);
    list_init(&stage.posted);
    struct store *store = store_redis_create(&options);
    require(store != NULL);
    serve(&stage);
    stage.peer->on_connected(stage.peer);
    if (is_greeted) {
        say(&stage, TEXT("+OK\r\n+OK\r\n+PONG\r\n"));
        ask_for_everything(&stage, store);
    }
    for (size_t piece = 0; piece < PIECES; piece++) {
        size_t from = size * piece / PIECES, to = size * (piece + 1) / PIECES;
        if (to > from) {
            say(&stage, (struct text){ (const char *)data + from, to - from });
        }
    }
    store->ops->close(&store, 0);
    require(stage.home == (is_greeted ? CALLS : 0));
    require(timer_heap_next_us(&stage.timers) == UINT64_MAX);
    timer_heap_fini(&stage.timers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_quiet;

    if (!is_quiet) {
        is_quiet = log_start(LOG_ERROR) == STATUS_OK;
    }
    work_with(data, size, false);
    work_with(data, size, true);
    return 0;
}
