// Plans over maps with free keys, references as leaves, times in pieces, what was asked, and lists that are not there.

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

static void each_goes_over_the_values_of_a_map_and_knows_their_keys(void **state)
{
    (void)state;
    check(
        "each = 'offers{}', offer = { id = '{}', " PRICE ", count = 'n' }",
        "{\"offers\":{\"k1\":{\"total\":1,\"n\":7},\"k2\":{\"total\":2,\"n\":8},\"k\\u00333\":{\"total\":3,\"n\":9}}}",
        3);
    assert_offer("\"id\":\"acme:k1\"");
    assert_offer("\"id\":\"acme:k33\"");
    stage_close(&stage);
}

static void maps_and_lists_nest_in_each_other(void **state)
{
    (void)state;
    check("each = 'shops{}.shelves[].things{}', offer = { id = { up(2)['{}'], '{}', function(a, b) return a .. b end "
          "}," PRICE ", count = up(1).number, tags = { each = 'tags{}', '{}' },\n"
          "parts = { each = 'parts{}', name = '{}', weight = '.' } }",
          "{\"shops\":{\"s\":{\"shelves\":[{\"number\":4,\"things\":{}},{\"number\":5,\"things\":{\"a\":{\"total\":1,"
          "\"tags\":{\"x\":{},\"y\":1},\"parts\":{\"p\":10,\"q\":20}},\"b\":{\"total\":2}}}]},\"t\":{\"shelves\":[]}}}",
          2);
    assert_offer("\"id\":\"acme:sa\"");
    assert_offer("\"count\":5,\"tags\":[\"x\",\"y\"],\"parts\":[{\"name\":\"p\",\"weight\":10},"
                 "{\"name\":\"q\",\"weight\":20}]");
    stage_close(&stage);
}

static void elements_of_lists_know_their_number(void **state)
{
    (void)state;
    check("each = 'shops[].things[]', offer = { id = { up(1)['[]'], '[]', function(a, b) return a .. '-' .. b end "
          "}," PRICE ", count = '[]', box = { label = '[]' },"
          "kind = { up(2)['kinds[].k'], '[]', function(kinds, n) return kinds[n] end } }",
          "{\"kinds\":[{\"k\":\"small\"},{\"k\":\"large\"}],\"shops\":[{\"things\":[]},"
          "{\"things\":[{\"total\":1},{\"total\":2}]}]}",
          2);
    assert_offer("\"id\":\"acme:2-1\"");
    assert_offer("\"count\":2,\"kind\":\"large\",\"box\":{\"label\":\"2\"}}");
    stage_close(&stage);
}

static void references_find_their_elements_in_maps(void **state)
{
    (void)state;
    check("each = 'offers[]', offer = { id = 'id', " PRICE ",\n"
          "parts = { each = 'legs[]', of = ref('legs{}', '{}'), name = '{}', weight = 'min' } }",
          "{\"legs\":{\"l1\":{\"min\":5},\"l2\":{\"min\":6},\"7\":{\"min\":8}},\n"
          "\"offers\":[{\"id\":1,\"total\":1,\"legs\":[\"l2\",\"l1\",\"l2\",7]}]}",
          1);
    assert_offer(
        "\"parts\":[{\"name\":\"l2\",\"weight\":6},{\"name\":\"l1\",\"weight\":5},{\"name\":\"l2\",\"weight\":6},"
        "{\"name\":\"7\",\"weight\":8}]");
    stage_close(&stage);
}

