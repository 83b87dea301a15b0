// Ceilings: what they are told, what is noted of their reading, and how they are asked again on a worker.

#include "unit/script_pool_stage.h"

#include "model/ask_call.h"
#include "model/ceiling_call.h"

#define HEAD                                                                                                           \
    " product = \"shop\", owner = \"o\", hosts = { \"a.example\" }, options = { base_url = \"https://a.example\" },"   \
    " build_request = function() return { path = \"/\" } end, normalise = function() end, "

static size_t add(const char *name, const char *ceiling)
{
    char source[1024];
    snprintf(source, sizeof source, "return { name = \"%s\"," HEAD "\n  ceiling = function(search, progress) %s end }",
             name, ceiling);
    return support_add_source(&world, name, source);
}

/// A question to every supplier of the world.
static struct ceiling_call *make_call(struct block *facts)
{
    struct ceiling_call *call = ceiling_call_create(facts, NULL, world.count);
    assert_non_null(call);
    call->call.set = world.set;
    call->times = (struct script_times){ .arrival_us = clock_now_us() - 5000000, .end_us = clock_now_us() + 60000000 };
    call->call.deadline_us = call->times.end_us;
    for (size_t i = 0; i < world.count; i++) {
        call->asks[i].supplier = (uint32_t)i;
    }
    return call;
}

static struct ceiling_call *ask_all(const struct search_progress *progress)
{
    support_load(&world);
    start_pool(1);
    struct block *facts = facts_of("shoe");
    struct ceiling_call *call = make_call(facts);
    block_release(&facts);
    call->progress = *progress;
    support_run(&pool, &call->call);
    return call;
}

static const struct search_progress some = {
    .offers = 12, .answered = 3, .eligible = 7, .cheapest_micros = 123450000, .decimals = 2
};

static void assert_ms(const struct ceiling_call *call, size_t ask, uint64_t ms, uint32_t reads)
{
    assert_verdict(call->asks[ask].verdict, SCRIPT_OK, "ceiling", text_of(call->asks[ask].message));
    assert_int_equal(call->asks[ask].script_us, ms * 1000);
    assert_int_equal(call->asks[ask].reads, reads);
}

static void a_ceiling_is_told_the_progress_and_what_it_reads_is_noted(void **state)
{
    (void)state;
    add("number", "return 700");
    add("offers", "return 100 + progress.offers");
    add("answered", "return progress.answered * 10");
    add("eligible", "return progress.eligible");
    add("cheapest", "return progress.cheapest == '123.45' and 1 or 2");
    add("times", "return progress.elapsed_ms >= 5000 and progress.remaining_ms < 60001 and 1 or 2");
    add("unknown",
        "return progress.latency == nil and progress.win_rate == nil and progress.chance(50) == nil and 1 or 2");
    add("nothing", "return nil");
    struct ceiling_call *call = ask_all(&some);
    assert_ms(call, 0, 700, 0);
    assert_ms(call, 1, 112, PROGRESS_OFFERS);
    assert_ms(call, 2, 30, PROGRESS_ANSWERED);
    assert_ms(call, 3, 7, PROGRESS_ELIGIBLE);
    assert_ms(call, 4, 1, PROGRESS_CHEAPEST);
    assert_ms(call, 5, 1, PROGRESS_TIME);
    assert_ms(call, 6, 1, PROGRESS_STATISTICS | PROGRESS_TIME);
    assert_ms(call, 7, 0, 0);
    script_call_destroy(&call->call);
}

static bool fake_chance(const struct knowledge *knowledge, uint64_t elapsed_us, uint64_t until_us, double *chance)
{
    (void)knowledge;
    *chance = (double)(until_us - elapsed_us) / 1e6; // so that the numbers can be told apart
    return elapsed_us >= 2000000;
}

static bool fake_worth(const struct knowledge *knowledge, double value, double delay_cost, uint64_t *us)
{
    (void)knowledge;
    *us = (uint64_t)(value * 1000 + delay_cost * 1000000);
    return value < 100;
}

static void what_is_known_of_the_supplier_is_told_and_evaluated(void **state)
{
    (void)state;
    static const struct knowledge_ops ops = { fake_chance, fake_worth };
    static struct knowledge known = {
        .ops = &ops, .latency = { 500, 400000, 0, 900000, 0 }, .has_win_rate = true, .win_rate = 0.25
    };

    add("latency", "local l = progress.latency return l.samples + l.p50 + l.p95 + (l.p75 or 0)");
    add("rate", "return progress.win_rate * 1000");
    add("soon", "return progress.chance(500) == nil and 7 or 8"); // its attempt has just begun
    add("chance", "return progress.chance(500) * 1000");
    add("worth", "return math.floor(progress.worth_waiting{ value = 30, delay_cost = 2 })");
    add("dear", "return progress.worth_waiting{ value = 100, delay_cost = 2 }");
    support_load(&world);
    start_pool(1);
    struct block *facts = facts_of("shoe");
    struct ceiling_call *call = make_call(facts);
    block_release(&facts);
    atomic_init(&known.references, 1);
    for (size_t i = 0; i < call->ask_count; i++) {
        call->asks[i].knowledge = knowledge_hold(&known);
        call->asks[i].began_us = i == 2 ? clock_now_us() : call->times.arrival_us + 1000000;
    }
    support_run(&pool, &call->call);
    assert_ms(call, 0, 500 + 400 + 900, PROGRESS_STATISTICS);
    assert_ms(call, 1, 250, PROGRESS_STATISTICS);
    assert_ms(call, 2, 7, PROGRESS_STATISTICS | PROGRESS_TIME);
    assert_ms(call, 3, 500, PROGRESS_STATISTICS | PROGRESS_TIME);
    assert_ms(call, 4, 1000 + 30 + 2000, PROGRESS_STATISTICS); // from the search's arrival
    assert_ms(call, 5, 0, PROGRESS_STATISTICS);
    script_call_destroy(&call->call);
    await_the_lost();
    support_pool_close(&pool);
    assert_int_equal(atomic_load(&known.references), 1); // nobody holds it any more, not even Lua
}

