#include "policy/patience.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)

static void assert_near(double expected, double actual, double within)
{
    if (fabs(expected - actual) > within) {
        fail_msg("expected %f, got %f", expected, actual);
    }
}

// Of 100 calls, `sure` arrive evenly between `from` and `to`; the others hang.
static void curve_of(struct latency_curve *curve, int sure, uint64_t from, uint64_t to)
{
    static struct latency latency;

    latency_init(&latency);
    for (int i = 0; i < 100; i++) {
        if (i < sure) {
            latency_arrived(&latency, from + (to - from) * (uint64_t)i / (uint64_t)sure, 1, 1);
        } else {
            latency_censored(&latency, 60 * SECOND - 1, 1);
        }
    }
    (void)latency_fit(&latency, 1, curve);
}

// The definition, without the hull: every u for every t; and enough were followed for as long again.
static uint64_t plain_ceiling(const struct latency_curve *curve, double price)
{
    for (uint32_t t = 0; t < LATENCY_BUCKETS; t++) {
        double best = 0;
        for (uint32_t u = t + 1; u <= LATENCY_BUCKETS; u++) {
            double wait_s = (double)(latency_bucket_us(u) - latency_bucket_us(t)) / 1e6;
            double gain = (double)curve->delivered[u] - (double)curve->delivered[t] -
                          price * wait_s * (double)curve->unresolved[t];
            best = fmax(best, gain);
        }
        double followed = (double)curve->followed[latency_bucket(2 * latency_bucket_us(t))];
        if (best <= 1e-9 && (t == 0 || followed * price * (double)latency_bucket_us(t) / 1e6 >= 3)) {
            return latency_bucket_us(t);
        }
    }
    return latency_bucket_us(LATENCY_BUCKETS);
}

static void the_ceiling_is_the_one_of_the_definition(void **state)
{
    (void)state;
    static struct latency_curve curve;
    static const struct {
        int sure;
        uint64_t from, to;
    } rows[] = {
        { 100, 80 * MS, 200 * MS }, { 90, 300 * MS, 4000 * MS },    { 50, 1200 * MS, 1500 * MS },
        { 1, 50 * MS, 60 * MS },    { 100, 2000 * MS, 59000 * MS }, { 97, 100 * MS, 900 * MS },
    };
    static const double prices[] = { 0.001, 0.05, 0.2, 0.5, 1, 3, 20 };

    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        curve_of(&curve, rows[r].sure, rows[r].from, rows[r].to);
        for (size_t p = 0; p < COUNT_OF(prices); p++) {
            uint64_t plain = plain_ceiling(&curve, prices[p]), ours = patience_ceiling(&curve, prices[p]);
            if (plain != ours) {
                fail_msg("row %zu at %f: %llu is not %llu", r, prices[p], (unsigned long long)ours,
                         (unsigned long long)plain);
            }
        }
    }
}

static void a_slow_floor_is_waited_for_and_a_thin_tail_is_not(void **state)
{
    (void)state;
    static struct latency_curve curve;

    curve_of(&curve, 90, 1200 * MS, 1300 * MS); // nothing before 1.2 s, and yet worth it
    uint64_t ceiling = patience_ceiling(&curve, 0.3);
    assert_true(ceiling >= 1280 * MS && ceiling < 1400 * MS);
    assert_int_equal(patience_ceiling(&curve, 5), latency_bucket_us(0)); // too dear: not worth asking
    latency_curve_init(&curve);
    assert_int_equal(patience_ceiling(&curve, 0.3), latency_bucket_us(0)); // of nothing nothing is known
}

// Of 1,000 calls 900 came within 100 ms; of the others so many were followed to 10 s, and the rest was cut at 120 ms.
static void a_flat_end_is_an_end_when_enough_were_followed_behind_it(void **state)
{
    (void)state;
    static struct latency latency;
    static struct latency_curve curve;
    static const struct {
        int followed;
        double price;
        bool has_end;
    } rows[] = {
        { 100, 0.5, true }, { 65, 0.5, true },  { 50, 0.5, true },  { 0, 0.5, false },
        { 0, 3, false },    { 2, 0.05, false }, { 40, 0.05, true }, { 100, 0, false },
    };

    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        latency_init(&latency);
        for (int i = 0; i < 1000; i++) {
            if (i < 900) {
                latency_arrived(&latency, (50 + (uint64_t)i % 50) * MS, 1, 1);
            } else {
                latency_censored(&latency, i - 900 < rows[r].followed ? 10 * SECOND : 120 * MS, 1);
            }
        }
        (void)latency_fit(&latency, 1, &curve);
        uint64_t ceiling = patience_ceiling(&curve, rows[r].price);
        if (rows[r].has_end != (ceiling < latency_bucket_us(LATENCY_BUCKETS))) {
            fail_msg("row %zu: a ceiling of %llu us", r, (unsigned long long)ceiling);
        }
        assert_true(ceiling >= 99 * MS); // never before the last that came
    }
}