static void a_reference_is_a_leaf_of_what_it_names(void **state)
{
    (void)state;
    const char *plan = "each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = 'legs[]', name = ref("
                       "'places{}', '{}', 'at').iata, weight = ref('sizes', 'id', 'size').size.grams } }";
    const char *tables = "\"places\":{\"9\":{\"iata\":\"LHR\"},\"8\":{\"iata\":\"JFK\"}},"
                         "\"sizes\":[{\"id\":1,\"size\":{\"grams\":10}},{\"id\":2,\"size\":{\"grams\":20}}]";
    char body[1024];

    (void)snprintf(body, sizeof body,
                   "{%s,\"offers\":[{\"id\":1,\"total\":1,\"legs\":[{\"at\":9,\"size\":2},{\"at\":\"8\"},"
                   "{\"at\":\"9\",\"size\":1}]}]}",
                   tables);
    check(plan, body, 1);
    assert_offer("\"parts\":[{\"name\":\"LHR\",\"weight\":20},{\"name\":\"JFK\"},{\"name\":\"LHR\",\"weight\":10}]");
    stage_close(&stage);
    (void)snprintf(body, sizeof body, "{%s,\"offers\":[{\"id\":1,\"total\":1,\"legs\":[{\"at\":7}]}]}", tables);
    check_refused(plan, body, SCRIPT_UNPARSABLE,
                  "[1].parts[1].name: text expected, got a reference to 7, which is not in places{}");
}

static void what_was_asked_is_a_leaf(void **state)
{
    (void)state;
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", kind = asked 'query.word', name = asked 'query.none',\n"
          "count = { asked 'query.rooms', 'total', function(rooms, total) return #rooms * total end } }",
          "{\"offers\":[{\"id\":1,\"total\":4}]}", 1);
    assert_offer("\"currency\":\"EUR\"");
    assert_offer("\"count\":8,\"kind\":\"small\"}");
    stage_close(&stage);
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", box = { width = 'w', label = asked 'query.word' } }",
          "{\"offers\":[{\"id\":1,\"total\":4}]}", 1);
    struct text json = stage.call->offers->offers[0].json;
    assert_null(memmem(json.data, json.length, "box", 3)); // the document says nothing of it
    stage_close(&stage);
    check_refused("each = 'offers[]', offer = { id = 'id', " PRICE ", kind = asked 'query.rooms' }",
                  "{\"offers\":[{\"id\":1,\"total\":4}]}", SCRIPT_UNPARSABLE,
                  "[1].kind: one of small|large expected, got a table of the search");
}

#define TIMES "each = 'offers[]', offer = { id = 'id', " PRICE ", box = { label = time('at') }, name = time(up(1).at) }"

static void an_element_is_a_list_of_itself(void **state)
{
    (void)state;
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = '.', name = 'title', weight = up(1).n,\n"
          "marks = { each = 'marks[]', mark = { '[]', up(1).title, function(i, t) return t .. i end } } } }",
          "{\"offers\":[{\"id\":1,\"total\":1,\"title\":\"a\",\"n\":3,\"marks\":[{},{}]},{\"id\":2,\"total\":1,"
          "\"title\":\"b\"}]}",
          2);
    assert_offer("\"parts\":[{\"name\":\"a\",\"weight\":3,\"marks\":[{\"mark\":\"a1\"},{\"mark\":\"a2\"}]}]");
    assert_offer("\"parts\":[{\"name\":\"b\"}]");
    stage_close(&stage);
    check_refused("each = 'offers[]', offer = { id = 'id', " PRICE ", parts = { each = '.', name = 'titel' } }",
                  "{\"offers\":[{\"id\":1,\"total\":1}]}", SCRIPT_UNPARSABLE,
                  "[1].parts[1].name: required, but absent");
    check("each = '.', offer = { id = 'id', " PRICE ", count = 'n' }", "{\"id\":1,\"total\":1,\"n\":9}", 1);
    assert_offer("\"count\":9");
    stage_close(&stage);
}

