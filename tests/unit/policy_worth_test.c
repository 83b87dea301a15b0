#include "policy/worth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HOUR (UINT64_C(3600) * 1000000)

static void assert_near(double expected, double actual, double within)
{
    if (fabs(expected - actual) > within) {
        fail_msg("expected %f, got %f", expected, actual);
    }
}

static void of_few_answers_nothing_is_known(void **state)
{
    (void)state;
    struct worth worth = { 0 };
    double number = 7;

    for (int i = 1; i < WORTH_LEAST; i++) {
        worth_note(&worth, 1, 10, true, HOUR);
        assert_false(worth_expect(&worth, 1, &number));
        assert_false(worth_win_rate(&worth, &number));
    }
    worth_note(&worth, 1, 10, false, HOUR);
    assert_true(worth_expect(&worth, 1, &number));
    assert_near(10, number, 1e-9);
    assert_true(worth_win_rate(&worth, &number));
    assert_near(0.8, number, 1e-9);
}

static void a_kind_leans_on_all_of_them_while_it_is_new(void **state)
{
    (void)state;
    struct worth worth = { 0 };
    double items = 0;

    for (int i = 0; i < 100; i++) {
        worth_note(&worth, 1, 20, false, HOUR);
    }
    assert_true(worth_expect(&worth, 2, &items)); // never seen
    assert_near(20, items, 1e-9);
    worth_note(&worth, 2, 0, false, HOUR);
    assert_true(worth_expect(&worth, 2, &items));
    assert_near(18, items, 0.1);
    for (int i = 0; i < 1000; i++) {
        worth_note(&worth, 2, 0, false, HOUR);
    }
    assert_true(worth_expect(&worth, 2, &items));
    assert_near(0, items, 0.1);
    assert_true(worth_expect(&worth, 1, &items));
    assert_true(items > 17);
    assert_true(worth_expect(&worth, 0, &items)); // a search of no kind
    assert_near(2000.0 / 1101, items, 0.01);
}

static void what_was_long_ago_counts_half_each_hour(void **state)
{
    (void)state;
    struct worth worth = { 0 };
    double items = 0;

    for (int i = 0; i < 20; i++) {
        worth_note(&worth, 0, 9, false, HOUR);
    }
    for (int i = 0; i < 10; i++) {
        worth_note(&worth, 0, 0, false, 2 * HOUR);
    }
    assert_true(worth_expect(&worth, 0, &items));
    assert_near(4.5, items, 1e-6);
    worth_note(&worth, 0, -3, false, 1); // less than nothing is nothing, and time that goes back stands still
    assert_true(worth_expect(&worth, 0, &items));
    assert_near(90.0 / 21, items, 1e-6);
}

static void the_kind_that_is_seen_least_makes_room(void **state)
{
    (void)state;
    struct worth worth = { 0 };
    double items = 0;

    for (uint64_t kind = 1; kind <= WORTH_KINDS; kind++) {
        for (uint64_t i = 0; i <= kind; i++) {
            worth_note(&worth, kind, (double)kind * 100, false, HOUR);
        }
    }
    worth_note(&worth, 99, 0, false, HOUR);
    bool has_first = false, has_last = false, has_new = false;
    for (size_t i = 0; i < WORTH_KINDS; i++) {
        has_first = has_first || worth.names[i] == 1;
        has_last = has_last || worth.names[i] == WORTH_KINDS;
        has_new = has_new || worth.names[i] == 99;
    }
    assert_true(!has_first && has_last && has_new);
    assert_true(worth_expect(&worth, 1, &items));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_few_answers_nothing_is_known),
        cmocka_unit_test(a_kind_leans_on_all_of_them_while_it_is_new),
        cmocka_unit_test(what_was_long_ago_counts_half_each_hour),
        cmocka_unit_test(the_kind_that_is_seen_least_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
