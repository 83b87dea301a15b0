/// Store over LMDB as its tests use it: opened in a directory of its own, and what is done with it again and again.
///
/// Threads: the test's.
/// Memory:  tear_down removes it all.
#pragma once

#include "base/clock.h"
#include "store/store_lmdb.h"
#include "support/store_stage.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MIB = 1 << 20, GRACE_US = 5000000, HOUR_MS = 3600000 };

/// Of the machine: what is over by it is swept out.
static uint64_t now_ms;

struct fixture {
    struct store_stage stage;
    char directory[64];
};

static inline void open_store(struct fixture *fixture, uint64_t max_bytes)
{
    struct failure why = { 0 };
    struct store_lmdb_options options = { .directory = fixture->directory,
                                          .max_bytes = max_bytes,
                                          .deliver = store_stage_deliver };

    if (store_lmdb_open(&options, &fixture->stage.store, &why) != STATUS_OK) {
        fail_msg("%s", why.message);
    }
}

static inline void close_store(struct fixture *fixture)
{
    fixture->stage.store->ops->close(&fixture->stage.store, GRACE_US);
    assert_null(fixture->stage.store);
}

static inline int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    store_stage_init(&fixture->stage);
    (void)snprintf(fixture->directory, sizeof fixture->directory, "/tmp/lastcall_store_XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    open_store(fixture, 64 * MIB);
    *state = fixture;
    return 0;
}

static inline int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *walk)
{
    (void)facts;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline int tear_down(void **state)
{
    struct fixture *fixture = *state;

    if (fixture->stage.store != NULL) {
        close_store(fixture);
    }
    store_stage_fini(&fixture->stage);
    (void)nftw(fixture->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(fixture);
    return 0;
}

static inline enum store_state keep_at(struct fixture *fixture, const char *supplier, const char *query, size_t offers,
                                       uint64_t observed_ms)
{
    struct offer_batch *batch = offers > 0 ? store_stage_batch(offers, 400, (uint32_t)offers) : NULL;
    struct store_call *call = store_stage_keep_call(&fixture->stage, supplier, "main", query, batch, observed_ms,
                                                    observed_ms + 24 * (uint64_t)HOUR_MS, now_ms);

    offer_batch_release(&batch);
    call = store_stage_do(&fixture->stage, call);
    enum store_state state = call->entries[0].state;
    store_call_destroy(&call);
    return state;
}

static inline enum store_state keep(struct fixture *fixture, const char *supplier, const char *query, size_t offers)
{
    return keep_at(fixture, supplier, query, offers, now_ms);
}

static inline struct store_call *look(struct fixture *fixture, enum store_job job, const char *supplier,
                                      const char *query)
{
    return store_stage_do(&fixture->stage,
                          store_stage_look_call(&fixture->stage, job, supplier, "main", query, 0, now_ms));
}

static inline enum store_state state_of(struct fixture *fixture, enum store_job job, const char *supplier,
                                        const char *query)
{
    struct store_call *call = look(fixture, job, supplier, query);
    enum store_state state = call->entries[0].state;

    store_call_destroy(&call);
    return state;
}

static inline struct store_report report_of(struct fixture *fixture)
{
    struct store_report report;

    store_report_fill(fixture->stage.store, &report);
    return report;
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
