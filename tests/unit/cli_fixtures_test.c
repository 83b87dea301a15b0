// `lastcall test` and what `lastcall check` says of fixtures: exit codes and what is printed.

#include "cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_ARGUMENTS = 16 };

static char folder[64];
static char printed[65536];

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_as(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void assert_holds_file(const char *name, const char *part)
{
    char content[4096] = "";
    FILE *file = fopen(path_of(name), "r");

    assert_non_null(file);
    size_t length = fread(content, 1, sizeof content - 1, file);
    assert_int_equal(fclose(file), 0);
    content[length] = '\0';
    if (strstr(content, part) == NULL) {
        fail_msg("%s is not in %s", part, content);
    }
}

static const char SUPPLIER[] =
    "return { name = \"acme\", product = \"flights\", owner = \"test@example.com\", hosts = { \"acme.example\" },\n"
    "  options = { base_url = \"https://acme.example\" },\n"
    "  build_request = function(search)\n"
    "    local city = lookup(\"cities\", search.query.slices[1].origin)\n"
    "    return { path = \"/\" .. (city and city[1] or \"none\") }\n"
    "  end,\n"
    "  normalise = function() return {} end }\n";

#define FIXTURE(origin)                                                                                                \
    "{ \"search\": { \"product\": \"flights\", \"query\": { \"slices\": [{ \"origin\": \"" origin                      \
    "\", \"destination\": \"LHR\",\n"                                                                                  \
    "  \"date\": \"2027-05-12\" }], \"travellers\": [{ \"type\": \"adult\" }] } },\n"                                  \
    "  \"now\": \"2026-11-29T09:00:00Z\",\n"                                                                           \
    "  \"exchanges\": [{ \"expect_request\": { \"url\": \"https://acme.example/Madrid\" }, \"response\": {} }],\n"     \
    "  \"expect\": { \"outcome\": \"empty\" } }\n"

static int set_up(void **state)
{
    char document[512];

    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cli_fixtures_test.XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(mkdir(path_of("acme.test"), 0700), 0);
    write_as("acme.lua", SUPPLIER);
    write_as("acme.test/ok-a.json", FIXTURE("MAD"));
    write_as("cities.tsv", "airport\tcity\nMAD\tMadrid\n");
    snprintf(document, sizeof document,
             "suppliers_dir: %s\nscripts_dir: scripts\ndata: { cities: { file: %s/cities.tsv, key: [airport] } }\n",
             folder, folder);
    write_as("lastcall.yaml", document);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = { "acme.test/ok-a.json", "acme.test", "acme.lua", "cities.tsv",
                                         "lastcall.yaml" };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)remove(path_of(names[i]));
    }
    return rmdir(folder);
}

/// Calls the command line with `words`, a NULL at their end, and the settings; keeps what it prints.
static int lastcall(const char *const *words)
{
    char settings[512];
    char *arguments[MAX_ARGUMENTS] = { "lastcall" };
    int count = 1;
    FILE *out = tmpfile();
    int old_out = dup(STDOUT_FILENO);

    for (; words[count - 1] != NULL; count++) {
        arguments[count] = (char *)(uintptr_t)words[count - 1];
    }
    snprintf(settings, sizeof settings, "--config=%s", path_of("lastcall.yaml"));
    arguments[count++] = settings;
    fflush(stdout);
    dup2(fileno(out), STDOUT_FILENO);
    int code = cli_main(count, arguments);
    fflush(stdout);
    dup2(old_out, STDOUT_FILENO);
    close(old_out);
    rewind(out);
    printed[fread(printed, 1, sizeof printed - 1, out)] = '\0';
    fclose(out);
    return code;
}

#define LASTCALL(...) lastcall((const char *const[]){ __VA_ARGS__, NULL })

static void assert_says(const char *expected)
{
    if (strstr(printed, expected) == NULL) {
        fail_msg("expected `%s` in:\n%s", expected, printed);
    }
}

static void a_right_fixture_is_counted_by_both(void **state)
{
    (void)state;
    assert_int_equal(LASTCALL("test"), CLI_OK);
    assert_says("1 fixture of 1 supplier: 1 passed, 0 failed; 0 findings\n");
    assert_int_equal(LASTCALL("test", "acme"), CLI_OK);
    assert_int_equal(LASTCALL("check"), CLI_OK);
    assert_says("cities: 1 rows, 1 keys; 0.0 MiB; fixtures: 1 look-up, 0 misses\n");
    assert_says("fixtures   1 of 1 suppliers: 0 failed\n");
}

static void a_miss_is_named(void **state)
{
    (void)state;
    write_as("acme.test/ok-a.json", FIXTURE("BCN"));
    assert_int_equal(LASTCALL("check"), CLI_FINDINGS);
    assert_says("fixtures: 1 look-up, 1 miss (BCN)\n");
    assert_says("acme.test/ok-a.json:4:");
    assert_says("exchanges[0].expect_request.url: expected \"https://acme.example/Madrid\", got "
                "\"https://acme.example/none\"");
    assert_int_equal(LASTCALL("check", "--json"), CLI_FINDINGS);
    assert_says("\"look_ups\":1,\"misses\":1");
    assert_says("\"fixtures\":1,\"fixtures_failed\":1");
}

