#include "policy/breaker.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)

static const struct breaker_settings USUAL = { .is_on = true, .window_s = 10, .min_calls = 20, .failure_share = 0.35 };
static const uint64_t START = 1000 * HOUR;
enum { MIDDLE = INT32_MAX }; // a die that waits the middle time

static struct breaker breaker;

// One call of the closed or ramping breaker; false: it was refused.
static bool call(enum breaker_verdict verdict, uint32_t dice, uint64_t now)
{
    struct breaker_pass pass;

    if (breaker_ask(&breaker, dice, now, &pass) != BREAKER_PASS) {
        return false;
    }
    (void)breaker_tell(&breaker, NULL, pass, verdict, MIDDLE, now);
    return true;
}

static void the_bound_is_wilsons(void **state)
{
    (void)state;
    static const struct {
        uint32_t hits, count;
        double lower;
    } rows[] = {
        { 0, 0, 0 },        { 0, 10, 0 },        { 1, 1, 0.2065 },    { 5, 5, 0.5655 },      { 10, 20, 0.2993 },
        { 12, 20, 0.3866 }, { 40, 100, 0.3094 }, { 45, 100, 0.3561 }, { 350, 1000, 0.3210 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double lower = breaker_wilson_lower(rows[i].hits, rows[i].count);
        if (fabs(lower - rows[i].lower) > 1e-4) {
            fail_msg("%u of %u: %f", rows[i].hits, rows[i].count, lower);
        }
    }
}

static void it_opens_by_what_it_sees(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint32_t good, bad, slow, connects, ignored;
        uint64_t apart_us; // between calls
        enum breaker_state state;
    } rows[] = {
        { "a good one", 1000, 0, 0, 0, 0, 10 * MS, BREAKER_CLOSED },
        { "a third of failures", 80, 40, 0, 0, 0, 10 * MS, BREAKER_CLOSED },
        { "half failures", 60, 60, 0, 0, 0, 10 * MS, BREAKER_OPEN },
        { "four failures are nothing", 0, 4, 0, 0, 0, 10 * MS, BREAKER_CLOSED },
        { "five are", 0, 5, 0, 0, 0, 10 * MS, BREAKER_OPEN },
        { "five in five minutes, one a minute", 0, 5, 0, 0, 0, 60 * SECOND, BREAKER_CLOSED },
        { "three a minute, all bad", 0, 12, 0, 0, 0, 20 * SECOND, BREAKER_CLOSED },
        { "six a minute, all bad", 0, 12, 0, 0, 0, 10 * SECOND, BREAKER_OPEN },
        { "half slow", 50, 0, 50, 0, 0, 10 * MS, BREAKER_CLOSED },
        { "most slow", 10, 0, 50, 0, 0, 10 * MS, BREAKER_OPEN },
        { "slow and failed together", 20, 30, 60, 0, 0, 10 * MS, BREAKER_OPEN },
        { "four connects", 500, 0, 0, 4, 0, 10 * MS, BREAKER_CLOSED },
        { "five connects, though all else was good", 500, 0, 0, 5, 0, 10 * MS, BREAKER_OPEN },
        { "a thousand of our own cuts", 0, 0, 0, 0, 1000, 10 * MS, BREAKER_CLOSED },
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        uint64_t now = START;
        uint32_t left[] = { rows[r].good, rows[r].bad, rows[r].connects, rows[r].slow, rows[r].ignored };
        uint32_t begun[] = { rows[r].good, rows[r].bad, rows[r].connects, rows[r].slow, rows[r].ignored };

        breaker_init(&breaker, USUAL, now);
        while (breaker.state == BREAKER_CLOSED) { // evenly mixed, but for the connects, which come last
            size_t next = COUNT_OF(left);
            double most = 0;
            for (size_t i = 0; i < COUNT_OF(left); i++) {
                double share = begun[i] > 0 ? (double)left[i] / begun[i] : 0;
                if (i != BREAKER_WAS_UNREACHABLE && share > most) {
                    most = share;
                    next = i;
                }
            }
            next = next == COUNT_OF(left) && left[BREAKER_WAS_UNREACHABLE] > 0 ? BREAKER_WAS_UNREACHABLE : next;
            if (next == COUNT_OF(left)) {
                break;
            }
            left[next]--;
            assert_true(call((enum breaker_verdict)next, 0, now));
            now += rows[r].apart_us;
        }
        if (breaker.state != rows[r].state) {
            fail_msg("%s: %s", rows[r].what, breaker_state_name(breaker.state));
        }
    }
}

