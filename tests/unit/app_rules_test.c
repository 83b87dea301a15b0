// Rules against the products and suppliers that there are: names that nobody has, values that no fact can have, rules
// that never win.

#include "app/generation.h"
#include "unit/app_settings_support.h"

#define HEAD                                                                                                           \
    "suppliers_dir: examples/farm/suppliers\nscripts_dir: scripts\nsuppliers:\n"                                       \
    "  delta: { uses: farm_a }\n  omni: { uses: farm_b }\nrules:\n"
enum { HEAD_LINES = 6 };

static enum status build(const char *document, struct findings *findings, struct generation **generation)
{
    struct settings *settings = NULL;
    enum status status = read_documents(&document, 1, findings, &settings);
    *generation = NULL;
    if (status == STATUS_OK) {
        status = generation_build(settings, on_finding, findings, generation);
        settings_release(&settings);
    }
    return status;
}

static void rules_are_numbered_looked_up_and_know_their_line(void **state)
{
    (void)state;
    struct findings findings;
    struct generation *generation = NULL;
    enum status status =
        build(HEAD "  - { when: { product: flights, device: mobile, lead_days: '<7' }, deadline: 1500ms }\n"
                   "  - { when: { market: [GB], trip_type: multi_city }, supplier: [omni, delta], "
                   "ceiling: 900ms }\n"
                   "  - { when: { lead_days: [07, '30..60'] }, ceiling_scale: 50% }\n",
              &findings, &generation);
    if (status != STATUS_OK) {
        fail_msg("%u:%u: %s", findings.items[0].line, findings.items[0].column, findings.items[0].message);
    }
    const struct catalogue *catalogue = generation_catalogue(generation);
    const struct rule_set *set = catalogue->rules;
    assert_int_equal(set->rule_count, 3);
    assert_int_equal(set->segment_count, 5);
    assert_true(text_equals_c(set->segments[4], "lead_days"));
    assert_true(set->has_deadlines);
    const struct rule *second = &set->rules[1];
    assert_non_null(strstr(second->place.data, "app_settings_test."));
    assert_string_equal(strrchr(second->place.data, ':'), ":8");
    assert_int_equal(second->supplier_count, 2);
    assert_true(text_equals_c(catalogue->suppliers[second->suppliers[0]].name, "omni"));
    assert_true(text_equals_c(catalogue->suppliers[second->suppliers[1]].name, "delta"));
    assert_int_equal(second->conditions[0].segment, 1);
    const struct rule_condition *days = &set->rules[2].conditions[0];
    assert_null(days->values[0].text.data); // a number, however it is written
    assert_int_equal(days->values[0].least, 7);
    assert_int_equal(days->values[1].most, 60);
    generation_release(&generation);
}

static void without_rules_there_is_no_set(void **state)
{
    (void)state;
    struct findings findings;
    struct generation *generation = NULL;
    assert_int_equal(build(HEAD, &findings, &generation), STATUS_OK);
    assert_null(generation_catalogue(generation)->rules);
    generation_release(&generation);
}

struct error_case {
    const char *rules;
    uint32_t line, column; // line 1: the first rule's
    const char *message, *help;
};

