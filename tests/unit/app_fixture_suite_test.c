// All fixtures of a folder: what an update writes, how a bug of the script is told, whose fixtures they are.

#include "unit/app_fixture_stage.h"

static void update_writes_what_came_and_leaves_the_rest(void **state)
{
    char *text = with(RIGHT, "\"offers\": 2", "\"offers\": 77");
    char *wrong = with(text, "\"left\": 1200", "\"left\": 3");
    char *right = with(RIGHT, "", "");
    struct buffer now;

    (void)state;
    write_as("acme.test/ok-a.json", wrong);
    struct fixture_suite suite = run(true);
    assert_int_equal(findings.count, 0);
    assert_int_equal(suite.updated, 1);
    buffer_init(&now, DOCUMENT_MAX);
    assert_int_equal(file_read(path_of("acme.test/ok-a.json"), &now, NULL), STATUS_OK);
    buffer_append_byte(&now, '\0');
    assert_string_equal(now.data, right);
    buffer_fini(&now);
    assert_int_equal(run(true).updated, 0);
    assert_int_equal(run(false).failed, 0);
    free(text);
    free(wrong);
    free(right);
}

/// The right fixture with these members in `expect`, updated, has exactly those that are left.
static void assert_updates(const char *members, const char *left)
{
    char old[] = "\"outcome\": \"answered\", \"offers\": 2, \"took_ms\": 402,\n"
                 "    \"first\": { \"id\": \"acme:a\", \"price\": { \"total\": \"20.00\" } },\n"
                 "    \"offers[1]\": { \"id\": \"acme:b\" }";
    char *text = with(RIGHT, old, members), *expected = with(RIGHT, old, left);
    struct buffer now;

    write_as("acme.test/ok-a.json", text);
    assert_int_equal(run(true).updated, 1);
    assert_int_equal(findings.count, 0);
    buffer_init(&now, DOCUMENT_MAX);
    assert_int_equal(file_read(path_of("acme.test/ok-a.json"), &now, NULL), STATUS_OK);
    buffer_append_byte(&now, '\0');
    assert_string_equal(now.data, expected);
    buffer_fini(&now);
    free(text);
    free(expected);
}

static void update_removes_what_nothing_came_of(void **state)
{
    (void)state;
    assert_updates("\"outcome\": \"empty\", \"detail\": \"a: \\\"b\\\"\", \"offers\": 2",
                   "\"outcome\": \"answered\", \"offers\": 2");
    assert_updates("\"detail\": 1, \"kind\" : {}, \"offers\": 2", "\"offers\": 2");
    assert_updates("\"offers\": 2, \"detail\": 1,\n  \"kind\":\n  [1]", "\"offers\": 2");
    assert_updates("\"offers\": 3, \"detail\": 1, \"took_ms\": 402, \"kind\": 2", "\"offers\": 2, \"took_ms\": 402");
    assert_updates("\"detail\": 1, \"offers[7]\": {}", "");
    assert_updates("\"first\": { \"a\\\\\\\"\": 1, \"id\": \"acme:a\", \"x\": \"\" }",
                   "\"first\": { \"id\": \"acme:a\" }");
}

static void a_bug_is_told_once_and_first_without_what_follows(void **state)
{
    char *wrong = with(RIGHT, "\"cabin\": \"economy\"", "\"cabin\": \"first\"");
    char *right = with(RIGHT, "", "");

    (void)state;
    write_as("acme.test/odd-a.json", wrong); // fails for itself, before the others
    write_as("acme.test/ok-a.json", right);
    write_as("acme.test/ok-b.json", right);
    free(wrong);
    free(right);
    write_as("acme.lua", "return {\n  name = \"acme\", product = \"flights\", owner = \"o\", hosts = {},\n"
                         "  secrets = { \"ACME_KEY\" }, options = { base_url = \"https://api.acme.example\" },\n"
                         "  skip = function(search) return search.query.cabin == \"first\" and \"no\" or nil end,\n"
                         "  build_request = function(_, ctx)\n    return { path = \"/\" .. ctx.noww.s }\n  end,\n"
                         "  normalise = function() return {} end,\n}\n");
    generation_release(&generation);
    assert_int_equal(generation_build(settings, on_finding, NULL, &generation), STATUS_OK);
    struct fixture_suite suite = run(false);
    (void)remove(path_of("acme.test/ok-b.json"));
    assert_int_equal(suite.failed, 3);
    assert_non_null(strstr(findings.items[0].message, "noww"));
    assert_non_null(strstr(findings.items[0].message, " (2 fixtures)"));
    assert_int_equal(findings.items[0].line, 6);
    assert_string_equal(findings.items[0].file, path_of("acme.lua"));
    assert_non_null(strstr(findings.items[0].notes, "first met in "));
    assert_true(findings.count > 1);
    for (size_t i = 1; i < findings.count && i < FINDINGS_MAX; i++) {
        assert_string_equal(findings.items[i].file, path_of("acme.test/odd-a.json"));
    }
    suite = run(true); // nothing is written of a bug
    assert_int_equal(suite.failed, 2);
}

