#include "policy/allowance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000)

static const uint64_t START = 5000 * SECOND;
static struct allowance allowance;

static void nobody_gets_what_was_not_earned(void **state)
{
    (void)state;

    allowance_init(&allowance, 0.03);
    assert_false(allowance_spend(&allowance, START));
    for (int i = 0; i < 33; i++) {
        allowance_earn(&allowance, START);
    }
    assert_false(allowance_spend(&allowance, START));
    allowance_earn(&allowance, START);
    assert_true(allowance_spend(&allowance, START));
    assert_false(allowance_spend(&allowance, START));
    allowance_init(&allowance, 0);
    for (int i = 0; i < 10000; i++) {
        allowance_earn(&allowance, START);
    }
    assert_false(allowance_spend(&allowance, START));
}

static void a_permit_is_good_for_ten_seconds(void **state)
{
    (void)state;

    for (uint64_t later = 0; later < 15; later++) {
        allowance_init(&allowance, 0.01);
        for (int i = 0; i < 100; i++) {
            allowance_earn(&allowance, START);
        }
        assert_int_equal(allowance_spend(&allowance, START + later * SECOND), later < 10);
    }
    allowance_init(&allowance, 1);
    allowance_earn(&allowance, START);
    assert_false(allowance_spend(&allowance, START + 100000 * SECOND));
}

static void the_oldest_is_spent_first(void **state)
{
    (void)state;

    allowance_init(&allowance, 1);
    allowance_earn(&allowance, START);
    allowance_earn(&allowance, START + 9 * SECOND);
    assert_true(allowance_spend(&allowance, START + 9 * SECOND));
    assert_true(allowance_spend(&allowance, START + 12 * SECOND));
    assert_false(allowance_spend(&allowance, START + 12 * SECOND));
}

static void what_was_not_needed_comes_back(void **state)
{
    (void)state;

    allowance_init(&allowance, 1);
    allowance_earn(&allowance, START);
    assert_true(allowance_spend(&allowance, START));
    allowance_give_back(&allowance, START + 5 * SECOND);
    assert_true(fabs(allowance_left(&allowance, START + 14 * SECOND) - 1) < 1e-9);
    assert_true(allowance_spend(&allowance, START + 14 * SECOND));
}

// However they come, extra calls are never more than their share of the calls of ten seconds, and all of it can be
// used.
static void extra_calls_stay_within_their_share(void **state)
{
    (void)state;
    static uint64_t calls[400], extras[400];
    uint64_t seed = 7;

    for (int run = 0; run < 50; run++) {
        double share = 0.01 * (run % 10 + 1);
        uint64_t sum_calls = 0, sum_extras = 0;
        allowance_init(&allowance, share);
        for (uint64_t second = 0; second < 400; second++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint64_t count = seed >> 60 == 0 ? 0 : (seed >> 40) % 300;
            calls[second] = count;
            extras[second] = 0;
            for (uint64_t i = 0; i < count; i++) {
                allowance_earn(&allowance, START + second * SECOND + i);
                extras[second] += allowance_spend(&allowance, START + second * SECOND + i);
            }
            sum_calls += calls[second];
            sum_extras += extras[second];
            uint64_t window_calls = 0, window_extras = 0;
            for (uint64_t back = 0; back < 10 && back <= second; back++) {
                window_extras += extras[second - back];
            }
            for (uint64_t back = 0; back < 19 && back <= second;
                 back++) { // what was spent may be as old as ten seconds
                window_calls += calls[second - back];
            }
            assert_true((double)window_extras <= share * (double)window_calls + 1e-6);
        }
        assert_true((double)sum_extras <= share * (double)sum_calls + 1e-6);
        assert_true((double)sum_extras > share * (double)sum_calls * 0.9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_gets_what_was_not_earned),     cmocka_unit_test(a_permit_is_good_for_ten_seconds),
        cmocka_unit_test(the_oldest_is_spent_first),           cmocka_unit_test(what_was_not_needed_comes_back),
        cmocka_unit_test(extra_calls_stay_within_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