static void the_first_error_after_an_hour_of_silence_is_one_of_one(void **state)
{
    (void)state;

    breaker_init(&breaker, USUAL, START);
    for (int i = 0; i < 4; i++) {
        assert_true(call(BREAKER_WAS_BAD, 0, START));
    }
    assert_true(call(BREAKER_WAS_BAD, 0, START + HOUR));
    assert_int_equal(breaker.state, BREAKER_CLOSED);
}

static void trip_it(uint64_t now)
{
    for (int i = 0; i < 5; i++) {
        assert_true(call(BREAKER_WAS_BAD, 0, now));
    }
    assert_int_equal(breaker.state, BREAKER_OPEN);
}

static void probe_once(enum breaker_verdict verdict, uint64_t now)
{
    struct breaker_pass pass;

    assert_int_equal(breaker_ask(&breaker, 0, now, &pass), BREAKER_PROBE);
    (void)breaker_tell(&breaker, NULL, pass, verdict, MIDDLE, now);
}

static void it_waits_twice_as_long_each_time_up_to_eight_seconds(void **state)
{
    (void)state;
    static const uint64_t seconds[] = { 1, 2, 4, 8, 8, 8, 8, 8, 8, 8 };
    struct breaker_pass pass;
    uint64_t now = START;

    breaker_init(&breaker, USUAL, now);
    trip_it(now);
    for (size_t i = 0; i < COUNT_OF(seconds); i++) {
        uint64_t wait = breaker_refuses_us(&breaker, now);
        assert_true(llabs((long long)(wait - seconds[i] * SECOND)) < 10);
        assert_int_equal(breaker_ask(&breaker, 0, now + wait - 1, &pass), BREAKER_REFUSE);
        now += wait;
        for (int probe = 0; probe < 3; probe++) {
            probe_once(BREAKER_WAS_BAD, now);
        }
        assert_int_equal(breaker.state, BREAKER_OPEN);
    }
    for (uint32_t dice = 0; dice < UINT32_MAX - (1U << 28); dice += 1U << 28) { // never in step with others
        breaker_trip(&breaker, dice, now);
        uint64_t wait = breaker_refuses_us(&breaker, now);
        assert_true(wait >= 6 * SECOND && wait <= 10 * SECOND);
    }
}

static void a_supplier_that_recovers_is_back_within_thirty_seconds(void **state)
{
    (void)state;
    uint64_t now = START;
    uint64_t steps_us[4] = { 0 };

    breaker_init(&breaker, USUAL, now);
    trip_it(now);
    for (int i = 0; i < 10; i++) { // it is down for long
        now += breaker_refuses_us(&breaker, now);
        for (int probe = 0; probe < 3; probe++) {
            probe_once(BREAKER_WAS_UNREACHABLE, now);
        }
    }
    uint64_t recovered = now;
    now += breaker_refuses_us(&breaker, now);
    for (int probe = 0; probe < 3; probe++, now += 500 * MS) {
        probe_once(BREAKER_WAS_GOOD, now);
    }
    assert_int_equal(breaker.state, BREAKER_RAMP);
    uint32_t last = 0;
    for (; breaker.state == BREAKER_RAMP; now += 10 * MS) {
        uint32_t passed = 0;
        for (uint32_t dice = 0; dice < 100; dice++) {
            passed += call(BREAKER_WAS_GOOD, dice * 42949673U, now);
        }
        uint32_t percent = breaker.state == BREAKER_RAMP ? breaker_share_percent(&breaker) : 100;
        assert_int_equal(passed, percent);
        assert_true(percent >= last);
        last = percent;
        steps_us[percent == 10 ? 0 : percent == 25 ? 1 : percent == 50 ? 2 : 3] += 10 * MS;
    }
    assert_int_equal(breaker.state, BREAKER_CLOSED);
    assert_true(now - recovered < 30 * SECOND);
    for (size_t i = 0; i < 4; i++) {
        assert_true(steps_us[i] > 2400 * MS && steps_us[i] < 3100 * MS); // the last probe's half second is the first's
    }
}

