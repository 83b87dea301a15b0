// Shares of the processor by arithmetic alone, and the order in which waiting calls get their turn.

#include "script/call_lanes.h"
#include "unit/script_pool_stage.h"

#define SECOND UINT64_C(1000000)
#define NOBODY ((struct text){ NULL, 0 })

static void the_window_forgets_what_is_ten_seconds_old(void **state)
{
    static const struct {
        uint64_t now_s, sum_us;
    } table[] = { { 100, 30 }, { 101, 30 }, { 109, 30 }, { 110, 20 }, { 111, 20 }, { 112, 0 }, { 1000, 0 } };
    struct cpu_window window = { .newest_s = 0 };

    (void)state;
    cpu_window_add(&window, 100 * SECOND, 10);
    cpu_window_add(&window, 102 * SECOND, 15);
    cpu_window_add(&window, 102 * SECOND + 999999, 5);
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        assert_int_equal(cpu_window_sum(&window, table[i].now_s * SECOND), table[i].sum_us);
    }
    cpu_window_add(&window, 112 * SECOND, 7); // in the slot that 102 had
    assert_int_equal(cpu_window_sum(&window, 112 * SECOND), 7);
    cpu_window_add(&window, 111 * SECOND, 1); // two threads read the clock in another order than they come
    assert_int_equal(cpu_window_sum(&window, 112 * SECOND), 8);
}

struct share_case {
    const char *about;
    uint32_t threads;
    uint64_t hog_ms, other_ms, nobody_ms;
    uint64_t later_s; // when it is asked
    bool is_over;
};

static void a_supplier_is_over_its_share_past_a_quarter_of_what_all_used(void **state)
{
    static const struct share_case table[] = {
        { "nothing was used", 1, 0, 0, 0, 0, false },
        { "alone, but the thread is mostly idle", 1, 600, 0, 0, 0, false },
        { "alone, and more than a quarter of a quarter of the thread", 1, 626, 0, 0, 0, true },
        { "the same on four threads", 4, 626, 0, 0, 0, false },
        { "a quarter exactly", 1, 2000, 6000, 0, 0, false },
        { "a little more than a quarter", 1, 2001, 6000, 0, 0, true },
        { "products count as a part of the whole", 1, 2001, 3000, 3003, 0, false },
        { "ten seconds later all is forgiven", 1, 9000, 100, 0, 10, false },
        { "nine seconds later it is not", 1, 9000, 100, 0, 9, true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const struct share_case *it = &table[i];
        struct cpu_share share;
        cpu_share_init(&share, it->threads);
        cpu_share_charge(&share, TEXT("hog"), it->hog_ms * 1000, 50 * SECOND);
        cpu_share_charge(&share, TEXT("other"), it->other_ms * 1000, 50 * SECOND);
        cpu_share_charge(&share, NOBODY, it->nobody_ms * 1000, 50 * SECOND);
        if (cpu_share_is_over(&share, TEXT("hog"), (50 + it->later_s) * SECOND) != it->is_over) {
            fail_msg("%s", it->about);
        }
        assert_false(cpu_share_is_over(&share, TEXT("stranger"), 50 * SECOND));
        assert_int_equal(cpu_share_usage(&share, TEXT("hog")).cpu_us, it->hog_ms * 1000);
        assert_int_equal(cpu_share_usage(&share, TEXT("stranger")).cpu_us, 0);
        cpu_share_fini(&share);
    }
}

static void accounts_of_many_suppliers_are_told_apart(void **state)
{
    struct cpu_share share;
    char name[32];

    (void)state;
    cpu_share_init(&share, 1);
    for (uint64_t i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "supplier_%d", (int)(i % 500));
        cpu_share_charge(&share, text_of(name), i, SECOND);
        cpu_share_note_put_back(&share, text_of(name));
    }
    for (uint64_t i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "supplier_%d", (int)i);
        struct cpu_usage usage = cpu_share_usage(&share, text_of(name));
        assert_int_equal(usage.cpu_us, 2 * i + 500);
        assert_int_equal(usage.put_back, 2);
    }
    cpu_share_fini(&share);
}

