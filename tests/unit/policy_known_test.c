#include "policy/known.h"

#include "policy/patience.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)

static struct latency latency;
static struct known known;

/// Of `calls` so many `sure` arrive evenly between two times, the others are cut at `cut`.
static void know(int calls, int sure, uint64_t from, uint64_t to, uint64_t cut, double held_cost)
{
    latency_init(&latency);
    for (int i = 0; i < calls; i++) {
        if (i < sure) {
            latency_arrived(&latency, from + (to - from) * (uint64_t)i / (uint64_t)sure, 1, SECOND);
        } else {
            latency_censored(&latency, cut, SECOND);
        }
    }
    memset(&known, 0, sizeof known);
    (void)latency_fit(&latency, SECOND, &known.curve);
    known_finish(&known, held_cost);
}

static void a_few_calls_are_no_knowledge(void **state)
{
    (void)state;
    double chance = 0;
    uint64_t us = 0;

    know(KNOWN_LEAST - 1, KNOWN_LEAST - 1, 200 * MS, 300 * MS, 0, 0.5);
    assert_int_equal(known.knowledge.latency.samples, 0);
    assert_int_equal(known.knowledge.ceiling_us, 0);
    assert_false(known.knowledge.ops->chance(&known.knowledge, 0, SECOND, &chance));
    assert_false(known.knowledge.ops->worth_waiting(&known.knowledge, 1, 0.5, &us));
    assert_false(known_reaches(&known, 0, 100 * MS));
    assert_false(known.knowledge.has_win_rate);
}

static void quantiles_chance_and_ceiling_are_the_curve_s(void **state)
{
    (void)state;
    double chance = 0;
    uint64_t us = 0;

    know(400, 200, 200 * MS, 400 * MS, 30 * SECOND, 0.5);
    const struct knowledge_latency *told = &known.knowledge.latency;
    assert_int_equal(told->samples, 400);
    assert_in_range(told->p50_us, 390 * MS, 420 * MS);
    assert_int_equal(told->p75_us, 0); // half of them never came
    assert_int_equal(told->p99_us, 0);
    assert_true(known.knowledge.ops->chance(&known.knowledge, 300 * MS, SECOND, &chance));
    assert_true(fabs(chance - 0.25 / 0.75) < 0.02);
    assert_int_equal(known.knowledge.ceiling_us, patience_ceiling(&known.curve, 0.5));
    assert_true(known.knowledge.ops->worth_waiting(&known.knowledge, 4, 2, &us));
    assert_int_equal(us, known.knowledge.ceiling_us); // 2 a second of 4 is half
    assert_false(known.knowledge.ops->worth_waiting(&known.knowledge, 0, 2, &us));
}

static void who_never_comes_has_no_ceiling(void **state)
{
    (void)state;

    know(400, 0, 0, 0, 30 * SECOND, 0.5);
    assert_int_equal(known.knowledge.ceiling_us, 0);
    know(400, 400, 200 * MS, 400 * MS, 0, 50); // too dear to be asked at all
    assert_int_equal(known.knowledge.ceiling_us, 0);
    know(400, 400, 200 * MS, 400 * MS, 0, 0); // switched off
    assert_int_equal(known.knowledge.ceiling_us, 0);
}

static void where_most_were_cut_by_us_no_end_of_waiting_is_known(void **state)
{
    (void)state;

    know(400, 150, 200 * MS, 400 * MS, 410 * MS, 0.5);
    assert_int_equal(known.knowledge.ceiling_us, 0);
    know(400, 300, 200 * MS, 400 * MS, 410 * MS, 0.5); // nor behind our own cuts, however few they were
    assert_int_equal(known.knowledge.ceiling_us, 0);
    know(400, 400, 200 * MS, 400 * MS, 0, 0.5); // nor where nobody was ever out so long
    assert_int_equal(known.knowledge.ceiling_us, 0);
    know(400, 300, 200 * MS, 400 * MS, 5 * SECOND, 0.5);
    assert_in_range(known.knowledge.ceiling_us, 395 * MS, 410 * MS);
}

static void it_reaches_as_far_as_calls_were_followed(void **state)
{
    (void)state;

    know(400, 0, 0, 0, 2 * SECOND, 0);
    assert_true(known_reaches(&known, 0, 1900 * MS));
    assert_true(known_reaches(&known, 500 * MS, 2050 * MS)); // a reserve moves by some ms
    assert_false(known_reaches(&known, 0, 2500 * MS));
    // Most are cut early, and a few are followed: those are enough.
    latency_init(&latency);
    for (int i = 0; i < 400; i++) {
        latency_censored(&latency, i % 10 == 0 ? 5 * SECOND : 300 * MS, SECOND);
    }
    (void)latency_fit(&latency, SECOND, &known.curve);
    assert_true(known_reaches(&known, 0, 4900 * MS));
    assert_false(known_reaches(&known, 0, 8 * SECOND));
    // Where all have ended nothing needs following.
    know(400, 400, 200 * MS, 400 * MS, 0, 0);
    assert_true(known_reaches(&known, 0, 50 * SECOND));
}

static void what_was_followed_long_ago_is_forgotten(void **state)
{
    (void)state;

    know(200, 0, 0, 0, 2 * SECOND, 0);
    uint64_t later = SECOND + 3600 * SECOND;
    for (int i = 0; i < 200; i++) {
        latency_censored(&latency, 300 * MS, later);
    }
    (void)latency_fit(&latency, later, &known.curve);
    assert_false(known_reaches(&known, 0, 1900 * MS));
    assert_true(known_reaches(&known, 0, 290 * MS));
}

static void one_that_outlived_all_needs_many_that_say_so(void **state)
{
    (void)state;

    know(KNOWN_TAIL_LEAST - 10, KNOWN_TAIL_LEAST - 10, 200 * MS, 300 * MS, 0, 0);
    assert_true(known_reaches(&known, 250 * MS, 2 * SECOND));
    assert_false(known_reaches(&known, 400 * MS, 2 * SECOND));
    know(KNOWN_TAIL_LEAST + 10, KNOWN_TAIL_LEAST + 10, 200 * MS, 300 * MS, 0, 0);
    assert_true(known_reaches(&known, 400 * MS, 2 * SECOND));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_calls_are_no_knowledge),
        cmocka_unit_test(quantiles_chance_and_ceiling_are_the_curve_s),
        cmocka_unit_test(who_never_comes_has_no_ceiling),
        cmocka_unit_test(where_most_were_cut_by_us_no_end_of_waiting_is_known),
        cmocka_unit_test(it_reaches_as_far_as_calls_were_followed),
        cmocka_unit_test(what_was_followed_long_ago_is_forgotten),
        cmocka_unit_test(one_that_outlived_all_needs_many_that_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
