// The kill matrix: a script that runs wild costs nobody else.

#include "unit/script_pool_stage.h"

struct fault {
    const char *name;
    const char *place;
    enum script_verdict wanted;
    bool may_be_lost; // stuck in C
};

static const struct fault matrix[] = {
    { "loop", "skip", SCRIPT_TIMEOUT, false },
    { "loop", "ceiling", SCRIPT_TIMEOUT, false },
    { "loop", "build_request", SCRIPT_TIMEOUT, false },
    { "caught_loop", "skip", SCRIPT_TIMEOUT, false },
    { "loop_of_pcalls", "ceiling", SCRIPT_TIMEOUT, false },
    { "recursive_pcall", "build_request", SCRIPT_TIMEOUT, false },
    { "endless_handler", "skip", SCRIPT_ERROR, false },
    { "rep_bomb", "build_request", SCRIPT_ERROR, false },
    { "joined_bomb", "skip", SCRIPT_MEMORY, false },
    { "caught_bomb", "ceiling", SCRIPT_MEMORY, false },
    { "endless_table", "build_request", SCRIPT_MEMORY, false },
    { "deep_gsub", "skip", SCRIPT_ERROR, false },
    { "pattern_bomb", "skip", SCRIPT_TIMEOUT, false },
    { "pattern_bomb", "ceiling", SCRIPT_TIMEOUT, false },
    { "pattern_bomb", "build_request", SCRIPT_TIMEOUT, false },
    { "stuck", "skip", SCRIPT_TIMEOUT, true },
    { "stuck", "ceiling", SCRIPT_TIMEOUT, true },
    { "stuck", "build_request", SCRIPT_TIMEOUT, true },
    { "write_search", "skip", SCRIPT_ERROR, false },
    { "write_item", "ceiling", SCRIPT_ERROR, false },
    { "insert_item", "build_request", SCRIPT_ERROR, false },
    { "plain", "ceiling", SCRIPT_ERROR, false },
    { "raise_table", "build_request", SCRIPT_ERROR, false },
    { "quota", "build_request", SCRIPT_FAIL_QUOTA, false },
};

/// Where loops end as memory trouble or the other way round depends on the machine; both are stops.
static bool is_stop(enum script_verdict verdict)
{
    return verdict == SCRIPT_TIMEOUT || verdict == SCRIPT_MEMORY;
}

static void add_matrix(void)
{
    for (size_t i = 0; i < COUNT_OF(matrix); i++) {
        char name[32];
        snprintf(name, sizeof name, "good_%zu", i);
        support_add_faulty(&world, matrix[i].name, matrix[i].place);
        support_add(&world, name, SUPPORT_DATA "/suppliers/good.lua");
    }
}

static void check_matrix(const struct start_call *call)
{
    for (size_t i = 0; i < COUNT_OF(matrix); i++) {
        const struct start_candidate *faulty = &call->candidates[i * 2];
        const struct start_candidate *good = &call->candidates[i * 2 + 1];
        if (!(is_stop(faulty->verdict) && is_stop(matrix[i].wanted))) {
            assert_verdict(faulty->verdict, matrix[i].wanted, world.names[i * 2], faulty->message);
        }
        assert_true(faulty->message.length > 0 || faulty->verdict == SCRIPT_FAIL_QUOTA);
        assert_null(faulty->request);
        assert_verdict(good->verdict, SCRIPT_OK, world.names[i * 2 + 1], good->message);
        assert_non_null(good->request);
        assert_non_null(memmem(good->request->url.data, good->request->url.length, "thing=chair", 11));
    }
}