// ---- turns

enum { HOG, HEALTHY, SUPPLIERS };

static struct call_lanes lanes;
static struct block *facts;

static int open_lanes(void **state)
{
    (void)state;
    support_open(&world);
    support_add(&world, "hog", SUPPORT_DATA "/suppliers/good.lua");
    support_add(&world, "healthy", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    call_lanes_init(&lanes, 1);
    facts = block_create(TEXT("{}"));
    return 0;
}

static int close_lanes(void **state)
{
    (void)state;
    call_lanes_fini(&lanes);
    block_release(&facts);
    support_close(&world);
    return 0;
}

/// A call of the supplier that is due by the second; its part number tells it apart.
static void put_normalise(size_t supplier, uint64_t deadline_s, uint32_t number)
{
    struct normalise_call *call = support_normalise(&world, supplier, facts, 200, "{}");
    call->call.deadline_us = deadline_s * SECOND;
    call->part = number;
    assert_int_equal(call_lanes_put(&lanes, &call->call), STATUS_OK);
}

static void charge(size_t supplier, uint64_t cpu_us, uint64_t now_us)
{
    struct normalise_call *call = support_normalise(&world, supplier, facts, 200, "{}");
    call_lanes_charge(&lanes, &call->call, cpu_us, now_us);
    script_call_destroy(&call->call);
}

static uint32_t take(uint64_t now_us)
{
    struct script_call *call = call_lanes_take(&lanes, now_us);
    if (call == NULL) {
        return 0;
    }
    uint32_t number = call->kind == SCRIPT_CALL_START ? 1000 : CONTAINER_OF(call, struct normalise_call, call)->part;
    script_call_destroy(call);
    return number;
}

static void who_is_over_its_share_comes_last_and_is_counted(void **state)
{
    (void)state;
    charge(HOG, 8 * SECOND, 50 * SECOND);
    charge(HEALTHY, SECOND / 10, 50 * SECOND);
    put_normalise(HOG, 60, 1);
    put_normalise(HOG, 61, 2);
    put_normalise(HEALTHY, 70, 3);
    put_normalise(HEALTHY, 71, 4);
    struct start_call *start = support_start(&world, "chair");
    start->call.deadline_us = 80 * SECOND;
    assert_int_equal(call_lanes_put(&lanes, &start->call), STATUS_OK);
    assert_int_equal(call_lanes_count(&lanes), 5);

    static const uint32_t expected[] = { 1000, 3, 4, 1, 2, 0 };
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(take(51 * SECOND), expected[i]);
    }
    assert_int_equal(cpu_share_usage(&lanes.share, TEXT("hog")).put_back, 2);
    assert_int_equal(cpu_share_usage(&lanes.share, TEXT("healthy")).put_back, 0);
}

static void with_nobody_else_waiting_the_share_bites_nobody(void **state)
{
    (void)state;
    charge(HOG, 8 * SECOND, 50 * SECOND);
    put_normalise(HOG, 60, 1);
    assert_int_equal(take(51 * SECOND), 1);
    assert_int_equal(cpu_share_usage(&lanes.share, TEXT("hog")).put_back, 0);
}

static void within_its_share_a_call_keeps_its_turn(void **state)
{
    (void)state;
    charge(HOG, SECOND, 50 * SECOND);
    charge(HEALTHY, 4 * SECOND, 50 * SECOND);
    put_normalise(HOG, 60, 1);
    put_normalise(HEALTHY, 61, 2);
    put_normalise(HOG, 62, 3);
    assert_int_equal(take(51 * SECOND), 1);
    assert_int_equal(take(51 * SECOND), 3); // the healthy one uses more than a quarter here
    assert_int_equal(take(51 * SECOND), 2);
}

