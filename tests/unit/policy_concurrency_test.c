#include "policy/concurrency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint64_t START = UINT64_C(5000000000);
static struct concurrency concurrency;

static void begin_with(uint32_t most)
{
    concurrency = (struct concurrency){ 0 };
    concurrency_set(&concurrency, most);
}

// All of it is used, for one window.
static uint64_t use_window(uint64_t now_us)
{
    (void)!concurrency_allows(&concurrency, concurrency_cap(&concurrency, now_us), now_us);
    return now_us + CONCURRENCY_WINDOW_US;
}

static void without_a_limit_none_is_learned(void **state)
{
    (void)state;
    begin_with(0);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(concurrency_allows(&concurrency, i, START));
        concurrency_strained(&concurrency, i, START + i * CONCURRENCY_WINDOW_US);
    }
    assert_int_equal(concurrency_cap(&concurrency, START), 0);
}

static void strain_takes_three_tenths_once_a_window(void **state)
{
    (void)state;
    static const uint32_t CAPS[] = { 70, 49, 34, 23, 16, 11, 7, 4, 2, 1, 1, 1 };
    uint64_t now_us = START;

    begin_with(100);
    for (size_t i = 0; i < COUNT_OF(CAPS); i++) {
        (void)!concurrency_allows(&concurrency, concurrency_cap(&concurrency, now_us), now_us);
        for (int burst = 0; burst < 50; burst++) {
            concurrency_strained(&concurrency, 0, now_us);
        }
        assert_int_equal(concurrency_cap(&concurrency, now_us), CAPS[i]);
        assert_true(concurrency_allows(&concurrency, CAPS[i] - 1, now_us));
        assert_false(concurrency_allows(&concurrency, CAPS[i], now_us));
        now_us += CONCURRENCY_WINDOW_US;
    }
}

static void what_was_under_way_is_cut_and_not_what_might_have_been(void **state)
{
    (void)state;
    begin_with(100);
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(concurrency_allows(&concurrency, i, START));
    }
    concurrency_strained(&concurrency, 0, START); // the burst is over by now
    assert_int_equal(concurrency_cap(&concurrency, START), 7);
}

static void each_clean_window_in_use_gives_one_back(void **state)
{
    (void)state;
    uint64_t now_us = START;

    begin_with(12);
    now_us = use_window(now_us);
    concurrency_strained(&concurrency, 12, now_us);
    assert_int_equal(concurrency_cap(&concurrency, now_us), 8);
    now_us += CONCURRENCY_WINDOW_US; // strained: not clean
    for (uint32_t cap = 8; cap < 12; cap++) {
        assert_int_equal(concurrency_cap(&concurrency, now_us), cap);
        now_us = use_window(now_us);
    }
    assert_int_equal(concurrency_cap(&concurrency, now_us), 12);
    now_us = use_window(now_us);
    assert_int_equal(concurrency_cap(&concurrency, now_us), 12); // its settings' limit
}

static void windows_that_are_not_in_use_give_nothing_back(void **state)
{
    (void)state;
    uint64_t now_us = START;

    begin_with(12);
    now_us = use_window(now_us);
    concurrency_strained(&concurrency, 12, now_us);
    for (int i = 0; i < 20; i++) {
        now_us += CONCURRENCY_WINDOW_US;
        assert_true(concurrency_allows(&concurrency, 2, now_us));
        assert_int_equal(concurrency_cap(&concurrency, now_us), 8);
    }
}

static void new_limits_keep_what_was_learned(void **state)
{
    (void)state;
    begin_with(10);
    concurrency_set(&concurrency, 20);
    assert_int_equal(concurrency_cap(&concurrency, START), 20);
    uint64_t now_us = use_window(START);
    concurrency_strained(&concurrency, 20, now_us);
    assert_int_equal(concurrency_cap(&concurrency, now_us), 14);
    concurrency_set(&concurrency, 30);
    assert_int_equal(concurrency_cap(&concurrency, now_us), 14);
    concurrency_set(&concurrency, 5);
    assert_int_equal(concurrency_cap(&concurrency, now_us), 5);
    concurrency_set(&concurrency, 0);
    assert_true(concurrency_allows(&concurrency, 1000, now_us));
    concurrency_set(&concurrency, 3);
    assert_false(concurrency_allows(&concurrency, 3, now_us));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_none_is_learned),
        cmocka_unit_test(strain_takes_three_tenths_once_a_window),
        cmocka_unit_test(what_was_under_way_is_cut_and_not_what_might_have_been),
        cmocka_unit_test(each_clean_window_in_use_gives_one_back),
        cmocka_unit_test(windows_that_are_not_in_use_give_nothing_back),
        cmocka_unit_test(new_limits_keep_what_was_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
