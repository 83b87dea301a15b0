/// Support for tests of the worker pool: calls to submit, and a pool whose calls can be waited for.
///
/// Threads: one test; the box is filled by workers.
#pragma once

#include "base/clock.h"
#include "script/worker_pool.h"
#include "unit/script_support.h"

#include <pthread.h>

#define SUPPORT_DAY_US UINT64_C(1796000000000000) // in November 2026
// What calls have: on a busy machine, under a sanitizer, the kill matrix alone takes minutes.
#define SUPPORT_TIME_US UINT64_C(600000000)

// ---- calls

static inline struct start_call *support_start_body(struct support_world *world, struct text product, const char *text)
{
    struct block *body = block_create(text_of(text));
    struct start_call *call = start_call_create(product, TEXT("s-1"), body, world->count);
    assert_non_null(call);
    block_release(&body);
    call->call.set = world->set;
    call->times = (struct script_times){ .arrival_us = clock_now_us(),
                                         .end_us = clock_now_us() + SUPPORT_TIME_US,
                                         .arrival_wall_us = SUPPORT_DAY_US };
    call->call.deadline_us = call->times.end_us;
    for (size_t i = 0; i < world->count; i++) {
        call->candidates[i].account = &world->accounts[i];
    }
    return call;
}

static inline struct start_call *support_start(struct support_world *world, const char *thing)
{
    char text[256];
    snprintf(text, sizeof text, "{\"product\":\"shop\",\"query\":{\"thing\":\"%s\"}}", thing);
    return support_start_body(world, TEXT("shop"), text);
}

static inline struct normalise_call *support_normalise(struct support_world *world, size_t supplier,
                                                       struct block *facts, uint16_t status, const char *body)
{
    struct http_response *response = http_response_create();
    assert_non_null(response);
    response->status = status;
    response->body = block_create(text_of(body));
    struct normalise_call *call = normalise_call_create(TEXT("s-1"), facts, response);
    assert_non_null(call);
    call->call.set = world->set;
    call->account = &world->accounts[supplier];
    call->body_cap = 1 << 20;
    call->times = (struct script_times){ .arrival_us = clock_now_us(),
                                         .end_us = clock_now_us() + SUPPORT_TIME_US,
                                         .arrival_wall_us = SUPPORT_DAY_US };
    call->allocation_end_us = call->times.end_us;
    call->call.deadline_us = call->times.end_us;
    return call;
}

// ---- a pool and the box its calls come back to

struct support_pool {
    struct worker_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t came;
    struct list back;
};

static inline void support_deliver(void *home, struct script_call *call)
{
    struct support_pool *pool = home;
    pthread_mutex_lock(&pool->lock);
    list_append(&pool->back, &call->message.node);
    pthread_cond_signal(&pool->came);
    pthread_mutex_unlock(&pool->lock);
}

static inline void support_pool_open(struct support_pool *pool, struct worker_pool_options options)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->came, NULL);
    list_init(&pool->back);
    options.deliver = support_deliver;
    assert_int_equal(worker_pool_create(&options, &pool->pool, NULL), STATUS_OK);
}

static inline void support_pool_close(struct support_pool *pool)
{
    worker_pool_destroy(&pool->pool);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->came);
}

static inline struct script_call *support_await(struct support_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (list_is_empty(&pool->back)) {
        pthread_cond_wait(&pool->came, &pool->lock);
    }
    struct list *node = list_take_first(&pool->back);
    pthread_mutex_unlock(&pool->lock);
    struct message *message = CONTAINER_OF(node, struct message, node);
    return CONTAINER_OF(message, struct script_call, message);
}

static inline void support_submit(struct support_pool *pool, struct script_call *call)
{
    call->home = pool;
    assert_int_equal(worker_pool_submit(pool->pool, call), STATUS_OK);
}

static inline void support_run(struct support_pool *pool, struct script_call *call)
{
    support_submit(pool, call);
    assert_ptr_equal(support_await(pool), call);
}

static inline struct worker_pool_counts support_counts(struct support_pool *pool)
{
    struct worker_pool_counts counts;
    worker_pool_counts(pool->pool, &counts);
    return counts;
}