static void what_waits_past_its_deadline_is_given_back_before_all_others(void **state)
{
    (void)state;
    charge(HOG, 8 * SECOND, 50 * SECOND);
    put_normalise(HOG, 60, 1);
    put_normalise(HEALTHY, 70, 2);
    put_normalise(HEALTHY, 71, 3);
    assert_int_equal(take(51 * SECOND), 2); // the hog's call moved to the last lane
    assert_int_equal(take(60 * SECOND), 1);
    assert_int_equal(take(60 * SECOND), 3);
    assert_int_equal(take(60 * SECOND), 0);
}

static void a_start_call_charges_each_candidate_with_its_own(void **state)
{
    (void)state;
    struct start_call *start = support_start(&world, "chair");
    start->candidates[HOG].script_cpu_us = 4000;
    start->candidates[HEALTHY].script_cpu_us = 100;
    call_lanes_charge(&lanes, &start->call, 5000, SECOND);
    assert_int_equal(cpu_share_usage(&lanes.share, TEXT("hog")).cpu_us, 4000);
    assert_int_equal(cpu_share_usage(&lanes.share, TEXT("healthy")).cpu_us, 100);
    assert_int_equal(cpu_window_sum(&lanes.share.all, SECOND), 5000);
    script_call_destroy(&start->call);
}

// ---- with real threads

/// Some ten milliseconds of work a call.
static const char hog_source[] =
    "return { name = \"hog\", product = \"shop\", owner = \"o\", hosts = { \"a.example\" },\n"
    "build_request = function() return { url = \"http://a.example/\" } end,\n"
    "normalise = function()\n"
    "  local sum = 0\n"
    "  for i = 1, 2e6 do sum = (sum + i) % 1000 end\n"
    "  return {}\n"
    "end }\n";

static void submit_normalise(size_t supplier, struct normalise_call **call)
{
    *call = support_normalise(&world, supplier, facts, 200, "{\"things\":[{\"id\":\"a\",\"total\":\"1.00\"}]}");
    // The hog's are the more urgent ones: by deadlines alone they would all come first.
    (*call)->call.deadline_us -= supplier == HOG ? SECOND : 0;
    support_submit(&pool, &(*call)->call);
}

