// References of plans by several keys, into lists of lists, and into lists that elements further out have for
// themselves.

#include "unit/script_plan_stage.h"

#define HEAD "return { name = 'acme', product = 'things', owner = 'o', hosts = {}, build_request = function() end,\n"
#define PRICE "price = { total = money(asked 'currency', 'total') }"

static struct plan_stage stage;

/// A supplier with this plan, alone on the stage.
static void open_plan(const char *plan)
{
    char source[4096];

    memset(&stage, 0, sizeof stage);
    support_open(&stage.world);
    (void)snprintf(source, sizeof source, HEAD "normalise = plan { %s } }", plan);
    support_add_source(&stage.world, "acme", source);
    stage_open(&stage, "tests/unit/data/plan/scripts",
               "{\"product\":\"things\",\"currency\":\"EUR\",\"query\":{\"word\":\"small\",\"rooms\":[2,3]}}");
}

static const struct normalise_call *answer(const char *body)
{
    return stage_normalise(&stage, 0, &(struct stage_answer){ .status = 200, .body = text_of(body) });
}

static void assert_verdict(const struct normalise_call *call, enum script_verdict verdict, const char *message)
{
    if (call->verdict != verdict || strstr(call->message, message) == NULL) {
        fail_msg("%s: %s instead of %s: %s", script_verdict_name(call->verdict), call->message,
                 script_verdict_name(verdict), message);
    }
}

/// Some offer of the answer in hand holds this JSON.
static void assert_offer(const char *part)
{
    const struct offer_batch *offers = stage.call->offers;

    for (size_t i = 0; i < offers->count; i++) {
        struct text json = offers->offers[i].json;
        if (memmem(json.data, json.length, part, strlen(part)) != NULL) {
            return;
        }
    }
    fail_msg("%s is in none of %zu offers: %.*s", part, offers->count, TEXT_ARGS(offers->offers[0].json));
}

static void check(const char *plan, const char *body, size_t count)
{
    open_plan(plan);
    assert_verdict(answer(body), SCRIPT_OK, "");
    if (stage.call->offers->count != count) {
        fail_msg("%zu offers: %s", stage.call->offers->count, stage.call->offers->dropped_first);
    }
}

static void check_refused(const char *plan, const char *body, enum script_verdict verdict, const char *why)
{
    open_plan(plan);
    assert_verdict(answer(body), verdict, why);
    stage_close(&stage);
}

// Flights are numbered within each slice, as the fare's legs count them.
#define SLICES                                                                                                         \
    "\"slices\":[{\"nr\":\"S1\",\"flights\":[{\"id\":1,\"n\":\"out-1\"},{\"id\":\"2\",\"n\":\"out-2\"}]},"             \
    "{\"nr\":\"S2\",\"flights\":[{\"id\":\"1\",\"n\":\"back-1\"},{\"id\":2,\"n\":\"back-2\"}]}]"

static void two_keys_name_an_element_of_a_list_of_lists(void **state)
{
    (void)state;
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = 'legs[]', "
          "of = ref('slices[].flights', { up(1).nr, 'id' }, { 'slice', 'flight' }), name = 'n', weight = up(1).w } }",
          "{" SLICES ",\"offers\":[{\"id\":1,\"total\":1,\"legs\":[{\"slice\":\"S2\",\"flight\":1,\"w\":4},"
          "{\"slice\":\"S1\",\"flight\":\"1\",\"w\":5},{\"slice\":\"S2\",\"flight\":\"2\"}]}]}",
          1);
    assert_offer(
        "\"parts\":[{\"name\":\"back-1\",\"weight\":4},{\"name\":\"out-1\",\"weight\":5},{\"name\":\"back-2\"}]");
    stage_close(&stage);
}

static void a_place_is_a_key_and_a_reference(void **state)
{
    (void)state;
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = 'legs[]', "
          "of = ref('slices[].flights', { up(1)['[]'], '[]' }, { '[]', '.' }), name = 'n' } }",
          "{" SLICES ",\"offers\":[{\"id\":1,\"total\":1,\"legs\":[2,1]}]}", 1);
    assert_offer("\"parts\":[{\"name\":\"out-2\"},{\"name\":\"back-1\"}]");
    stage_close(&stage);
}

static void two_keys_name_an_element_of_one_list(void **state)
{
    (void)state;
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = 'legs[]', name = "
          "ref('fares', { 'code', 'cabin' }, { 'code', up(1).cabin }).n } }",
          "{\"fares\":[{\"code\":\"Y\",\"cabin\":\"M\",\"n\":\"y-m\"},{\"code\":\"Y\",\"cabin\":\"C\",\"n\":\"y-c\"}],"
          "\"offers\":[{\"id\":1,\"total\":1,\"cabin\":\"C\",\"legs\":[{\"code\":\"Y\"}]}]}",
          1);
    assert_offer("\"parts\":[{\"name\":\"y-c\"}]");
    stage_close(&stage);
}

