/// Store stage: a store as tests use it: calls are made, handed over, and waited for.
///
/// Threads: the test's; calls come home from any.
/// Memory:  embedded; calls that came home are the test's.
#pragma once

#include "store/store.h"

#include <pthread.h>

struct store_stage {
    struct store *store;
    pthread_mutex_t lock;
    pthread_cond_t home;
    struct list back; // by the node of their message
};

void store_stage_init(struct store_stage *stage);
void store_stage_fini(struct store_stage *stage);
/// For a backend.
void store_stage_deliver(void *home, struct store_call *call);

/// One answer of so many offers, which differ by `salt`.
struct offer_batch *store_stage_batch(size_t offers, size_t bytes_each, uint32_t salt);

struct store_call *store_stage_keep_call(struct store_stage *stage, const char *supplier, const char *account,
                                         const char *query, struct offer_batch *batch, uint64_t observed_ms,
                                         uint64_t until_ms, uint64_t now_ms);
struct store_call *store_stage_look_call(struct store_stage *stage, enum store_job job, const char *supplier,
                                         const char *account, const char *query, uint64_t max_age_ms, uint64_t now_ms);

/// Hands it over with an `on_done`.
void store_stage_submit(struct store_stage *stage, struct store_call *call);
/// The next that comes home, waited for.
struct store_call *store_stage_await(struct store_stage *stage);
/// Hands it over and waits for it.
struct store_call *store_stage_do(struct store_stage *stage, struct store_call *call);
