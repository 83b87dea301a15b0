#include "policy/ceiling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define NONE UINT64_MAX

static const struct rule number_900 = { .values = { [RULE_CEILING] = 900 * MS } };
static const struct rule scale_80 = { .values = { [RULE_CEILING_SCALE] = 800000 } };
static const struct rule scale_1 = { .values = { [RULE_CEILING_SCALE] = 10000 } };
static const struct rule scale_100 = { .values = { [RULE_CEILING_SCALE] = 1000000 } };
static const struct rule max_500 = { .values = { [RULE_CEILING_MAX] = 500 * MS } };
static const struct rule all = {
    .values = { [RULE_CEILING] = 1000 * MS, [RULE_CEILING_SCALE] = 500000, [RULE_CEILING_MAX] = 1000 * MS },
};

struct row {
    const struct rule *rule;
    uint64_t settings_us, script_us;
    const struct rule *scale, *max;
    uint64_t us;
    enum ceiling_from from;
    const struct rule *first, *second;
};

static void the_first_who_has_a_say_gives_the_number_then_it_is_scaled_then_limited(void **state)
{
    (void)state;
    static const struct row rows[] = {
        // who gives the number
        { NULL, 0, 0, NULL, NULL, NONE, CEILING_FROM_NOBODY, NULL, NULL },
        { NULL, 0, 700 * MS, NULL, NULL, 700 * MS, CEILING_FROM_SCRIPT, NULL, NULL },
        { NULL, 800 * MS, 700 * MS, NULL, NULL, 800 * MS, CEILING_FROM_SETTINGS, NULL, NULL },
        { &number_900, 800 * MS, 700 * MS, NULL, NULL, 900 * MS, CEILING_FROM_RULE, &number_900, NULL },
        { &number_900, 0, 0, NULL, NULL, 900 * MS, CEILING_FROM_RULE, &number_900, NULL },
        // scaled
        { NULL, 0, 0, &scale_80, NULL, NONE, CEILING_FROM_NOBODY, NULL, NULL },
        { NULL, 0, 700 * MS, &scale_80, NULL, 560 * MS, CEILING_FROM_SCRIPT, &scale_80, NULL },
        { NULL, 800 * MS, 0, &scale_80, NULL, 640 * MS, CEILING_FROM_SETTINGS, &scale_80, NULL },
        { &number_900, 0, 0, &scale_80, NULL, 720 * MS, CEILING_FROM_RULE, &number_900, &scale_80 },
        { &number_900, 0, 0, &scale_100, NULL, 900 * MS, CEILING_FROM_RULE, &number_900, &scale_100 },
        { NULL, 0, 333333, &scale_80, NULL, 266666, CEILING_FROM_SCRIPT, &scale_80, NULL },
        // never to nothing, nor above what it was
        { NULL, 0, 20 * MS, &scale_1, NULL, 1 * MS, CEILING_FROM_SCRIPT, &scale_1, NULL },
        { NULL, 0, 10, &scale_1, NULL, 10, CEILING_FROM_SCRIPT, &scale_1, NULL },
        { NULL, 0, UINT64_MAX - 1, &scale_80, NULL, 14757395258967641291u, CEILING_FROM_SCRIPT, &scale_80, NULL },
        // limited, after that
        { NULL, 0, 0, NULL, &max_500, 500 * MS, CEILING_FROM_RULE, &max_500, NULL },
        { NULL, 0, 400 * MS, NULL, &max_500, 400 * MS, CEILING_FROM_SCRIPT, NULL, NULL },
        { NULL, 0, 500 * MS, NULL, &max_500, 500 * MS, CEILING_FROM_SCRIPT, NULL, NULL },
        { NULL, 0, 501 * MS, NULL, &max_500, 500 * MS, CEILING_FROM_RULE, &max_500, NULL },
        { NULL, 0, 600 * MS, &scale_80, &max_500, 480 * MS, CEILING_FROM_SCRIPT, &scale_80, NULL },
        { &number_900, 0, 0, &scale_80, &max_500, 500 * MS, CEILING_FROM_RULE, &max_500, NULL },
        // one rule may do all of it, and is told once
        { &all, 0, 0, &all, &all, 500 * MS, CEILING_FROM_RULE, &all, NULL },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct ceiling_terms terms = {
            .settings_us = rows[i].settings_us, .rule = rows[i].rule, .scale = rows[i].scale, .max = rows[i].max
        };
        struct ceiling ceiling = ceiling_in_force(&terms, rows[i].script_us);
        if (ceiling.us != rows[i].us || ceiling.from != rows[i].from || ceiling.rules[0] != rows[i].first ||
            ceiling.rules[1] != rows[i].second) {
            fail_msg("row %zu: %llu us from %s", i, (unsigned long long)ceiling.us, ceiling_from_name(ceiling.from));
        }
    }
}

static void an_operator_wins_over_all_and_is_scaled_and_limited_like_them(void **state)
{
    (void)state;
    struct ceiling_terms terms = { .override_us = 300 * MS, .settings_us = 800 * MS, .rule = &number_900 };
    struct ceiling ceiling = ceiling_in_force(&terms, 700 * MS);

    assert_int_equal(ceiling.us, 300 * MS);
    assert_int_equal(ceiling.from, CEILING_FROM_OVERRIDE);
    assert_null(ceiling.rules[0]);
    terms.scale = &scale_80;
    ceiling = ceiling_in_force(&terms, 0);
    assert_int_equal(ceiling.us, 240 * MS);
    assert_int_equal(ceiling.from, CEILING_FROM_OVERRIDE);
    terms.override_us = 900 * MS;
    terms.max = &max_500;
    ceiling = ceiling_in_force(&terms, 0);
    assert_int_equal(ceiling.us, 500 * MS);
    assert_int_equal(ceiling.from, CEILING_FROM_RULE);
    assert_false(ceiling_terms_ask_script(&(struct ceiling_terms){ .override_us = 1 }));
}

static void a_script_is_asked_only_when_nobody_else_gives_the_number(void **state)
{
    (void)state;
    assert_true(ceiling_terms_ask_script(&(struct ceiling_terms){ 0 }));
    assert_true(ceiling_terms_ask_script(&(struct ceiling_terms){ .scale = &scale_80, .max = &max_500 }));
    assert_false(ceiling_terms_ask_script(&(struct ceiling_terms){ .settings_us = 1 }));
    assert_false(ceiling_terms_ask_script(&(struct ceiling_terms){ .rule = &number_900 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operator_wins_over_all_and_is_scaled_and_limited_like_them),
        cmocka_unit_test(the_first_who_has_a_say_gives_the_number_then_it_is_scaled_then_limited),
        cmocka_unit_test(a_script_is_asked_only_when_nobody_else_gives_the_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
