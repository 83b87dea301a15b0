// Fixtures as their author meets them: a supplier in a folder of its own, one fixture beside it, and what is found.

#include "app/fixture_suite.h"
#include "base/file.h"
#include "model/data_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FINDINGS_MAX = 16, PATH_SIZE = 256, DOCUMENT_MAX = 1 << 16 };

static const char SLICE[] = "{\"segments\":[{\"carrier\":\"ZZ\",\"number\":\"7\",\"from\":\"MAD\",\"to\":\"LHR\","
                            "\"departs\":\"2027-05-12T08:05\",\"arrives\":\"2027-05-12T09:35\"}]}";

// One step, two offers, everything that a fixture may expect. The tests change pieces of it.
static const char RIGHT[] =
    "{ \"about\": \"two offers\",\n"
    "  \"search\": { \"product\": \"flights\", \"budget_ms\": 2000,\n"
    "    \"query\": { \"slices\": [{ \"origin\": \"MAD\", \"destination\": \"LHR\", \"date\": \"2027-05-12\" }],\n"
    "      \"travellers\": [{ \"type\": \"adult\" }], \"cabin\": \"economy\", \"currency\": \"EUR\" } },\n"
    "  \"now\": \"2026-11-29T09:00:00Z\",\n"
    "  \"secrets\": { \"ACME_KEY\": \"test-key\" },\n"
    "  \"exchanges\": [{\n"
    "    \"expect_request\": { \"method\": \"POST\", \"url\": \"https://api.acme.example/search\",\n"
    "      \"headers\": { \"content-type\": \"application/json\" },\n"
    "      \"json\": { \"from\": \"MAD\", \"city\": \"Madrid\", \"left\": 1200 } },\n"
    "    \"response\": { \"status\": 200, \"after_ms\": 402,\n"
    "      \"json\": { \"currency\": \"EUR\", \"offers\": [{ \"id\": \"b\", \"total\": \"30.00\", \"slices\": [SLICE] "
    "},\n"
    "        { \"id\": \"a\", \"total\": \"20.00\", \"slices\": [SLICE] }] } } }],\n"
    "  \"expect\": { \"outcome\": \"answered\", \"offers\": 2, \"took_ms\": 402,\n"
    "    \"first\": { \"id\": \"acme:a\", \"price\": { \"total\": \"20.00\" } },\n"
    "    \"offers[1]\": { \"id\": \"acme:b\" } },\n"
    "  \"ceilings\": [{ \"progress\": { \"offers\": 500 }, \"expect_ms\": 700.5 }, { \"expect_ms\": 1200 }],\n"
    "  \"revalidate\": [{ \"offer\": 0, \"ref\": \"r1\",\n"
    "    \"exchanges\": [{ \"expect_request\": { \"method\": \"GET\", \"url\": "
    "\"https://api.acme.example/offers/r1\",\n"
    "        \"headers\": { \"X-Key\": \"test-key\" } },\n"
    "      \"response\": { \"json\": { \"total\": \"20.00\" } } }],\n"
    "    \"expect\": { \"status\": \"confirmed\", \"now\": { \"total\": \"20.00\", \"currency\": \"EUR\" } } }]\n"
    "}\n";

struct findings {
    struct failure items[FINDINGS_MAX];
    size_t count;
};

static struct findings findings;

static void on_finding(void *context, const struct failure *failure)
{
    (void)context;
    if (findings.count < FINDINGS_MAX) {
        findings.items[findings.count] = *failure;
    }
    findings.count++;
}

// ---- the stage: a folder with settings, the supplier and its fixtures

static char folder[PATH_SIZE];
static struct settings *settings;
static struct generation *generation;

