// Rules as they stand in files: what is read of them, and what is wrong with them before anybody knows the products.

#include "unit/app_settings_support.h"

static struct settings *read_rules(const char *document)
{
    struct findings findings = { 0 };
    struct settings *settings = NULL;
    enum status status = read_documents(&document, 1, &findings, &settings);
    if (status != STATUS_OK) {
        fail_msg("%u:%u: %s", findings.items[0].line, findings.items[0].column, findings.items[0].message);
    }
    return settings;
}

static void assert_text(struct text text, const char *expected)
{
    if (!text_equals_c(text, expected)) {
        fail_msg("got `%.*s`, wanted `%s`", TEXT_ARGS(text), expected);
    }
}

static void rules_are_read_in_their_order_with_their_places(void **state)
{
    (void)state;
    struct settings *settings =
        read_rules("rules:\n"
                   "  - { when: { product: flights, device: [mobile, app], lead_days: '<7' }, deadline: 1500ms }\n"
                   "  - when: { market: GB }\n"
                   "    supplier: [delta, omni]\n"
                   "    ceiling: 900ms\n"
                   "    ceiling_scale: 80%\n"
                   "    ceiling_max: 1.2s\n"
                   "  - { supplier: delta, ceiling: 1s }\n");
    assert_int_equal(settings->rule_count, 3);
    const struct settings_rule *first = &settings->rules[0];
    assert_int_equal(first->place.line, 2);
    assert_int_equal(first->place.column, 5);
    assert_int_equal(first->condition_count, 3);
    assert_text(first->conditions[0].segment, "product");
    assert_int_equal(first->conditions[1].word_count, 2);
    assert_text(first->conditions[1].words[1], "app");
    assert_int_equal(first->conditions[1].place.column, 41);
    assert_int_equal(first->values[RULE_DEADLINE], 1500000);
    assert_int_equal(first->values[RULE_CEILING], 0);
    assert_int_equal(first->supplier_count, 0);
    const struct settings_rule *second = &settings->rules[1];
    assert_int_equal(second->supplier_count, 2);
    assert_text(second->suppliers[1], "omni");
    assert_int_equal(second->supplier_place.line, 4);
    assert_int_equal(second->values[RULE_CEILING], 900000);
    assert_int_equal(second->values[RULE_CEILING_SCALE], 800000);
    assert_int_equal(second->values[RULE_CEILING_MAX], 1200000);
    assert_int_equal(second->value_places[RULE_CEILING_MAX].line, 7);
    assert_text(settings->rules[2].suppliers[0], "delta");
    settings_release(&settings);
}

static void comparisons_are_ranges_and_words_are_words(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        int64_t least, most; // both 0: a word
    } rows[] = {
        { "<7", INT64_MIN, 6 }, { "<=7", INT64_MIN, 7 }, { ">30", 31, INT64_MAX }, { ">=30", 30, INT64_MAX },
        { "7..13", 7, 13 },     { "0 .. 3", 0, 3 },      { "< 7", INT64_MIN, 6 },  { "-3..-1", -3, -1 },
        { "7", 0, 0 },          { "mobile", 0, 0 },      { "7..7", 7, 7 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char document[128];
        snprintf(document, sizeof(document), "rules:\n  - { when: { lead_days: '%s' }, ceiling: 1s }\n", rows[i].word);
        struct settings *settings = read_rules(document);
        const struct rule_value *value = &settings->rules[0].conditions[0].values[0];
        if (rows[i].least == 0 && rows[i].most == 0) {
            assert_text(value->text, rows[i].word);
        } else {
            assert_null(value->text.data);
            assert_true(value->least == rows[i].least && value->most == rows[i].most);
        }
        settings_release(&settings);
    }
}

static void a_later_file_replaces_all_rules(void **state)
{
    (void)state;
    const char *documents[] = { "rules:\n  - { ceiling: 1s }\n  - { supplier: a, ceiling: 2s }\n",
                                "segments: [device, mood]\nrules:\n  - { when: { mood: good }, ceiling: 3s }\n" };
    const char *none[] = { documents[0], "rules: []\n" };
    struct findings findings;
    struct settings *settings = NULL;
    assert_int_equal(read_documents(documents, 2, &findings, &settings), STATUS_OK);
    assert_int_equal(settings->rule_count, 1);
    assert_int_equal(settings->rules[0].values[RULE_CEILING], 3000000);
    assert_int_equal(settings->segment_count, 2);
    assert_int_equal(settings->segments_place.line, 1);
    settings_release(&settings);
    assert_int_equal(read_documents(none, 2, &findings, &settings), STATUS_OK);
    assert_int_equal(settings->rule_count, 0);
    assert_int_equal(settings->segment_count, 5);
    assert_null(settings->segments_place.file);
    settings_release(&settings);
}

struct error_case {
    const char *document;
    uint32_t line, column;
    const char *message, *help; // parts of them
};

