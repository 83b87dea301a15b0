/// Support for tests of the script host: script sets from the test data, accounts, and a pool whose calls can be waited for.
///
/// Threads: one test; the box is filled by workers.
#pragma once

#include "base/clock.h"
#include "script/script_set.h"
#include "script/worker_pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SUPPORT_DATA "tests/unit/data/script"
#define SUPPORT_DAY_US UINT64_C(1796000000000000)    // in November 2026

enum { SUPPORT_MAX = 64 };

/// Findings of a load, as lines "file:line: message (help)".
struct support_findings {
    size_t count;
    char   text[8192];
};

static inline void support_on_finding(void *context, const struct failure *failure)
{
    struct support_findings *findings = context;
    size_t length = strlen(findings->text);
    findings->count++;
    snprintf(findings->text + length, sizeof findings->text - length, "%s:%u: %s (%s)\n", failure->file, failure->line,
             failure->message, failure->help);
}

/// A script set of up to SUPPORT_MAX suppliers in the making; files of its own are written to a temporary folder.
struct support_world {
    char folder[64];
    struct script_source  sources[SUPPORT_MAX];
    struct script_account accounts[SUPPORT_MAX];
    char   names[SUPPORT_MAX][64];
    char   files[SUPPORT_MAX][160];
    size_t count;
    struct script_set *set;
};

static inline void support_open(struct support_world *world)
{
    memset(world, 0, sizeof *world);
    snprintf(world->folder, sizeof world->folder, "/tmp/lastcall-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
}

static inline size_t support_add(struct support_world *world, const char *name, const char *file)
{
    size_t index = world->count++;
    assert_true(index < SUPPORT_MAX);
    snprintf(world->names[index], sizeof world->names[index], "%s", name);
    snprintf(world->files[index], sizeof world->files[index], "%s", file);
    world->sources[index] = (struct script_source){ text_of(world->names[index]), text_of(world->files[index]) };
    return index;
}

/// A supplier whose source is written to a file of its own.
static inline size_t support_add_source(struct support_world *world, const char *name, const char *source)
{
    char file[160];
    snprintf(file, sizeof file, "%s/%s.lua", world->folder, name);
    FILE *stream = fopen(file, "we");
    assert_non_null(stream);
    fputs(source, stream);
    assert_int_equal(fclose(stream), 0);
    return support_add(world, name, file);
}

static inline size_t support_add_faulty(struct support_world *world, const char *fault, const char *place)
{
    char name[64];
    char source[256];
    snprintf(name, sizeof name, "%s_%s", fault, place);
    snprintf(source, sizeof source, "return require(\"faulty\").supplier(\"%s\", \"%s\", \"%s\")\n", name, fault, place);
    return support_add_source(world, name, source);
}

static inline uint64_t support_serial(void)
{
    static uint64_t serial = 100;
    return ++serial;
}

/// Loads the set and makes an account for each supplier, with the hosts its script declares.
static inline void support_load(struct support_world *world)
{
    struct support_findings findings = { .count = 0 };
    enum status status = script_set_load(SUPPORT_DATA "/scripts", world->sources, world->count, support_on_finding,
                                         &findings, &world->set);
    if (status != STATUS_OK) {
        fail_msg("%s: %s", status_name(status), findings.text);
    }
    for (size_t i = 0; i < world->count; i++) {
        const struct script_supplier *supplier = script_set_supplier(world->set, i);
        char context[512];
        snprintf(context, sizeof context, "{\"account\":\"main\",\"options\":%.*s,\"secret\":{\"GOOD_KEY\":\"k-1\"}}",
                 TEXT_ARGS(supplier->options));
        world->accounts[i] = (struct script_account){ .serial = support_serial(),
                                                      .supplier = (uint32_t)i,
                                                      .name = TEXT("main"),
                                                      .context = text_of(strdup(context)),
                                                      .hosts = supplier->hosts,
                                                      .host_count = supplier->host_count };
    }
}

static inline void support_close(struct support_world *world)
{
    for (size_t i = 0; i < world->count; i++) {
        free((void *)(uintptr_t)world->accounts[i].context.data);
        if (strncmp(world->files[i], world->folder, strlen(world->folder)) == 0) {
            remove(world->files[i]);
        }
    }
    script_set_release(&world->set);
    remove(world->folder);
}

// ---- calls

static inline struct start_call *support_start(struct support_world *world, const char *thing)
{
    char text[256];
    snprintf(text, sizeof text, "{\"product\":\"shop\",\"query\":{\"thing\":\"%s\"}}", thing);
    struct block *body = block_create(text_of(text));
    struct start_call *call = start_call_create(TEXT("shop"), TEXT("s-1"), body, world->count);
    assert_non_null(call);
    block_release(&body);
    call->call.set = world->set;
    call->times = (struct script_times){ .arrival_us = clock_now_us(),
                                         .end_us = clock_now_us() + 60000000,
                                         .arrival_wall_us = SUPPORT_DAY_US };
    call->call.deadline_us = call->times.end_us;
    for (size_t i = 0; i < world->count; i++) {
        call->candidates[i].account = &world->accounts[i];
    }
    return call;
}

static inline struct normalise_call *support_normalise(struct support_world *world, size_t supplier, struct block *facts,
                                                       uint16_t status, const char *body)
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
                                         .end_us = clock_now_us() + 60000000,
                                         .arrival_wall_us = SUPPORT_DAY_US };
    call->allocation_end_us = call->times.end_us;
    call->call.deadline_us = call->times.end_us;
    return call;
}

// ---- a pool and the box its calls come back to

struct support_pool {
    struct worker_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t  came;
    struct list     back;
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