static const char *path_of(const char *name)
{
    static char path[2 * PATH_SIZE];
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

static int set_up(void **state)
{
    char document[1024];
    struct buffer script;
    const char *name;

    (void)state;
    snprintf(folder, sizeof folder, "/tmp/app_fixture_test.XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(mkdir(path_of("acme.test"), 0700), 0);
    buffer_init(&script, DOCUMENT_MAX);
    assert_int_equal(file_read("tests/unit/data/fixture/acme.lua", &script, NULL), STATUS_OK);
    buffer_append_byte(&script, '\0');
    write_as("acme.lua", script.data);
    buffer_fini(&script);
    write_as("cities.tsv", "airport\tcity\nMAD\tMadrid\n");
    snprintf(document, sizeof document,
             "suppliers_dir: %s\nscripts_dir: scripts\ndata: { cities: { file: %s/cities.tsv, key: [airport] } }\n",
             folder, folder);
    write_as("lastcall.yaml", document);
    findings.count = 0;
    name = path_of("lastcall.yaml");
    assert_int_equal(settings_read(&name, 1, on_finding, NULL, &settings), STATUS_OK);
    assert_int_equal(generation_build(settings, on_finding, NULL, &generation), STATUS_OK);
    assert_int_equal(findings.count, 0);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = { "acme.lua",
                                         "cities.tsv",
                                         "lastcall.yaml",
                                         "acme.test/ok-a.json",
                                         "acme.test/odd-a.json",
                                         "acme.test/a.body.json",
                                         "acme.test/a.json",
                                         "acme.test" };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)remove(path_of(names[i]));
    }
    assert_int_equal(rmdir(folder), 0);
    generation_release(&generation);
    settings_destroy(&settings);
    return 0;
}

/// `text` with the first `old` as `new`, and every SLICE spelled out; free with free().
static char *with(const char *text, const char *old, const char *new)
{
    char *out = calloc(1, DOCUMENT_MAX);
    const char *at = *old == '\0' ? NULL : strstr(text, old);
    size_t length = 0;

    assert_non_null(out);
    if (*old != '\0') {
        assert_non_null(at);
    }
    for (const char *from = text; *from != '\0';) {
        const char *put = NULL;
        if (from == at) {
            put = new;
            from += strlen(old);
        } else if (strncmp(from, "[SLICE]", 7) == 0) {
            out[length++] = '[';
            put = SLICE;
            from += 6;
        }
        if (put != NULL) {
            length += (size_t)snprintf(out + length, DOCUMENT_MAX - length, "%s", put);
        } else {
            out[length++] = *from++;
        }
        assert_true(length + 16 < DOCUMENT_MAX);
    }
    return out;
}

static struct fixture_suite run(bool is_updating)
{
    struct fixture_suite suite = {
        .settings = settings, .generation = generation, .is_updating = is_updating, .report = on_finding
    };
    findings.count = 0;
    fixture_suite_run(&suite);
    return suite;
}

/// Runs the right fixture, changed so, under that name.
static struct fixture_suite run_with(const char *name, const char *old, const char *new)
{
    char *text = with(RIGHT, old, new);
    char file[64];

    snprintf(file, sizeof file, "acme.test/%s.json", name);
    write_as(file, text);
    free(text);
    struct fixture_suite suite = run(false);
    (void)remove(path_of(file));
    return suite;
}

static void assert_found(const char *sentence, uint32_t line)
{
    for (size_t i = 0; i < findings.count && i < FINDINGS_MAX; i++) {
        if (strstr(findings.items[i].message, sentence) != NULL) {
            assert_int_equal(findings.items[i].line, line);
            return;
        }
    }
    for (size_t i = 0; i < findings.count && i < FINDINGS_MAX; i++) {
        print_message("%s:%u: %s\n", findings.items[i].file, findings.items[i].line, findings.items[i].message);
    }
    fail_msg("expected `%s`", sentence);
}

// ---- tests

