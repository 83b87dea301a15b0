// Fixtures as their author meets them: what is found in one, and how it is played.

#include "unit/app_fixture_stage.h"

#include "model/data_set.h"

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
        { "\"outcome\": \"answered\"", "\"outcme\": 1", "unknown field `expect.outcme`", 14 },
        { "\"took_ms\": 402", "\"warnigs\": null", "unknown field `expect.warnigs`", 14 },
        { "\"took_ms\": 402", "\"offers\": 2", "field `expect.offers` stands twice", 14 },
        { "\"expect\": { \"status\": \"confirmed\"", "\"expect\": { \"status\": \"confirmed\", \"offerr\": null",
          "unknown field `expect.offerr`", 22 },
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
        { "{\"raw\":{\"status\":\"confirmed\",\"now\":{\"total\":\"1\"}}}", "now.currency: a text expected" },
        { "{\"raw\":{\"status\":\"confirmed\",\"offre\":1}}", "unknown field `offre`, did you mean `offer`?" },
        { "{\"raw\":7}", "must return a table with a `status` or `next`, not a number" },
        { "{\"raw\":{\"next\":{\"state\":1}}}", "revalidate.read: `next` needs a request" },
        { "{\"raw\":{\"next\":{\"request\":{\"path\":\"/x\"}},\"status\":\"confirmed\"}}",
          "revalidate.read: a result with `next`: unknown field `status`" },
    };
    char response[512];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        snprintf(response, sizeof response, "{ \"json\": %s }", ROWS[i].json);
        assert_int_equal(run_with("ok-a", OLD, response).failed, 1);
        assert_found(ROWS[i].sentence, 22);
    }
    (void)run_with("ok-a", OLD, "{ \"json\": { \"raw\": { \"next\": { \"request\": { \"path\": \"/x\" } } } } }");
    assert_found("revalidate[0].exchanges: request 2 was sent, GET https://api.acme.example/x, but there are 1", 19);
    (void)run_with("ok-a", OLD, "{ \"status\": 401 }");
    assert_found("because: the key is refused", 22);
}

static void a_revalidation_may_take_steps_and_parts(void **state)
{
#define ASKED                                                                                                          \
    "\"exchanges\": [{ \"expect_request\": { \"method\": \"GET\", \"url\": \"https://api.acme.example/offers/r"
    static const char ANSWER[] = "{ \"json\": { \"total\": \"20.00\" } } }]";
    static const char POLLED[] =
        "{ \"json\": { \"raw\": { \"next\": { \"after_ms\": 50, \"request\": { \"path\": \"/poll\" }, \"state\": "
        "{ \"total\": \"5.00\" } } } } } }, { \"expect_request\": { \"url\": \"https://api.acme.example/poll\" }, "
        "\"response\": { \"json\": { \"total\": \"%s\" } } }]";
    static const char ONE[] = "\"ref\": \"r1\",\n    " ASKED "1\"",
                      TWO[] = "\"ref\": \"r1+r2\",\n    " ASKED
                              "1\" }, \"response\": { \"json\": %s } }, { \"expect_request\": { \"url\": "
                              "\"https://api.acme.example/offers/r2\"";
    char polled[sizeof POLLED + 8], two[sizeof TWO + 64];
    (void)state;

    snprintf(polled, sizeof polled, POLLED, "15.00");
    assert_int_equal(run_with("ok-a", ANSWER, polled).failed, 0); // what it left comes back as its state
    snprintf(polled, sizeof polled, POLLED, "16.00");
    assert_int_equal(run_with("ok-a", ANSWER, polled).failed, 1);
    assert_found("revalidate[0].expect.now.total: expected \"20.00\", got \"21.00\"", 22);
    snprintf(two, sizeof two, TWO, "{ \"total\": \"0.00\" }");
    assert_int_equal(run_with("ok-a", ONE, two).failed, 0);
    snprintf(two, sizeof two, TWO, "{ \"total\": \"1.00\" }");
    assert_int_equal(run_with("ok-a", ONE, two).failed, 1);
    assert_found("revalidate[0].expect.now.total: expected \"20.00\", got \"21.00\"", 22);
    snprintf(two, sizeof two, TWO, "{ \"raw\": { \"status\": \"confirmed\" } }");
    assert_int_equal(run_with("ok-a", ONE, two).failed, 1);
    assert_found("`confirmed` of part 1 of 2: only the last one can say it", 22);
    snprintf(two, sizeof two, TWO, "{ \"raw\": { \"status\": \"sold_out\" } }");
    assert_int_equal(run_with("ok-a", ONE, two).failed, 1); // the second part is not asked any more
    assert_found("revalidate[0].exchanges[1]: no such request was sent", 19);
#undef ASKED
}