static void times_in_pieces_are_put_together(void **state)
{
    (void)state;
    check(
        TIMES,
        "{\"at\":{\"year\":2030,\"month\":12,\"day\":31,\"hour\":23,\"minute\":59,\"second\":0},\"offers\":[{\"id\":1,"
        "\"total\":1,\"at\":{\"year\":2030,\"month\":1,\"day\":\"2\",\"hour\":0,\"minute\":5}},{\"id\":2,\"total\":1}]"
        "}",
        2);
    assert_offer("\"box\":{\"label\":\"2030-01-02T00:05\"}");
    assert_true(stage.call->offers->offers[1].item_json.length > 0);
    stage_close(&stage);
    check_refused(TIMES,
                  "{\"offers\":[{\"id\":1,\"total\":1,\"at\":{\"year\":2030,\"month\":1,\"day\":2,\"minute\":5}}]}",
                  SCRIPT_UNPARSABLE, "[1].box.label: text expected, got a time without its hour");
    check_refused(TIMES,
                  "{\"offers\":[{\"id\":1,\"total\":1,\"at\":{\"year\":2030,\"month\":\"May\",\"day\":2,\"hour\":5}}]}",
                  SCRIPT_UNPARSABLE, "got a time of something else than whole numbers");
    check_refused(
        TIMES,
        "{\"offers\":[{\"id\":1,\"total\":1,\"at\":{\"year\":2030,\"month\":5.9,\"day\":2,\"hour\":5,\"minute\":1}}]}",
        SCRIPT_UNPARSABLE, "got a time of something else than whole numbers");
    check(TIMES, "{\"at\":null,\"offers\":[{\"id\":1,\"total\":1,\"at\":null}]}", 1);
    stage_close(&stage);
    check_refused(TIMES, "{\"offers\":[{\"id\":1,\"total\":1,\"at\":\"2030-05-12T08:05\"}]}", SCRIPT_UNPARSABLE,
                  "[1].box.label: text expected, got a text");
    check_refused(TIMES, "{\"offers\":[{\"id\":1,\"total\":1,\"at\":false}]}", SCRIPT_UNPARSABLE,
                  "[1].box.label: text expected, got false");
    check_refused(TIMES, "{\"offers\":[{\"id\":1,\"total\":1,\"at\":1894089900}]}", SCRIPT_UNPARSABLE,
                  "[1].box.label: text expected, got a number");
    check_refused(TIMES, "{\"offers\":[{\"id\":1,\"total\":1,\"at\":{\"y\":2030}}]}", SCRIPT_UNPARSABLE,
                  "[1].box.label: text expected, got a time without any of its numbers");
}

static void a_required_field_tells_what_its_map_lacks(void **state)
{
    const char *plan = "each = 'offers[]', offer = { id = 'id', " PRICE ", kind = map('kind', { S = 'small' }),\n"
                       "parts = { each = 'parts[]', name = map('name', { A = 'axle' }) } }";

    (void)state;
    check(plan, "{\"offers\":[{\"id\":1,\"total\":1,\"kind\":\"ZZ\",\"parts\":[{\"name\":\"A\"}]}]}", 1);
    stage_close(&stage);
    check_refused(plan, "{\"offers\":[{\"id\":1,\"total\":1,\"parts\":[{\"name\":\"A\"},{\"name\":\"B\"}]}]}",
                  SCRIPT_UNPARSABLE, "[1].parts[2].name: required, but the map has nothing for \"B\"");
    check_refused(plan, "{\"offers\":[{\"id\":1,\"total\":1,\"parts\":[{\"name\":null}]}]}", SCRIPT_UNPARSABLE,
                  "[1].parts[1].name: required, but absent");
    check_refused(plan,
                  "{\"offers\":[{\"id\":1,\"total\":1,\"kind\":\"ZZ\",\"parts\":[{\"name\":\"A\"},{\"name\":null}]}]}",
                  SCRIPT_UNPARSABLE, "[1].parts[2].name: required, but absent");
}

static void a_list_of_values_has_no_objects(void **state)
{
    const char *plan = "each = 'offers[]', offer = { id = 'id', " PRICE ",\n"
                       "name = { 'route[]', function(route) return table.concat(route, '-') end } }";

    (void)state;
    check(plan, "{\"offers\":[{\"id\":1,\"total\":1,\"route\":[\"MAD\",\"LIS\"]}]}", 1);
    stage_close(&stage);
    check_refused(plan, "{\"offers\":[{\"id\":1,\"total\":1,\"route\":[\"MAD\",{\"to\":\"LIS\"}]}]}", SCRIPT_UNPARSABLE,
                  "[1].name: text expected, got an object in `route[]`, which holds plain values only: name a field");
    check_refused(plan, "{\"offers\":[{\"id\":1,\"total\":1,\"route\":[[\"MAD\"]]}]}", SCRIPT_UNPARSABLE,
                  "[1].name: text expected, got a list in `route[]`");
}