static void a_ramp_that_fails_opens_again(void **state)
{
    (void)state;
    uint64_t now = START;

    breaker_init(&breaker, USUAL, now);
    trip_it(now);
    now += breaker_refuses_us(&breaker, now);
    for (int probe = 0; probe < 3; probe++) {
        probe_once(BREAKER_WAS_GOOD, now);
    }
    for (int i = 0; i < 5; i++) {
        assert_true(call(BREAKER_WAS_BAD, 0, now));
    }
    assert_int_equal(breaker.state, BREAKER_OPEN);
    assert_true(breaker_refuses_us(&breaker, now) > 1900 * MS); // the second time
}

static void three_good_of_five_suffice(void **state)
{
    (void)state;
    static const struct {
        const char *probes; // g, b; i: our own doing, counts as none
        enum breaker_state state;
    } rows[] = {
        { "ggg", BREAKER_RAMP },       { "gbgbg", BREAKER_RAMP },     { "bbb", BREAKER_OPEN },
        { "gbgbb", BREAKER_OPEN },     { "ggii", BREAKER_HALF_OPEN }, { "iiiiggg", BREAKER_RAMP },
        { "bbgg", BREAKER_HALF_OPEN },
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        uint64_t now = START;
        breaker_init(&breaker, USUAL, now);
        trip_it(now);
        now += breaker_refuses_us(&breaker, now);
        for (const char *probe = rows[r].probes; *probe != '\0'; probe++) {
            probe_once(*probe == 'g' ? BREAKER_WAS_GOOD : *probe == 'b' ? BREAKER_WAS_SLOW : BREAKER_WAS_OURS, now);
        }
        if (breaker.state != rows[r].state) {
            fail_msg("%s: %s", rows[r].probes, breaker_state_name(breaker.state));
        }
    }
}

static void one_probe_at_a_time_and_a_lost_one_frees_itself(void **state)
{
    (void)state;
    struct breaker_pass lost, next, third;
    uint64_t now = START;

    breaker_init(&breaker, USUAL, now);
    trip_it(now);
    now += breaker_refuses_us(&breaker, now);
    assert_int_equal(breaker_ask(&breaker, 0, now, &lost), BREAKER_PROBE);
    for (int i = 0; i < 100; i++) { // no stampede
        assert_int_equal(breaker_ask(&breaker, 0, now + (uint64_t)i * 90 * MS, &third), BREAKER_REFUSE);
    }
    now += BREAKER_LEASE_US;
    assert_int_equal(breaker_ask(&breaker, 0, now, &next), BREAKER_PROBE);
    assert_int_equal(breaker.probes_bad, 1);
    (void)breaker_tell(&breaker, NULL, lost, BREAKER_WAS_SLOW, MIDDLE, now); // it was counted already
    (void)breaker_tell(&breaker, NULL, lost, BREAKER_WAS_GOOD, MIDDLE, now); // told twice counts once
    assert_int_equal(breaker.probes_bad, 1);
    assert_int_equal(breaker.probes_good, 0);
    assert_int_equal(breaker_ask(&breaker, 0, now, &third), BREAKER_REFUSE);
    (void)breaker_tell(&breaker, NULL, next, BREAKER_WAS_GOOD, MIDDLE, now);
    (void)breaker_tell(&breaker, NULL, next, BREAKER_WAS_GOOD, MIDDLE, now);
    assert_int_equal(breaker.probes_good, 1);
}