static void a_right_fixture_passes(void **state)
{
    (void)state;
    struct fixture_suite suite = run_with("ok-a", "", "");
    for (size_t i = 0; i < findings.count; i++) {
        print_message("%u: %s\n", findings.items[i].line, findings.items[i].message);
    }
    assert_int_equal(findings.count, 0);
    assert_int_equal(suite.fixtures, 1);
    assert_int_equal(suite.suppliers, 1);
    assert_int_equal(suite.failed, 0);
}

static void each_difference_has_its_line_and_path(void **state)
{
    static const struct {
        const char *old, *new, *sentence;
        uint32_t line;
    } ROWS[] = {
        { "\"offers\": 2", "\"offers\": 3", "expect.offers: expected 3, got 2", 14 },
        { "\"outcome\": \"answered\"", "\"outcome\": \"empty\"", "expect.outcome: expected \"empty\", got \"answered\"",
          14 },
        { "\"took_ms\": 402", "\"took_ms\": 401", "expect.took_ms: expected 401, got 402", 14 },
        { "\"total\": \"20.00\" } }", "\"total\": \"21.00\" } }",
          "expect.first.price.total: expected \"21.00\", got \"20.00\"", 15 },
        { "\"id\": \"acme:b\"", "\"id\": \"acme:c\"", "expect.offers[1].id: expected \"acme:c\", got \"acme:b\"", 16 },
        { "\"offers[1]\"", "\"offers[2]\"", "expect.offers[2]: expected { \"id\"", 16 },
        { "\"outcome\": \"answered\"", "\"outcme\": 1", "expect.outcme: expected 1, got nothing", 14 },
        { "\"method\": \"POST\"", "\"method\": \"GET\"",
          "exchanges[0].expect_request.method: expected \"GET\", got \"POST\"", 8 },
        { "example/search\"", "example/find\"", "exchanges[0].expect_request.url: expected", 8 },
        { "\"application/json\"", "\"text/xml\"",
          "exchanges[0].expect_request.headers.content-type: expected \"text/xml\", got \"application/json\"", 9 },
        { "\"content-type\"", "\"x-none\"", "expect_request.headers.x-none: expected \"application/json\", got nothing",
          9 },
        { "\"left\": 1200", "\"left\": 1201", "exchanges[0].expect_request.json.left: expected 1201, got 1200", 10 },
        { ", \"left\": 1200", "", "exchanges[0].expect_request.json.left: expected nothing, got 1200", 10 },
        { "\"expect_ms\": 700.5", "\"expect_ms\": 700", "ceilings[0].expect_ms: expected 700, got 700.5", 17 },
        { "{ \"total\": \"20.00\" } } }]", "{ \"total\": \"25.00\" } } }]",
          "revalidate[0].expect.status: expected \"confirmed\", got \"price_changed\"", 22 },
        { "/offers/r1", "/offers/r2", "revalidate[0].exchanges[0].expect_request.url: expected", 19 },
        { "\"exchanges\": [{ \"expect_request\": { \"method\": \"GET\"",
          "\"exchanges\": [{ \"response\": {} }, { \"expect_request\": { \"method\": \"GET\"",
          "revalidate[0].exchanges[1]: no such request was sent", 19 },
        { "\"offer\": 0", "\"offer\": 5", "the search gave no offer 5", 18 },
        { "\"offer\": 0", "\"offer\": \"zz\"", "the search gave no such offer", 18 },
        { "\"exchanges\": [{\n", "\"exchanges\": [], \"x\": [{\n", "unknown field `x`", 7 },
        { "\"ceilings\": [{", "\"ceilings\": [7, {", "a ceiling is {progress, expect_ms}", 17 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        struct fixture_suite suite = run_with("ok-a", ROWS[i].old, ROWS[i].new);
        assert_int_equal(suite.failed, 1);
        assert_found(ROWS[i].sentence, ROWS[i].line);
    }
}

static void a_fixture_that_is_wrong_itself_is_a_finding(void **state)
{
    static const struct {
        const char *old, *new, *sentence;
        uint32_t line;
    } ROWS[] = {
        { "\"now\": \"2026-11-29T09:00:00Z\",\n", "", "field `now` is missing", 1 },
        { "2026-11-29T09:00:00Z", "yesterday", "`now` is no time in UTC", 5 },
        { "\"now\"", "\"nwo\"", "unknown field `nwo`", 5 },
        { "\"about\": \"two offers\",", "\"about\": 1, \"about\": 2,", "field `about` stands twice", 1 },
        { "\"product\": \"flights\"", "\"product\": \"hotels\"", "`acme` sells flights, not hotels", 2 },
        { "\"date\": \"2027-05-12\"", "\"date\": \"2027-05-32\"", "search/query/slices/0/date", 2 },
        { "\"budget_ms\": 2000", "\"budget_ms\": \"x\"", "search/budget_ms", 2 },
        { "{ \"ACME_KEY\": \"test-key\" }", "{}", "secret `ACME_KEY` is missing", 6 },
        { "\"ACME_KEY\"", "\"ACME_KEI\"", "the script declares no secret `ACME_KEI`", 6 },
        { "\"secrets\"", "\"options\": { \"pagse\": 2 }, \"secrets\"", "has no option `pagse`", 6 },
        { "\"status\": 200", "\"status\": 99", "`status`: 100 to 599 expected", 11 },
        { "\"after_ms\": 402", "\"after_ms\": -1", "`after_ms`: 0 to", 11 },
        { "\"after_ms\": 402,", "\"body\": \"x\",", "give only one of `body_file`, `body` and `json`", 11 },
        { "\"after_ms\": 402,", "\"body_flie\": \"x\",", "unknown field `response.body_flie`", 11 },
        { "\"response\": { \"status\"", "\"respond\": { \"status\"", "the exchange has no `response`", 7 },
        { "two offers\",", "two offers\"", "the fixture is no JSON object", 2 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        struct fixture_suite suite = run_with("ok-a", ROWS[i].old, ROWS[i].new);
        assert_int_equal(suite.failed, 1);
        assert_found(ROWS[i].sentence, ROWS[i].line);
    }
}

static void a_fixture_that_expects_nothing_is_a_finding(void **state)
{
    static const char END[] = "  \"expect\": { \"outcome\"";
    char *text = with(RIGHT, "", "");
    char *end = strstr(text, END);

    (void)state;
    assert_non_null(end);
    snprintf(end - 2, 16, "}\n");
    write_as("acme.test/ok-a.json", text);
    free(text);
    assert_int_equal(run(false).failed, 1);
    assert_found("the fixture expects nothing", 1);
}

static void a_name_says_whether_it_may_fail(void **state)
{
    (void)state;
    assert_int_equal(run_with("a", "", "").failed, 1);
    assert_found("a fixture's name begins with ok- or odd-", 0);
    assert_int_equal(run_with("odd-a", "", "").failed, 0);
}

static void an_ok_fixture_must_not_lose_an_offer(void **state)
{
    static const char OLD[] = "\"total\": \"30.00\", ", MORE[] = "";

    (void)state;
    char *text = with(RIGHT, OLD, MORE);
    char *expected = with(text, "\"offers\": 2,", "\"offers\": 1,");
    char *whole = with(expected, ",\n    \"offers[1]\": { \"id\": \"acme:b\" }", "");
    write_as("acme.test/ok-a.json", whole);
    assert_int_equal(run(false).failed, 1);
    assert_found("offers were dropped: ", 14);
    char *named = with(whole, "\"offers\": 1,", "\"offers\": 1, \"offers_dropped\": 1,");
    write_as("acme.test/ok-a.json", named);
    assert_int_equal(run(false).failed, 0);
    free(text);
    free(expected);
    free(whole);
    free(named);
}

static void an_ok_fixture_must_not_fail_even_as_expected(void **state)
{
    static const char FIXTURE[] = "\"status\": 429";
    char *text = with(RIGHT, "\"status\": 200", FIXTURE);
    char *rejected =
        with(text, "\"outcome\": \"answered\", \"offers\": 2,", "\"outcome\": \"rejected\", \"kind\": \"quota\",");
    char *end = strstr(rejected, ",\n    \"first\"");

    (void)state;
    snprintf(end, 16, " } }\n");
    write_as("acme.test/ok-a.json", rejected);
    assert_int_equal(run(false).failed, 1);
    assert_found("an ok fixture must not fail, but it is rejected", 14);
    (void)remove(path_of("acme.test/ok-a.json"));
    write_as("acme.test/odd-a.json", rejected);
    assert_int_equal(run(false).failed, 0);
    free(text);
    free(rejected);
}

static void steps_take_their_exchanges_in_order_and_forms_are_compared_by_value(void **state)
{
    static const char SECOND[] =
        "{ \"currency\": \"EUR\", \"offers\": [{ \"id\": \"c\", \"total\": \"40.00\", \"slices\": [SLICE] }] }";
    char exchanges[2048];

    (void)state;
    snprintf(exchanges, sizeof exchanges,
             "\"options\": { \"pages\": 2 }, \"exchanges\": [{ \"response\": { \"after_ms\": 100, \"json\": %s } },\n"
             "{ \"expect_request\": { \"method\": \"POST\", \"url\": \"https://api.acme.example/page\",\n"
             "  \"form\": { \"step\": \"1\", \"tag\": [\"a b\", \"c\"] } },\n"
             "  \"response\": { \"after_ms\": 100, \"json\": %s } }],\n"
             "\"expect\": { \"outcome\": \"answered\", \"offers\": 1, \"took_ms\": 210 } }\n",
             SECOND, SECOND);
    char *text = with(RIGHT, "", "");
    char *cut = strstr(text, "\"exchanges\"");
    snprintf(cut, DOCUMENT_MAX - (size_t)(cut - text), "%s", exchanges);
    char *whole = with(text, "", "");
    write_as("acme.test/ok-a.json", whole);
    assert_int_equal(run(false).failed, 0);
    assert_int_equal(findings.count, 0);
    char *wrong = with(whole, "\"a b\"", "\"ab\"");
    write_as("acme.test/ok-a.json", wrong);
    assert_int_equal(run(false).failed, 1);
    assert_found("exchanges[1].expect_request.form.tag[0]: expected \"ab\", got \"a b\"", 9);
    char *fewer = with(whole, "\"pages\": 2", "\"pages\": 1");
    write_as("acme.test/ok-a.json", fewer);
    assert_int_equal(run(false).failed, 1);
    assert_found("exchanges[1]: no such request was sent", 8);
    char *more = with(whole, "\"pages\": 2", "\"pages\": 3");
    write_as("acme.test/ok-a.json", more);
    assert_int_equal(run(false).failed, 1);
    assert_found("exchanges: request 3 was sent, POST https://api.acme.example/page, but there are 2", 7);
    free(text);
    free(whole);
    free(wrong);
    free(fewer);
    free(more);
}

static void clock_and_randomness_stand_still(void **state)
{
    static const char OLD[] = "{ \"content-type\": \"application/json\" }";
    // sha256("test-key" .. 1795942800); the id comes of the call's seed.
    static const char NEW[] = "{ \"X-Signature\": \"SIGNATURE\", \"x-request-id\": \"ID\" }";

    (void)state;
    (void)run_with("ok-a", OLD, NEW);
    char first[sizeof findings.items[0].message], second[sizeof findings.items[0].message];
    assert_found("headers.X-Signature: expected \"SIGNATURE\", got "
                 "\"fc5d11ee5dabc5b83c5f6961bc01b0f31d57f3b1bc6280ba6656a27cf7f4e1e4\"",
                 9);
    snprintf(first, sizeof first, "%s", findings.items[1].message);
    (void)run_with("ok-a", OLD, NEW);
    snprintf(second, sizeof second, "%s", findings.items[1].message);
    assert_non_null(strstr(first, "headers.x-request-id: expected \"ID\", got \""));
    assert_string_equal(first, second);
}

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

static void bodies_are_regular_files_beside_the_fixture(void **state)
{
    static const char OLD[] =
        "\"status\": 200, \"after_ms\": 402,\n      \"json\": { \"currency\": \"EUR\", \"offers\": "
        "[{ \"id\": \"b\", \"total\": \"30.00\", \"slices\": [SLICE] },\n        { \"id\": \"a\", "
        "\"total\": \"20.00\", \"slices\": [SLICE] }] }";
    char *body = with("{\"currency\":\"EUR\",\"offers\":[{\"id\":\"b\",\"total\":\"30.00\",\"slices\":[SLICE]},"
                      "{\"id\":\"a\",\"total\":\"20.00\",\"slices\":[SLICE]}]}",
                      "", "");

    (void)state;
    write_as("acme.test/a.body.json", body);
    free(body);
    assert_int_equal(run_with("ok-a", OLD, "\"after_ms\": 402, \"body_file\": \"a.body.json\"").failed, 0);
    assert_int_equal(findings.count, 0);
    (void)run_with("ok-a", OLD, "\"after_ms\": 402, \"body_file\": \"../lastcall.yaml\"");
    assert_found("`body_file` is no relative path", 11);
    (void)run_with("ok-a", OLD, "\"after_ms\": 402, \"body_file\": \"none.json\"");
    assert_found("the body `none.json` cannot be read: No such file", 11);
    assert_int_equal(remove(path_of("acme.test/a.body.json")), 0);
    assert_int_equal(mkfifo(path_of("acme.test/a.body.json"), 0600), 0);
    (void)run_with("ok-a", OLD, "\"after_ms\": 402, \"body_file\": \"a.body.json\"");
    assert_found("the body `a.body.json` cannot be read: it is not a regular file", 11);
}

static void what_a_revalidation_says_is_held_against_the_contract(void **state)
{
    static const char OLD[] = "{ \"json\": { \"total\": \"20.00\" } }";
    static const struct {
        const char *json, *sentence;
    } ROWS[] = {
        { "{\"raw\":{\"status\":\"fine\"}}", "`status` must be \"confirmed\"" },
        { "{\"raw\":{}}", "`status` must be \"confirmed\"" },
        { "{\"raw\":{\"status\":\"price_changed\"}}", "`price_changed` needs `now`, or the new `offer`" },
        { "{\"raw\":{\"status\":\"changed\"}}", "`changed` needs the new `offer`" },
        { "{\"raw\":{\"status\":\"sold_out\",\"now\":{\"total\":\"1.00\",\"currency\":\"EUR\"}}}",
          "`sold_out` has neither `offer` nor `now`" },
        { "{\"raw\":{\"status\":\"confirmed\",\"now\":{\"total\":1,\"currency\":\"EUR\"}}}",
          "now.total: a text expected" },
        { "{\"raw\":{\"status\":\"confirmed\",\"now\":{\"total\":\"1\",\"currency\":\"XXQ\"}}}", "now.currency" },
        { "{\"raw\":{\"status\":\"confirmed\",\"offre\":1}}", "unknown field `offre`; did you mean `offer`?" },
        { "{\"raw\":{\"status\":\"changed\",\"offer\":{\"id\":\"n\"}}}", "revalidate.read: offer: " },
        { "{\"raw\":7}", "must return a table with a `status`, not a number" },
    };
    char response[512];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        snprintf(response, sizeof response, "{ \"json\": %s }", ROWS[i].json);
        assert_int_equal(run_with("ok-a", OLD, response).failed, 1);
        assert_found(ROWS[i].sentence, 22);
    }
    (void)run_with("ok-a", OLD, "{ \"status\": 401 }");
    assert_found("because: the key is refused", 22);
}

static void look_ups_and_misses_are_counted(void **state)
{
    struct buffer misses;
    struct data_set *data = generation_catalogue(generation)->data;

    (void)state;
    (void)run_with("ok-a", "", "");
    assert_int_equal(data_set_hits(data, 0), 1);
    assert_int_equal(data_set_misses(data, 0), 0);
    (void)run_with("ok-a", "\"origin\": \"MAD\"", "\"origin\": \"BCN\"");
    (void)run_with("ok-a", "\"origin\": \"MAD\"", "\"origin\": \"BCN\"");
    assert_int_equal(data_set_misses(data, 0), 2);
    buffer_init(&misses, 1024);
    data_set_tell_misses(data, 0, &misses);
    assert_true(text_equals(buffer_text(&misses), TEXT("BCN")));
    buffer_fini(&misses);
}

static void what_is_skipped_needs_no_exchange(void **state)
{
    char *text = with(RIGHT, "\"cabin\": \"economy\"", "\"cabin\": \"first\"");
    char *cut = strstr(text, "  \"exchanges\"");

    (void)state;
    snprintf(cut, 256,
             "  \"expect\": { \"outcome\": \"skipped\", \"reason\": \"first class is not sold\", \"offers\": 0 } }\n");
    write_as("acme.test/odd-a.json", text);
    assert_int_equal(run(false).failed, 0);
    assert_int_equal(findings.count, 0);
    free(text);
}

static void a_script_that_never_ends_is_stopped(void **state)
{
    char *text = with(RIGHT, "\"exchanges\"", "\"options\": { \"loops\": true }, \"exchanges\"");
    char *expect = strstr(text, "  \"expect\": { \"outcome\"");

    (void)state;
    assert_non_null(expect);
    snprintf(expect, 64, "  \"expect\": { \"outcome\": \"script_timeout\" } }\n");
    write_as("acme.test/odd-a.json", text);
    assert_int_equal(run(false).failed, 0);
    assert_int_equal(findings.count, 0);
    free(text);
}

static void an_unknown_supplier_gets_a_suggestion(void **state)
{
    static const char *const names[] = { "acmee" };
    struct fixture_suite suite = {
        .settings = settings, .generation = generation, .names = names, .name_count = 1, .report = on_finding
    };

    (void)state;
    findings.count = 0;
    fixture_suite_run(&suite);
    assert_found("there is no supplier `acmee`", 0);
    assert_string_equal(findings.items[0].help, "did you mean `acme`?");
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(a_right_fixture_passes),
        ON_STAGE(each_difference_has_its_line_and_path),
        ON_STAGE(a_fixture_that_is_wrong_itself_is_a_finding),
        ON_STAGE(a_fixture_that_expects_nothing_is_a_finding),
        ON_STAGE(a_name_says_whether_it_may_fail),
        ON_STAGE(an_ok_fixture_must_not_lose_an_offer),
        ON_STAGE(an_ok_fixture_must_not_fail_even_as_expected),
        ON_STAGE(steps_take_their_exchanges_in_order_and_forms_are_compared_by_value),
        ON_STAGE(clock_and_randomness_stand_still),
        ON_STAGE(update_writes_what_came_and_leaves_the_rest),
        ON_STAGE(update_gives_an_expectation_to_a_fixture_without_one),
        ON_STAGE(bodies_are_regular_files_beside_the_fixture),
        ON_STAGE(what_a_revalidation_says_is_held_against_the_contract),
        ON_STAGE(look_ups_and_misses_are_counted),
        ON_STAGE(what_is_skipped_needs_no_exchange),
        ON_STAGE(a_script_that_never_ends_is_stopped),
        ON_STAGE(an_unknown_supplier_gets_a_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
