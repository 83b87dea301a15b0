#include "policy/health.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)

static const struct breaker_settings ON = { .is_on = true, .window_s = 10, .min_calls = 20, .failure_share = 0.35 };
static const struct breaker_settings OFF = { .is_on = false, .window_s = 10, .min_calls = 20, .failure_share = 0.35 };
static const uint64_t START = 100000 * SECOND;
static struct health health;
static uint64_t now;

static int begin(void **state)
{
    (void)state;
    now = START;
    health_init(&health, ON, now);
    return 0;
}

// Each begun 100 ms after the one before; false: it was refused.
static bool call(enum health_end end, uint64_t took_us, uint64_t pending_us)
{
    struct health_result result = { .end = end, .took_us = took_us, .pending_us = pending_us, .value = 1 };

    now += 100 * MS;
    if (health_ask(&health, 0, now, &result.pass) == BREAKER_REFUSE) {
        return false;
    }
    (void)health_tell(&health, NULL, &result, 0, now);
    return true;
}

static uint32_t calls(uint32_t count, enum health_end end, uint64_t took_us, uint64_t pending_us)
{
    uint32_t done = 0;

    while (done < count && health.breaker.state == BREAKER_CLOSED && call(end, took_us, pending_us)) {
        done++;
    }
    return done;
}

static void a_healthy_supplier_that_is_cut_a_thousand_times_never_opens(void **state)
{
    (void)state;

    // By a budget of 300 ms, though it takes 500; before anything was known of it, and after.
    assert_int_equal(calls(1000, HEALTH_CUT, 300 * MS, 300 * MS), 1000);
    assert_int_equal(calls(200, HEALTH_GOOD, 500 * MS, 0), 200);
    assert_int_equal(calls(1000, HEALTH_CUT, 300 * MS, 300 * MS), 1000);
    assert_int_equal(calls(1000, HEALTH_CUT, 1900 * MS, 0), 1000); // waiting for us, not for the network
    assert_int_equal(calls(1000, HEALTH_OURS, 10 * MS, 0), 1000);
}

// One of four answers within the budget of 200 ms, the others are cut by it: what they take is not known.
static void nor_when_few_of_its_answers_come_within_the_budget(void **state)
{
    (void)state;

    for (uint32_t i = 0; i < 1000; i++) {
        bool is_here = i % 4 == 0;
        assert_true(
            call(is_here ? HEALTH_GOOD : HEALTH_CUT, (is_here ? 150 + i % 40 : 200) * MS, is_here ? 0 : 199 * MS));
        assert_int_equal(health.breaker.state, BREAKER_CLOSED);
    }
}

static void one_that_hangs_opens_though_every_cut_was_the_budgets(void **state)
{
    (void)state;

    assert_int_equal(calls(200, HEALTH_GOOD, 500 * MS, 0), 200);
    uint32_t hung = calls(1000, HEALTH_CUT, 1990 * MS, 1980 * MS);
    assert_true(hung < 300);
    assert_int_equal(health.breaker.state, BREAKER_OPEN);
}

// Nine of ten answers come by 370 ms, and what does not is cut at 400 by the ceiling that was read from them. Then it
// is slow for a while: all are cut.
static void what_its_built_in_ceiling_cut_is_not_slow_by_what_that_ceiling_left(void **state)
{
    (void)state;
    static const struct {
        bool by_built_in, is_followed, opens;
    } rows[] = {
        { true, false, false }, // nobody knows how long those take that we cut
        { false, false, true }, // by somebody else's bound it is slow
        { true, true, true },   // of enough it is known that they do not come
    };

    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        (void)begin(state);
        for (uint32_t i = 0; i < 1300; i++) {
            bool is_here = i < 1000 && i % 10 != 0;
            uint64_t cut_us = rows[r].is_followed && i < 1000 ? 6 * SECOND : 400 * MS;
            struct health_result result = { .end = is_here ? HEALTH_GOOD : HEALTH_CUT,
                                            .took_us = is_here ? (200 + i % 170) * MS : cut_us,
                                            .pending_us = is_here ? 0 : cut_us,
                                            .by_built_in = rows[r].by_built_in,
                                            .value = 1 };
            now += 100 * MS;
            if (health_ask(&health, 0, now, &result.pass) != BREAKER_PASS) {
                break;
            }
            (void)health_tell(&health, NULL, &result, 0, now);
        }
        assert_int_equal(health.breaker.state, rows[r].opens ? BREAKER_OPEN : BREAKER_CLOSED);
    }
}

