#include "policy/shed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 16 };

struct row {
    size_t count;
    double values[MOST];
    double share;
    size_t turn;
    const char *shed; // x: left out
};

static const struct row ROWS[] = {
    { 0, { 0 }, 0.5, 3, "" },
    { 1, { 1 }, 0.5, 0, "." },
    { 1, { 1 }, 1, 0, "." },
    { 3, { 1, 2, 3 }, 0.25, 0, "..." },
    { 4, { 4, 2, 3, 1 }, 0.25, 0, "...x" }, // 1 < 10/8
    { 4, { 4, 2, 3, 1 }, 0.5, 0, "...x" },  // 2 >= 9/7
    { 4, { 4, 2, 3, 1 }, 0, 0, "...." },
    { 4, { 1, 1, 1, 1 }, 0.25, 0, "...." }, // 1 >= 4/8
    { 4, { 1, 1, 1, 1 }, 1, 2, "...." },
    { 4, { 0, 0, 0, 0 }, 1, 2, "...." },
    { 4, { 0, 2, 0, 2 }, 0.25, 0, "x..." },
    { 4, { 0, 2, 0, 2 }, 0.25, 1, "..x." },
    { 4, { 0, 2, 0, 2 }, 0.5, 3, "x.x." },
    { 4, { 0, 2, 0, 2 }, 0.25, 4000001, "..x." },
    { 4, { 0, 0, 0, 8 }, 1, 0, "xxx." },
    { 5, { 0, 0, 0, 0, 9 }, 0.5, 0, "xx..." },
    { 8, { 9, 9, 9, 9, 9, 9, 1, 1 }, 0.25, 0, "......xx" },
    { 8, { 9, 9, 9, 9, 9, 9, 4, 4 }, 0.25, 0, "......xx" }, // 4 < 62/12, then 4 < 58/11
    { 8, { 9, 9, 9, 9, 9, 9, 6, 6 }, 0.25, 0, "........" }, // 6 >= 66/12
};

static void who_is_worth_less_than_his_price_is_left_out(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(ROWS); r++) {
        const struct row *row = &ROWS[r];
        bool is_shed[MOST];
        char shed[MOST + 1] = "";
        size_t chosen = shed_choose(row->values, row->count, row->share, row->turn, is_shed), marked = 0;
        for (size_t i = 0; i < row->count; i++) {
            shed[i] = is_shed[i] ? 'x' : '.';
            marked += is_shed[i];
        }
        if (strcmp(shed, row->shed) != 0 || marked != chosen) {
            fail_msg("row %zu: %s, not %s", r, shed, row->shed);
        }
    }
}

static void by_turns_all_of_equal_value_are_asked(void **state)
{
    (void)state;
    static const double values[8] = { 1, 9, 1, 9, 1, 9, 1, 9 };
    size_t times[8] = { 0 };

    for (size_t turn = 0; turn < 80; turn++) {
        bool is_shed[8];
        assert_int_equal(shed_choose(values, 8, 0.25, turn, is_shed), 2);
        for (size_t i = 0; i < 8; i++) {
            times[i] += is_shed[i];
        }
    }
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(times[i], i % 2 == 0 ? 40 : 0);
    }
}

static void the_ladder_says_how_many(void **state)
{
    (void)state;
    double last = 0;

    for (uint32_t rung = 0; rung <= ADMISSION_RUNGS; rung++) {
        double share = shed_share(rung);
        assert_int_equal(share > 0, rung >= ADMISSION_SHEDS_AT);
        assert_true(share >= last && share <= 0.5);
        last = share;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_worth_less_than_his_price_is_left_out),
        cmocka_unit_test(by_turns_all_of_equal_value_are_asked),
        cmocka_unit_test(the_ladder_says_how_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
