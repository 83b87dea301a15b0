#include "policy/latency.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)

static struct latency latency;
static struct latency_curve curve;
static const uint64_t START = 1000 * HOUR;

static void assert_near(double expected, double actual, double within)
{
    if (fabs(expected - actual) > within) {
        fail_msg("expected %f, got %f", expected, actual);
    }
}

static void nobody_knows_anything_of_a_new_supplier(void **state)
{
    (void)state;
    uint64_t us;

    latency_init(&latency);
    assert_false(latency_wants_fit(&latency, START));
    assert_false(latency_fit(&latency, START, &curve));
    assert_near(1, latency_unresolved(&curve, 60 * SECOND), 0);
    assert_near(0, latency_delivered(&curve, 60 * SECOND), 0);
    assert_near(0, latency_chance(&curve, 0, 60 * SECOND), 0);
    assert_false(latency_quantile(&curve, 0.05, &us));
    latency_curve_init(&curve);
    assert_near(1, latency_unresolved(&curve, 60 * SECOND), 0);
}

static void buckets_are_two_percent_wide_and_begin_where_they_say(void **state)
{
    (void)state;

    assert_int_equal(latency_bucket(0), 0);
    assert_int_equal(latency_bucket(999), 0);
    assert_int_equal(latency_bucket(60 * SECOND), LATENCY_BUCKETS - 1);
    assert_int_equal(latency_bucket(UINT64_MAX), LATENCY_BUCKETS);
    for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
        uint64_t begin = latency_bucket_us(i);
        assert_int_equal(latency_bucket(begin), i);
        assert_true(i == 0 || latency_bucket(begin - 1) == i - 1);
        assert_near(1.02, (double)latency_bucket_us(i + 1) / (double)begin, 0.002);
    }
}

// The case by hand: five arrive at 100 ms, two fail at 200, two were cut at 300, one arrives at 400 ms.
static void the_reading_is_that_of_aalen_and_johansen(void **state)
{
    (void)state;

    latency_init(&latency);
    for (int i = 0; i < 5; i++) {
        latency_arrived(&latency, 100 * MS, 1, START);
    }
    latency_failed(&latency, 200 * MS, START);
    latency_failed(&latency, 200 * MS, START);
    latency_censored(&latency, 300 * MS, START);
    latency_censored(&latency, 300 * MS, START);
    latency_arrived(&latency, 400 * MS, 1, START);
    (void)latency_fit(&latency, START, &curve);
    assert_near(1, latency_unresolved(&curve, 90 * MS), 1e-6);
    assert_near(0.5, latency_unresolved(&curve, 150 * MS), 1e-6);
    assert_near(0.5, latency_delivered(&curve, 150 * MS), 1e-6);
    assert_near(0.5 * (1 - 2.0 / 5), latency_unresolved(&curve, 250 * MS), 1e-6);
    assert_near(0.3, latency_unresolved(&curve, 350 * MS), 1e-6); // who was cut is as likely to arrive as the others
    assert_near(0, latency_unresolved(&curve, 500 * MS), 1e-6);
    assert_near(0.8, latency_delivered(&curve, 500 * MS), 1e-6); // two of ten failed
    assert_near(0.3 / 0.5, latency_chance(&curve, 150 * MS, 500 * MS), 1e-6);
    assert_near(0, latency_chance(&curve, 500 * MS, 600 * MS), 1e-6);
}

static void a_quantile_that_was_never_seen_is_none(void **state)
{
    (void)state;
    uint64_t us = 0;

    latency_init(&latency);
    for (int i = 0; i < 30; i++) {
        latency_arrived(&latency, 200 * MS, 1, START);
        latency_censored(&latency, 900 * MS, START);
    }
    (void)latency_fit(&latency, START, &curve);
    assert_true(latency_quantile(&curve, 0.05, &us));
    assert_near(200e3, (double)us, 8e3);
    assert_true(latency_quantile(&curve, 0.5, &us));
    assert_false(latency_quantile(&curve, 0.51, &us));
}

// Timeouts that are read as answers ratchet themselves down. Half of the calls take 800 ms; they are cut at 500 ms, but
// for one in ten that may go on.
static void cuts_do_not_make_a_supplier_look_quick(void **state)
{
    (void)state;
    uint64_t us = 0;

    latency_init(&latency);
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t now = START + i * 100 * MS;
        if (i % 2 == 0) {
            latency_arrived(&latency, 300 * MS, 1, now);
        } else if (i % 20 == 1) {
            latency_arrived(&latency, 800 * MS, 1, now);
        } else {
            latency_censored(&latency, 500 * MS, now);
        }
    }
    (void)latency_fit(&latency, START + 40 * SECOND, &curve);
    assert_near(0.5, latency_delivered(&curve, 500 * MS), 0.02);
    assert_near(1, latency_delivered(&curve, 900 * MS), 0.02);
    assert_true(latency_quantile(&curve, 0.95, &us));
    assert_near(800e3, (double)us, 20e3);
}

