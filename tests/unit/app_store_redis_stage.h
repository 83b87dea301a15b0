/// Stage: a store over Redis on its thread, and a home for its calls, for the tests of it.
///
/// Threads: the test's, but for come_home.
#pragma once

#include "app/store_thread.h"
#include "base/clock.h"
#include "support/peer.h"
#include "support/redis_server.h"
#include "support/some_offers.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOOKS_MAX = 3000, LOOK_MS = 10, HOUR_MS = 3600000 };

static const uint64_t NOW_MS = 1790000000000;

/// Where calls come home: each is marked done, under the lock.
struct home {
    pthread_mutex_t lock;
    pthread_cond_t came;
    unsigned calls;
};

static struct home HOME = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };

static void on_done(struct store_call *call)
{
    call->owner = &HOME; // it is back
}

static void come_home(void *home, struct store_call *call)
{
    struct home *own = home;

    pthread_mutex_lock(&own->lock);
    call->on_done(call);
    own->calls++;
    pthread_cond_broadcast(&own->came);
    pthread_mutex_unlock(&own->lock);
}

static void submit(struct store *store, struct store_call *call)
{
    call->home = &HOME;
    call->on_done = on_done;
    call->owner = NULL;
    store_submit(store, call);
}

static void wait_home(const struct store_call *call)
{
    pthread_mutex_lock(&HOME.lock);
    while (call->owner == NULL) {
        pthread_cond_wait(&HOME.came, &HOME.lock);
    }
    pthread_mutex_unlock(&HOME.lock);
}

static void ask(struct store *store, struct store_call *call)
{
    submit(store, call);
    wait_home(call);
}

static inline struct store *open_at(const char *url, const char *user, const char *password)
{
    struct store_thread_options options = { .deliver = come_home,
                                            .user = text_of(user),
                                            .password = text_of(password) };
    struct failure why = { 0 };
    struct store *store = NULL;

    assert_int_equal(store_url_read(text_of(url), &options.url, &why), STATUS_OK);
    assert_int_equal(store_thread_open(&options, &store, &why), STATUS_OK);
    return store;
}

static inline struct store *open_path(const struct redis_server *server)
{
    char url[160];

    snprintf(url, sizeof url, "unix://%s?db=3", server->path);
    return open_at(url, NULL, NULL);
}

static struct store_report report_of(struct store *store)
{
    struct store_report report;

    store_report_fill(store, &report);
    return report;
}

static inline void wait_up(struct store *store, bool is_up)
{
    for (int i = 0; report_of(store).is_up != is_up; i++) {
        assert_true(i < LOOKS_MAX);
        poll(NULL, 0, LOOK_MS);
    }
}

/// Until its trouble begins so, or has such words; "": it has none.
static inline void wait_trouble(struct store *store, const char *words)
{
    struct store_report report = report_of(store);

    for (int i = 0; words[0] == '\0' ? report.trouble[0] != '\0' : strstr(report.trouble, words) == NULL; i++) {
        if (i == LOOKS_MAX) {
            fail_msg("wanted \"%s\", its trouble is \"%s\"", words, report.trouble);
        }
        poll(NULL, 0, LOOK_MS);
        report = report_of(store);
    }
}

static inline struct store_call *call_of(enum store_job job, const char *query, size_t entries, const char *supplier)
{
    struct store_call *call =
        store_call_create(job, TEXT("flights@1"), text_of(query), entries, job == STORE_KEEP ? 1 : 0);
    char name[32];

    assert_non_null(call);
    call->now_ms = NOW_MS;
    for (size_t i = 0; i < entries; i++) {
        snprintf(name, sizeof name, i == 0 ? "%s" : "%s%zu", supplier, i);
        assert_true(store_call_name(call, i, text_of(name), TEXT("main")));
        call->entries[i].status = PRICE_INDICATIVE;
    }
    return call;
}

static inline struct store_call *keep_of(const char *query, const char *supplier, size_t offers)
{
    struct store_call *call = call_of(STORE_KEEP, query, 1, supplier);
    struct offer_batch *batch = some_offers(offers, 7, 100);

    call->entries[0].head.observed_ms = NOW_MS;
    call->entries[0].head.until_ms = NOW_MS + HOUR_MS;
    assert_true(store_call_fill(call, 0, batch, NULL));
    offer_batch_release(&batch);
    return call;
}

/// Keeps it and says how that went.
static inline enum store_state keep(struct store *store, const char *query, const char *supplier, size_t offers)
{
    struct store_call *call = keep_of(query, supplier, offers);

    ask(store, call);
    enum store_state state = call->entries[0].state;
    store_call_destroy(&call);
    return state;
}

/// How INDEX or READ finds one supplier.
static inline enum store_state look(struct store *store, enum store_job job, const char *query, const char *supplier)
{
    struct store_call *call = call_of(job, query, 1, supplier);

    ask(store, call);
    enum store_state state = call->entries[0].state;
    store_call_destroy(&call);
    return state;
}

#define SKIP_WITHOUT_REDIS()                                                                                           \
    do {                                                                                                               \
        if (!redis_server_is_installed()) {                                                                            \
            print_message("skipped: redis-server is not installed here\n");                                            \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)
