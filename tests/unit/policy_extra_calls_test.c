#include "policy/extra_calls.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)

static struct latency_curve quick, slow, few, dead;

// Of `count` calls, `sure` arrive evenly between `from` and `to`; the others hang.
static void curve_of(struct latency_curve *curve, int count, int sure, uint64_t from, uint64_t to)
{
    static struct latency latency;

    latency_init(&latency);
    for (int i = 0; i < count; i++) {
        if (i < sure) {
            latency_arrived(&latency, from + (to - from) * (uint64_t)i / (uint64_t)sure, 1, 1);
        } else {
            latency_censored(&latency, 60 * SECOND - 1, 1);
        }
    }
    (void)latency_fit(&latency, 1, curve);
}

static int make_curves(void **state)
{
    (void)state;
    curve_of(&quick, 100, 100, 100 * MS, 300 * MS);
    curve_of(&slow, 100, 100, 900 * MS, 1500 * MS);
    curve_of(&few, 49, 49, 100 * MS, 300 * MS);
    curve_of(&dead, 100, 0, 1, 2);
    return 0;
}

static struct extra_target target_of(const struct latency_curve *curve)
{
    return (struct extra_target){ .curve = curve, .is_closed = true, .quota_us = UINT64_MAX };
}

static void expect(enum extra_answer expected, enum extra_answer actual)
{
    if (expected != actual) {
        fail_msg("expected %s, got %s", extra_answer_name(expected), extra_answer_name(actual));
    }
}

static void a_fast_failure_is_retried_while_it_can_still_arrive(void **state)
{
    (void)state;
    static const struct {
        const struct latency_curve *curve;
        uint64_t took_us, left_us;
        enum extra_answer answer;
    } rows[] = {
        { &quick, 10 * MS, 1990 * MS, EXTRA_YES },
        { &quick, 10 * MS, 120 * MS, EXTRA_YES },
        { &quick, 10 * MS, 90 * MS, EXTRA_NO_TIME },
        { &slow, 10 * MS, 890 * MS, EXTRA_NO_TIME },
        { &slow, 10 * MS, 1100 * MS, EXTRA_YES },
        { &dead, 10 * MS, 1990 * MS, EXTRA_NO_TIME },
        { &few, 10 * MS, 1990 * MS, EXTRA_YES },
        { &few, 500 * MS, 1500 * MS, EXTRA_NO_TIME },
        { &few, 0, 0, EXTRA_NO_TIME },
        { &quick, 10 * MS, 0, EXTRA_NO_TIME },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct extra_target target = target_of(rows[i].curve);
        expect(rows[i].answer, extra_retry(&target, rows[i].took_us, rows[i].left_us));
    }
}

static void whoever_is_in_trouble_is_not_called_twice(void **state)
{
    (void)state;
    static const struct {
        bool is_closed, is_overloaded;
        uint32_t running, most;
        uint64_t quota_us;
        enum extra_answer answer;
    } rows[] = {
        { true, false, 0, 0, UINT64_MAX, EXTRA_YES },     { false, false, 0, 0, UINT64_MAX, EXTRA_BREAKER },
        { true, true, 0, 0, UINT64_MAX, EXTRA_OVERLOAD }, { true, false, 33, 64, UINT64_MAX, EXTRA_BUSY },
        { true, false, 32, 64, UINT64_MAX, EXTRA_YES },   { true, false, 999, 0, UINT64_MAX, EXTRA_YES },
        { true, false, 0, 0, 9999 * MS, EXTRA_QUOTA },    { true, false, 0, 0, 10000 * MS, EXTRA_YES },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct extra_target target = {
            .curve = &quick,
            .is_closed = rows[i].is_closed,
            .running = rows[i].running,
            .most = rows[i].most,
            .quota_us = rows[i].quota_us,
            .is_overloaded = rows[i].is_overloaded,
        };
        struct extra_hedge hedge = { &quick, 500 * MS, 1500 * MS, 10, 0.1, 0.5 }; // late for sure
        expect(rows[i].answer, extra_retry(&target, 10 * MS, 1500 * MS));
        expect(rows[i].answer, extra_hedge(&hedge, &target));
    }
}