static const struct error_case ERRORS[] = {
    { "  - { supplier: dlta, ceiling: 1s }\n", 1, 17, "there is no supplier `dlta`", "did you mean `delta`?" },
    { "  - { supplier: [delta, zzzzzz], ceiling: 1s }\n", 1, 17, "there is no supplier `zzzzzz`", "files" },
    { "  - { when: { product: flight }, ceiling: 1s }\n", 1, 24, "there is no product `flight`", "`flights`" },
    { "  - { when: { product: [flights, trains] }, ceiling: 1s }\n", 1, 24, "there is no product `trains`", "" },
    { "  - { when: { device: moble }, ceiling: 1s }\n", 1, 23, "`device` is never `moble`", "did you mean `mobile`?" },
    { "  - { when: { device: fridge }, ceiling: 1s }\n", 1, 23, "`device` is never `fridge`",
      "one of: mobile desktop app" },
    { "  - { when: { device: '<7' }, ceiling: 1s }\n", 1, 23, "`device` is never `<7`", "" },
    { "  - { when: { market: gb }, ceiling: 1s }\n", 1, 23, "`market` is never `gb`: it is a country", "" },
    { "  - { when: { lead_days: soon }, ceiling: 1s }\n", 1, 26, "`lead_days` is never `soon`: it is a whole number",
      "" },
    { "  - { when: { product: hotels, trip_type: return }, ceiling: 1s }\n", 1, 43,
      "no search of that product has a fact `trip_type`", "fits no search" },
    { "  - { when: { product: hotels }, supplier: delta, ceiling: 1s }\n", 1, 44,
      "`delta` is never asked by such a search: it sells flights", "" },
    // what never wins
    { "  - { ceiling: 1s }\n  - { when: { device: app }, ceiling: 2s }\n", 2, 39,
      "this ceiling never wins: the rule at", "put this rule before that one" },
    { "  - { when: { device: [app, mobile] }, deadline: 1s }\n"
      "  - { when: { market: GB, device: app }, deadline: 2s }\n",
      2, 52, "this deadline never wins", "" },
    { "  - { when: { lead_days: '<30' }, ceiling_max: 1s }\n"
      "  - { when: { lead_days: [3, '7..13'] }, ceiling_max: 2s }\n",
      2, 55, "this ceiling_max never wins", "" },
    { "  - { supplier: [delta, omni], ceiling_scale: 50% }\n"
      "  - { when: { device: app }, supplier: omni, ceiling: 1s, ceiling_scale: 60% }\n",
      2, 74, "this ceiling_scale never wins", "" },
};

static void every_rule_that_cannot_be_meant_is_a_finding_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ERRORS); i++) {
        const struct error_case *expected = &ERRORS[i];
        struct generation *generation = NULL;
        struct findings findings;
        char document[1024];
        snprintf(document, sizeof(document), "%s%s", HEAD, expected->rules);
        enum status status = build(document, &findings, &generation);
        const struct failure *found = &findings.items[0];
        if (status != STATUS_INVALID || findings.count != 1 || found->line != expected->line + HEAD_LINES ||
            found->column != expected->column || strstr(found->message, expected->message) == NULL ||
            strstr(found->help, expected->help) == NULL) {
            fail_msg("case %zu: %zu findings, the first %u:%u: %s (%s)", i, findings.count, found->line, found->column,
                     found->message, found->help);
        }
    }
}

static void what_may_win_somewhere_is_no_finding(void **state)
{
    (void)state;
    static const char *const GOOD[] = {
        "  - { when: { device: app }, ceiling: 1s }\n  - { ceiling: 2s }\n",
        "  - { ceiling: 1s }\n  - { ceiling_max: 2s }\n",
        "  - { supplier: delta, ceiling: 1s }\n  - { ceiling: 2s }\n",
        "  - { when: { lead_days: '<7' }, ceiling: 1s }\n  - { when: { lead_days: '<8' }, ceiling: 2s }\n",
        "  - { when: { product: [flights, hotels], trip_type: return }, ceiling: 1s }\n",
        "  - { when: { product: hotels, lead_days: 0 }, deadline: 1s }\n",
    };
    for (size_t i = 0; i < COUNT_OF(GOOD); i++) {
        struct generation *generation = NULL;
        struct findings findings;
        char document[1024];
        snprintf(document, sizeof(document), "%s%s", HEAD, GOOD[i]);
        if (build(document, &findings, &generation) != STATUS_OK) {
            fail_msg("case %zu: %s", i, findings.items[0].message);
        }
        generation_release(&generation);
    }
}

static void a_segment_that_no_product_has_is_a_finding(void **state)
{
    (void)state;
    struct generation *generation = NULL;
    struct findings findings;
    assert_int_equal(
        build("suppliers_dir: examples/farm/suppliers\nscripts_dir: scripts\nsegments: [product, devise]\n", &findings,
              &generation),
        STATUS_INVALID);
    assert_int_equal(findings.items[0].line, 3);
    assert_string_equal(findings.items[0].message, "no product has a fact `devise`");
    assert_string_equal(findings.items[0].help, "did you mean `device`?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(rules_are_numbered_looked_up_and_know_their_line, clear_environment),
        cmocka_unit_test_setup(without_rules_there_is_no_set, clear_environment),
        cmocka_unit_test_setup(every_rule_that_cannot_be_meant_is_a_finding_with_its_place, clear_environment),
        cmocka_unit_test_setup(what_may_win_somewhere_is_no_finding, clear_environment),
        cmocka_unit_test_setup(a_segment_that_no_product_has_is_a_finding, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