static void nothing_has_arrived_is_no_price(void **state)
{
    (void)state;
    add("a", "return progress.cheapest == nil and 1 or 2");
    const struct search_progress none = { .cheapest_micros = INT64_MAX };
    struct ceiling_call *call = ask_all(&none);
    assert_ms(call, 0, 1, PROGRESS_CHEAPEST);
    script_call_destroy(&call->call);
}

static void assert_error(const struct ceiling_call *call, size_t ask, const char *message)
{
    assert_int_equal(call->asks[ask].verdict, SCRIPT_ERROR);
    if (strstr(call->asks[ask].message, message) == NULL) {
        fail_msg("\"%s\" is not in: %s", message, call->asks[ask].message);
    }
}

static void what_a_ceiling_may_not_do_is_an_error_that_says_so(void **state)
{
    (void)state;
    add("random", "return #crypto.random(4)");
    add("uuid", "return #crypto.uuid()");
    add("again", "pcall(crypto.uuid) return #crypto.uuid()");
    add("worth", "return progress.worth_waiting({ value = 1 })");
    add("typo", "return progress.ofers");
    add("write", "progress.offers = 3 return 1");
    add("text", "return 'soon'");
    add("zero", "return 0");
    add("fails", "error('no idea')");
    struct ceiling_call *call = ask_all(&some);
    assert_error(call, 0, "random.lua:2: crypto.random is not available within ceiling");
    assert_error(call, 1, "crypto.uuid is not available within ceiling");
    assert_error(call, 2, "crypto.uuid is not available within ceiling");
    assert_error(call, 3, "progress.worth_waiting needs `delay_cost`");
    assert_error(call, 4, "progress has no field \"ofers\": did you mean \"offers\"?");
    assert_error(call, 5, "progress is read-only");
    assert_error(call, 6, "text.lua:2: ceiling must return a number of milliseconds above 0, or nil; not string");
    assert_error(call, 7, "not 0");
    assert_error(call, 8, "fails.lua:2: no idea");
    assert_int_equal(support_counts(&pool).errors, 2 * 9); // in the start call, too
    script_call_destroy(&call->call);
}

static void other_functions_of_the_same_script_are_not_bound_by_it(void **state)
{
    (void)state;
    support_add_source(&world, "acme",
                       "return { name = \"acme\", product = \"shop\", owner = \"o\", hosts = { \"a.example\" },"
                       " options = { base_url = \"https://a.example\" },"
                       " ceiling = function(_, progress) return progress.offers + 40000 end,"
                       " build_request = function() return { path = \"/\" .. crypto.uuid() } end,"
                       " normalise = function() end }");
    support_load(&world);
    start_pool(1);
    struct start_call *call = support_start(&world, "shoe");
    support_run(&pool, &call->call);
    assert_verdict(call->candidates[0].verdict, SCRIPT_OK, "start", call->candidates[0].message);
    assert_int_equal(call->candidates[0].progress_reads, PROGRESS_OFFERS);
    assert_int_equal(call->candidates[0].ceiling.us, 40000000);
    script_call_destroy(&call->call);
}

static void one_that_runs_wild_costs_the_others_nothing(void **state)
{
    (void)state;
    add("before", "return 100");
    add("loop", "while progress.eligible == 7 do end return 1"); // not in the start call
    add("after", "return 300");
    struct ceiling_call *call = ask_all(&some);
    assert_ms(call, 0, 100, 0);
    assert_int_equal(call->asks[1].verdict, SCRIPT_TIMEOUT);
    assert_ms(call, 2, 300, 0);
    script_call_destroy(&call->call);
}

static void one_that_is_stuck_in_c_is_quarantined_and_the_others_are_asked(void **state)
{
    (void)state;
    if (has_late_signals()) {
        skip();
    }
    add("before", "return 100");
    add("bomb", "if progress.eligible == 7 then stick(700) end return 1");
    add("after", "return 300");
    struct ceiling_call *call = ask_all(&some);
    assert_ms(call, 0, 100, 0);
    assert_int_equal(call->asks[1].verdict, SCRIPT_TIMEOUT);
    assert_ms(call, 2, 300, 0);
    assert_true(script_set_is_quarantined(world.set, (struct script_id){ .index = 1 }));
    script_call_destroy(&call->call);
}