static void inside_a_bucket_the_curve_goes_straight(void **state)
{
    (void)state;
    static struct latency latency;
    static struct latency_curve curve;
    uint32_t bucket = latency_bucket(1980 * MS);
    uint64_t begin = latency_bucket_us(bucket), end = latency_bucket_us(bucket + 1);

    latency_init(&latency);
    for (uint32_t i = 0; i < 100; i++) {
        latency_arrived(&latency, i < 50 ? 1000 * MS : 1980 * MS, 1, 1);
    }
    (void)latency_fit(&latency, 1, &curve);
    assert_near(0.5, latency_delivered(&curve, begin), 0.001);
    assert_near(0.75, latency_delivered(&curve, (begin + end) / 2), 0.005);
    assert_near(0.25, latency_unresolved(&curve, (begin + end) / 2), 0.005);
    assert_near(1, latency_delivered(&curve, end), 0.001);
    assert_near(0.5, latency_chance(&curve, begin, (begin + end) / 2), 0.01);
    assert_near(1, latency_chance(&curve, (begin + end) / 2, end), 0.01);
    assert_near(0, latency_chance(&curve, end, begin), 0);
}

static void attempts_that_we_cut_are_not_followed_behind_it(void **state)
{
    (void)state;
    static struct latency latency;
    static struct latency_curve curve;

    latency_init(&latency);
    for (uint32_t i = 0; i < 100; i++) {
        if (i < 60) {
            latency_arrived(&latency, 100 * MS, 1, 1);
        } else {
            latency_censored(&latency, i < 90 ? 500 * MS : 5000 * MS, 1);
        }
    }
    (void)latency_fit(&latency, 1, &curve);
    assert_near(100, (double)curve.followed[0], 0.01);
    assert_near(40, (double)curve.followed[latency_bucket(400 * MS)], 0.01);
    assert_near(10, (double)curve.followed[latency_bucket(600 * MS)], 0.01);
    assert_near(0, (double)curve.followed[latency_bucket(6000 * MS)], 0.01);
    assert_near(0, (double)curve.followed[LATENCY_BUCKETS], 0);
}

static void answers_weigh_what_they_are_worth(void **state)
{
    (void)state;

    latency_init(&latency);
    for (int i = 0; i < 50; i++) {
        latency_arrived(&latency, 100 * MS, 1, START);
        latency_arrived(&latency, 1000 * MS, 9, START);
    }
    (void)latency_fit(&latency, START, &curve);
    assert_near(0.1, latency_delivered(&curve, 500 * MS), 1e-3);
    assert_near(0.5, latency_unresolved(&curve, 500 * MS), 1e-3);
    assert_near(1, latency_delivered(&curve, 2 * SECOND), 1e-3);

    latency_init(&latency); // worth nothing, all of them: then they count alike
    latency_arrived(&latency, 100 * MS, 0, START);
    latency_arrived(&latency, 200 * MS, -5, START);
    (void)latency_fit(&latency, START, &curve);
    assert_near(0.5, latency_delivered(&curve, 150 * MS), 1e-3);
}

static void few_samples_lean_on_the_day(void **state)
{
    (void)state;

    latency_init(&latency);
    for (uint64_t i = 0; i < 1000; i++) {
        latency_arrived(&latency, 200 * MS, 1, START + i * SECOND);
    }
    uint64_t later = START + 6 * HOUR; // the minutes have forgotten, the day has not
    for (int i = 0; i < 5; i++) {
        latency_arrived(&latency, 1000 * MS, 1, later);
    }
    (void)latency_fit(&latency, later, &curve);
    assert_near(5, curve.samples, 0.1);
    assert_true(curve.day_samples > 800);
    assert_near(20.0 / 25, latency_delivered(&curve, 500 * MS), 0.01);
    for (int i = 0; i < 400; i++) { // many speak for themselves
        latency_arrived(&latency, 1000 * MS, 1, later);
    }
    (void)latency_fit(&latency, later, &curve);
    assert_true(latency_delivered(&curve, 500 * MS) < 0.05);
}