static void a_helper_that_raises_is_told_with_the_leaf(void **state)
{
    (void)state;
    check_refused("each = 'offers[]', offer = { id = 'id', " PRICE ",\nname = { 'key', url.encode } }",
                  "{\"offers\":[{\"id\":1,\"total\":1}]}", SCRIPT_ERROR,
                  "acme.lua:2: plan: offer.name: bad argument #1 to url.encode (text expected, got nil)");
    check_refused("each = 'offers[]', offer = { id = 'id', " PRICE ",\nbox = { label = { 'key', error } } }",
                  "{\"offers\":[{\"id\":1,\"total\":1,\"key\":\"odd\"}]}", SCRIPT_ERROR,
                  "acme.lua:2: plan: offer.box.label: odd");
    check_refused("each = 'offers[]', offer = { id = 'id', " PRICE ",\nname = { const 'key', fail.busy }, kind = { "
                  "'key', function() error(fail.busy('later')) end } }",
                  "{\"offers\":[{\"id\":1,\"total\":1}]}", SCRIPT_FAIL_BUSY, "later");
}

static void an_object_given_to_a_helper_costs_its_offer_only(void **state)
{
    const char *plan = "each = 'offers[]', offer = { id = 'id', " PRICE ",\n"
                       "count = 'long.unit', wait_min = { 'long', time.minutes } }";

    (void)state;
    check(plan, "{\"offers\":[{\"id\":1,\"total\":1,\"long\":\"PT2H\"},{\"id\":2,\"total\":1,\"long\":{\"unit\":3}}]}",
          1);
    assert_int_equal(stage.call->offers->dropped, 1);
    assert_string_equal(
        stage.call->offers->dropped_first,
        "[2].wait_min: whole number from 0 to 1000 expected, got an object at `long`: name a field of it");
    stage_close(&stage);
}

static void an_element_with_others_in_it_given_to_a_helper_costs_its_offer_only(void **state)
{
    static const char *const paths[] = { "count = 'L.@unit', ", "" }; // it is a table, or nothing that is read
    char plan[600];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        (void)snprintf(
            plan, sizeof plan,
            "from = 'xml', each = 'R.O[]', offer = { id = '@id', price = { total = 'T', currency = const 'EUR' },\n"
            "%swait_min = { 'L', time.minutes } }",
            paths[i]);
        check(plan, "<R><O id='1'><T>1</T><L unit='3'>PT2H</L></O><O id='2'><T>1</T><L unit='3'><H>2</H></L></O></R>",
              1);
        assert_int_equal(stage.call->offers->dropped, 1);
        assert_string_equal(
            stage.call->offers->dropped_first,
            "[2].wait_min: whole number from 0 to 1000 expected, got an element without a text of its own "
            "at `L`: name one in it, or an attribute");
        stage_close(&stage);
    }
}

static void elements_with_others_in_them_given_to_a_helper_cost_their_offer_only(void **state)
{
    const char *plan =
        "from = 'xml', each = 'R.O[]', offer = { id = '@id',\n"
        "price = { total = { 'T[]', const 'EUR', money.sum }, currency = const 'EUR' }, count = 'T[1].@n' }";

    (void)state;
    check(plan, "<R><O id='1'><T>1</T><T>2</T></O><O id='2'><T>1</T><T n='1'><H>2</H></T></O></R>", 1);
    assert_int_equal(stage.call->offers->dropped, 1);
    assert_non_null(strstr(stage.call->offers->dropped_first, "[2].price.total: "));
    assert_non_null(strstr(stage.call->offers->dropped_first, "in `T[]`, which holds plain values only"));
    stage_close(&stage);
}

static void a_sum_with_something_absent_is_absent(void **state)
{
    const char *plan = "each = 'offers[]', offer = { id = 'id', price = { currency = 'cur',\n"
                       "total = 'total', base = { 'total', 'tax', 'cur', money.sub } } }";

    (void)state;
    check(plan,
          "{\"offers\":[{\"id\":1,\"cur\":\"EUR\",\"total\":\"4.00\"},"
          "{\"id\":2,\"cur\":\"EUR\",\"total\":\"4.00\",\"tax\":\"1.50\"}]}",
          2);
    assert_offer("\"base\":\"2.50\"");
    stage_close(&stage);
}