static void what_comes_in_the_last_bucket_before_the_end_is_waited_for(void **state)
{
    (void)state;
    static struct latency_curve sure;
    uint64_t until_us;

    curve_of(&sure, 100, 1500 * MS, 2100 * MS);
    for (uint64_t at = 1900 * MS; at < 1990 * MS; at += MS) {
        const struct pending late = { &sure, at, 10, 1990 * MS };
        assert_true(patience_gain(&late, 1, 1990 * MS - at, 0, &until_us) > 0.01);
        assert_false(patience_is_over(&late, 1, 1990 * MS - at, 0, 1e-3));
    }
}

static void waiting_for_many_brings_the_sum(void **state)
{
    (void)state;
    static struct latency_curve sure, half, none;
    uint64_t until_us = 0;

    curve_of(&sure, 100, 500 * MS, 510 * MS);
    curve_of(&half, 50, 900 * MS, 910 * MS);
    latency_curve_init(&none);
    const struct pending pending[] = { { &sure, 400 * MS, 10, 0 },
                                       { &half, 400 * MS, 4, 0 },
                                       { &none, 400 * MS, 1000, 0 } };

    assert_near(12, patience_gain(pending, 3, 1600 * MS, 0, &until_us), 0.01);
    assert_near(560e3, (double)until_us, 81e3);
    assert_near(10, patience_gain(pending, 3, 300 * MS, 0, &until_us), 0.01);
    assert_near(105e3, (double)until_us, 20e3);
    assert_near(0, patience_gain(pending, 3, 50 * MS, 0, &until_us), 0.01); // neither can be here by then
    assert_near(0, patience_gain(pending, 0, 1600 * MS, 0, &until_us), 0);
    // When a second costs 5 offers, the half-sure one is not worth the 400 ms behind the sure one, but the sure one is.
    assert_near(10 - 5 * 0.16, patience_gain(pending, 3, 1600 * MS, 5, &until_us), 0.01);
    assert_false(patience_is_over(pending, 3, 1600 * MS, 5, 1e-3));
    assert_true(patience_is_over(pending, 3, 1600 * MS, 100, 1e-3));
    assert_true(patience_is_over(pending + 2, 1, 1600 * MS, 0, 1e-3));
}

static void what_was_not_there_when_it_always_is_does_not_come_any_more(void **state)
{
    (void)state;
    static struct latency_curve sure;
    uint64_t until_us;

    curve_of(&sure, 100, 500 * MS, 510 * MS);
    const struct pending late = { &sure, 600 * MS, 10, 0 };
    assert_near(0, patience_gain(&late, 1, 1400 * MS, 0, &until_us), 1e-6);
}

static void more_of_the_same_is_worth_less(void **state)
{
    (void)state;

    assert_near(1, patience_novelty(0, 20), 0);
    assert_near(0.5, patience_novelty(20, 20), 1e-9);
    assert_near(1, patience_novelty(1e6, 0), 0);
    assert_near(1, patience_novelty(-3, 20), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ceiling_is_the_one_of_the_definition),
        cmocka_unit_test(a_slow_floor_is_waited_for_and_a_thin_tail_is_not),
        cmocka_unit_test(a_flat_end_is_an_end_when_enough_were_followed_behind_it),
        cmocka_unit_test(what_comes_in_the_last_bucket_before_the_end_is_waited_for),
        cmocka_unit_test(waiting_for_many_brings_the_sum),
        cmocka_unit_test(what_was_not_there_when_it_always_is_does_not_come_any_more),
        cmocka_unit_test(more_of_the_same_is_worth_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
