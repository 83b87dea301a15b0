#include "policy/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct reserve reserve;

static void a_wish_is_clamped_to_the_range(void **state)
{
    (void)state;
    static const struct {
        uint64_t requested_us, effective_us;
        bool is_clamped;
    } rows[] = {
        { 0, 100000, true },
        { 99999, 100000, true },
        { 100000, 100000, false },
        { 2000000, 2000000, false },
        { 10000000, 10000000, false },
        { 10000001, 10000000, true },
        { UINT64_MAX, 10000000, true },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct budget budget = budget_clamp(rows[i].requested_us, 100000, 10000000);
        assert_true(budget.requested_us == rows[i].requested_us);
        assert_int_equal(budget.effective_us, rows[i].effective_us);
        assert_int_equal(budget.is_clamped, rows[i].is_clamped);
    }
}

static void a_rule_stands_in_for_the_default_and_is_the_most_for_who_names_a_budget(void **state)
{
    (void)state;
    static const struct {
        enum budget_from from;
        uint64_t requested_us, limit_us, rule_us;
        uint64_t wanted_us, effective_us;
        bool is_clamped;
        enum budget_from decided;
    } rows[] = {
        { BUDGET_FROM_DEFAULT, 2000, 0, 1500, 1500, 1500, false, BUDGET_FROM_RULE },
        { BUDGET_FROM_DEFAULT, 2000, 0, 3000, 3000, 3000, false, BUDGET_FROM_RULE },
        { BUDGET_FROM_DEFAULT, 2000, 0, 2000, 2000, 2000, false, BUDGET_FROM_RULE },
        { BUDGET_FROM_CALLER, 2000, 0, 1500, 2000, 1500, true, BUDGET_FROM_RULE },
        { BUDGET_FROM_CALLER, 2000, 0, 2000, 2000, 2000, false, BUDGET_FROM_CALLER },
        { BUDGET_FROM_CALLER, 2000, 0, 3000, 2000, 2000, false, BUDGET_FROM_CALLER },
        // a proxy that waits no longer than that
        { BUDGET_FROM_DEFAULT, 2000, 2500, 3000, 3000, 2500, true, BUDGET_FROM_CALLER },
        { BUDGET_FROM_DEFAULT, 2000, 2500, 1500, 1500, 1500, false, BUDGET_FROM_RULE },
        { BUDGET_FROM_CALLER, 1000, 1000, 3000, 1000, 1000, false, BUDGET_FROM_CALLER },
        { BUDGET_FROM_CALLER, 1000, 1000, 500, 1000, 500, true, BUDGET_FROM_RULE },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct budget budget = budget_clamp(rows[i].requested_us, 100, 10000);
        budget.from = rows[i].from;
        budget.limit_us = rows[i].limit_us;
        budget = budget_by_rule(budget, rows[i].rule_us);
        if (budget.requested_us != rows[i].wanted_us || budget.effective_us != rows[i].effective_us ||
            budget.is_clamped != rows[i].is_clamped || budget.from != rows[i].decided) {
            fail_msg("row %zu: %llu us from %s", i, (unsigned long long)budget.effective_us,
                     budget_from_name(budget.from));
        }
    }
}

static void learn(unsigned count, uint64_t finishing_us, uint64_t now_us)
{
    for (unsigned i = 0; i < count; i++) {
        reserve_learn(&reserve, finishing_us, now_us);
    }
}

static void before_a_thousand_samples_the_reserve_is_12_ms_and_at_most_5_percent(void **state)
{
    (void)state;
    static const struct {
        uint64_t budget_us, reserve_us;
    } rows[] = {
        { 10000000, 12000 }, { 2000000, 12000 }, { 240000, 12000 }, { 239980, 11999 },
        { 100000, 5000 },    { 40000, 2000 },    { 39980, 2000 },   { 0, 2000 },
    };
    reserve_init(&reserve);
    learn(999, 40000, 1000);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(reserve_for(&reserve, rows[i].budget_us), rows[i].reserve_us);
    }
}

static void from_a_thousand_samples_on_it_is_what_was_learned_plus_2_ms(void **state)
{
    (void)state;
    reserve_init(&reserve);
    learn(999, 3000, 1000);
    assert_int_equal(reserve_for(&reserve, 2000000), 12000);
    learn(1, 3000, 1000);
    uint64_t us = reserve_for(&reserve, 2000000);
    assert_true(us >= 5000 && us <= 5061); // 3 ms, within 2 % above, + 2 ms
    learn(1000, 1, 1000);
    us = reserve_for(&reserve, 2000000);
    assert_true(us >= 5000 && us <= 5061); // the slow half is far above the last thousandth
}