static void functions_get_the_values_of_lists_and_maps(void **state)
{
    (void)state;
    check("each = 'offers[]', offer = { id = 'id', price = { currency = 'cur',\n"
          "total = { 'rooms{}.totals.due', function(due) return due['2-7'] .. '0' end } },\n"
          "count = { 'list[].a.n', function(list) return #list * 100 + list[2] end },\n"
          "is_open = { 'none{}.a', function(none) return none == nil end } }",
          "{\"offers\":[{\"id\":1,\"cur\":\"EUR\",\"rooms\":{\"2\":{\"totals\":{\"due\":1}},\"2-7\":{\"totals\":{"
          "\"due\":4.5}},"
          "\"3\":{}},\"list\":[{\"a\":{\"n\":1}},{\"a\":{\"n\":2}}]}]}",
          1);
    assert_offer("\"total\":\"4.50\"");
    assert_offer("\"count\":202,\"is_open\":true}");
    stage_close(&stage);
}

static void a_value_decides_what_an_answer_is(void **state)
{
    const char *plan =
        "each = 'offers[]', offer = { id = 'id', " PRICE " },\n"
        "when = { ['status:=FAILED'] = fail.busy('later'), ['code:=7'] = 'empty', ['ok:=false'] = 'empty',\n"
        "['offers:absent'] = fail.unexpected 'offers' }";

    (void)state;
    check_refused(plan, "{\"status\":\"FAILED\"}", SCRIPT_FAIL_BUSY, "later");
    check_refused(plan, "{\"code\":7}", SCRIPT_EMPTY, "");
    check_refused(plan, "{\"ok\":false}", SCRIPT_EMPTY, "");
    check_refused(plan, "{\"status\":\"FINE\",\"code\":8,\"ok\":true}", SCRIPT_FAIL_UNEXPECTED, "offers");
    check_refused(plan, "{\"status\":{\"a\":\"FAILED\"},\"offers\":[]}", SCRIPT_EMPTY, "");
}

/// In order, the same again, from the end back to the beginning, and past what was found last.
static void references_into_a_long_list_may_come_in_any_order(void **state)
{
    char text[4096] = "{\"currency\":\"EUR\",\"parts\":[";

    (void)state;
    for (int i = 1; i <= 40; i++) {
        size_t length = strlen(text);
        (void)snprintf(text + length, sizeof text - length, "%s{\"id\":%d,\"n\":\"n%d\"}", i > 1 ? "," : "", i, i);
    }
    (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                   "],\"offers\":[{\"id\":\"a\",\"total\":1,\"of\":[1,2,2]},{\"id\":\"b\",\"total\":1,\"of\":[40,1,3]},"
                   "{\"id\":\"c\",\"total\":1,\"of\":[41]},{\"id\":\"d\",\"total\":1,\"of\":[17,18,5]}]}");
    check("each = 'offers[]', offer = { id = 'id', " PRICE ",\n"
          "tags = { each = 'of[]', of = ref('parts', 'id'), 'n' } }",
          text, 3);
    assert_int_equal(stage.call->offers->dropped, 1);
    assert_offer("\"tags\":[\"n1\",\"n2\",\"n2\"]");
    assert_offer("\"tags\":[\"n40\",\"n1\",\"n3\"]");
    assert_offer("\"tags\":[\"n17\",\"n18\",\"n5\"]");
    stage_close(&stage);
}

static void a_list_that_no_element_has_is_no_empty_answer(void **state)
{
    const char *plan = "each = 'shops[].shelves{}.offers[]', offer = { id = 'id', " PRICE " }";

    (void)state;
    check_refused(plan, "{\"shops\":{}}", SCRIPT_UNPARSABLE, "shops[]: a list expected, got an object");
    check_refused(plan, "{\"shops\":[{\"regale\":{}},{\"regale\":{}}]}", SCRIPT_UNPARSABLE,
                  "shops[].shelves{}: an object expected, got nothing");
    check_refused(plan, "{\"shops\":[{\"shelves\":{\"a\":{\"angebote\":[]}}}]}", SCRIPT_UNPARSABLE,
                  "shops[].shelves{}.offers[]: a list expected, got nothing");
    check_refused(plan, "{\"shops\":[]}", SCRIPT_EMPTY, "");
    check_refused(plan, "{\"shops\":[{\"shelves\":{}},{}]}", SCRIPT_EMPTY, "");
    check_refused(plan, "{\"shops\":[{\"shelves\":{\"a\":{},\"b\":{\"offers\":[]}}}]}", SCRIPT_EMPTY, "");
    check(plan, "{\"shops\":[{},{\"shelves\":{\"a\":{},\"b\":{\"offers\":[{\"id\":1,\"total\":1}]}}}]}", 1);
    stage_close(&stage);
}