static void fixtures_of_nobody_are_a_finding_and_suppliers_without_any_are_named(void **state)
{
    struct buffer told;
    char own[2 * PATH_SIZE];

    (void)state;
    snprintf(own, sizeof own, "%s", path_of("acme.test"));
    assert_int_equal(rename(own, path_of("acne.test")), 0);
    struct fixture_suite suite = run(false);
    assert_int_equal(rename(path_of("acne.test"), own), 0);
    assert_int_equal(findings.count, 1);
    assert_found("there is no supplier `acne` in this directory", 0);
    assert_string_equal(findings.items[0].file, path_of("acne.test"));
    assert_string_equal(findings.items[0].help, "did you mean `acme.test`?");
    buffer_init(&told, 1024);
    fixture_suite_tell_bare(&suite, &told);
    assert_true(text_equals(buffer_text(&told), TEXT("; no fixtures for acme")));
    buffer_fini(&told);
    assert_int_equal(run(false).bare, 1); // the folder is empty
    assert_int_equal(findings.count, 0);
}

/// One that fails now expects its outcome, and the other way round; both pass.
static void update_writes_how_a_revalidation_ends(void **state)
{
    char *text = with(RIGHT, "\"response\": { \"json\": { \"total\": \"20.00\" } } }]",
                      "\"response\": { \"json\": { \"total\": [] } } }]");
    char *back;
    struct buffer now;

    (void)state;
    write_as("acme.test/ok-a.json", text);
    assert_int_equal(run(true).updated, 1);
    assert_int_equal(run(false).failed, 0);
    buffer_init(&now, DOCUMENT_MAX);
    assert_int_equal(file_read(path_of("acme.test/ok-a.json"), &now, NULL), STATUS_OK);
    buffer_append_byte(&now, '\0');
    assert_non_null(strstr(now.data, "\"expect\": {\"outcome\":"));
    back = with(now.data, "\"total\": [] }", "\"total\": \"20.00\" }");
    write_as("acme.test/ok-a.json", back);
    assert_int_equal(run(true).updated, 1);
    assert_int_equal(run(false).failed, 0);
    buffer_fini(&now);
    free(back);
    free(text);
}

static void update_gives_an_expectation_to_a_fixture_without_one(void **state)
{
    char *text = with(RIGHT, "", "");
    char *end = strstr(text, ",\n  \"expect\": { \"outcome\"");

    (void)state;
    assert_non_null(end);
    snprintf(end, 16, "\n}\n");
    write_as("acme.test/ok-a.json", text);
    assert_int_equal(run(true).updated, 1);
    assert_int_equal(run(false).failed, 0);
    free(text);
}

static void an_unknown_supplier_gets_a_suggestion(void **state)
{
    static const char *const names[] = { "acmee" };
    struct fixture_suite suite = { .settings = settings,
                                   .catalogue = generation_catalogue(generation),
                                   .names = names,
                                   .name_count = 1,
                                   .report = on_finding };

    (void)state;
    findings.count = 0;
    fixture_suite_run(&suite);
    assert_found("there is no supplier `acmee`", 0);
    assert_string_equal(findings.items[0].help, "did you mean `acme`?");
}

static void what_takes_too_long_is_cut_with_a_finding(void **state)
{
    char *right = with(RIGHT, "", "");
    struct fixture_suite suite = {
        .settings = settings, .catalogue = generation_catalogue(generation), .supplier_max_us = 1, .report = on_finding
    };

    (void)state;
    write_as("acme.test/odd-a.json", right);
    write_as("acme.test/ok-a.json", right);
    free(right);
    findings.count = 0;
    fixture_suite_run(&suite);
    assert_int_equal(suite.failed, 1);
    assert_found("took too long", 0);
    assert_non_null(strstr(findings.items[0].help, "lastcall test acme"));
    suite = (struct fixture_suite){
        .settings = settings, .catalogue = generation_catalogue(generation), .all_max_us = 1, .report = on_finding
    };
    findings.count = 0;
    fixture_suite_run(&suite);
    assert_found("took too long", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(update_writes_what_came_and_leaves_the_rest),
        ON_STAGE(update_removes_what_nothing_came_of),
        ON_STAGE(a_bug_is_told_once_and_first_without_what_follows),
        ON_STAGE(fixtures_of_nobody_are_a_finding_and_suppliers_without_any_are_named),
        ON_STAGE(update_writes_how_a_revalidation_ends),
        ON_STAGE(update_gives_an_expectation_to_a_fixture_without_one),
        ON_STAGE(an_unknown_supplier_gets_a_suggestion),
        ON_STAGE(what_takes_too_long_is_cut_with_a_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
