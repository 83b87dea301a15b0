#include "policy/auth_park.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000)
#define MINUTE (60 * SECOND)

static const uint64_t START = 5000 * SECOND;
static struct auth_park park;
static uint64_t wait_us;

static struct auth_pass passed(uint64_t now_us)
{
    struct auth_pass pass;

    assert_true(auth_park_ask(&park, now_us, &pass, &wait_us));
    assert_int_equal(wait_us, 0);
    return pass;
}

static void kept_out(uint64_t now_us, uint64_t expected_us)
{
    struct auth_pass pass;

    assert_false(auth_park_ask(&park, now_us, &pass, &wait_us));
    assert_int_equal(wait_us, expected_us);
}

static bool tell(enum auth_end end, uint64_t now_us)
{
    struct auth_pass pass = passed(now_us);
    return auth_park_tell(&park, &pass, end, now_us);
}

static void park_it(void)
{
    auth_park_init(&park);
    for (int i = 0; i < AUTH_PARK_REFUSALS; i++) {
        assert_int_equal(tell(AUTH_REFUSED, START), i == AUTH_PARK_REFUSALS - 1);
    }
}

static void three_refusals_in_a_row_park_it_and_others_do_not(void **state)
{
    (void)state;
    auth_park_init(&park);
    for (int i = 0; i < 100; i++) {
        assert_false(tell(AUTH_REFUSED, START));
        assert_false(tell(AUTH_UNKNOWN, START));
        assert_false(tell(AUTH_REFUSED, START));
        assert_false(tell(AUTH_TAKEN, START));
    }
    assert_false(tell(AUTH_REFUSED, START));
    assert_false(tell(AUTH_UNKNOWN, START)); // neither a refusal nor an end of the row
    assert_false(tell(AUTH_REFUSED, START));
    assert_false(auth_park_is_parked(&park));
    assert_true(tell(AUTH_REFUSED, START));
    assert_true(auth_park_is_parked(&park));
    kept_out(START, MINUTE);
    kept_out(START + MINUTE - 1, 1);
}

static void a_probe_that_is_refused_waits_twice_as_long_up_to_half_an_hour(void **state)
{
    (void)state;
    static const uint64_t MINUTES[] = { 1, 2, 4, 8, 16, 30, 30, 30 };
    uint64_t now_us = START;

    park_it();
    for (size_t i = 0; i < COUNT_OF(MINUTES); i++) {
        kept_out(now_us, MINUTES[i] * MINUTE);
        now_us += MINUTES[i] * MINUTE;
        assert_int_equal(auth_park_left_us(&park, now_us), 0);
        assert_false(tell(AUTH_REFUSED, now_us)); // it was parked and is
    }
}

static void one_probe_at_a_time(void **state)
{
    (void)state;
    uint64_t now_us = START + MINUTE;

    park_it();
    struct auth_pass probe = passed(now_us);
    assert_true(probe.is_probe);
    kept_out(now_us, 0);
    assert_false(auth_park_tell(&park, &probe, AUTH_UNKNOWN, now_us)); // cut: the next one is the probe
    probe = passed(now_us);
    assert_true(probe.is_probe);
    kept_out(now_us + MINUTE, 0);
    assert_true(auth_park_tell(&park, &probe, AUTH_TAKEN, now_us + MINUTE));
    assert_false(auth_park_is_parked(&park));
    assert_false(passed(now_us + MINUTE).is_probe);
    assert_false(passed(now_us + MINUTE).is_probe);
}

static void after_a_success_the_first_park_is_a_minute_again(void **state)
{
    (void)state;
    uint64_t now_us = START + MINUTE;

    park_it();
    assert_false(tell(AUTH_REFUSED, now_us));
    now_us += 2 * MINUTE;
    assert_true(tell(AUTH_TAKEN, now_us));
    for (int i = 0; i < AUTH_PARK_REFUSALS; i++) {
        assert_int_equal(tell(AUTH_REFUSED, now_us), i == AUTH_PARK_REFUSALS - 1);
    }
    kept_out(now_us, MINUTE);
}

static void what_began_before_the_park_says_nothing(void **state)
{
    (void)state;
    auth_park_init(&park);
    struct auth_pass early[4];
    for (size_t i = 0; i < COUNT_OF(early); i++) {
        early[i] = passed(START);
    }
    for (int i = 0; i < AUTH_PARK_REFUSALS; i++) {
        (void)tell(AUTH_REFUSED, START);
    }
    assert_false(auth_park_tell(&park, &early[0], AUTH_REFUSED, START + SECOND));
    assert_false(auth_park_tell(&park, &early[1], AUTH_TAKEN, START + SECOND));
    assert_int_equal(park.parks, 1);
    kept_out(START + SECOND, MINUTE - SECOND);
    struct auth_pass probe = passed(START + MINUTE);
    assert_false(auth_park_tell(&park, &early[2], AUTH_UNKNOWN, START + MINUTE));
    kept_out(START + MINUTE, 0); // the probe is still out
    assert_true(auth_park_tell(&park, &probe, AUTH_TAKEN, START + MINUTE));
    assert_false(auth_park_tell(&park, &early[3], AUTH_REFUSED, START + MINUTE));
    assert_int_equal(park.refusals, 0);
}

static void logins_count_without_a_pass(void **state)
{
    (void)state;
    auth_park_init(&park);
    assert_false(auth_park_tell(&park, NULL, AUTH_REFUSED, START));
    assert_false(auth_park_tell(&park, NULL, AUTH_REFUSED, START));
    assert_true(auth_park_tell(&park, NULL, AUTH_REFUSED, START));
    assert_false(auth_park_tell(&park, NULL, AUTH_REFUSED, START + SECOND)); // of before: no probe is out
    assert_int_equal(park.parks, 1);
    struct auth_pass probe = passed(START + MINUTE);
    assert_false(auth_park_tell(&park, NULL, AUTH_REFUSED, START + MINUTE)); // the login that the probe waited for
    assert_int_equal(park.parks, 2);
    assert_false(auth_park_tell(&park, &probe, AUTH_UNKNOWN, START + MINUTE));
    kept_out(START + MINUTE, 2 * MINUTE);
}

static void what_another_engine_learned_counts_and_what_is_under_way_does_not(void **state)
{
    (void)state;
    auth_park_init(&park);
    struct auth_pass before = passed(START);

    auth_park_adopt(&park, 2, START + 2 * MINUTE);
    kept_out(START, 2 * MINUTE);
    assert_false(auth_park_tell(&park, &before, AUTH_TAKEN, START)); // it began before
    kept_out(START + SECOND, 2 * MINUTE - SECOND);
    assert_false(tell(AUTH_REFUSED, START + 2 * MINUTE)); // as a probe
    kept_out(START + 2 * MINUTE, 4 * MINUTE);             // the third in a row
    auth_park_adopt(&park, 0, 0);
    assert_false(auth_park_is_parked(&park));
    assert_false(tell(AUTH_REFUSED, START + 2 * MINUTE)); // one in a row
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_refusals_in_a_row_park_it_and_others_do_not),
        cmocka_unit_test(a_probe_that_is_refused_waits_twice_as_long_up_to_half_an_hour),
        cmocka_unit_test(one_probe_at_a_time),
        cmocka_unit_test(after_a_success_the_first_park_is_a_minute_again),
        cmocka_unit_test(what_began_before_the_park_says_nothing),
        cmocka_unit_test(logins_count_without_a_pass),
        cmocka_unit_test(what_another_engine_learned_counts_and_what_is_under_way_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
