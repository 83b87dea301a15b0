// Which exchange of its fixtures answers a request, and what the mock says of itself.

#include "app/mock.h"
#include "unit/app_fixture_stage.h"

#define ACME "https://api.acme.example"

static struct mock *mock;

/// A fixture of these exchanges.
static void write_fixture(const char *name, const char *exchanges)
{
    char *fixture = malloc(DOCUMENT_MAX);

    assert_non_null(fixture);
    snprintf(fixture, DOCUMENT_MAX,
             "{ \"search\": {}, \"now\": \"2026-11-29T09:00:00Z\", \"secrets\": { \"ACME_KEY\": \"it's a secret\" },\n"
             "  \"exchanges\": [ %s ], \"expect\": { \"outcome\": \"empty\" } }\n",
             exchanges);
    write_as(name, fixture);
    free(fixture);
}

static enum status open_named(const char *const *names, size_t count)
{
    const struct mock_order order = { .settings = settings,
                                      .catalogue = generation_catalogue(generation),
                                      .names = names,
                                      .name_count = count,
                                      .report = on_finding };
    return mock_open(&order, &mock);
}

static void open_all(void)
{
    assert_int_equal(open_named(NULL, 0), STATUS_OK);
    assert_int_equal(mock_door_count(mock), 1);
}

static int close_and_tear_down(void **state)
{
    static const char *const more[] = { "mock.yaml", "acme.test/ok-b.json", "acme.test/odd-b.json" };

    mock_close(&mock);
    for (size_t i = 0; i < COUNT_OF(more); i++) {
        (void)remove(path_of(more[i]));
    }
    return tear_down(state);
}

static struct mock_reply ask(const char *method, const char *target, const char *body)
{
    const struct http_request request = { .method = text_of(method), .url = text_of(target), .body = text_of(body) };
    struct mock_reply reply;

    mock_answer(mock, 0, &request, false, &reply);
    return reply;
}

static void assert_body(const char *expected, const char *method, const char *target, const char *body)
{
    struct mock_reply reply = ask(method, target, body);
    char got[256];

    snprintf(got, sizeof(got), "%.*s", TEXT_ARGS(reply.body));
    assert_string_equal(got, expected);
    assert_true(reply.is_found);
}

static void an_exchange_of_another_method_or_path_never_answers(void **state)
{
    (void)state;
    write_fixture("acme.test/ok-a.json",
                  "{ \"expect_request\": { \"method\": \"GET\", \"url\": \"" ACME "/a/b\" }, \"response\": {} }");
    open_all();
    assert_true(ask("GET", "/a/b", NULL).is_found);
    assert_false(ask("POST", "/a/b", NULL).is_found);
    assert_false(ask("GET", "/a", NULL).is_found);
    assert_false(ask("GET", "/a/b/c", NULL).is_found);
    assert_false(ask("GET", "/a/c", NULL).is_found);
    assert_int_equal(ask("GET", "/a/c", NULL).status, 404);
}

static void pieces_of_a_path_with_digits_may_differ_and_the_same_ones_go_first(void **state)
{
    (void)state;
    write_fixture("acme.test/ok-a.json", "{ \"expect_request\": { \"url\": \"" ACME
                                         "/day/2027-01-01\" }, \"response\": { \"body\": \"one\" } },"
                                         "{ \"expect_request\": { \"url\": \"" ACME
                                         "/day/2027-01-02\" }, \"response\": { \"body\": \"two\" } }");
    open_all();
    assert_body("two", "GET", "/day/2027-01-02", NULL);
    assert_body("one", "GET", "/day/2027-01-01", NULL);
    assert_true(ask("GET", "/day/2030-05-05", NULL).is_found);
    assert_false(ask("GET", "/day/tomorrow", NULL).is_found);
}

static void the_fewest_differences_of_query_and_body_win(void **state)
{
    (void)state;
    write_fixture("acme.test/ok-a.json",
                  "{ \"expect_request\": { \"url\": \"" ACME "/s?a=1&b=2\" }, \"response\": { \"body\": \"one\" } },"
                  "{ \"expect_request\": { \"url\": \"" ACME "/s?a=1&b=3\" }, \"response\": { \"body\": \"two\" } },"
                  "{ \"expect_request\": { \"url\": \"" ACME "/j\", \"json\": { \"list\": [1] } },"
                  "  \"response\": { \"body\": \"short\" } },"
                  "{ \"expect_request\": { \"url\": \"" ACME "/j\", \"json\": { \"list\": [1, 2, 3], \"day\": 1 } },"
                  "  \"response\": { \"body\": \"long\" } },"
                  "{ \"expect_request\": { \"url\": \"" ACME "/x\", \"body\": \"<Login><Name>a</Name></Login>\" },"
                  "  \"response\": { \"body\": \"login\" } },"
                  "{ \"expect_request\": { \"url\": \"" ACME "/x\", \"body\": \"<Find><Day>1</Day></Find>\" },"
                  "  \"response\": { \"body\": \"find\" } }");
    open_all();
    assert_body("two", "GET", "/s?b=3&a=9", NULL);
    assert_body("one", "GET", "/s?a=1&b=2", NULL);
    assert_body("short", "POST", "/j", "{\"list\": [7]}");
    assert_body("long", "POST", "/j", "{\"list\": [7, 8, 9], \"day\": 2}");
    assert_body("find", "POST", "/x", "<Find><Day>2030-12-12</Day></Find>");
    assert_body("login", "POST", "/x", "<Login><Name>b</Name></Login>");
}