static const struct error_case ERRORS[] = {
    { "rules: 5\n", 1, 8, "`rules` is a list of maps", "- { when: { device: mobile }" },
    { "rules: { ceiling: 1s }\n", 1, 8, "`rules` is a list of maps", "" },
    { "rules: [5]\n", 1, 9, "a rule is a map", "- { when: { device: mobile }" },
    { "rules:\n  - { when: { device: app } }\n", 2, 5, "this rule sets nothing", "ceiling_scale" },
    { "rules:\n  - {}\n", 2, 5, "this rule sets nothing", "" },
    { "rules:\n  - { cieling: 1s }\n", 2, 7, "`rules.1.cieling` is not a setting", "did you mean `rules.1.ceiling`?" },
    { "rules:\n  - { when: { device: app }, ceiling: 1s, weight: 0 }\n", 2, 51,
      "`rules.1.weight` is `0`, which is out of range", "from 0.001 to 1000" },
    { "rules:\n  - { delay_cost: 1, supplier: acme }\n", 2, 32, "a delay_cost is the whole search's, not a supplier's",
      "write two rules, or a `weight` instead" },
    { "rules:\n  - { ceiling: 1 }\n", 2, 16, "`rules.1.ceiling` is `1`, which has no unit", "" },
    { "rules:\n  - { ceiling_scale: 0% }\n", 2, 22, "out of range", "from 1% to 100%" },
    { "rules:\n  - { ceiling_scale: 1.2 }\n", 2, 22, "`rules.1.ceiling_scale` is `1.2`", "" },
    { "rules:\n  - { when: device, ceiling: 1s }\n", 2, 13, "is a section, not a value", "" },
    { "rules:\n  - { when: { device: {} }, ceiling: 1s }\n", 2, 23, "is a list", "" },
    { "rules:\n  - { when: { device: [] }, ceiling: 1s }\n", 2, 23, "is empty", "name at least one" },
    { "rules:\n  - { when: { device: }, ceiling: 1s }\n", 2, 23, "has no value", "" },
    { "rules:\n  - { when: { devise: app }, ceiling: 1s }\n", 2, 23, "`devise` is not a segment",
      "did you mean `device`?" },
    { "rules:\n  - { when: { weather: dry }, ceiling: 1s }\n", 2, 24, "`weather` is not a segment",
      "name it in `segments`" },
    { "rules:\n  - { when: { device: [app, app] }, ceiling: 1s }\n", 2, 23, "`app` of `device` stands there twice",
      "" },
    { "rules:\n  - { when: { lead_days: '<x' }, ceiling: 1s }\n", 2, 26, "is no comparison of whole numbers",
      "\"<7\"" },
    { "rules:\n  - { when: { lead_days: '<' }, ceiling: 1s }\n", 2, 26, "is no comparison of whole numbers", "" },
    { "rules:\n  - { when: { lead_days: 7.. }, ceiling: 1s }\n", 2, 26, "is no comparison of whole numbers", "" },
    { "rules:\n  - { when: { lead_days: 13..7 }, ceiling: 1s }\n", 2, 26, "can never be", "" },
    { "rules:\n  - { when: { device: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa }, ceiling: 1s }\n", 2, 23,
      "is longer than 47 bytes", "" },
    { "rules:\n  - { supplier: a, deadline: 1s }\n", 2, 17, "a deadline is the whole search's", "" },
    { "rules:\n  - { deadline: 50ms }\n", 2, 17, "is not from deadline.min to deadline.max", "" },
    { "deadline: { max: 5s }\nrules:\n  - { deadline: 6s }\n", 3, 17, "is not from deadline.min to deadline.max", "" },
    { "rules:\n  - { ceiling: 2s, ceiling_max: 1s }\n", 2, 16, "above the ceiling_max of the same rule", "" },
    { "segments: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]\n", 1, 11, "more than 16 names", "" },
    { "segments: [a, a]\n", 1, 15, "stands there twice", "" },
    { "segments: device\n", 1, 11, "is a list", "" },
};

static void every_error_of_a_rule_names_its_line_and_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ERRORS); i++) {
        const struct error_case *expected = &ERRORS[i];
        struct findings findings;
        struct settings *settings = NULL;
        enum status status = read_documents(&expected->document, 1, &findings, &settings);
        const struct failure *found = &findings.items[0];
        if (status != STATUS_INVALID || found->line != expected->line || found->column != expected->column ||
            strstr(found->message, expected->message) == NULL || strstr(found->help, expected->help) == NULL) {
            fail_msg("case %zu: got %u:%u: %s (%s)\nwanted %u:%u: %s (%s)\nfor:\n%s", i, found->line, found->column,
                     found->message, found->help, expected->line, expected->column, expected->message, expected->help,
                     expected->document);
        }
    }
}

static void more_than_500_rules_are_too_many(void **state)
{
    (void)state;
    char *document = calloc(1, 64 * 1024);
    assert_non_null(document);
    strcpy(document, "rules:\n");
    for (int i = 0; i < 501; i++) {
        strcat(document, "  - { supplier: a, ceiling: 1s }\n");
    }
    const char *given = document;
    struct findings findings;
    struct settings *settings = NULL;
    assert_int_equal(read_documents(&given, 1, &findings, &settings), STATUS_INVALID);
    assert_int_equal(findings.items[0].line, 502);
    assert_non_null(strstr(findings.items[0].message, "more than 500 rules"));
    free(document);
}

static void the_environment_holds_segments_but_no_rules(void **state)
{
    (void)state;
    const char *document = "";
    struct findings findings;
    struct settings *settings = NULL;
    setenv("LASTCALL__SEGMENTS", "device,market", 1);
    assert_int_equal(read_documents(&document, 1, &findings, &settings), STATUS_OK);
    assert_int_equal(settings->segment_count, 2);
    settings_release(&settings);
    setenv("LASTCALL__RULES", "x", 1);
    assert_int_equal(read_documents(&document, 1, &findings, &settings), STATUS_INVALID);
    assert_string_equal(findings.items[0].file, "LASTCALL__RULES");
    assert_non_null(strstr(findings.items[0].help, "a variable cannot hold them"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rules_are_read_in_their_order_with_their_places, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(comparisons_are_ranges_and_words_are_words, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(a_later_file_replaces_all_rules, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(every_error_of_a_rule_names_its_line_and_column, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(more_than_500_rules_are_too_many, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(the_environment_holds_segments_but_no_rules, clear_environment,
                                        clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
