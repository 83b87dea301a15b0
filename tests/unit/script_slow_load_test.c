// Files that are slow to load: within a call that finds them unloaded, and in preparations.

#include "unit/script_pool_stage.h"

#define SUPPLIER_HEAD                                                                                                  \
    "return { name = \"odd\", display_name = \"Odd\", product = \"shop\", owner = \"x@example.com\",\n"                \
    "  hosts = { \"api.odd.example\" },\n"                                                                             \
    "  build_request = function() return { url = \"https://api.odd.example/\" } end,\n"                                \
    "  normalise = function() return {} end }\n"

/// What the supplier beside `good` brings; all others are served without a load.
static enum script_verdict run_beside(size_t index, char *message, size_t size)
{
    struct start_call *call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    enum script_verdict verdict = call->candidates[index].verdict;
    snprintf(message, size, "%.*s", TEXT_ARGS(call->candidates[index].message));
    assert_verdict(call->candidates[0].verdict, SCRIPT_OK, "good", call->candidates[0].message);
    script_call_destroy(&call->call);
    return verdict;
}

static void assert_not_blamed(size_t supplier)
{
    struct script_id script = { .index = supplier };
    struct script_trial trial;

    script_set_trial(world.set, script, &trial);
    assert_int_equal(trial.errors, 0);
    assert_false(script_set_is_quarantined(world.set, script));
    assert_int_equal(script_set_limit_count(world.set, script, SCRIPT_LIMIT_TIME), 0);
}

static void a_file_that_a_call_has_to_load_has_the_time_of_a_load(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    size_t odd =
        support_add_source(&world, "odd", "for i = 1, 1e7 do end\n" SUPPLIER_HEAD); // more than a function gets
    support_load(&world);
    start_pool(1);
    char message[256];
    assert_verdict(run_beside(odd, message, sizeof message), SCRIPT_OK, "odd", text_of(message));
    assert_int_equal(support_counts(&pool).loads, 3); // nothing was prepared
    assert_not_blamed(odd);
}

static void files_that_others_cost_their_state_are_not_blamed_for_the_time_to_load_them_again(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    size_t odd = support_add_source(&world, "odd", "for i = 1, 1e7 do end\n" SUPPLIER_HEAD);
    size_t bomb = support_add_faulty(&world, "caught_bomb", "build_request");
    support_load(&world);
    start_pool(1);
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 1);
    for (int i = 0; i < 4; i++) {
        char message[256];
        assert_verdict(run_beside(odd, message, sizeof message), SCRIPT_OK, "odd", text_of(message));
        assert_verdict(run_beside(bomb, message, sizeof message), SCRIPT_MEMORY, "bomb", text_of(message));
    }
    assert_true(support_counts(&pool).loads > 4); // again and again
    assert_not_blamed(odd);
}

static void files_that_need_more_time_than_a_preparation_has_are_told_with_the_slowest(void **state)
{
    struct worker_pool_slow slow;
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    size_t odd = support_add_source(&world, "odd", "for i = 1, 8e7 do end\n" SUPPLIER_HEAD);
    support_load(&world);
    support_pool_open(&pool, (struct worker_pool_options){ .threads = 8, .prepare_limit_us = 300000 });
    assert_true(worker_pool_prepare(pool.pool, world.set, &slow) < 8);
    assert_true(slow.is_too_slow);
    assert_false(slow.script.is_product);
    assert_int_equal(slow.script.index, odd);
    assert_true(slow.load_us >= 100000);
}

static void a_preparation_that_only_lacked_the_processor_blames_no_file(void **state)
{
    struct worker_pool_slow slow = { .is_too_slow = true };
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    support_pool_open(&pool, (struct worker_pool_options){ .threads = 2, .prepare_limit_us = 1 });
    (void)worker_pool_prepare(pool.pool, world.set, &slow);
    assert_false(slow.is_too_slow); // each of them takes next to nothing
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_a_call_has_to_load_has_the_time_of_a_load, open_all, close_all),
        cmocka_unit_test_setup_teardown(
            files_that_others_cost_their_state_are_not_blamed_for_the_time_to_load_them_again, open_all, close_all),
        cmocka_unit_test_setup_teardown(files_that_need_more_time_than_a_preparation_has_are_told_with_the_slowest,
                                        open_all, close_all),
        cmocka_unit_test_setup_teardown(a_preparation_that_only_lacked_the_processor_blames_no_file, open_all,
                                        close_all),
    };
    return cmocka_run_group_tests_name("script_slow_load", tests, NULL, NULL);
}