// Each probe is out for longer than its lease, which counts as bad: so they get rarer, like any that fail.
static void probes_that_never_come_back_open_it_for_longer_each_time(void **state)
{
    (void)state;
    static const uint64_t seconds[] = { 2, 4, 8, 8, 8 };
    struct breaker_pass pass;
    uint64_t now = START;

    breaker_init(&breaker, USUAL, now);
    trip_it(now);
    now += breaker_refuses_us(&breaker, now);
    for (size_t i = 0; i < COUNT_OF(seconds); i++) {
        for (int probe = 0; probe < 3; probe++, now += BREAKER_LEASE_US) {
            assert_int_equal(breaker_ask(&breaker, MIDDLE, now, &pass), BREAKER_PROBE);
            assert_int_equal(breaker_ask(&breaker, MIDDLE, now + BREAKER_LEASE_US - 1, &pass), BREAKER_REFUSE);
        }
        assert_int_equal(breaker_ask(&breaker, MIDDLE, now, &pass), BREAKER_REFUSE);
        assert_int_equal(breaker.state, BREAKER_OPEN);
        assert_int_equal(breaker.openings, i + 2);
        uint64_t wait = breaker_refuses_us(&breaker, now);
        assert_true(llabs((long long)(wait - seconds[i] * SECOND)) < 10);
        now += wait;
    }
    now += HOUR; // nobody looked when the last lease ended
    assert_int_equal(breaker_ask(&breaker, MIDDLE, now, &pass), BREAKER_PROBE);
}

// Its answers take longer than a lease: it comes back all the same, if a little later.
static void a_supplier_slower_than_a_lease_comes_back(void **state)
{
    (void)state;
    static const uint64_t takes[] = { 11 * SECOND, 15 * SECOND, 20 * SECOND, 25 * SECOND, 29 * SECOND };

    for (size_t i = 0; i < COUNT_OF(takes); i++) {
        struct breaker_pass out[8];
        uint64_t due[8], now = START;
        size_t lent = 0, told = 0;

        breaker_init(&breaker, USUAL, now);
        trip_it(now);
        now += breaker_refuses_us(&breaker, now);
        for (; breaker.state == BREAKER_HALF_OPEN || breaker.state == BREAKER_OPEN; now += 100 * MS) {
            if (breaker_ask(&breaker, MIDDLE, now, &out[lent]) == BREAKER_PROBE) {
                due[lent++] = now + takes[i];
                assert_true(lent < COUNT_OF(out));
            }
            for (; told < lent && due[told] <= now; told++) {
                (void)breaker_tell(&breaker, NULL, out[told], BREAKER_WAS_GOOD, MIDDLE, now);
            }
        }
        assert_int_equal(breaker.state, BREAKER_RAMP);
        assert_int_equal(breaker.openings, 1);
    }
}

static void results_from_before_the_trip_change_nothing(void **state)
{
    (void)state;
    struct breaker_pass old[50];
    uint64_t now = START;

    breaker_init(&breaker, USUAL, now);
    for (size_t i = 0; i < COUNT_OF(old); i++) {
        assert_int_equal(breaker_ask(&breaker, 0, now, &old[i]), BREAKER_PASS);
    }
    trip_it(now);
    uint64_t until = breaker.until_us;
    for (size_t i = 0; i < 20; i++) {
        assert_false(breaker_tell(&breaker, NULL, old[i], BREAKER_WAS_BAD, MIDDLE, now + 10 * MS));
    }
    assert_int_equal(breaker.until_us, until);
    now = until;
    for (int probe = 0; probe < 3; probe++) {
        probe_once(BREAKER_WAS_GOOD, now);
    }
    for (size_t i = 20; i < COUNT_OF(old); i++) {
        assert_false(breaker_tell(&breaker, NULL, old[i], BREAKER_WAS_UNREACHABLE, MIDDLE, now));
    }
    assert_int_equal(breaker.state, BREAKER_RAMP);
}