static void odd_fixtures_wait_until_they_are_meant(void **state)
{
    static const char *const named[] = { "acme/odd-a" };

    (void)state;
    write_fixture("acme.test/ok-a.json",
                  "{ \"expect_request\": { \"url\": \"" ACME "/s\", \"json\": { \"day\": 1, \"to\": \"LHR\" } },"
                  "  \"response\": { \"body\": \"good\" } }");
    write_fixture("acme.test/odd-a.json",
                  "{ \"expect_request\": { \"url\": \"" ACME "/s\", \"json\": { \"day\": 2, \"to\": \"JFK\" } },"
                  "  \"response\": { \"body\": \"odd\" } }");
    write_fixture("acme.test/odd-b.json", "{ \"response\": { \"body\": \"silent\" } }");
    open_all();
    assert_body("good", "POST", "/s", "{\"day\": 3, \"to\": \"JFK\"}");
    assert_body("odd", "POST", "/s", "{\"day\": 2, \"to\": \"JFK\"}");
    mock_close(&mock);
    assert_int_equal(open_named(named, 1), STATUS_OK);
    assert_body("odd", "POST", "/s", "{\"day\": 1, \"to\": \"LHR\"}");
}

static void what_says_no_url_means_the_one_that_others_say(void **state)
{
    (void)state;
    write_fixture("acme.test/ok-a.json", "{ \"response\": { \"body\": \"silent\" } }");
    open_all();
    assert_body("silent", "GET", "/anything", NULL); // nobody knows better
    mock_close(&mock);
    write_fixture("acme.test/ok-b.json", "{ \"expect_request\": { \"url\": \"" ACME "/s\", \"json\": { \"a\": 1 } },"
                                         "  \"response\": { \"body\": \"said\" } }");
    open_all();
    assert_body("said", "POST", "/s", "{\"a\": 2}");
    assert_false(ask("GET", "/anything", NULL).is_found);
}

static void equal_requests_get_their_answers_in_order(void **state)
{
    static const char poll[] =
        "{ \"expect_request\": { \"url\": \"" ACME "/poll\" }, \"response\": { \"body\": \"%s\" } }";
    char exchanges[2048], one[256], two[256];

    (void)state;
    snprintf(one, sizeof(one), poll, "1");
    snprintf(two, sizeof(two), poll, "2");
    snprintf(exchanges, sizeof(exchanges),
             "{ \"expect_request\": { \"url\": \"" ACME "/start\" }, \"response\": { \"body\": \"0\" } }, %s, %s", one,
             two);
    write_fixture("acme.test/ok-a.json", exchanges);
    open_all();
    assert_body("1", "GET", "/poll", NULL);
    assert_body("2", "GET", "/poll", NULL);
    assert_body("2", "GET", "/poll", NULL); // the last stays true
    assert_body("0", "GET", "/start", NULL);
    assert_body("1", "GET", "/poll", NULL); // and begins anew with what comes before
    mock_close(&mock);
    snprintf(exchanges, sizeof(exchanges), "%s, %s", one, two);
    write_fixture("acme.test/ok-a.json", exchanges);
    open_all();
    assert_body("1", "GET", "/poll", NULL);
    assert_body("2", "GET", "/poll", NULL);
    assert_body("1", "GET", "/poll", NULL); // the whole fixture begins anew
}

static void revalidations_are_played_too(void **state)
{
    char *right = with(RIGHT, "", "");

    (void)state;
    write_as("acme.test/ok-a.json", right);
    free(right);
    open_all();
    struct mock_reply reply = ask("GET", "/offers/r1", NULL);
    assert_true(reply.is_found);
    assert_string_equal(reply.where, "revalidate[0].");
    assert_int_equal(ask("POST", "/search", "{}").after_ms, 402);
}

static void lengths_and_connections_are_for_whoever_sends(void **state)
{
    (void)state;
    write_fixture("acme.test/ok-a.json",
                  "{ \"response\": { \"headers\": { \"Content-Length\": \"9\", \"Connection\": \"close\","
                  "  \"X-One\": \"1\", \"X-Two\": \"a\\r\\nb\" }, \"body\": \"text\" } }");
    open_all();
    struct mock_reply reply = ask("GET", "/", NULL);
    assert_true(text_equals_c(reply.head, "x-one: 1\r\n"));
}

