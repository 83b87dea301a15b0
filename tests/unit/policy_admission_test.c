#include "policy/admission.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)

static const uint64_t START = 5000 * SECOND;
static struct admission admission;

// For `intervals`, everything waits `least_us` or more.
static uint64_t press(uint64_t least_us, uint64_t intervals, uint64_t now)
{
    for (uint64_t end = now + intervals * ADMISSION_INTERVAL_US; now < end; now += 10 * MS) {
        admission_note(&admission, least_us + now % 7 * MS, now);
        admission_note(&admission, least_us, now);
    }
    admission_note(&admission, least_us, now);
    return now;
}

static void a_queue_that_empties_is_no_pressure(void **state)
{
    (void)state;
    uint64_t now = START;

    admission_init(&admission);
    for (int i = 0; i < 1000; i++, now += 10 * MS) { // long waits, but in each interval one that was short
        admission_note(&admission, i % 10 == 5 ? ADMISSION_TARGET_US : 80 * MS, now);
        assert_true(admission_admit(&admission, 0, now));
    }
    assert_true(admission_allows_extra_calls(&admission));
    assert_true(fabs(admission_price(&admission) - 1) < 1e-9);
}

static void pressure_climbs_the_ladder_rung_by_rung(void **state)
{
    (void)state;
    uint64_t now = START;

    admission_init(&admission);
    for (uint32_t rung = 0; rung <= 12; rung++) {
        assert_int_equal(admission.rung, rung < ADMISSION_RUNGS ? rung : ADMISSION_RUNGS);
        assert_int_equal(admission_allows_extra_calls(&admission), rung == 0);
        assert_int_equal(admission_price(&admission) > 1, rung >= ADMISSION_SHEDS_AT);
        assert_int_equal(admission.refused > 0, rung >= ADMISSION_REFUSES_AT);
        now = press(20 * MS, 1, now);
    }
}

static void some_are_always_admitted_and_all_are_when_it_is_over(void **state)
{
    (void)state;
    uint64_t now = START, last = 0;

    admission_init(&admission);
    now = press(50 * MS, 100, now);
    assert_true(fabs(admission.refused - 0.95) < 1e-6);
    assert_false(admission_admit(&admission, UINT32_MAX / 10 * 9, now));
    assert_true(admission_admit(&admission, UINT32_MAX, now));
    uint64_t intervals = 0;
    for (; admission.rung > 0; intervals++) {
        now = press(1 * MS, 1, now);
        assert_true(admission.refused * 1e6 <= (double)(last == 0 ? 1000000 : last));
        last = (uint64_t)(admission.refused * 1e6) + 1;
    }
    assert_true(intervals > 40 && intervals < 60);
    assert_true(admission_admit(&admission, 0, now));
}

static void where_nothing_waits_there_is_no_pressure(void **state)
{
    (void)state;
    uint64_t now = START;

    admission_init(&admission);
    now = press(50 * MS, 20, now);
    assert_int_equal(admission.rung, ADMISSION_RUNGS);
    assert_true(admission_admit(&admission, 0, now + 3600 * SECOND));
    assert_int_equal(admission.rung, 0);
}

// An engine at three times its load: what waits depends on what is admitted.
static void a_third_is_admitted_at_three_times_the_load(void **state)
{
    (void)state;
    uint64_t now = START;
    double queue_ms = 0, admitted = 0, passed = 0;
    uint32_t dice = 1;

    admission_init(&admission);
    for (int ms = 0; ms < 60000; ms++, now += MS) {
        for (int arrival = 0; arrival < 3; arrival++) { // each is a millisecond of work
            dice = dice * 1664525 + 1013904223;
            bool is_in = admission_admit(&admission, dice, now);
            queue_ms += is_in;
            if (ms >= 10000) {
                admitted += is_in;
                passed++;
            }
        }
        queue_ms = fmax(0, queue_ms - 1);
        admission_note(&admission, (uint64_t)(queue_ms * 1000), now);
    }
    double share = admitted / passed;
    if (share < 0.28 || share > 0.36) {
        fail_msg("%f", share);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_that_empties_is_no_pressure),
        cmocka_unit_test(pressure_climbs_the_ladder_rung_by_rung),
        cmocka_unit_test(some_are_always_admitted_and_all_are_when_it_is_over),
        cmocka_unit_test(where_nothing_waits_there_is_no_pressure),
        cmocka_unit_test(a_third_is_admitted_at_three_times_the_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