static void every_fault_at_once_costs_only_its_own_supplier(void **state)
{
    (void)state;
    add_matrix();
    support_load(&world);
    start_pool(2);
    struct start_call *call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    check_matrix(call);
    script_call_destroy(&call->call);

    struct worker_pool_counts counts = support_counts(&pool);
    assert_int_equal(counts.workers, 2);
    assert_true(counts.quarantined >= 3);
    if (!has_late_signals()) {
        assert_int_equal(counts.quarantined, 3);
    }

    // Once more: the stuck ones are out of service, the rest is as before.
    call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    for (size_t i = 0; i < COUNT_OF(matrix); i++) {
        const struct start_candidate *faulty = &call->candidates[i * 2];
        if (matrix[i].may_be_lost) {
            assert_verdict(faulty->verdict, SCRIPT_ERROR, world.names[i * 2], faulty->message);
            assert_true(text_starts_with(faulty->message, TEXT("quarantined")));
        }
        assert_int_equal(call->candidates[i * 2 + 1].verdict, SCRIPT_OK);
    }
    script_call_destroy(&call->call);
    await_the_lost();
    assert_true(has_late_signals() || support_counts(&pool).workers == 2);
}

static void faults_in_normalise_end_only_their_own_call(void **state)
{
    static const struct fault faults[] = {
        { "loop", "normalise", SCRIPT_TIMEOUT, false },       { "caught_loop", "normalise", SCRIPT_TIMEOUT, false },
        { "caught_bomb", "normalise", SCRIPT_MEMORY, false }, { "pattern_bomb", "normalise", SCRIPT_TIMEOUT, false },
        { "stuck", "normalise", SCRIPT_TIMEOUT, true },       { "write_search", "normalise", SCRIPT_ERROR, false },
        { "quota", "normalise", SCRIPT_FAIL_QUOTA, false },
    };
    (void)state;
    size_t good = support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        support_add_faulty(&world, faults[i].name, faults[i].place);
    }
    support_load(&world);
    start_pool(2);
    struct block *facts = facts_of("chair");
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        struct normalise_call *bad = support_normalise(&world, i + 1, facts, 200, "{}");
        struct normalise_call *fine =
            support_normalise(&world, good, facts, 200, "{\"things\":[{\"id\":\"a\",\"total\":\"1.00\"}]}");
        support_submit(&pool, &bad->call);
        support_submit(&pool, &fine->call);
        (void)support_await(&pool);
        (void)support_await(&pool);
        if (!(is_stop(bad->verdict) && is_stop(faults[i].wanted))) {
            assert_verdict(bad->verdict, faults[i].wanted, faults[i].name, text_of(bad->message));
        }
        assert_verdict(fine->verdict, SCRIPT_OK, "good", text_of(fine->message));
        if (bad->verdict == SCRIPT_FAIL_QUOTA) {
            assert_int_equal(bad->retry_after_ms, 7000);
        }
        script_call_destroy(&bad->call);
        script_call_destroy(&fine->call);
    }
    block_release(&facts);
}

static enum script_verdict verdict_of_loop(struct block *facts)
{
    struct normalise_call *call = support_normalise(&world, 1, facts, 200, "{}");
    support_run(&pool, &call->call);
    enum script_verdict verdict = call->verdict;
    script_call_destroy(&call->call);
    return verdict;
}

static void the_third_time_out_within_a_minute_quarantines_a_script(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_add_faulty(&world, "loop", "normalise");
    support_load(&world);
    start_pool(1);
    struct block *facts = facts_of("chair");
    if (!has_late_signals()) { // there the first one counts as stuck
        for (int i = 0; i < SCRIPT_TIMEOUTS_MAX; i++) {
            assert_int_equal(verdict_of_loop(facts), SCRIPT_TIMEOUT);
        }
        assert_int_equal(verdict_of_loop(facts), SCRIPT_ERROR);
        assert_int_equal(support_counts(&pool).quarantined, 1);
    }
    block_release(&facts);
}

