#include "support/store_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void store_stage_init(struct store_stage *stage)
{
    *stage = (struct store_stage){ 0 };
    list_init(&stage->back);
    assert_int_equal(pthread_mutex_init(&stage->lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&stage->home, NULL), 0);
}

void store_stage_fini(struct store_stage *stage)
{
    assert_true(list_is_empty(&stage->back));
    (void)pthread_cond_destroy(&stage->home);
    (void)pthread_mutex_destroy(&stage->lock);
}

void store_stage_deliver(void *home, struct store_call *call)
{
    struct store_stage *stage = home;

    pthread_mutex_lock(&stage->lock);
    list_append(&stage->back, &call->message.node);
    pthread_cond_broadcast(&stage->home);
    pthread_mutex_unlock(&stage->lock);
}

static void write_offer(struct offer_batch *batch, struct offer *offer, size_t number, size_t bytes, uint32_t salt)
{
    char words[64];
    size_t length = bytes > 200 ? bytes : 200;
    char *json = arena_alloc(&batch->arena, length + 1);

    assert_non_null(json);
    (void)snprintf(words, sizeof words, "%u-%zu", salt, number);
    int head = snprintf(json, length, "{\"id\":\"acme:%s\",\"supplier\":\"acme\",\"item\":\"i%s\"", words, words);
    int price = snprintf(json + head, length - (size_t)head, ",\"price\":{\"total\":\"%zu.00\"},\"price_status\":\"",
                         number + 1);
    size_t at = (size_t)head + (size_t)price;
    (void)snprintf(json + at, length - at, "live\",\"room\":\"");
    at = strlen(json);
    for (uint32_t state = salt + (uint32_t)number; at < length - 2; at++) {
        state = state * 1664525 + 1013904223;
        json[at] = (char)('a' + (state >> 24) % 26);
    }
    json[at++] = '"';
    json[at] = '}';
    *offer = (struct offer){ .total_micros = (int64_t)(number + 1) * OFFER_MICROS,
                             .currency = "EUR",
                             .duration_min = UINT32_MAX,
                             .id = arena_copy(&batch->arena, text_of(words)),
                             .item = arena_copy(&batch->arena, text_of(words)),
                             .json = { json, length },
                             .head_length = (uint32_t)head,
                             .status_at = (uint32_t)(head + price),
                             .price = { json + head + 9, strlen("{\"total\":\"1.00\"}") + (number + 1 > 9) } };
}

struct offer_batch *store_stage_batch(size_t offers, size_t bytes_each, uint32_t salt)
{
    struct offer_batch *batch = offer_batch_create(64 << 20);

    assert_non_null(batch);
    batch->decimals = 2;
    batch->offers = arena_alloc_array(&batch->arena, offers, sizeof *batch->offers);
    assert_non_null(batch->offers);
    for (size_t i = 0; i < offers; i++) {
        write_offer(batch, &batch->offers[i], i, bytes_each, salt);
    }
    batch->count = offers;
    offer_batch_sort(batch);
    return batch;
}

struct store_call *store_stage_keep_call(struct store_stage *stage, const char *supplier, const char *account,
                                         const char *query, struct offer_batch *batch, uint64_t observed_ms,
                                         uint64_t until_ms, uint64_t now_ms)
{
    struct store_call *call = store_call_create(STORE_KEEP, TEXT("hotels@1"), text_of(query), 1, batch != NULL);

    assert_non_null(call);
    assert_true(store_call_name(call, 0, text_of(supplier), text_of(account)));
    if (batch != NULL) {
        assert_true(store_call_fill(call, 0, batch, NULL));
    }
    call->entries[0].head.observed_ms = observed_ms;
    call->entries[0].head.until_ms = until_ms;
    call->now_ms = now_ms;
    call->home = stage;
    return call;
}

struct store_call *store_stage_look_call(struct store_stage *stage, enum store_job job, const char *supplier,
                                         const char *account, const char *query, uint64_t max_age_ms, uint64_t now_ms)
{
    struct store_call *call = store_call_create(job, TEXT("hotels@1"), text_of(query), 1, 0);

    assert_non_null(call);
    assert_true(store_call_name(call, 0, text_of(supplier), text_of(account)));
    call->entries[0].max_age_ms = max_age_ms;
    call->entries[0].status = PRICE_INDICATIVE;
    call->now_ms = now_ms;
    call->home = stage;
    return call;
}

/// The stage delivers by itself; that there is one says that the call is wanted back.
static void on_done(struct store_call *call)
{
    (void)call;
}

void store_stage_submit(struct store_stage *stage, struct store_call *call)
{
    call->home = stage;
    call->on_done = on_done;
    store_submit(stage->store, call);
}

struct store_call *store_stage_await(struct store_stage *stage)
{
    pthread_mutex_lock(&stage->lock);
    while (list_is_empty(&stage->back)) {
        pthread_cond_wait(&stage->home, &stage->lock);
    }
    struct list *node = list_take_first(&stage->back);
    pthread_mutex_unlock(&stage->lock);
    return CONTAINER_OF(CONTAINER_OF(node, struct message, node), struct store_call, message);
}

struct store_call *store_stage_do(struct store_stage *stage, struct store_call *call)
{
    store_stage_submit(stage, call);
    return store_stage_await(stage);
}
