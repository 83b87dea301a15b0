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
static const struct admission_settings SETTINGS = {
    .is_on = true, .target_us = ADMISSION_TARGET_US, .interval_us = ADMISSION_INTERVAL_US
};
static struct admission admission;

// For `intervals`, everything waits `least_us` or more.
static uint64_t press(uint64_t least_us, uint64_t intervals, uint64_t now)
{
    for (uint64_t end = now + intervals * ADMISSION_INTERVAL_US; now < end; now += 10 * MS) {
        admission_note(&admission, ADMISSION_ANSWERS, least_us + now % 7 * MS, now);
        admission_note(&admission, ADMISSION_ANSWERS, least_us, now);
    }
    admission_note(&admission, ADMISSION_ANSWERS, least_us, now);
    return now;
}

static void a_queue_that_empties_is_no_pressure(void **state)
{
    (void)state;
    uint64_t now = START;

    admission_init(&admission, SETTINGS);
    for (int i = 0; i < 1000; i++, now += 10 * MS) { // long waits, but in each interval one that was short
        admission_note(&admission, ADMISSION_ANSWERS, i % 10 == 5 ? ADMISSION_TARGET_US : 80 * MS, now);
        assert_true(admission_admit(&admission, 0, now));
    }
    assert_int_equal(admission_level(&admission), OVERLOAD_NONE);
    assert_true(fabs(admission_price(&admission) - 1) < 1e-9);
}

static void pressure_climbs_the_ladder_rung_by_rung(void **state)
{
    (void)state;
    uint64_t now = START;

    admission_init(&admission, SETTINGS);
    for (uint32_t rung = 0; rung <= 12; rung++) {
        assert_int_equal(admission.rung, rung < ADMISSION_RUNGS ? rung : ADMISSION_RUNGS);
        assert_int_equal(admission_level(&admission) == OVERLOAD_NONE, rung == 0);
        assert_int_equal(admission_level(&admission) >= OVERLOAD_SHEDDING, rung >= ADMISSION_SHEDS_AT);
        assert_int_equal(admission_level(&admission) >= OVERLOAD_REFUSING, rung >= ADMISSION_REFUSES_AT);
        assert_int_equal(admission_price(&admission) > 1, rung >= ADMISSION_SHEDS_AT);
        assert_int_equal(admission.refused > 0, rung >= ADMISSION_REFUSES_AT);
        now = press(20 * MS, 1, now);
    }
}

static void some_are_always_admitted_and_all_are_when_it_is_over(void **state)
{
    (void)state;
    uint64_t now = START, last = 0;

    admission_init(&admission, SETTINGS);
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

    admission_init(&admission, SETTINGS);
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

    admission_init(&admission, SETTINGS);
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
        admission_note(&admission, ADMISSION_ANSWERS, (uint64_t)(queue_ms * 1000), now);
    }
    double share = admitted / passed;
    if (share < 0.28 || share > 0.36) {
        fail_msg("%f", share);
    }
}

// What is served first never waits; the rest does.
static void a_queue_that_is_served_first_does_not_hide_another(void **state)
{
    (void)state;
    uint64_t now = START;

    admission_init(&admission, SETTINGS);
    for (int i = 0; i < 100; i++, now += 10 * MS) {
        admission_note(&admission, ADMISSION_STARTS, 0, now);
        admission_note(&admission, ADMISSION_LOOP, 0, now);
        admission_note(&admission, ADMISSION_ANSWERS, 50 * MS, now);
    }
    assert_int_equal(admission_level(&admission), OVERLOAD_REFUSING);
}

static void switched_off_it_admits_everybody_and_forgets(void **state)
{
    (void)state;
    struct admission_settings off = SETTINGS;
    off.is_on = false;

    admission_init(&admission, SETTINGS);
    uint64_t now = press(50 * MS, 20, START);
    assert_int_equal(admission_level(&admission), OVERLOAD_REFUSING);
    admission_set(&admission, SETTINGS);
    assert_int_equal(admission_level(&admission), OVERLOAD_REFUSING);
    admission_set(&admission, off);
    assert_int_equal(admission_level(&admission), OVERLOAD_NONE);
    now = press(50 * MS, 20, now);
    assert_true(admission_admit(&admission, 0, now));
    assert_int_equal(admission_level(&admission), OVERLOAD_NONE);
    admission_set(&admission, SETTINGS);
    (void)press(50 * MS, 20, now);
    assert_int_equal(admission_level(&admission), OVERLOAD_REFUSING);
}

static void target_and_interval_are_those_of_the_settings(void **state)
{
    (void)state;
    struct admission_settings patient = { .is_on = true, .target_us = 60 * MS, .interval_us = SECOND };

    admission_init(&admission, patient);
    uint64_t now = press(59 * MS, 50, START);
    assert_int_equal(admission_level(&admission), OVERLOAD_NONE);
    now = press(70 * MS, 25, now);
    assert_in_range(admission.rung, 1, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_that_empties_is_no_pressure),
        cmocka_unit_test(pressure_climbs_the_ladder_rung_by_rung),
        cmocka_unit_test(some_are_always_admitted_and_all_are_when_it_is_over),
        cmocka_unit_test(where_nothing_waits_there_is_no_pressure),
        cmocka_unit_test(a_third_is_admitted_at_three_times_the_load),
        cmocka_unit_test(a_queue_that_is_served_first_does_not_hide_another),
        cmocka_unit_test(switched_off_it_admits_everybody_and_forgets),
        cmocka_unit_test(target_and_interval_are_those_of_the_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