static void what_a_supplier_says_of_an_offer_and_makes_no_sense_is_unparsable(void **state)
{
    static const char OLD[] =
        "{ \"json\": { \"total\": \"20.00\" } } }],\n    \"expect\": { \"status\": \"confirmed\", "
        "\"now\": { \"total\": \"20.00\", \"currency\": \"EUR\" } }";
    static const struct {
        const char *raw, *sentence;
    } ROWS[] = {
        { "{\"status\":\"confirmed\",\"now\":{\"total\":\"1\",\"currency\":\"XXQ\"}}", "now.currency: a currency of" },
        { "{\"status\":\"price_changed\",\"now\":{\"total\":\"1.005\",\"currency\":\"EUR\"}}", "now.total: " },
        { "{\"status\":\"changed\",\"offer\":{\"id\":\"n\"}}", "offer: " },
    };
    char response[512];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        snprintf(response, sizeof response,
                 "{ \"json\": { \"raw\": %s } } }],\n    \"expect\": { \"outcome\": \"unparsable\" }", ROWS[i].raw);
        assert_int_equal(run_with("ok-a", OLD, response).failed, 0);
        snprintf(response, sizeof response,
                 "{ \"json\": { \"raw\": %s } } }],\n    \"expect\": { \"outcome\": \"failed\" }", ROWS[i].raw);
        assert_int_equal(run_with("ok-a", OLD, response).failed, 1);
        assert_found(ROWS[i].sentence, 22);
    }
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

static void an_item_is_expected_as_what_the_reply_says_of_it(void **state)
{
    static const char OLD[] = "\"first\": { \"id\": \"acme:a\",";

    (void)state;
    (void)run_with(
        "ok-a", OLD,
        "\"first\": { \"item\": { \"slices\": [{ \"segments\": [{ \"carrier\": \"ZZ\", \"departs\": { \"utc\": "
        "\"2027-05-12T06:05:00Z\" } }] }] }, \"id\": \"acme:a\",");
    assert_int_equal(findings.count, 0);
    (void)run_with("ok-a", OLD,
                   "\"first\": { \"item\": { \"slices\": [{ \"segments\": [{ \"number\": \"8\" }] }] }, \"id\": "
                   "\"acme:a\",");
    assert_found("expect.first.item.slices[0].segments[0].number: expected \"8\", got \"7\"", 15);
    (void)run_with("ok-a", OLD, "\"first\": { \"item\": \"fl_1\", \"id\": \"acme:a\",");
    assert_found("expect.first.item: expected \"fl_1\", got \"fl_", 15);
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
        ON_STAGE(bodies_are_regular_files_beside_the_fixture),
        ON_STAGE(a_revalidation_may_take_steps_and_parts),
        ON_STAGE(what_a_revalidation_says_is_held_against_the_contract),
        ON_STAGE(what_a_supplier_says_of_an_offer_and_makes_no_sense_is_unparsable),
        ON_STAGE(look_ups_and_misses_are_counted),
        ON_STAGE(what_is_skipped_needs_no_exchange),
        ON_STAGE(an_item_is_expected_as_what_the_reply_says_of_it),
        ON_STAGE(a_script_that_never_ends_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
