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
static const struct admission_settings SETTINGS = { .is_on = true,
                                                    .target_us = ADMISSION_TARGET_US,
                                                    .interval_us = ADMISSION_INTERVAL_US };
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
        assert_true(admission_admit(&admission, 1000000, now));
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
        assert_true(admission_admit(&admission, rung < ADMISSION_REFUSES_AT ? 1000000 : 0, now));
        now = press(20 * MS, 1, now);
    }
}

static void severe_pressure_climbs_two_rungs_at_a_time(void **state)
{
    (void)state;
    admission_init(&admission, SETTINGS);
    (void)press(60 * MS, 3, START);
    assert_int_equal(admission_level(&admission), OVERLOAD_REFUSING);
}

static void refuse_with(uint32_t in_flight, uint64_t took_us, uint64_t least_us)
{
    admission_init(&admission, SETTINGS);
    admission_done(&admission, took_us);
    assert_true(admission_admit(&admission, in_flight, START));
    (void)press(least_us, 5, START);
}

static void what_may_be_under_way_is_cut_by_the_share_of_waiting(void **state)
{
    (void)state;
    static const struct {
        uint64_t took_us, least_us;
        uint32_t most;
    } rows[] = {
        { 400 * MS, 6 * MS, 95 },   // hardly any: a twentieth
        { 400 * MS, 65 * MS, 85 },  // 60 of 400
        { 400 * MS, 305 * MS, 40 }, // three quarters, but never more than six tenths at once
        { 2000 * MS, 505 * MS, 75 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        refuse_with(100, rows[i].took_us, rows[i].least_us);
        assert_int_equal(admission_most(&admission), rows[i].most);
        assert_true(admission_admit(&admission, rows[i].most - 1, START + SECOND / 2));
        assert_false(admission_admit(&admission, rows[i].most, START + SECOND / 2));
    }
}

static void it_is_cut_once_in_the_time_of_a_search(void **state)
{
    (void)state;
    uint64_t now = START + 5 * ADMISSION_INTERVAL_US;
    uint32_t cuts = 0;

    refuse_with(100, 500 * MS, 105 * MS);
    uint32_t most = admission_most(&admission);
    assert_int_equal(most, 80);
    for (int i = 0; i < 20; i++) { // two seconds
        (void)!admission_admit(&admission, most, now);
        now = press(105 * MS, 1, now);
        cuts += admission_most(&admission) < most;
        most = admission_most(&admission);
    }
    assert_int_equal(cuts, 4);
}

static void when_it_is_over_all_are_admitted(void **state)
{
    (void)state;
    uint64_t now = START + 5 * ADMISSION_INTERVAL_US;
    uint32_t intervals = 0, last = 0;

    refuse_with(100, 400 * MS, 305 * MS);
    last = admission_most(&admission);
    for (int i = 0; i < 30; i++) { // still as many come as may
        assert_false(admission_admit(&admission, last, now));
        now = press(1 * MS, 1, now);
        assert_true(admission_most(&admission) > last);
        last = admission_most(&admission);
    }
    assert_int_equal(admission_level(&admission), OVERLOAD_REFUSING);
    for (; admission_level(&admission) != OVERLOAD_NONE; intervals++) {
        assert_true(admission_admit(&admission, 1, now));
        now = press(1 * MS, 1, now);
    }
    assert_in_range(intervals, 10, 20);
    assert_true(admission_admit(&admission, 1000000, now));
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

static void silence_says_nothing_while_something_is_under_way(void **state)
{
    (void)state;
    admission_init(&admission, SETTINGS);
    uint64_t now = press(50 * MS, 20, START);
    admission_advance(&admission, true, now + 5 * SECOND);
    assert_int_equal(admission_level(&admission), OVERLOAD_REFUSING);
    admission_advance(&admission, false, now + 8 * SECOND);
    assert_int_equal(admission_level(&admission), OVERLOAD_NONE);
}

// A search waits 200 ms for its suppliers, then takes a millisecond of the one worker; who waited 1.5 s gets nothing.
enum { LATENCY_MS = 200, PATIENCE_MS = 1500, PLAYED_MS = 40000, WARM_MS = 10000, ROOM = 1 << 18 };

static uint32_t waiting_since[ROOM];

struct played {
    uint64_t offered, admitted, served;
};

static struct played play_load(double per_ms)
{
    struct played played = { 0 };
    static uint32_t begun[PLAYED_MS + 1];
    size_t head = 0, tail = 0;
    uint32_t in_flight = 0;
    double owed = 0;

    admission_init(&admission, SETTINGS);
    for (uint32_t ms = 0; ms < PLAYED_MS; ms++) {
        uint64_t now = START + ms * MS;
        begun[ms] = 0;
        for (owed += per_ms; owed >= 1; owed -= 1) {
            bool is_in = admission_admit(&admission, in_flight, now);
            begun[ms] += is_in;
            in_flight += is_in;
            played.offered += ms >= WARM_MS;
            played.admitted += is_in && ms >= WARM_MS;
        }
        for (uint32_t i = 0; ms >= LATENCY_MS && i < begun[ms - LATENCY_MS]; i++) {
            waiting_since[tail++ % ROOM] = ms;
        }
        for (bool has_worked = false; head < tail && !has_worked; head++) {
            uint32_t waited_ms = ms - waiting_since[head % ROOM];
            has_worked = waited_ms < PATIENCE_MS;
            played.served += has_worked && ms >= WARM_MS;
            in_flight--;
            admission_note(&admission, ADMISSION_ANSWERS, waited_ms * MS, now);
            admission_done(&admission, (LATENCY_MS + waited_ms) * MS);
        }
    }
    return played;
}

static void goodput_holds_at_any_load(void **state)
{
    (void)state;
    static const double LOADS[] = { 1.2, 1.5, 2, 3, 10 };
    double capacity = PLAYED_MS - WARM_MS;

    for (size_t i = 0; i < COUNT_OF(LOADS); i++) {
        struct played played = play_load(LOADS[i]);
        double served = (double)played.served / capacity, admitted = (double)played.admitted / capacity;
        if (served < 0.9 || admitted > 1.05 * served) { // nearly all who are admitted are served
            fail_msg("at %.1f times: %.3f served of %.3f admitted", LOADS[i], served, admitted);
        }
    }
    struct played played = play_load(0.7);
    assert_int_equal(played.admitted, played.offered);
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
    assert_true(admission_admit(&admission, 1000000, now));
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
        cmocka_unit_test(severe_pressure_climbs_two_rungs_at_a_time),
        cmocka_unit_test(what_may_be_under_way_is_cut_by_the_share_of_waiting),
        cmocka_unit_test(it_is_cut_once_in_the_time_of_a_search),
        cmocka_unit_test(when_it_is_over_all_are_admitted),
        cmocka_unit_test(where_nothing_waits_there_is_no_pressure),
        cmocka_unit_test(silence_says_nothing_while_something_is_under_way),
        cmocka_unit_test(goodput_holds_at_any_load),
        cmocka_unit_test(a_queue_that_is_served_first_does_not_hide_another),
        cmocka_unit_test(switched_off_it_admits_everybody_and_forgets),
        cmocka_unit_test(target_and_interval_are_those_of_the_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