static void while_its_day_is_not_known_slow_is_five_seconds(void **state)
{
    (void)state;

    assert_int_equal(calls(1000, HEALTH_CUT, 4990 * MS, 4990 * MS), 1000);
    assert_true(calls(1000, HEALTH_CUT, 5100 * MS, 5100 * MS) < 1000);
}

static void failures_open_it_and_teach_the_curve(void **state)
{
    (void)state;
    struct breaker_pass pass;

    assert_int_equal(calls(100, HEALTH_UNREACHABLE, 3 * MS, 0), 5);
    assert_int_equal(health_ask(&health, 0, now, &pass), BREAKER_REFUSE);
    (void)begin(state);
    assert_int_equal(calls(100, HEALTH_BAD, 3 * MS, 0), 5);
    (void)begin(state);
    assert_int_equal(calls(300, HEALTH_GOOD, 200 * MS, 0), 300);
    assert_true(health.curve.samples > 100);
    assert_true(latency_delivered(&health.curve, 300 * MS) > 0.95);
    assert_true(health.slow_us >= 200 * MS && health.slow_us < 210 * MS);
}

static void results_from_before_the_trip_teach_the_curve_and_not_the_breaker(void **state)
{
    (void)state;
    struct health_result old = { .end = HEALTH_GOOD, .took_us = 200 * MS, .value = 1 };

    assert_int_equal(health_ask(&health, 0, now, &old.pass), BREAKER_PASS);
    (void)calls(100, HEALTH_UNREACHABLE, 3 * MS, 0);
    uint32_t unfitted = health.latency.unfitted;
    assert_false(health_tell(&health, NULL, &old, 0, now));
    assert_int_equal(health.breaker.state, BREAKER_OPEN);
    assert_int_equal(health.latency.unfitted, unfitted + 1);
}

// A refusal, or a body that our script cannot read: no fault in its health, and it is up again.
static void a_probe_that_is_answered_is_good_whatever_the_answer_says(void **state)
{
    (void)state;
    struct health_result result = { .end = HEALTH_OURS, .took_us = 50 * MS, .has_answered = true };

    (void)calls(100, HEALTH_UNREACHABLE, 3 * MS, 0);
    now += 10 * SECOND;
    for (uint32_t i = 0; i < BREAKER_GOOD_PROBES; i++) {
        assert_int_equal(health_ask(&health, 0, now, &result.pass), BREAKER_PROBE);
        (void)health_tell(&health, NULL, &result, 0, now);
    }
    assert_int_equal(health.breaker.state, BREAKER_RAMP);
    result = (struct health_result){ .end = HEALTH_OURS };
    (void)begin(state);
    (void)calls(100, HEALTH_UNREACHABLE, 3 * MS, 0);
    now += 10 * SECOND;
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(health_ask(&health, 0, now, &result.pass), BREAKER_PROBE);
        (void)health_tell(&health, NULL, &result, 0, now);
    }
    assert_int_equal(health.breaker.state, BREAKER_HALF_OPEN); // never sent: nobody knows
}

static void where_breakers_are_off_everybody_is_asked_and_all_is_learned(void **state)
{
    (void)state;

    health_set(&health, OFF, now);
    assert_int_equal(calls(1000, HEALTH_UNREACHABLE, 3 * MS, 0), 1000);
    assert_true(health.curve.samples > 500);
    health_set(&health, ON, now);
    assert_int_equal(calls(1000, HEALTH_UNREACHABLE, 3 * MS, 0), 5);
    health_set(&health, OFF, now);
    assert_int_equal(health.breaker.state, BREAKER_CLOSED);
    assert_int_equal(calls(10, HEALTH_UNREACHABLE, 3 * MS, 0), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_healthy_supplier_that_is_cut_a_thousand_times_never_opens, begin),
        cmocka_unit_test_setup(nor_when_few_of_its_answers_come_within_the_budget, begin),
        cmocka_unit_test_setup(one_that_hangs_opens_though_every_cut_was_the_budgets, begin),
        cmocka_unit_test_setup(what_its_built_in_ceiling_cut_is_not_slow_by_what_that_ceiling_left, begin),
        cmocka_unit_test_setup(while_its_day_is_not_known_slow_is_five_seconds, begin),
        cmocka_unit_test_setup(failures_open_it_and_teach_the_curve, begin),
        cmocka_unit_test_setup(results_from_before_the_trip_teach_the_curve_and_not_the_breaker, begin),
        cmocka_unit_test_setup(a_probe_that_is_answered_is_good_whatever_the_answer_says, begin),
        cmocka_unit_test_setup(where_breakers_are_off_everybody_is_asked_and_all_is_learned, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
