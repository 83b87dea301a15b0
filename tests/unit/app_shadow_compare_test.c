// What differs between two readings of one answer: field by field, with both values.

#include "app/shadow_compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BATCH_CEILING = 1 << 20, TOLD_MAX = 4096 };

static char told[TOLD_MAX]; // a line for each difference

static void print_value(char *out, size_t size, struct text value)
{
    (void)snprintf(out, size, "%.*s", value.data == NULL ? 1 : (int)value.length,
                   value.data == NULL ? "-" : value.data);
}

static void on_difference(void *context, const struct shadow_difference *difference)
{
    char live[256], shadow[256], offer[64];
    size_t length = strlen(told);
    (void)context;

    print_value(live, sizeof live, difference->live);
    print_value(shadow, sizeof shadow, difference->shadow);
    print_value(offer, sizeof offer, difference->offer);
    (void)snprintf(told + length, sizeof told - length, "%s %.*s %s %s\n", offer, TEXT_ARGS(difference->pointer), live,
                   shadow);
}

static void expect(const struct shadow_side *live, const struct shadow_side *shadow, const char *lines)
{
    size_t count = 0, expected = 0;

    for (const char *at = lines; *at != '\0'; at++) {
        expected += *at == '\n';
    }
    told[0] = '\0';
    assert_int_equal(shadow_compare(live, shadow, on_difference, NULL, &count), STATUS_OK);
    assert_string_equal(told, lines);
    assert_int_equal(count, expected);
}

/// A good answer with these offers: id and object, alternating; NULL ends them.
static struct shadow_side side_of(const char *const *offers)
{
    struct shadow_side side = { .verdict = SCRIPT_OK, .offers = offer_batch_create(BATCH_CEILING) };
    struct offer_batch *batch = side.offers;

    assert_non_null(batch);
    batch->offers = arena_alloc_array(&batch->arena, 8, sizeof(*batch->offers));
    assert_non_null(batch->offers);
    for (size_t i = 0; offers[i] != NULL; i += 2) {
        struct offer *offer = &batch->offers[batch->count++];
        offer->id = text_of(offers[i]);
        offer->json = text_of(offers[i + 1]);
    }
    return side;
}

static void expect_offers(const char *const *live, const char *const *shadow, const char *lines)
{
    struct shadow_side one = side_of(live), other = side_of(shadow);

    expect(&one, &other, lines);
    shadow_side_fini(&one);
    shadow_side_fini(&other);
}

static void the_same_offers_in_another_order_are_no_difference(void **state)
{
    (void)state;
    expect_offers((const char *const[]){ "1", "{\"a\":1.50,\"b\":[1,2]}", "2", "{\"a\":2}", NULL },
                  (const char *const[]){ "2", "{\"a\":2}", "1", "{\"b\":[1,2],\"a\":1.5}", NULL }, "");
}

static void each_field_that_differs_is_told_with_its_pointer(void **state)
{
    (void)state;
    expect_offers(
        (const char *const[]){ "1", "{\"price\":{\"currency\":\"EUR\",\"total\":5},\"a/b\":1,\"list\":[1,2]}", NULL },
        (const char *const[]){ "1", "{\"price\":{\"currency\":\"USD\",\"total\":5},\"a/b\":2,\"list\":[1,3,4]}", NULL },
        "1 /price/currency EUR USD\n1 /a~1b 1 2\n1 /list/1 2 3\n1 /list/2 - 4\n");
}

static void fields_of_one_side_and_of_another_kind_are_told(void **state)
{
    (void)state;
    expect_offers((const char *const[]){ "1", "{\"gone\":true,\"kind\":\"7\"}", NULL },
                  (const char *const[]){ "1", "{\"kind\":7,\"new\":{\"x\":1}}", NULL },
                  "1 /gone true -\n1 /kind \"7\" 7\n1 /new - {\"x\":1}\n");
}

static void offers_of_one_side_are_told_as_a_whole(void **state)
{
    (void)state;
    expect_offers((const char *const[]){ "1", "{}", "3", "{\"x\":3}", NULL },
                  (const char *const[]){ "1", "{}", "2", "{\"x\":2}", NULL }, "2  - {\"x\":2}\n3  {\"x\":3} -\n");
}

static void when_an_offer_was_observed_is_passed_over(void **state)
{
    (void)state;
    expect_offers((const char *const[]){ "1", "{\"observed_at\":\"t1\",\"in\":{\"observed_at\":1}}", NULL },
                  (const char *const[]){ "1", "{\"observed_at\":\"t2\",\"in\":{\"observed_at\":2}}", NULL },
                  "1 /in/observed_at 1 2\n");
}

static void what_is_common_to_an_item_is_compared_too(void **state)
{
    struct shadow_side one = side_of((const char *const[]){ "1", "{}", NULL });
    struct shadow_side other = side_of((const char *const[]){ "1", "{}", NULL });
    (void)state;

    one.offers->offers[0].item_json = TEXT("{\"hotel\":\"A\"}");
    other.offers->offers[0].item_json = TEXT("{\"hotel\":\"B\"}");
    expect(&one, &other, "1 /item/hotel A B\n");
    shadow_side_fini(&one);
    shadow_side_fini(&other);
}

static void outcome_merge_and_completeness_are_fields_of_the_answer(void **state)
{
    struct shadow_side live = { .verdict = SCRIPT_EMPTY };
    struct shadow_side shadow = {
        .verdict = SCRIPT_FAIL_SUPPLIER, .message = "no", .code = "E1", .merge = MERGE_REPLACE, .is_incomplete = true
    };
    (void)state;

    expect(&live, &live, "");
    expect(&live, &shadow,
           "- /outcome empty fail_supplier\n- /message  no\n- /code  E1\n- /merge add replace\n- /complete true false\n");
}

static void the_next_request_is_compared_by_method_url_and_pause(void **state)
{
    const struct http_request get = { .method = TEXT("GET"), .url = TEXT("https://a/1"), .body = TEXT("one") };
    const struct http_request post = { .method = TEXT("POST"), .url = TEXT("https://a/2"), .body = TEXT("two") };
    struct shadow_side live = { .next = http_request_create(&get), .after_us = 300000 };
    struct shadow_side shadow = { .next = http_request_create(&post), .after_us = 200000 };
    const struct shadow_side none = { .verdict = SCRIPT_OK };
    (void)state;

    expect(&live, &live, "");
    expect(&live, &shadow, "- /next_method GET POST\n- /next_url https://a/1 https://a/2\n- /next_after_ms 300 200\n");
    expect(&live, &none, "- /next_method GET -\n- /next_url https://a/1 -\n- /next_after_ms 300 -\n");
    shadow_side_fini(&live);
    shadow_side_fini(&shadow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_offers_in_another_order_are_no_difference),
        cmocka_unit_test(each_field_that_differs_is_told_with_its_pointer),
        cmocka_unit_test(fields_of_one_side_and_of_another_kind_are_told),
        cmocka_unit_test(offers_of_one_side_are_told_as_a_whole),
        cmocka_unit_test(when_an_offer_was_observed_is_passed_over),
        cmocka_unit_test(what_is_common_to_an_item_is_compared_too),
        cmocka_unit_test(outcome_merge_and_completeness_are_fields_of_the_answer),
        cmocka_unit_test(the_next_request_is_compared_by_method_url_and_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