static void a_long_list_without_the_name_loses_the_offer(void **state)
{
    char body[8000];
    size_t length = (size_t)snprintf(body, sizeof body, "{\"places\":[{\"n\":1},{\"id\":{},\"n\":2}");

    (void)state;
    for (int i = 0; i < 40; i++) {
        length += (size_t)snprintf(body + length, sizeof body - length, ",{\"id\":%d,\"n\":%d},{\"id\":\"%d\",\"n\":0}",
                                   i, i * 3, i);
    }
    (void)snprintf(body + length, sizeof body - length,
                   "],\"offers\":[{\"id\":1,\"total\":1,\"at\":40},{\"id\":2,\"total\":1,\"at\":\"39\"},"
                   "{\"id\":3,\"total\":1,\"at\":39},{\"id\":4,\"total\":1}]}");
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", count = ref('places', 'id', 'at').n }", body, 3);
    assert_string_equal(
        stage.call->offers->dropped_first,
        "[1].count: whole number from -100 to 100000 expected, got a reference to 40, which is not in places");
    assert_offer("\"id\":\"acme:2\"");
    assert_offer("\"count\":117}"); // of equal names the first
    stage_close(&stage);
}

static void references_are_found_in_whatever_order(void **state)
{
    char body[40000];
    size_t length = 0;

    (void)state;
    length += (size_t)snprintf(body, sizeof body, "{\"places\":{");
    for (int i = 0; i < 400; i++) {
        length +=
            (size_t)snprintf(body + length, sizeof body - length, "%s\"%d\":{\"n\":%d}", i > 0 ? "," : "", i, i * 3);
    }
    length += (size_t)snprintf(body + length, sizeof body - length, "},\"offers\":[");
    for (int i = 0; i < 400; i++) {
        length += (size_t)snprintf(body + length, sizeof body - length, "%s{\"id\":\"o%d\",\"total\":1,\"at\":%d}",
                                   i > 0 ? "," : "", i, i * 7 % 400);
    }
    (void)snprintf(body + length, sizeof body - length, "]}");
    check("each = 'offers[]', offer = { id = 'id', " PRICE ", count = ref('places{}', '{}', 'at').n }", body, 400);
    for (size_t i = 0; i < 400; i++) {
        const struct offer *offer = &stage.call->offers->offers[i];
        char expected[40];
        int number = atoi(offer->id.data + 1);
        (void)snprintf(expected, sizeof expected, "\"count\":%d}", number * 7 % 400 * 3);
        assert_non_null(memmem(offer->json.data, offer->json.length, expected, strlen(expected)));
    }
    stage_close(&stage);
}

/// What stands between two texts of scripts/README.md.
static struct text read_documentation(const char *begin, const char *end)
{
    static char readme[1 << 17];
    FILE *file = fopen("scripts/README.md", "re");

    assert_non_null(file);
    size_t length = fread(readme, 1, sizeof readme - 1, file);
    readme[length] = '\0';
    assert_int_equal(fclose(file), 0);
    char *found = strstr(readme, begin);
    assert_non_null(found);
    found += strlen(begin);
    char *stop = strstr(found, end);
    assert_non_null(stop);
    return (struct text){ found, (size_t)(stop - found) };
}

