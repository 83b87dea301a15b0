// What is counted of the calls of a script that is new: errors of its own, not those of its supplier.

#include "unit/script_pool_stage.h"

static struct script_trial trial_of(size_t supplier)
{
    struct script_trial trial;
    script_set_trial(world.set, (struct script_id){ .index = supplier }, &trial);
    return trial;
}

static void assert_trial(size_t supplier, uint64_t calls, uint64_t errors, const char *first)
{
    struct script_trial trial = trial_of(supplier);
    if (trial.calls != calls || trial.errors != errors || strstr(trial.first, first) == NULL) {
        fail_msg("%s: %llu calls, %llu errors, \"%s\"", world.names[supplier], (unsigned long long)trial.calls,
                 (unsigned long long)trial.errors, trial.first);
    }
}

static void start_once(void)
{
    struct start_call *call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_OK);
    script_call_destroy(&call->call);
}

static void normalise_once(size_t supplier, struct block *facts, uint16_t status, const char *body)
{
    struct normalise_call *call = support_normalise(&world, supplier, facts, status, body);
    support_run(&pool, &call->call);
    script_call_destroy(&call->call);
}

static void good_calls_count_without_errors(void **state)
{
    (void)state;
    size_t good = support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    start_once();
    assert_trial(good, 2, 0, ""); // ceiling, build_request
    struct block *facts = facts_of("chair");
    assert_trial(good, 4, 0, "");
    normalise_once(good, facts, 200, "{\"things\":[{\"id\":\"a\",\"total\":\"1.00\"}]}");
    assert_trial(good, 5, 0, "");
    normalise_once(good, facts, 429, "{}");
    normalise_once(good, facts, 200, "<html></html>");
    normalise_once(good, facts, 200, "");
    assert_trial(good, 8, 0, ""); // what the supplier did wrong
    normalise_once(good, facts, 200, "{\"things\":7}");
    assert_trial(good, 9, 1, "good.lua:");
    assert_int_equal(trial_of(good).at[0], 9);
    block_release(&facts);
}

static void a_call_that_ran_out_of_memory_twice_is_one_error(void **state)
{
    (void)state;
    size_t bomb = support_add_faulty(&world, "caught_bomb", "build_request");
    support_load(&world);
    start_pool(1);
    start_once();
    assert_trial(bomb, 2, 1, "MiB of memory"); // ceiling, build_request
}

static void skip_counts_when_it_fails_only(void **state)
{
    (void)state;
    size_t bad = support_add_faulty(&world, "write_search", "skip");
    size_t shy = support_add_source(&world, "shy",
                                    "return { name = \"shy\", display_name = \"Shy\", product = \"shop\",\n"
                                    "  owner = \"x@example.com\", hosts = { \"api.shy.example\" },\n"
                                    "  skip = function() return \"never\" end,\n"
                                    "  build_request = function() return { url = \"https://api.shy.example/\" } end,\n"
                                    "  normalise = function() return {} end }\n");
    support_load(&world);
    start_pool(1);
    start_once();
    assert_trial(bad, 1, 1, "faulty.lua:");
    assert_trial(shy, 0, 0, "");
}

static void a_call_that_a_quarantine_refuses_is_an_error(void **state)
{
    (void)state;
    size_t good = support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct block *facts = facts_of("chair");
    assert_true(script_set_quarantine(world.set, (struct script_id){ .index = good }));
    start_once();
    assert_trial(good, 3, 1, "quarantined");
    normalise_once(good, facts, 200, "{}");
    assert_trial(good, 4, 2, "quarantined");
    block_release(&facts);
}

static void a_script_that_is_stuck_has_an_error(void **state)
{
    (void)state;
    size_t stuck = support_add_faulty(&world, "stuck", "build_request");
    support_load(&world);
    start_pool(1);
    start_once();
    assert_true(trial_of(stuck).errors == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(good_calls_count_without_errors, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_call_that_ran_out_of_memory_twice_is_one_error, open_all, close_all),
        cmocka_unit_test_setup_teardown(skip_counts_when_it_fails_only, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_call_that_a_quarantine_refuses_is_an_error, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_script_that_is_stuck_has_an_error, open_all, close_all),
    };
    return cmocka_run_group_tests_name("script_trial", tests, NULL, NULL);
}