static int open_pool(void **state)
{
    (void)state;
    support_open(&world);
    support_add_source(&world, "hog", hog_source);
    support_add(&world, "healthy", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    support_pool_open(&pool, (struct worker_pool_options){
                                 .threads = 1, .build_limit_us = SECOND, .normalise_limit_us = 30 * SECOND });
    facts = facts_of("chair");
    return 0;
}

static int close_pool(void **state)
{
    block_release(&facts);
    return close_all(state);
}

/// Runs the hog until it has used so much, however fast the machine is.
static void feed_the_hog(uint64_t cpu_us)
{
    while (worker_pool_usage(pool.pool, TEXT("hog")).cpu_us < cpu_us) {
        struct normalise_call *call;
        submit_normalise(HOG, &call);
        assert_ptr_equal(support_await(&pool), &call->call);
        script_call_destroy(&call->call);
    }
}

enum { ROUND_CALLS = 20, ROUNDS = 5 };

struct round {
    struct normalise_call *hog[ROUND_CALLS];
    struct normalise_call *healthy[ROUND_CALLS];
};

static void round_play(struct round *round)
{
    for (size_t i = 0; i < ROUND_CALLS; i++) {
        submit_normalise(HOG, &round->hog[i]);
        submit_normalise(HEALTHY, &round->healthy[i]);
    }
    for (size_t i = 0; i < 2 * ROUND_CALLS; i++) {
        (void)support_await(&pool);
    }
}

static void round_check(const struct round *round)
{
    uint64_t last_queued_us = round->healthy[ROUND_CALLS - 1]->call.queued_us;
    uint64_t last_done_us = 0;

    for (size_t i = 0; i < ROUND_CALLS; i++) {
        uint64_t done_us = round->healthy[i]->call.done_us;
        last_done_us = done_us > last_done_us ? done_us : last_done_us;
    }
    for (size_t i = 0; i < ROUND_CALLS; i++) {
        // What began before all had come is nobody's fault; from then on the healthy are first.
        uint64_t begun_us = round->hog[i]->call.begun_us;
        assert_true(begun_us <= last_queued_us || begun_us >= last_done_us);
    }
    assert_true(worker_pool_usage(pool.pool, TEXT("hog")).put_back > 0);
}

static void round_end(struct round *round)
{
    for (size_t i = 0; i < ROUND_CALLS; i++) {
        assert_verdict(round->healthy[i]->verdict, SCRIPT_OK, "healthy", text_of(round->healthy[i]->message));
        assert_verdict(round->hog[i]->verdict, SCRIPT_EMPTY, "hog", text_of(round->hog[i]->message));
        script_call_destroy(&round->hog[i]->call);
        script_call_destroy(&round->healthy[i]->call);
    }
}

static void the_healthy_pass_one_that_takes_too_much(void **state)
{
    bool was_shown = false;

    (void)state;
    for (size_t i = 0; i < ROUNDS && !was_shown; i++) {
        struct round round;
        uint64_t begun_us = clock_now_us();
        feed_the_hog(SECOND + worker_pool_usage(pool.pool, TEXT("hog")).cpu_us);
        round_play(&round);
        // A machine that gives us next to nothing forgets what the hog used before the round is over.
        was_shown = clock_now_us() - begun_us < (CPU_SHARE_SECONDS - 1) * SECOND;
        if (was_shown) {
            round_check(&round);
        }
        round_end(&round);
    }
    assert_int_equal(worker_pool_usage(pool.pool, TEXT("healthy")).put_back, 0);
    assert_int_equal(support_counts(&pool).dropped, 0);
    if (!was_shown) {
        printf("SKIPPED: the machine is too busy to use up a share\n");
        skip();
    }
}

static void names_that_come_and_go_take_no_more_room(void **state)
{
    struct cpu_share share;
    char name[32];
    (void)state;

    cpu_share_init(&share, 1);
    for (uint64_t i = 0; i < 20 * CPU_SHARE_NAMES; i++) {
        uint64_t now_us = (100 + i / 100) * SECOND; // 1,000 of them within 10 s
        snprintf(name, sizeof(name), "s%llu", (unsigned long long)i);
        cpu_share_charge(&share, text_of(name), 10, now_us);
        cpu_share_charge(&share, TEXT("steady"), 10, now_us);
        assert_in_range(share.by_name.count, 1, 3 * CPU_SHARE_NAMES);
    }
    assert_int_equal(cpu_share_usage(&share, text_of(name)).cpu_us, 10);
    assert_int_equal(cpu_share_usage(&share, TEXT("steady")).cpu_us, 20 * CPU_SHARE_NAMES * 10);
    assert_int_equal(cpu_share_usage(&share, TEXT("s0")).cpu_us, 0); // forgotten
    cpu_share_fini(&share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_window_forgets_what_is_ten_seconds_old),
        cmocka_unit_test(a_supplier_is_over_its_share_past_a_quarter_of_what_all_used),
        cmocka_unit_test(accounts_of_many_suppliers_are_told_apart),
        cmocka_unit_test_setup_teardown(who_is_over_its_share_comes_last_and_is_counted, open_lanes, close_lanes),
        cmocka_unit_test_setup_teardown(with_nobody_else_waiting_the_share_bites_nobody, open_lanes, close_lanes),
        cmocka_unit_test_setup_teardown(within_its_share_a_call_keeps_its_turn, open_lanes, close_lanes),
        cmocka_unit_test_setup_teardown(what_waits_past_its_deadline_is_given_back_before_all_others, open_lanes,
                                        close_lanes),
        cmocka_unit_test_setup_teardown(a_start_call_charges_each_candidate_with_its_own, open_lanes, close_lanes),
        cmocka_unit_test_setup_teardown(the_healthy_pass_one_that_takes_too_much, open_pool, close_pool),
        cmocka_unit_test(names_that_come_and_go_take_no_more_room),
    };
    return cmocka_run_group_tests_name("script_cpu_share", tests, NULL, NULL);
}