static void differences_are_told_without_values_of_headers_and_secrets(void **state)
{
    struct header headers[] = { { TEXT("x-key"), TEXT("a secret of somebody") } };
    const struct http_request request = {
        .method = TEXT("POST"), .url = TEXT("/s"), .body = TEXT("{\"key\": 1}"), .headers = headers, .header_count = 1
    };
    struct mock_reply reply;

    (void)state;
    write_fixture("acme.test/ok-a.json",
                  "{ \"expect_request\": { \"url\": \"" ACME "/s\", \"headers\": { \"x-key\": \"it's a secret\" },"
                  "  \"json\": { \"key\": \"it's a secret\" } }, \"response\": {} }");
    open_all();
    mock_answer(mock, 0, &request, false, &reply);
    assert_int_equal(reply.differences, 2);
    assert_true(text_equals_c(reply.told[0], "headers.x-key differs"));
    assert_null(memmem(reply.told[1].data, reply.told[1].length, "secret", 6));
    mock_answer(mock, 0, &request, true, &reply);
    assert_false(reply.is_found);
    assert_null(memmem(reply.body.data, reply.body.length, "secret", 6));
}

static void settings_and_secrets_are_written_for_the_doors(void **state)
{
    const char *urls[] = { "http://127.0.0.1:9000" };
    struct buffer out;

    (void)state;
    write_fixture("acme.test/ok-a.json", "{ \"response\": {} }");
    open_all();
    assert_true(text_equals_c(mock_door_origin(mock, 0), ACME));
    buffer_init(&out, DOCUMENT_MAX);
    mock_write_settings(mock, urls, NULL, &out);
    write_as("mock.yaml", buffer_append_byte(&out, '\0') ? out.data : "");
    buffer_clear(&out);
    assert_int_equal(mock_write_secrets(mock, &out), 1);
    assert_true(text_equals_c(buffer_text(&out), "export ACME_KEY='it'\\''s a secret'\n"));
    buffer_clear(&out);
    mock_tell_secrets(mock, &out);
    assert_true(text_equals_c(buffer_text(&out), "ACME_KEY"));
    buffer_fini(&out);
    // They are settings, behind those that were there.
    char first[2 * PATH_SIZE], second[2 * PATH_SIZE];
    snprintf(first, sizeof(first), "%s/lastcall.yaml", folder);
    snprintf(second, sizeof(second), "%s/mock.yaml", folder);
    const char *const files[] = { first, second };
    struct settings *read = NULL;
    assert_int_equal(settings_read(files, 2, on_finding, NULL, &read), STATUS_OK);
    assert_int_equal(read->allow_private_count, 1);
    assert_int_equal(read->supplier_count, 1);
    assert_true(text_equals_c(read->suppliers[0].accounts[0].options[0].value, "http://127.0.0.1:9000"));
    settings_release(&read);
}

static void a_request_that_no_option_leads_here_is_not_played(void **state)
{
    static const char *const named[] = { "acme" };

    (void)state;
    write_fixture("acme.test/ok-a.json",
                  "{ \"expect_request\": { \"url\": \"https://other.acme.example/x\" }, \"response\": {} }");
    assert_int_equal(open_named(named, 1), STATUS_INVALID);
    assert_int_equal(findings.count, 1);
    assert_non_null(strstr(findings.items[0].message, "the request would go to the real supplier"));
    findings.count = 0;
    assert_int_equal(open_named(NULL, 0), STATUS_INVALID); // there is nobody else
    assert_int_equal(findings.count, 1);
}

static void what_cannot_be_played_is_found(void **state)
{
    static const char *const unknown[] = { "acne" }, *const no_fixture[] = { "acme/odd-x" }, *const bare[] = { "acme" };

    (void)state;
    assert_int_equal(open_named(bare, 1), STATUS_INVALID);
    assert_int_equal(open_named(NULL, 0), STATUS_INVALID);
    write_fixture("acme.test/ok-a.json", "{ \"response\": {} }");
    findings.count = 0;
    assert_int_equal(open_named(unknown, 1), STATUS_NOT_FOUND);
    assert_string_equal(findings.items[0].help, "did you mean `acme`?");
    findings.count = 0;
    assert_int_equal(open_named(no_fixture, 1), STATUS_INVALID);
    assert_int_equal(findings.count, 1);
    write_fixture("acme.test/ok-b.json", "{ \"answer\": {} }");
    findings.count = 0;
    assert_int_equal(open_named(NULL, 0), STATUS_INVALID);
    assert_true(findings.count > 0);
    assert_int_equal(findings.items[0].line, 2);
}

#define MOCK_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, close_and_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MOCK_TEST(an_exchange_of_another_method_or_path_never_answers),
        MOCK_TEST(pieces_of_a_path_with_digits_may_differ_and_the_same_ones_go_first),
        MOCK_TEST(the_fewest_differences_of_query_and_body_win),
        MOCK_TEST(odd_fixtures_wait_until_they_are_meant),
        MOCK_TEST(what_says_no_url_means_the_one_that_others_say),
        MOCK_TEST(equal_requests_get_their_answers_in_order),
        MOCK_TEST(revalidations_are_played_too),
        MOCK_TEST(lengths_and_connections_are_for_whoever_sends),
        MOCK_TEST(differences_are_told_without_values_of_headers_and_secrets),
        MOCK_TEST(settings_and_secrets_are_written_for_the_doors),
        MOCK_TEST(a_request_that_no_option_leads_here_is_not_played),
        MOCK_TEST(what_cannot_be_played_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