static void test_finds_and_updates(void **state)
{
    (void)state;
    write_as("acme.test/ok-a.json", FIXTURE("BCN"));
    assert_int_equal(LASTCALL("test"), CLI_FINDINGS);
    assert_says("1 fixture of 1 supplier: 0 passed, 1 failed; 1 finding\n");
    assert_int_equal(LASTCALL("test", "--json"), CLI_FINDINGS);
    assert_says("\"fixtures\":1,\"failed\":1,\"updated\":0");
    assert_int_equal(LASTCALL("test", "--update"), CLI_OK);
    assert_says("1 passed, 0 failed, 1 updated; 0 findings\n");
    assert_int_equal(LASTCALL("test"), CLI_OK);
}

static void update_takes_the_secrets_that_the_script_has_now(void **state)
{
    static const char SIGNED[] =
        "return { name = \"acme\", product = \"flights\", owner = \"o\", hosts = { \"acme.example\" },\n"
        "  secrets = { \"ACME_ID\", \"ACME_KEY\" },\n"
        "  build_request = function(search, ctx)\n"
        "    return { url = \"https://acme.example/\" .. ctx.secret.ACME_ID .. ctx.secret.ACME_KEY }\n"
        "  end,\n"
        "  normalise = function() return {} end }\n";
    char fixture[1200], content[2000] = "";

    (void)state;
    write_as("acme.lua", SIGNED);
    (void)snprintf(fixture, sizeof fixture, "%s", FIXTURE("MAD"));
    fixture[strlen(fixture) - 2] = '\0';
    (void)snprintf(content, sizeof content, "%s,\n \"secrets\": { \"OLD\": \"x\", \"ACME_KEY\": \"k\\u0041\" } }",
                   fixture);
    write_as("acme.test/ok-a.json", content);
    assert_int_equal(LASTCALL("test"), CLI_FINDINGS);
    assert_says("secret `ACME_ID` is missing");
    assert_says("`lastcall test --update`");
    assert_int_equal(LASTCALL("test", "--update"), CLI_OK);
    assert_int_equal(LASTCALL("test"), CLI_OK);
    assert_holds_file("acme.test/ok-a.json", "\"secrets\": { \"ACME_ID\": \"test-acme-id\", \"ACME_KEY\": \"kA\" } }");
    assert_holds_file("acme.test/ok-a.json", "https://acme.example/test-acme-idkA");
    (void)snprintf(content, sizeof content, "%s }", fixture); // none at all
    write_as("acme.test/ok-a.json", content);
    assert_int_equal(LASTCALL("test", "--update"), CLI_OK);
    assert_int_equal(LASTCALL("test"), CLI_OK);
    assert_holds_file("acme.test/ok-a.json",
                      "\"secrets\": { \"ACME_ID\": \"test-acme-id\", \"ACME_KEY\": \"test-acme-key\" }");
}

static void test_says_what_it_cannot_find(void **state)
{
    (void)state;
    assert_int_equal(LASTCALL("test", "acne"), CLI_USAGE);
    assert_says("there is no supplier `acne`");
    (void)remove(path_of("acme.test/ok-a.json"));
    assert_int_equal(LASTCALL("test", "acme"), CLI_FINDINGS);
    assert_says("`acme` has no fixtures");
    assert_int_equal(LASTCALL("test"), CLI_OK);
    write_as("acme.lua", "return {");
    assert_int_equal(LASTCALL("test"), CLI_CANNOT_LOAD);
}

static void check_names_suppliers_without_fixtures_and_all_their_missing_secrets(void **state)
{
    (void)state;
    write_as("bed.lua", "return { name = \"bed\", product = \"flights\", owner = \"o\", hosts = { \"bed.example\" },\n"
                        "  secrets = { \"CLI_TEST_NONE_A\", \"CLI_TEST_NONE_B\" },\n"
                        "  build_request = function() return { url = \"https://bed.example/\" } end,\n"
                        "  normalise = function() return {} end }\n");
    assert_int_equal(LASTCALL("check", "--json"), CLI_OK);
    assert_says("\"suppliers_without_fixtures\":1");
    int code = LASTCALL("check");
    (void)remove(path_of("bed.lua"));
    assert_int_equal(code, CLI_OK);
    assert_says("fixtures   1 of 2 suppliers: 0 failed; no fixtures for bed\n");
    assert_says("off: bed, secret CLI_TEST_NONE_A is not set, secret CLI_TEST_NONE_B is not set\n");
}

static void the_suppliers_of_this_project_pass(void **state)
{
    (void)state;
    write_as("lastcall.yaml",
             "suppliers_dir: [examples/farm/suppliers, examples/farm/gates, suppliers]\nscripts_dir: scripts\n");
    int code = LASTCALL("test");
    if (code != CLI_OK) {
        fail_msg("%s", printed);
    }
    assert_int_equal(LASTCALL("test", "duffel"), CLI_OK);
    assert_says(" of 1 supplier: ");
    assert_null(strstr(printed, "\n0 fixtures"));
}

static void logins_and_signatures_are_played_too(void **state)
{
    (void)state;
    write_as("lastcall.yaml", "suppliers_dir: tests/unit/data/fixture_login\nscripts_dir: scripts\n");
    int code = LASTCALL("test");
    if (code != CLI_OK) {
        fail_msg("%s", printed);
    }
    assert_says("7 fixtures of 1 supplier: 7 passed, 0 failed; 0 findings\n");
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(a_right_fixture_is_counted_by_both),
        ON_STAGE(a_miss_is_named),
        ON_STAGE(test_finds_and_updates),
        ON_STAGE(update_takes_the_secrets_that_the_script_has_now),
        ON_STAGE(test_says_what_it_cannot_find),
        ON_STAGE(check_names_suppliers_without_fixtures_and_all_their_missing_secrets),
        ON_STAGE(the_suppliers_of_this_project_pass),
        ON_STAGE(logins_and_signatures_are_played_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