static void a_call_that_is_late_is_dropped(void **state)
{
    (void)state;
    add("a", "return 100");
    support_load(&world);
    start_pool(1);
    struct block *facts = facts_of("shoe");
    struct ceiling_call *call = make_call(facts);
    block_release(&facts);
    call->call.deadline_us = 1;
    support_run(&pool, &call->call);
    assert_int_equal(call->asks[0].verdict, SCRIPT_DROPPED);
    script_call_destroy(&call->call);
}

/// Asks the first supplier about a progress that somebody has written.
static struct ask_call *ask_written(struct block *facts, const char *progress)
{
    struct block *input = block_create(text_of(progress));
    struct ask_call *call = ask_call_create(ASK_CEILING, facts, input, NULL);
    assert_non_null(call);
    block_release(&input);
    call->call.set = world.set;
    call->account = &world.accounts[0];
    call->call.deadline_us = clock_now_us() + 60000000;
    support_run(&pool, &call->call);
    return call;
}

static void a_progress_may_be_written_by_the_names_that_scripts_see(void **state)
{
    (void)state;
    static const struct {
        const char *progress, *error;
    } rows[] = {
        { "{\"latency\":{\"p51\":3}}", "progress.latency has no field \"p51\": it has samples, p50, p75, p95, p99" },
        { "{\"latency\":400}", "progress.latency: an object such as" },
        { "{\"win_rate\":2}", "progress.win_rate: a number from 0 to 1 is expected" },
        { "{\"ofers\":3}", "progress has no field \"ofers\": did you mean \"offers\"?" },
        { "{\"offers\":\"3\"}", "progress.offers: a number from 0 on is expected" },
        { "{\"cheapest\":3}", "progress.cheapest: a text such as" },
        { "{\"cheapest\":\"3,5\"}", "progress.cheapest: " },
    };
    add("a", "if progress.latency then return progress.latency.p50 + progress.latency.samples + "
             "1000 * (progress.win_rate + progress.chance(1)) + progress.worth_waiting{ delay_cost = 1 } end "
             "return progress.cheapest == '12.50' and progress.offers + progress.elapsed_ms or 1");
    support_load(&world);
    start_pool(1);
    struct block *facts = facts_of("shoe");
    struct ask_call *call = ask_written(facts, "{\"offers\":12,\"cheapest\":\"12.50\",\"elapsed_ms\":250}");
    assert_verdict(call->verdict, SCRIPT_OK, "ask", text_of(call->message));
    assert_int_equal(call->ceiling_us, 262000);
    script_call_destroy(&call->call);
    call = ask_written(facts, "{\"latency\":{\"p50\":400,\"samples\":30},\"win_rate\":0.5,\"chance\":0.25,"
                              "\"worth_waiting\":90}");
    assert_verdict(call->verdict, SCRIPT_OK, "ask", text_of(call->message));
    assert_int_equal(call->ceiling_us, (400 + 30 + 500 + 250 + 90) * 1000);
    script_call_destroy(&call->call);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        call = ask_written(facts, rows[i].progress);
        if (call->verdict != SCRIPT_ERROR || strstr(call->message, rows[i].error) == NULL) {
            fail_msg("%s: %s", rows[i].progress, call->message);
        }
        script_call_destroy(&call->call);
    }
    block_release(&facts);
}

static void only_what_differs_has_changed_and_time_always_has(void **state)
{
    (void)state;
    struct search_progress now = some;
    assert_int_equal(search_progress_changes(&some, &now), PROGRESS_TIME);
    now.offers = 13;
    assert_int_equal(search_progress_changes(&some, &now), PROGRESS_TIME | PROGRESS_OFFERS);
    now.answered = 4;
    now.eligible = 6;
    now.cheapest_micros = 1;
    assert_int_equal(search_progress_changes(&some, &now),
                     PROGRESS_TIME | PROGRESS_OFFERS | PROGRESS_ANSWERED | PROGRESS_ELIGIBLE | PROGRESS_CHEAPEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_ceiling_is_told_the_progress_and_what_it_reads_is_noted, open_all, close_all),
        cmocka_unit_test_setup_teardown(what_is_known_of_the_supplier_is_told_and_evaluated, open_all, close_all),
        cmocka_unit_test_setup_teardown(nothing_has_arrived_is_no_price, open_all, close_all),
        cmocka_unit_test_setup_teardown(what_a_ceiling_may_not_do_is_an_error_that_says_so, open_all, close_all),
        cmocka_unit_test_setup_teardown(other_functions_of_the_same_script_are_not_bound_by_it, open_all, close_all),
        cmocka_unit_test_setup_teardown(one_that_runs_wild_costs_the_others_nothing, open_all, close_all),
        cmocka_unit_test_setup_teardown(one_that_is_stuck_in_c_is_quarantined_and_the_others_are_asked, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(a_call_that_is_late_is_dropped, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_progress_may_be_written_by_the_names_that_scripts_see, open_all, close_all),
        cmocka_unit_test(only_what_differs_has_changed_and_time_always_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