static void what_is_old_is_forgotten(void **state)
{
    (void)state;

    latency_init(&latency);
    for (int i = 0; i < 64; i++) {
        latency_arrived(&latency, 200 * MS, 1, START);
    }
    (void)latency_fit(&latency, START + 300 * SECOND, &curve);
    assert_near(32, curve.samples, 0.1);
    (void)latency_fit(&latency, START + 600 * SECOND, &curve);
    assert_near(16, curve.samples, 0.1);
    latency_arrived(&latency, 200 * MS, 1, START + 100 * HOUR); // scaled back on the way
    (void)latency_fit(&latency, START + 100 * HOUR, &curve);
    assert_near(1, curve.samples, 0.01);
    latency_arrived(&latency, 200 * MS, 1, START); // time that goes back stands still
    (void)latency_fit(&latency, START + 100 * HOUR, &curve);
    assert_near(2, curve.samples, 0.01);
}

// Ten calls a second, 200 ms each with some spread, for ten minutes.
static uint64_t settle(uint64_t slower)
{
    uint64_t now = START;

    latency_init(&latency);
    for (uint64_t i = 0; i < 6000; i++, now += 100 * MS) {
        latency_arrived(&latency, (150 + i * 37 % 100) * MS * slower, 1, now);
        if (latency_wants_fit(&latency, now)) {
            (void)latency_fit(&latency, now, &curve);
        }
    }
    return now;
}

static void a_steady_supplier_never_changes(void **state)
{
    (void)state;

    (void)settle(1);
    assert_int_equal(latency.changes, 0);
    assert_near(0.5, latency_delivered(&curve, 200 * MS), 0.03);
}

static void a_change_is_noticed_within_seconds(void **state)
{
    (void)state;
    static const struct {
        uint64_t us;
        bool is_cut;
        uint64_t calls; // until it must have been noticed
    } rows[] = {
        { 800 * MS, false, 60 }, // slower
        { 2000 * MS, true, 60 }, // hanging, and cut by us
        { 50 * MS, false, 200 }, // quicker: more of what was expected later
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        uint64_t now = settle(1), calls = 0;
        while (latency.changes == 0 && calls < 10000) {
            if (rows[r].is_cut) {
                latency_censored(&latency, rows[r].us, now);
            } else {
                latency_arrived(&latency, rows[r].us, 1, now);
            }
            now += 100 * MS;
            calls++;
            if (latency_wants_fit(&latency, now)) {
                (void)latency_fit(&latency, now, &curve);
            }
        }
        if (calls > rows[r].calls) {
            fail_msg("row %zu: %llu calls", r, (unsigned long long)calls);
        }
        for (int i = 0; i < 300; i++, now += 100 * MS) { // and what it is now is soon believed
            if (rows[r].is_cut) {
                latency_censored(&latency, rows[r].us, now);
            } else {
                latency_arrived(&latency, rows[r].us, 1, now);
            }
        }
        (void)latency_fit(&latency, now, &curve);
        double chance =
            latency_chance(&curve, 0, rows[r].us + 50 * MS) - latency_chance(&curve, 0, rows[r].us - 20 * MS);
        assert_true(rows[r].is_cut ? latency_delivered(&curve, 1900 * MS) < 0.3 : chance > 0.6);
    }
}

static void a_fit_is_wanted_after_sixty_four_or_a_second(void **state)
{
    (void)state;

    latency_init(&latency);
    latency_arrived(&latency, 200 * MS, 1, START);
    assert_false(latency_wants_fit(&latency, START + SECOND - 1));
    assert_true(latency_wants_fit(&latency, START + SECOND));
    for (int i = 1; i < 64; i++) {
        assert_false(latency_wants_fit(&latency, START));
        latency_arrived(&latency, 200 * MS, 1, START);
    }
    assert_true(latency_wants_fit(&latency, START));
    (void)latency_fit(&latency, START, &curve);
    assert_false(latency_wants_fit(&latency, START + HOUR));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_knows_anything_of_a_new_supplier),
        cmocka_unit_test(buckets_are_two_percent_wide_and_begin_where_they_say),
        cmocka_unit_test(the_reading_is_that_of_aalen_and_johansen),
        cmocka_unit_test(a_quantile_that_was_never_seen_is_none),
        cmocka_unit_test(cuts_do_not_make_a_supplier_look_quick),
        cmocka_unit_test(inside_a_bucket_the_curve_goes_straight),
        cmocka_unit_test(attempts_that_we_cut_are_not_followed_behind_it),
        cmocka_unit_test(answers_weigh_what_they_are_worth),
        cmocka_unit_test(few_samples_lean_on_the_day),
        cmocka_unit_test(what_is_old_is_forgotten),
        cmocka_unit_test(a_steady_supplier_never_changes),
        cmocka_unit_test(a_change_is_noticed_within_seconds),
        cmocka_unit_test(a_fit_is_wanted_after_sixty_four_or_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
