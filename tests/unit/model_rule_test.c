#include "model/script_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { DEVICE, LEAD, SEGMENTS };

static const struct rule_value mobile = { .text = { "mobile", 6 } };
static const struct rule_value devices[] = { { .text = { "mobile", 6 } }, { .text = { "app", 3 } } };
static const struct rule_value soon = { .least = INT64_MIN, .most = 6 };
static const struct rule_value sooner = { .least = 0, .most = 3 };
static const struct rule_value seven = { .least = 7, .most = 7 };

static const struct rule_condition is_mobile = { DEVICE, &mobile, 1 };
static const struct rule_condition is_small = { DEVICE, devices, 2 };
static const struct rule_condition is_soon = { LEAD, &soon, 1 };
static const struct rule_condition is_sooner = { LEAD, &sooner, 1 };
static const struct rule_condition is_seven = { LEAD, &seven, 1 };
static const struct rule_condition mobile_and_soon[] = { { DEVICE, &mobile, 1 }, { LEAD, &soon, 1 } };
static const struct rule_condition soon_and_small[] = { { LEAD, &sooner, 1 }, { DEVICE, devices, 2 } };
static const uint32_t second[] = { 1 };
static const uint32_t first_two[] = { 0, 1 };

static void whole_numbers_are_read_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_integer;
        int64_t integer;
    } rows[] = {
        { "0", true, 0 },
        { "7", true, 7 },
        { "007", true, 7 },
        { "-12", true, -12 },
        { "999999999999999999", true, INT64_C(999999999999999999) },
        { "9999999999999999999", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { "+1", false, 0 },
        { "1.5", false, 0 },
        { "7 ", false, 0 },
        { "seven", false, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rule_fact fact = rule_fact_of(text_of(rows[i].text));
        assert_int_equal(fact.is_integer, rows[i].is_integer);
        if (rows[i].is_integer) {
            assert_true(fact.integer == rows[i].integer);
        }
    }
    assert_false(rule_fact_of((struct text){ NULL, 0 }).is_integer);
}

static void a_rule_fits_when_every_condition_has_a_value_that_does(void **state)
{
    (void)state;
    static const struct {
        const struct rule_condition *conditions;
        size_t count;
        const char *device, *lead;
        bool fits;
    } rows[] = {
        { NULL, 0, NULL, NULL, true },
        { &is_mobile, 1, "mobile", NULL, true },
        { &is_mobile, 1, "Mobile", NULL, false },
        { &is_mobile, 1, "mobiles", NULL, false },
        { &is_mobile, 1, NULL, "3", false },
        { &is_small, 1, "app", NULL, true },
        { &is_small, 1, "desktop", NULL, false },
        { &is_soon, 1, NULL, "6", true },
        { &is_soon, 1, NULL, "7", false },
        { &is_soon, 1, NULL, "-1", true },
        { &is_soon, 1, NULL, "six", false },
        { &is_soon, 1, NULL, NULL, false },
        { &is_seven, 1, NULL, "7", true },
        { &is_seven, 1, NULL, "8", false },
        { mobile_and_soon, 2, "mobile", "3", true },
        { mobile_and_soon, 2, "mobile", "9", false },
        { mobile_and_soon, 2, "app", "3", false },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct rule rule = { .conditions = rows[i].conditions, .condition_count = rows[i].count };
        const struct rule_fact facts[SEGMENTS] = { rule_fact_of(text_of(rows[i].device)),
                                                   rule_fact_of(text_of(rows[i].lead)) };
        if (rule_fits(&rule, facts) != rows[i].fits) {
            fail_msg("row %zu", i);
        }
    }
}

static struct rule rule_of(const struct rule_condition *conditions, size_t count, const uint32_t *suppliers,
                           size_t supplier_count)
{
    return (struct rule){
        .conditions = conditions, .condition_count = count, .suppliers = suppliers, .supplier_count = supplier_count
    };
}

static void a_rule_covers_what_asks_for_the_same_and_more(void **state)
{
    (void)state;
    const struct rule rules[] = {
        rule_of(NULL, 0, NULL, 0),            // 0: everything
        rule_of(&is_mobile, 1, NULL, 0),      // 1
        rule_of(&is_small, 1, NULL, 0),       // 2
        rule_of(&is_soon, 1, NULL, 0),        // 3
        rule_of(&is_sooner, 1, NULL, 0),      // 4
        rule_of(mobile_and_soon, 2, NULL, 0), // 5
        rule_of(soon_and_small, 2, NULL, 0),  // 6
        rule_of(NULL, 0, second, 1),          // 7
        rule_of(&is_mobile, 1, first_two, 2), // 8
    };
    static const bool covers[COUNT_OF(rules)][COUNT_OF(rules)] = {
        { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, // 0
        { 0, 1, 0, 0, 0, 1, 0, 0, 1 }, // 1
        { 0, 1, 1, 0, 0, 1, 1, 0, 1 }, // 2
        { 0, 0, 0, 1, 1, 1, 1, 0, 0 }, // 3
        { 0, 0, 0, 0, 1, 0, 1, 0, 0 }, // 4
        { 0, 0, 0, 0, 0, 1, 0, 0, 0 }, // 5
        { 0, 0, 0, 0, 0, 0, 1, 0, 0 }, // 6
        { 0, 0, 0, 0, 0, 0, 0, 1, 0 }, // 7
        { 0, 0, 0, 0, 0, 0, 0, 0, 1 }, // 8
    };
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        for (size_t j = 0; j < COUNT_OF(rules); j++) {
            if (rule_covers(&rules[i], &rules[j]) != covers[i][j]) {
                fail_msg("rule %zu and rule %zu", i, j);
            }
        }
    }
}

static void the_first_rule_that_has_a_setting_gives_it(void **state)
{
    (void)state;
    const struct rule rules[] = {
        { .conditions = &is_seven, .condition_count = 1, .values = { 1, 1, 1, 1 } }, // does not fit
        { .conditions = &is_mobile, .condition_count = 1, .values = { [RULE_CEILING_SCALE] = 2 } },
        { .suppliers = second, .supplier_count = 1, .values = { [RULE_CEILING] = 3 } },
        { .values = { [RULE_DEADLINE] = 4, [RULE_CEILING] = 4, [RULE_CEILING_SCALE] = 4 } },
        { .values = { 5, 5, 5, 5 } },
    };
    const struct rule_set set = { .rules = rules, .rule_count = COUNT_OF(rules), .segment_count = SEGMENTS };
    const struct rule_fact facts[SEGMENTS] = { rule_fact_of(TEXT("mobile")), rule_fact_of(TEXT("3")) };
    uint64_t ends_us[COUNT_OF(rules)] = { 10, 20, 30, 40, 50 };
    struct start_call *start = start_call_create(TEXT("flights"), TEXT("id"), NULL, 2);

    start->rules = &set;
    start->rule_ends_us = ends_us;
    start->times.end_us = 99;
    start->candidates[1].supplier = 1;
    start_call_take_facts(start, facts);
    assert_ptr_equal(start->deadline_rule, &rules[3]);
    assert_int_equal(start->times.end_us, 40);
    assert_ptr_equal(start->candidates[0].terms.rule, &rules[3]);
    assert_ptr_equal(start->candidates[1].terms.rule, &rules[2]);
    for (size_t i = 0; i < 2; i++) {
        assert_ptr_equal(start->candidates[i].terms.scale, &rules[1]);
        assert_ptr_equal(start->candidates[i].terms.max, &rules[4]);
    }
    script_call_destroy(&start->call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_read_and_nothing_else),
        cmocka_unit_test(a_rule_fits_when_every_condition_has_a_value_that_does),
        cmocka_unit_test(a_rule_covers_what_asks_for_the_same_and_more),
        cmocka_unit_test(the_first_rule_that_has_a_setting_gives_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
