// What a search request says around its query, and how it is told what is wrong.
#include "app/envelope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define QUERY "\"query\":{\"a\":[{\"b\":1}]}"

static void a_whole_request_is_read(void **state)
{
    struct envelope envelope;
    struct problem problem;

    (void)state;
    envelope_init(&envelope);
    assert_true(
        envelope_read(&envelope,
                      TEXT("{\"product\":\"fl\\u0069ghts\",\"suppliers\":[\"s01\",\"\\u0073\\u0030\\u0032\"]," QUERY
                           ",\"budget_ms\":900,\"partial\":false,\"max_items\":7,\"max_offers_per_item\":3}"),
                      &problem));
    assert_true(text_equals_c(envelope.product, "flights"));
    assert_int_equal(envelope.supplier_count, 2);
    assert_true(text_equals_c(envelope.suppliers[1], "s02"));
    assert_int_equal(envelope.budget_ms, 900);
    assert_true(envelope.whole_or_nothing);
    assert_int_equal(envelope.max_items, 7);
    assert_int_equal(envelope.max_offers_per_item, 3);
    envelope_fini(&envelope);
}

static void what_is_not_given_stays_open(void **state)
{
    struct envelope envelope;
    struct problem problem;

    (void)state;
    envelope_init(&envelope);
    assert_true(envelope_read(&envelope, TEXT("{\"product\":\"flights\"," QUERY "}"), &problem));
    assert_false(envelope.has_suppliers);
    assert_false(envelope.whole_or_nothing);
    assert_int_equal(envelope.budget_ms + envelope.max_items + envelope.max_offers_per_item, 0);
    envelope_fini(&envelope);
}

/// Each error as "POINTER CODE ", in the order in which they were found.
static void expect(const char *body, uint16_t status, const char *errors)
{
    struct envelope envelope;
    struct problem problem;
    struct buffer found;

    buffer_init(&found, 1 << 16);
    envelope_init(&envelope);
    assert_false(envelope_read(&envelope, text_of(body), &problem));
    assert_int_equal(problem.status, status);
    for (size_t i = 0; i < problem.error_count; i++) {
        buffer_printf(&found, "%s %s ", problem.errors[i].pointer, problem.errors[i].code);
        assert_true(strlen(problem.errors[i].detail) > 5);
    }
    if (!text_equals_c(buffer_text(&found), errors)) {
        fail_msg("%s: `%.*s`, not `%s`", body, TEXT_ARGS(buffer_text(&found)), errors);
    }
    buffer_fini(&found);
    envelope_fini(&envelope);
}

static void every_mistake_is_told_with_its_pointer(void **state)
{
    (void)state;
    expect("{\"product\":1,\"query\":[],\"budget_ms\":\"2s\",\"partial\":1,\"max_items\":0}", 422,
           "/product wrong_type /query wrong_type /budget_ms wrong_type /partial wrong_type /max_items out_of_range ");
    expect("{}", 422, "/product required /query required ");
    expect("{\"product\":\"p\"," QUERY ",\"x/y~\":{\"a\":[1]},\"Budget_ms\":1}", 422,
           "/x~1y~0 unknown_field /Budget_ms unknown_field ");
    expect("{\"product\":\"p\"," QUERY ",\"suppliers\":[\"a\",1,\"b\",null]}", 422,
           "/suppliers/1 wrong_type /suppliers/3 wrong_type ");
}

static void words_that_there_are_not_are_told_as_such(void **state)
{
    (void)state;
    expect("{\"product\":\"p\"," QUERY ",\"sort\":\"worst\",\"mode\":\"test\",\"indicative\":{\"a\":1}}", 422,
           "/sort unknown_value /indicative wrong_type ");
    expect("{\"product\":\"p\"," QUERY ",\"indicative\":\"last\"}", 422, "/indicative unknown_value ");
}

static void last_known_offers_come_where_the_caller_wants_them(void **state)
{
    (void)state;
    static const char *const WORDS[] = { "end", "first", "none" };
    char body[160];
    for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
        struct envelope envelope;
        struct problem problem;
        envelope_init(&envelope);
        snprintf(body, sizeof body, "{\"product\":\"p\"," QUERY ",\"indicative\":\"%s\"}", WORDS[i]);
        assert_true(envelope_read(&envelope, text_of(body), &problem));
        assert_int_equal(envelope.indicative, i);
        envelope_fini(&envelope);
    }
}

static void a_search_may_be_a_test_and_nothing_else(void **state)
{
    (void)state;
    expect("{\"product\":\"p\"," QUERY ",\"mode\":\"dark\"}", 422, "/mode unknown_value ");
    expect("{\"product\":\"p\"," QUERY ",\"mode\":\"tset\"}", 422, "/mode unknown_value ");
    expect("{\"product\":\"p\"," QUERY ",\"mode\":true}", 422, "/mode wrong_type ");
}

static void keys_that_stand_twice_are_told_at_any_depth(void **state)
{
    (void)state;
    expect("{\"product\":\"p\",\"product\":\"p\"," QUERY "}", 422, "/product duplicate ");
    expect("{\"product\":\"p\",\"query\":{\"a\":[{\"b\":1,\"b\":2}],\"a\":[],\"\\u0061\":0}}", 422,
           "/query/a/0/b duplicate /query/a duplicate /query/a duplicate ");
}

static void what_is_no_json_is_told_once(void **state)
{
    (void)state;
    expect("", 400, " not_json ");
    expect("{\"product\":1,\"budget_ms\":0,", 400, " not_json ");
    expect("{\"product\":\"p\",\"query\":{\"a\":1,\"a\":2,}}", 400, " not_json ");
    expect("{\"product\":\"p\"," QUERY "} {}", 400, " not_json ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_request_is_read),
        cmocka_unit_test(what_is_not_given_stays_open),
        cmocka_unit_test(every_mistake_is_told_with_its_pointer),
        cmocka_unit_test(words_that_there_are_not_are_told_as_such),
        cmocka_unit_test(last_known_offers_come_where_the_caller_wants_them),
        cmocka_unit_test(a_search_may_be_a_test_and_nothing_else),
        cmocka_unit_test(keys_that_stand_twice_are_told_at_any_depth),
        cmocka_unit_test(what_is_no_json_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