static void a_day_of_flapping_is_capped_and_is_forgotten(void **state)
{
    (void)state;
    uint64_t now = START;

    breaker_init(&breaker, USUAL, now);
    for (int i = 0; i < 500; i++) {
        trip_it(now);
        uint64_t wait = breaker_refuses_us(&breaker, now);
        assert_true(wait <= 10 * SECOND);
        now += wait;
        for (int probe = 0; probe < 3; probe++) {
            probe_once(BREAKER_WAS_GOOD, now);
        }
        now += 4 * BREAKER_STEP_US;
    }
    now += HOUR; // closed and well all along
    trip_it(now);
    assert_true(breaker_refuses_us(&breaker, now) < 1100 * MS);
}

static void an_operator_closes_and_trips_it(void **state)
{
    (void)state;

    breaker_init(&breaker, USUAL, START);
    breaker_trip(&breaker, MIDDLE, START);
    assert_int_equal(breaker.state, BREAKER_OPEN);
    assert_int_equal(breaker_share_percent(&breaker), 0);
    breaker_close(&breaker, START);
    assert_true(call(BREAKER_WAS_GOOD, 0, START));
    assert_int_equal(breaker_share_percent(&breaker), 100);
}

// ---- the guard

enum { MANY = 40 };
static struct breaker many[MANY];
static struct breaker_guard guard;

static void tell_many(uint32_t from, uint32_t to, enum breaker_verdict verdict, uint64_t now)
{
    struct breaker_pass pass;

    for (uint32_t i = from; i < to; i++) {
        if (breaker_ask(&many[i], 0, now, &pass) == BREAKER_PASS) {
            (void)breaker_tell(&many[i], &guard, pass, verdict, MIDDLE, now);
        }
    }
}

static uint32_t count_open(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        count += many[i].state != BREAKER_CLOSED;
    }
    return count;
}

static void begin_many(void)
{
    breaker_guard_init(&guard, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        breaker_init(&many[i], USUAL, START);
    }
}

static void all_at_once_is_our_own_fault_for_a_minute(void **state)
{
    (void)state;
    uint64_t now = START;

    begin_many();
    for (; now < START + 10 * SECOND; now += 500 * MS) {
        tell_many(0, MANY, BREAKER_WAS_UNREACHABLE, now);
    }
    assert_int_equal(count_open(), 12); // 30 % of 40
    assert_true(guard.alarm_us != 0);
    for (; now < START + 30 * SECOND; now += 500 * MS) { // it is over: nobody needs an operator
        tell_many(0, MANY, BREAKER_WAS_GOOD, now);
    }
    tell_many(0, MANY, BREAKER_WAS_GOOD, now);
    assert_true(count_open() <= 12);
    for (; now < START + 200 * SECOND; now += 500 * MS) { // it is not our fault, it seems
        tell_many(12, MANY, BREAKER_WAS_BAD, now);
    }
    assert_int_equal(count_open(), MANY);
}

static void a_few_at_once_are_theirs(void **state)
{
    (void)state;

    begin_many();
    for (uint64_t now = START; now < START + 10 * SECOND; now += 500 * MS) {
        tell_many(0, 12, BREAKER_WAS_BAD, now);
        tell_many(12, MANY, BREAKER_WAS_GOOD, now);
    }
    assert_int_equal(count_open(), 12);
    assert_int_equal(guard.alarm_us, 0);
}

// ---- any order of things

static uint64_t seed;

static uint32_t dice(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 32);
}

