// C code of ours that is at work for long lets itself be stopped.

#include "unit/script_pool_support.h"

#include <unistd.h>

static struct support_world world;
static struct support_pool pool;

static struct block *facts_of(const char *thing)
{
    struct start_call *call = support_start(&world, thing);
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_OK);
    struct block *facts = block_acquire(call->facts);
    script_call_destroy(&call->call);
    return facts;
}

// A supplier that sends a lot must not cost the script its place: only C code that cannot be stopped does.
static void a_body_that_takes_too_long_to_read_is_stopped_and_not_lost(void **state)
{
    enum { ENTRIES = 300000 };
    static const char entry[] = "{\"a\":1,\"b\":2},";
    (void)state;
    support_open(&world);
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    support_pool_open(
        &pool, (struct worker_pool_options){
                   .threads = 1, .build_limit_us = 100000, .normalise_limit_us = 5000, .memory_growth = 512 << 20 });
    char *body = malloc(sizeof entry * ENTRIES + 32);
    char *end = stpcpy(body, "{\"things\":[");
    for (size_t i = 0; i < ENTRIES; i++) {
        end = stpcpy(end, entry);
    }
    (void)stpcpy(end, "{}]}");
    struct block *facts = facts_of("chair");
    struct normalise_call *call = support_normalise(&world, 0, facts, 200, body);
    call->body_cap = 16 << 20;
    support_run(&pool, &call->call);
    assert_int_equal(call->verdict, SCRIPT_TIMEOUT);
#if !defined(__SANITIZE_THREAD__) // it delivers signals late
    assert_int_equal(support_counts(&pool).lost, 0);
    assert_int_equal(support_counts(&pool).quarantined, 0);
    assert_null(strstr(call->message, "stuck"));
#endif
    script_call_destroy(&call->call);
    block_release(&facts);
    free(body);
    while (support_counts(&pool).lost > 0) { // then the test has failed, but what it holds comes back
        usleep(10000);
    }
    support_pool_close(&pool);
    support_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_that_takes_too_long_to_read_is_stopped_and_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