static void a_hedge_is_worth_it_or_is_not_sent(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct extra_hedge hedge;
        const struct latency_curve *to;
        enum extra_answer answer;
    } rows[] = {
        { "late for sure", { &quick, 400 * MS, 1000 * MS, 10, 0.1, 0.5 }, &quick, EXTRA_YES },
        { "on its way", { &quick, 50 * MS, 1000 * MS, 10, 0.1, 0.5 }, &quick, EXTRA_NOT_WORTH },
        { "a millisecond after twenty cached answers",
          { &quick, 1 * MS, 1000 * MS, 10, 0, 0.5 },
          &quick,
          EXTRA_TOO_SOON },
        { "its median does not fit", { &quick, 400 * MS, 199 * MS, 10, 0, 0 }, &quick, EXTRA_NO_TIME },
        { "its median just fits", { &quick, 400 * MS, 210 * MS, 10, 0.1, 0 }, &quick, EXTRA_YES },
        { "the other one is dead", { &quick, 400 * MS, 1000 * MS, 10, 0, 0 }, &dead, EXTRA_NO_TIME },
        { "too dear", { &quick, 400 * MS, 1000 * MS, 10, 5.1, 0.5 }, &quick, EXTRA_NOT_WORTH },
        { "both are late together", { &quick, 400 * MS, 1000 * MS, 10, 0.2, 0.99 }, &quick, EXTRA_NOT_WORTH },
        { "worth nothing", { &quick, 400 * MS, 1000 * MS, 0, 0, 0.5 }, &quick, EXTRA_NOT_WORTH },
        { "little is known of it", { &few, 400 * MS, 1000 * MS, 10, 0.1, 0.5 }, &quick, EXTRA_UNKNOWN },
        { "little is known of the other", { &quick, 400 * MS, 1000 * MS, 10, 0.1, 0.5 }, &few, EXTRA_UNKNOWN },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct extra_target target = target_of(rows[i].to);
        enum extra_answer answer = extra_hedge(&rows[i].hedge, &target);
        if (answer != rows[i].answer) {
            fail_msg("%s: %s", rows[i].what, extra_answer_name(answer));
        }
    }
}

static void no_hedge_is_ever_sent_whose_median_does_not_fit(void **state)
{
    (void)state;
    static struct latency_curve any;
    uint64_t seed = 11, sent = 0;

    for (int i = 0; i < 3000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t from = (seed >> 33) % (3000 * MS) + 1, median_us = 0;
        int sure = (int)((seed >> 20) % 101);
        curve_of(&any, 100, sure, from, from + (seed >> 44) % (2000 * MS) + 1);
        struct extra_hedge hedge = { &quick, (seed >> 13) % (2000 * MS), (seed >> 23) % (3000 * MS), 1e6, 0, 0 };
        struct extra_target target = target_of(&any);
        if (extra_hedge(&hedge, &target) == EXTRA_YES) {
            sent++;
            assert_true(latency_quantile(&any, 0.5, &median_us));
            assert_true(median_us <= hedge.left_us);
        }
    }
    assert_true(sent > 100);
}

static void a_connect_is_raced_when_nearly_all_would_be_there(void **state)
{
    (void)state;
    uint64_t us = 0;

    assert_true(extra_connect_us(&quick, &us));
    assert_true(us >= 290 * MS && us <= 305 * MS);
    struct latency_curve near;
    curve_of(&near, 100, 100, 1 * MS, 2 * MS);
    assert_true(extra_connect_us(&near, &us));
    assert_int_equal(us, EXTRA_FLOOR_US);
    assert_false(extra_connect_us(&few, &us));
    assert_false(extra_connect_us(&dead, &us));
}

static void pairs_are_believed_slowly(void **state)
{
    (void)state;

    assert_true(fabs(extra_rho(&(struct extra_pairs){ 0, 0 }) - 0.5) < 1e-9);
    assert_true(fabs(extra_rho(&(struct extra_pairs){ 6, 0 }) - 0.8) < 1e-9);
    assert_true(fabs(extra_rho(&(struct extra_pairs){ 0, 96 }) - 0.02) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fast_failure_is_retried_while_it_can_still_arrive),
        cmocka_unit_test(whoever_is_in_trouble_is_not_called_twice),
        cmocka_unit_test(a_hedge_is_worth_it_or_is_not_sent),
        cmocka_unit_test(no_hedge_is_ever_sent_whose_median_does_not_fit),
        cmocka_unit_test(a_connect_is_raced_when_nearly_all_would_be_there),
        cmocka_unit_test(pairs_are_believed_slowly),
    };
    return cmocka_run_group_tests(tests, make_curves, NULL);
}