static void the_example_of_the_documentation_does_what_is_said_of_it(void **state)
{
    char source[4096];

    (void)state;
    (void)snprintf(
        source, sizeof source,
        "return { name = 'acme', product = 'trips', owner = 'o', hosts = {}, build_request = function() end,\n"
        "normalise = plan {%.*s}",
        TEXT_ARGS(read_documentation("at `2030-05-12T08:05`:\n\n```lua\nplan {", "```")));
    memset(&stage, 0, sizeof stage);
    support_open(&stage.world);
    support_add_source(&stage.world, "acme", source);
    stage_open(&stage, "tests/unit/data/plan/scripts", "{\"product\":\"trips\",\"currency\":\"EUR\",\"query\":{}}");
    struct stage_answer given = { .status = 200,
                                  .body = read_documentation("as large suppliers answer: `", "` gives") };
    assert_verdict(stage_normalise(&stage, 0, &given), SCRIPT_OK, "");
    assert_int_equal(stage.call->offers->count, 1);
    assert_offer("\"id\":\"acme:f1\"");
    assert_offer("{\"total\":\"99.00\",\"currency\":\"EUR\"}");
    assert_offer("\"legs\":[{\"from\":\"MAD\",\"at\":\"2030-05-12T08:05:00\"}]");
    stage_close(&stage);
}

static void functions_get_the_values_of_lists_in_lists_as_one_list(void **state)
{
    static const char plan[] =
        "each = 'offers[]', offer = { id = 'id', " PRICE ", count = { 'ways[].flights[].seats', function(seats)\n"
        "local least for _, n in sorted_pairs(seats or {}) do least = math.min(least or 99, tonumber(n)) end\n"
        "return least end }, kind = { 'ways[].tags[]', function(tags) return tags and tags[3] end } }";

    (void)state;
    check(plan,
          "{\"offers\":[{\"id\":1,\"total\":1,\"ways\":[{\"flights\":[{\"seats\":9},{},{\"seats\":4}],\"tags\":[\"a\","
          "\"b\"]},"
          "{},{\"flights\":{},\"tags\":[]},{\"flights\":[{\"seats\":7}],\"tags\":[\"large\"]}]},"
          "{\"id\":2,\"total\":2}]}",
          2);
    assert_offer("\"count\":4,\"kind\":\"large\"");
    stage_close(&stage);
    check(plan, "{\"offers\":[{\"id\":3,\"total\":3},{\"id\":1,\"total\":1,\"ways\":[{\"tags\":[{}]}]}]}", 1);
    assert_non_null(strstr(stage.call->offers->dropped_first, "name a field"));
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_goes_over_the_values_of_a_map_and_knows_their_keys),
        cmocka_unit_test(maps_and_lists_nest_in_each_other),
        cmocka_unit_test(elements_of_lists_know_their_number),
        cmocka_unit_test(references_find_their_elements_in_maps),
        cmocka_unit_test(a_reference_is_a_leaf_of_what_it_names),
        cmocka_unit_test(what_was_asked_is_a_leaf),
        cmocka_unit_test(an_element_is_a_list_of_itself),
        cmocka_unit_test(times_in_pieces_are_put_together),
        cmocka_unit_test(a_required_field_tells_what_its_map_lacks),
        cmocka_unit_test(a_list_of_values_has_no_objects),
        cmocka_unit_test(a_helper_that_raises_is_told_with_the_leaf),
        cmocka_unit_test(an_object_given_to_a_helper_costs_its_offer_only),
        cmocka_unit_test(elements_with_others_in_them_given_to_a_helper_cost_their_offer_only),
        cmocka_unit_test(an_element_with_others_in_it_given_to_a_helper_costs_its_offer_only),
        cmocka_unit_test(a_sum_with_something_absent_is_absent),
        cmocka_unit_test(functions_get_the_values_of_lists_and_maps),
        cmocka_unit_test(functions_get_the_values_of_lists_in_lists_as_one_list),
        cmocka_unit_test(a_value_decides_what_an_answer_is),
        cmocka_unit_test(references_into_a_long_list_may_come_in_any_order),
        cmocka_unit_test(a_list_that_no_element_has_is_no_empty_answer),
        cmocka_unit_test(a_long_list_without_the_name_loses_the_offer),
        cmocka_unit_test(references_are_found_in_whatever_order),
        cmocka_unit_test(the_example_of_the_documentation_does_what_is_said_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