static void check_invariants(uint32_t epoch, enum breaker_state before, uint64_t now)
{
    assert_true(breaker.epoch >= epoch);
    assert_true((breaker.state == before) == (breaker.epoch == epoch) || breaker.epoch > epoch);
    assert_true(breaker.probes_good < BREAKER_GOOD_PROBES &&
                breaker.probes_bad <= BREAKER_PROBES - BREAKER_GOOD_PROBES);
    assert_true(breaker.state == BREAKER_HALF_OPEN || (breaker.probe == 0 && breaker.probes_good == 0));
    assert_true(breaker.step < 4);
    assert_true(breaker.state != BREAKER_OPEN || breaker.until_us <= breaker.since_us + 10 * SECOND);
    assert_true(breaker_refuses_us(&breaker, now) <= 10 * SECOND);
}

// Calls begin, end in any order, late, twice or never; time passes in jumps; whatever happens, one probe at most is out
// and the supplier that is well is asked again.
static void no_order_of_things_confuses_it(void **state)
{
    (void)state;

    for (uint64_t run = 1; run <= 300; run++) {
        struct breaker_pass out[64];
        uint64_t now = START, lent_until = 0;
        size_t count = 0;

        seed = run;
        breaker_init(&breaker, USUAL, now);
        for (int step = 0; step < 2000; step++) {
            uint32_t epoch = breaker.epoch;
            enum breaker_state before = breaker.state;
            now += dice() % 16 == 0 ? dice() % (12 * SECOND) : dice() % (100 * MS);
            if (dice() % 2 == 0 && count < COUNT_OF(out)) {
                enum breaker_answer answer = breaker_ask(&breaker, dice(), now, &out[count]);
                if (answer == BREAKER_PROBE) {
                    assert_true(breaker.epoch != epoch || before != BREAKER_HALF_OPEN || now >= lent_until);
                    lent_until = now + BREAKER_LEASE_US;
                }
                assert_true(answer != BREAKER_PASS || breaker.state == BREAKER_CLOSED || breaker.state == BREAKER_RAMP);
                count += answer != BREAKER_REFUSE;
            } else if (count > 0) {
                size_t i = dice() % count;
                bool was_lent = out[i].probe != 0 && out[i].probe == breaker.probe && out[i].epoch == breaker.epoch;
                (void)breaker_tell(&breaker, NULL, out[i], (enum breaker_verdict)(dice() % 5), dice(), now);
                lent_until = was_lent ? 0 : lent_until;
                if (dice() % 8 != 0) { // else it is told again later
                    out[i] = out[--count];
                }
            }
            check_invariants(epoch, before, now);
        }
        for (int i = 0; i < 2000 && breaker.state != BREAKER_CLOSED; i++, now += 50 * MS) {
            struct breaker_pass pass;
            if (breaker_ask(&breaker, dice(), now, &pass) != BREAKER_REFUSE) {
                (void)breaker_tell(&breaker, NULL, pass, BREAKER_WAS_GOOD, dice(), now);
            }
        }
        assert_int_equal(breaker.state, BREAKER_CLOSED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_wilsons),
        cmocka_unit_test(it_opens_by_what_it_sees),
        cmocka_unit_test(the_first_error_after_an_hour_of_silence_is_one_of_one),
        cmocka_unit_test(it_waits_twice_as_long_each_time_up_to_eight_seconds),
        cmocka_unit_test(a_supplier_that_recovers_is_back_within_thirty_seconds),
        cmocka_unit_test(a_ramp_that_fails_opens_again),
        cmocka_unit_test(three_good_of_five_suffice),
        cmocka_unit_test(one_probe_at_a_time_and_a_lost_one_frees_itself),
        cmocka_unit_test(probes_that_never_come_back_open_it_for_longer_each_time),
        cmocka_unit_test(a_supplier_slower_than_a_lease_comes_back),
        cmocka_unit_test(results_from_before_the_trip_change_nothing),
        cmocka_unit_test(a_day_of_flapping_is_capped_and_is_forgotten),
        cmocka_unit_test(an_operator_closes_and_trips_it),
        cmocka_unit_test(all_at_once_is_our_own_fault_for_a_minute),
        cmocka_unit_test(a_few_at_once_are_theirs),
        cmocka_unit_test(no_order_of_things_confuses_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