static void a_reference_may_be_said_further_out(void **state)
{
    (void)state;
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = 'legs[]', "
          "name = ref('places{}', '{}', up(1).at).iata, weight = 'w' } }",
          "{\"places\":{\"p1\":{\"iata\":\"MAD\"},\"p2\":{\"iata\":\"LHR\"}},"
          "\"offers\":[{\"id\":1,\"total\":1,\"at\":\"p2\",\"legs\":[{\"w\":1}]}]}",
          1);
    assert_offer("\"parts\":[{\"name\":\"LHR\",\"weight\":1}]");
    stage_close(&stage);
}

static void each_offer_may_have_the_list_for_itself(void **state)
{
    const char *plan = "each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = 'legs[]', "
                       "of = ref(up(1).own%s, '%s', 'at'), name = 'n' } }";
    char made[400];

    (void)state;
    (void)snprintf(made, sizeof made, plan, "", "id");
    check(made,
          "{\"offers\":[{\"id\":1,\"total\":1,\"own\":[{\"id\":1,\"n\":\"a\"}],\"legs\":[{\"at\":1}]},"
          "{\"id\":2,\"total\":1,\"legs\":[]},"
          "{\"id\":3,\"total\":1,\"own\":[{\"id\":2,\"n\":\"c\"},{\"id\":1,\"n\":\"b\"}],\"legs\":[{\"at\":1}]},"
          "{\"id\":4,\"total\":1,\"legs\":[{\"at\":1}]}]}",
          3);
    assert_offer("\"parts\":[{\"name\":\"a\"}]");
    assert_offer("\"parts\":[{\"name\":\"b\"}]");
    assert_string_equal(stage.call->offers->dropped_first,
                        "[4].parts[1]: table with fields expected, got a reference to 1, which is not in own");
    stage_close(&stage);
    (void)snprintf(made, sizeof made, plan, "['list{}']", "{}");
    check(made,
          "{\"offers\":[{\"id\":1,\"total\":1,\"own\":{\"list\":{\"k\":{\"n\":\"a\"}}},\"legs\":[{\"at\":\"k\"}]}]}",
          1);
    assert_offer("\"parts\":[{\"name\":\"a\"}]");
    stage_close(&stage);
}

static void without_a_reference_a_leaf_is_absent_and_a_wrong_one_loses_the_offer(void **state)
{
    const char *plan = "each = 'offers[]', offer = { id = 'id', " PRICE ", box = { label = ref('slices[].flights', "
                       "{ up(1).nr, 'id' }, { 'slice', 'flight' }).n } }";

    (void)state;
    check(plan,
          "{" SLICES ",\"offers\":[{\"id\":1,\"total\":1,\"slice\":\"S1\"},{\"id\":2,\"total\":1,\"slice\":\"S1\","
          "\"flight\":2},{\"id\":3,\"total\":1,\"flight\":1,\"slice\":null}]}",
          3);
    assert_offer("\"box\":{\"label\":\"out-2\"}");
    stage_close(&stage);
    check_refused(plan, "{" SLICES ",\"offers\":[{\"id\":1,\"total\":1,\"slice\":\"S3\",\"flight\":1}]}",
                  SCRIPT_UNPARSABLE,
                  "[1].box.label: text expected, got a reference to S3, 1, which is not in slices[].flights");
    check_refused(plan, "{" SLICES ",\"offers\":[{\"id\":1,\"total\":1,\"slice\":\"S2\",\"flight\":{}}]}",
                  SCRIPT_UNPARSABLE,
                  "[1].box.label: text expected, got a reference to S2, ?, which is not in slices[].flights");
}

/// As many lists as offers, of as many elements; each element is called twice so, the second time with another value.
static void write_lists(char *body, size_t size, int lists, int elements)
{
    size_t length = (size_t)snprintf(body, size, "{\"lists\":[");

    for (int list = 0; list < lists; list++) {
        length += (size_t)snprintf(body + length, size - length, "%s{\"key\":\"L%d\",\"of\":[{\"id\":[]}",
                                   list > 0 ? "," : "", list);
        for (int i = 0; i < 2 * elements; i++) {
            length += (size_t)snprintf(body + length, size - length, ",{\"id\":\"%d\",\"n\":%d}", i % elements,
                                       i < elements ? list * 100 + i : -1);
        }
        length += (size_t)snprintf(body + length, size - length, "]}");
    }
    length += (size_t)snprintf(body + length, size - length, "],\"offers\":[");
    for (int i = 0; i < lists * elements; i++) {
        int other = i * 7 % (lists * elements); // in no order
        length += (size_t)snprintf(body + length, size - length,
                                   "%s{\"id\":\"o%d\",\"total\":1,\"list\":\"L%d\",\"at\":%d}", i > 0 ? "," : "",
                                   other / elements * 100 + other % elements, other / elements, other % elements);
    }
    (void)snprintf(body + length, size - length, "]}");
}