// Its file takes several times what a call may take, and is run in the first call after each fresh start of the state.
static void a_large_file_is_no_fault_of_the_call_that_loads_it(void **state)
{
    (void)state;
    if (has_late_signals()) { // scripts are slow there, too: the file would not pass its check
        return;
    }
    support_add_source(&world, "large",
                       "local n = 0 for i = 1, 10000000 do n = (n * 31 + i) % 1000003 end\n"
                       "return { name = \"large\", product = \"shop\", owner = \"o\", hosts = { \"a.example\" },\n"
                       "build_request = function() return { method = \"GET\", url = \"https://a.example/\" } end,\n"
                       "normalise = function() return {} end }\n");
    support_add_faulty(&world, "caught_bomb", "build_request");
    support_load(&world);
    start_pool(1);
    for (int i = 0; i <= SCRIPT_TIMEOUTS_MAX; i++) {
        struct start_call *call = support_start(&world, "chair");
        support_run(&pool, &call->call);
        assert_verdict(call->candidates[0].verdict, SCRIPT_OK, "large", call->candidates[0].message);
        assert_int_equal(call->candidates[1].verdict, SCRIPT_MEMORY);
        script_call_destroy(&call->call);
    }
    assert_int_equal(support_counts(&pool).quarantined, 0);
    assert_true(support_counts(&pool).loads > 2 * SCRIPT_TIMEOUTS_MAX); // the state was a fresh one each time
}

static void time_outs_far_apart_do_not_add_up(void **state)
{
    struct script_id supplier = { .index = 0 };
    struct script_id product = { .is_product = true };
    uint64_t minute_us = SCRIPT_TIMEOUTS_WITHIN_US;
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    assert_false(script_set_note_timeout(world.set, supplier, "acme.lua:7", 1));
    assert_false(script_set_note_timeout(world.set, supplier, "acme.lua:7", minute_us / 2));
    assert_false(script_set_note_timeout(world.set, supplier, "acme.lua:7", minute_us + 2));
    assert_false(script_set_is_quarantined(world.set, supplier));
    assert_true(script_set_note_timeout(world.set, supplier, "acme.lua:7", minute_us + 3));
    assert_true(script_set_is_quarantined(world.set, supplier));
    char why[256];
    assert_true(script_set_tell_quarantine(world.set, supplier, why, sizeof why));
    assert_string_equal(why, "quarantined: used up its time 3 times within 60 s, the last time at acme.lua:7");
    for (uint64_t i = 1; i < 10; i++) {
        assert_false(script_set_note_timeout(world.set, product, "acme.lua:7", i));
    }
    assert_false(script_set_tell_quarantine(world.set, product, why, sizeof why));
    assert_true(script_set_quarantine(world.set, product));
    assert_false(script_set_quarantine(world.set, product));
    assert_true(script_set_tell_quarantine(world.set, product, why, sizeof why));
    assert_non_null(strstr(why, "stuck inside a function of C"));
}

static void a_product_that_runs_wild_fails_its_search_only(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct start_call *call = support_start(&world, "loop");
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_TIMEOUT);
    script_call_destroy(&call->call);
    if (!has_late_signals()) {
        call = support_start(&world, "chair");
        support_run(&pool, &call->call);
        assert_int_equal(call->product_verdict, SCRIPT_OK);
        script_call_destroy(&call->call);

        call = support_start(&world, "stuck");
        support_run(&pool, &call->call);
        assert_int_equal(call->product_verdict, SCRIPT_TIMEOUT);
        script_call_destroy(&call->call);
    }
    call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_ERROR);
    assert_non_null(strstr(call->message, "quarantined"));
    script_call_destroy(&call->call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_fault_at_once_costs_only_its_own_supplier, open_all, close_all),
        cmocka_unit_test_setup_teardown(faults_in_normalise_end_only_their_own_call, open_all, close_all),
        cmocka_unit_test_setup_teardown(the_third_time_out_within_a_minute_quarantines_a_script, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_large_file_is_no_fault_of_the_call_that_loads_it, open_all, close_all),
        cmocka_unit_test_setup_teardown(time_outs_far_apart_do_not_add_up, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_product_that_runs_wild_fails_its_search_only, open_all, close_all),
    };
    return cmocka_run_group_tests_name("script_kill", tests, NULL, NULL);
}