static void one_in_two_thousand_does_not_move_it_and_one_in_five_hundred_does(void **state)
{
    (void)state;
    reserve_init(&reserve);
    learn(1999, 1000, 1000);
    learn(1, 30000, 1000);
    assert_true(reserve_for(&reserve, 2000000) < 4000);
    learn(3, 30000, 1000);
    assert_true(reserve_for(&reserve, 2000000) >= 32000);
}

static void the_reserve_never_passes_50_ms_nor_5_percent_nor_falls_below_2_ms(void **state)
{
    (void)state;
    reserve_init(&reserve);
    learn(1000, 900000, 1000);
    assert_int_equal(reserve_for(&reserve, 10000000), 50000);
    assert_int_equal(reserve_for(&reserve, 1000000), 50000);
    assert_int_equal(reserve_for(&reserve, 500000), 25000);
    assert_int_equal(reserve_for(&reserve, 20000), 2000);
    reserve_init(&reserve);
    learn(1000, 0, 1000);
    assert_true(reserve_for(&reserve, 2000000) >= 2000);
    assert_true(reserve_for(&reserve, 2000000) <= 2002);
}

static void what_was_learned_long_ago_is_forgotten(void **state)
{
    (void)state;
    const uint64_t minute_us = 60ULL * 1000000;
    reserve_init(&reserve);
    learn(2000, 40000, minute_us);
    assert_true(reserve_for(&reserve, 2000000) > 40000);
    learn(2000, 1000, 51 * minute_us + 1); // ten half-lives: the old ones weigh a thousandth
    learn(2000, 1000, 76 * minute_us);
    assert_true(reserve_for(&reserve, 2000000) < 4000);
}

static void the_smaller_of_ceiling_and_budget_ends_the_allocation(void **state)
{
    (void)state;
    static const struct {
        const char *about;
        uint64_t arrival_us, ceiling_us, end_us, now_us;
        uint64_t allocated_us, until_us;
        enum bound bound;
    } rows[] = {
        { "ceiling first", 1000, 400, 1800, 1100, 300, 1400, BOUND_CEILING },
        { "budget first", 1000, 900, 1800, 1100, 700, 1800, BOUND_BUDGET },
        { "equal is budget", 1000, 800, 1800, 1100, 700, 1800, BOUND_BUDGET },
        { "one less is ceiling", 1000, 799, 1800, 1100, 699, 1799, BOUND_CEILING },
        { "no ceiling", 1000, UINT64_MAX, 1800, 1100, 700, 1800, BOUND_BUDGET },
        { "a ceiling that would overflow", 1000, UINT64_MAX - 500, 1800, 1100, 700, 1800, BOUND_BUDGET },
        { "a ceiling that just fits", 1000, UINT64_MAX - 1001, 1800, 1100, 700, 1800, BOUND_BUDGET },
        { "now is the end", 1000, 900, 1800, 1800, 0, 1800, BOUND_BUDGET },
        { "now is past the end", 1000, 900, 1800, 5000, 0, 1800, BOUND_BUDGET },
        { "now is past the ceiling", 1000, 400, 1800, 1500, 0, 1400, BOUND_CEILING },
        { "a ceiling of nothing", 1000, 0, 1800, 1000, 0, 1000, BOUND_CEILING },
        { "an end before the arrival", 1000, 400, 900, 1000, 0, 900, BOUND_BUDGET },
        { "no end at all", 1000, UINT64_MAX, UINT64_MAX, 1000, UINT64_MAX - 1000, UINT64_MAX, BOUND_BUDGET },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct allocation allocation =
            allocation_of(rows[i].arrival_us, rows[i].ceiling_us, rows[i].end_us, rows[i].now_us);
        if (allocation.us != rows[i].allocated_us || allocation.end_us != rows[i].until_us ||
            allocation.bound != rows[i].bound) {
            fail_msg("%s", rows[i].about);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wish_is_clamped_to_the_range),
        cmocka_unit_test(a_rule_stands_in_for_the_default_and_is_the_most_for_who_names_a_budget),
        cmocka_unit_test(before_a_thousand_samples_the_reserve_is_12_ms_and_at_most_5_percent),
        cmocka_unit_test(from_a_thousand_samples_on_it_is_what_was_learned_plus_2_ms),
        cmocka_unit_test(one_in_two_thousand_does_not_move_it_and_one_in_five_hundred_does),
        cmocka_unit_test(the_reserve_never_passes_50_ms_nor_5_percent_nor_falls_below_2_ms),
        cmocka_unit_test(what_was_learned_long_ago_is_forgotten),
        cmocka_unit_test(the_smaller_of_ceiling_and_budget_ends_the_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