static void many_elements_are_found_in_whatever_order_of_equal_names_the_first(void **state)
{
    static char body[100000];

    (void)state;
    write_lists(body, sizeof body, 9, 40);
    check("each = 'offers[]', offer = { id = 'id', " PRICE
          ", count = ref('lists[].of', { 'id', up(1).key }, { 'at', 'list' }).n }",
          body, 360);
    for (size_t i = 0; i < 360; i++) {
        const struct offer *offer = &stage.call->offers->offers[i];
        char expected[40];
        (void)snprintf(expected, sizeof expected, "\"count\":%d}", atoi(offer->id.data + 1));
        if (memmem(offer->json.data, offer->json.length, expected, strlen(expected)) == NULL) {
            fail_msg("%s is not in %.*s", expected, TEXT_ARGS(offer->json));
        }
    }
    stage_close(&stage);
}

static void long_lists_of_their_own_are_indexed_one_after_the_other(void **state)
{
    static char body[100000];
    size_t length = (size_t)snprintf(body, sizeof body, "{\"offers\":[");
    static const int sizes[] = { 30, 17, 3, 90, 0, 16, 200 }; // the index grows, and is used again

    (void)state;
    for (size_t list = 0; list < COUNT_OF(sizes); list++) {
        length += (size_t)snprintf(body + length, sizeof body - length,
                                   "%s{\"id\":%zu,\"total\":1,\"own\":[{\"id\":\"x\",\"n\":%zu}", list > 0 ? "," : "",
                                   list, 5000 + list);
        for (int i = 0; i < sizes[list]; i++) {
            length += (size_t)snprintf(body + length, sizeof body - length, ",{\"id\":%d,\"n\":%zu}", i, list * 1000);
        }
        length += (size_t)snprintf(body + length, sizeof body - length,
                                   "],\"legs\":[{\"n\":\"l\",\"at\":\"x\"},{\"n\":\"m\",\"at\":2},{\"n\":\"n\"}]}");
    }
    (void)snprintf(body + length, sizeof body - length, "]}");
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = 'legs[]', name = 'n', "
          "weight = ref(up(1).own, 'id', 'at').n } }",
          body, 6);
    assert_string_equal(
        stage.call->offers->dropped_first,
        "[5].parts[2].weight: whole number from 0 to 1000000000 expected, got a reference to 2, which is not in own");
    for (int list = 0; list < 7; list++) {
        char expected[120];
        (void)snprintf(expected, sizeof expected,
                       "\"parts\":[{\"name\":\"l\",\"weight\":%d},{\"name\":\"m\",\"weight\":%d},{\"name\":\"n\"}]",
                       5000 + list, list * 1000);
        if (list != 4) { // which has no element called 2
            assert_offer(expected);
        }
    }
    stage_close(&stage);
}

static void levels_are_counted_from_what_is_named(void **state)
{
    (void)state;
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = 'legs[]', "
          "of = ref('slices[].flights', { up(1).nr, 'id' }, { 'slice', 'flight' }), name = 'n', "
          "weight = up(2).w, marks = { each = 'marks[]', of = ref(up(2).own, 'id'), mark = 't', owner = up(2).n } } }",
          "{\"slices\":[{\"nr\":1,\"flights\":[{\"id\":1,\"n\":\"one\",\"marks\":[8]}]}],\"offers\":[{\"id\":1,"
          "\"total\":1,\"w\":7,\"legs\":[{\"slice\":1,\"flight\":1,\"own\":[{\"id\":8,\"t\":\"eight\"}]}]}]}",
          1);
    assert_offer("\"parts\":[{\"name\":\"one\",\"weight\":7,\"marks\":[{\"mark\":\"eight\",\"owner\":\"one\"}]}]");
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_keys_name_an_element_of_a_list_of_lists),
        cmocka_unit_test(a_place_is_a_key_and_a_reference),
        cmocka_unit_test(two_keys_name_an_element_of_one_list),
        cmocka_unit_test(a_reference_may_be_said_further_out),
        cmocka_unit_test(each_offer_may_have_the_list_for_itself),
        cmocka_unit_test(without_a_reference_a_leaf_is_absent_and_a_wrong_one_loses_the_offer),
        cmocka_unit_test(many_elements_are_found_in_whatever_order_of_equal_names_the_first),
        cmocka_unit_test(long_lists_of_their_own_are_indexed_one_after_the_other),
        cmocka_unit_test(levels_are_counted_from_what_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
