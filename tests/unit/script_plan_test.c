// Plans: what each term finds in a document, what a plan says of an answer as a whole, and how it is called.

#include "unit/script_plan_stage.h"

#define HEAD "return { name = 'acme', product = 'things', owner = 'o', hosts = {}, build_request = function() end,\n"
#define NOTHING "\"flags\":[\"taxes_unknown\"]}" // beside id and price
#define BASICS "id = 'id', price = { total = money(up(1).currency, 'total') }, "

static struct plan_stage stage;

/// A supplier with this source, alone on the stage.
static void open_source(const char *source)
{
    memset(&stage, 0, sizeof stage);
    support_open(&stage.world);
    support_add_source(&stage.world, "acme", source);
    stage_open(&stage, "tests/unit/data/plan/scripts",
               "{\"product\":\"things\",\"currency\":\"EUR\",\"query\":{\"word\":\"w\"}}");
}

/// … whose plan has these fields beside id and price, and `rest` behind its offer.
static void open_plan(const char *fields, const char *rest)
{
    char source[4096];

    (void)snprintf(source, sizeof source, HEAD "normalise = plan { each = 'offers[]', offer = { " BASICS "%s }, %s } }",
                   fields, rest);
    open_source(source);
}

static const struct normalise_call *answer(uint16_t status, const char *body)
{
    return stage_normalise(&stage, 0, &(struct stage_answer){ .status = status, .body = text_of(body) });
}

static void assert_holds(struct text json, const char *part)
{
    if (json.data == NULL || memmem(json.data, json.length, part, strlen(part)) == NULL) {
        fail_msg("%s is not in %.*s", part, TEXT_ARGS(json));
    }
}

static void assert_verdict(const struct normalise_call *call, enum script_verdict verdict, const char *message)
{
    if (call->verdict != verdict || strstr(call->message, message) == NULL) {
        fail_msg("%s: %s instead of %s: %s", script_verdict_name(call->verdict), call->message,
                 script_verdict_name(verdict), message);
    }
}

/// The one offer of the answer ends with this JSON.
static void assert_offer(const char *body, const char *end)
{
    const struct normalise_call *call = answer(200, body);

    assert_verdict(call, SCRIPT_OK, "");
    if (call->offers->count != 1) {
        fail_msg("%zu offers: %s", call->offers->count, call->offers->dropped_first);
    }
    assert_holds(call->offers->offers[0].json, end);
}

/// One offer with these members, through a plan with these fields.
static void check_offer(const char *fields, const char *members, const char *end)
{
    char body[2048];

    open_plan(fields, "");
    (void)snprintf(body, sizeof body, "{\"currency\":\"EUR\",\"offers\":[{\"id\":\"a\",\"total\":\"10.5\",%s}]}",
                   members);
    assert_offer(body, end);
    stage_close(&stage);
}

/// … which is dropped, for this reason.
static void check_dropped(const char *fields, const char *members, const char *why)
{
    char body[2048];

    open_plan(fields, "");
    (void)snprintf(body, sizeof body, "{\"currency\":\"EUR\",\"offers\":[{\"id\":\"a\",\"total\":\"10.5\",%s}]}",
                   members);
    assert_verdict(answer(200, body), SCRIPT_UNPARSABLE, why);
    stage_close(&stage);
}

// ---- terms ---------------------------------------------------------------------------------------------------------

static void paths_lead_to_members_and_elements(void **state)
{
    (void)state;
    check_offer("count = 'a.b.c'", "\"a\":{\"b\":{\"c\":7}}", "\"count\":7}");
    check_offer("count = 'list[1]'", "\"list\":[7,8,9]", "\"count\":7}");
    check_offer("count = 'list[-1]'", "\"list\":[7,8,9]", "\"count\":9}");
    check_offer("count = 'list[2].n', kind = 'list[-2].k'", "\"list\":[{},{\"n\":5,\"k\":\"small\"},{}]",
                "\"count\":5,\"kind\":\"small\"}");
    check_offer("count = 'list[4]', is_open = 'list[-4]'", "\"list\":[7,8,9]", NOTHING);
}

static void values_are_what_their_fields_take(void **state)
{
    (void)state;
    check_offer("count = 'n', is_open = 'f', kind = 'k', day = 'd', free_until = 'u'",
                "\"n\":\"-12\",\"f\":false,\"k\":\"large\",\"d\":\"2030-05-12\",\"u\":\"2030-05-12T10:00:00+02:00\"",
                "\"count\":-12,\"is_open\":false,\"kind\":\"large\",\"day\":\"2030-05-12\","
                "\"free_until\":\"2030-05-12T08:00:00Z\"}");
    check_offer("box = { width = 'n', label = 'n' }", "\"n\":700", "\"box\":{\"width\":700,\"label\":\"700\"}}");
    check_offer("box = { label = 't' }", "\"t\":\"a\\u00e9\\\"\\n\"", "\"box\":{\"label\":\"aé\\\"\\n\"}}");
}

static void up_begins_further_out(void **state)
{
    (void)state;
    open_source(HEAD "normalise = plan { each = 'shops[].shelves[].offers[]', offer = { id = 'id',\n"
                     "price = { total = money(up(3).money.unit, 'total') }, count = up(2).number,\n"
                     "kind = up(1).kinds[2], box = { label = up(2).names[-1].text } } } }");
    assert_offer("{\"money\":{\"unit\":\"EUR\"},\"shops\":[{\"number\":1,\"shelves\":[]},{\"number\":2,"
                 "\"names\":[{},{\"text\":\"last\"}],\"shelves\":[{\"offers\":[]},{\"kinds\":[\"x\",\"large\"],"
                 "\"offers\":[{\"id\":\"a\",\"total\":3}]}]}]}",
                 "\"count\":2,\"kind\":\"large\",\"box\":{\"label\":\"last\"}}");
    stage_close(&stage);
}

static void constants_are_what_they_say(void **state)
{
    (void)state;
    check_offer("count = const(3), is_open = true, kind = const 'small', box = { width = 5, label = 'l' }",
                "\"l\":\"x\"",
                "\"count\":3,\"is_open\":true,\"kind\":\"small\",\"box\":{\"width\":5,\"label\":\"x\"}}");
}

static void check_money(const char *term, const char *members, const char *price)
{
    char source[1024];
    char body[1024];

    (void)snprintf(source, sizeof source,
                   HEAD "normalise = plan { each = 'offers[]', offer = { id = 'id', price = { total = %s } } } }",
                   term);
    open_source(source);
    (void)snprintf(body, sizeof body, "{\"offers\":[{\"id\":\"a\",%s}]}", members);
    if (price[0] == '{') {
        assert_offer(body, price);
    } else {
        assert_verdict(answer(200, body), SCRIPT_UNPARSABLE, price);
    }
    stage_close(&stage);
}

static void money_has_a_currency_and_its_decimals(void **state)
{
    (void)state;
    check_money("money('c', 't')", "\"c\":\"EUR\",\"t\":\"12.5\"", "{\"total\":\"12.50\",\"currency\":\"EUR\"");
    check_money("money('c', 't')", "\"c\":\"EUR\",\"t\":12.50", "{\"total\":\"12.50\",\"currency\":\"EUR\"");
    check_money("money('c', 't')", "\"c\":\"JPY\",\"t\":1250", "{\"total\":\"1250\",\"currency\":\"JPY\"");
    check_money("money('c', 't')", "\"c\":\"JPY\",\"t\":\"12.5\"", "[1].price.total: ");
    check_money("money(const 'KWD', 't')", "\"t\":\"1.234\"", "{\"total\":\"1.234\",\"currency\":\"KWD\"");
    check_money("money('c', 't', 2)", "\"c\":\"EUR\",\"t\":1250", "{\"total\":\"12.50\",\"currency\":\"EUR\"");
    check_money("money('c', 't', 2)", "\"c\":\"EUR\",\"t\":5", "{\"total\":\"0.05\",\"currency\":\"EUR\"");
    check_money("money('c', 't', 's')", "\"c\":\"KWD\",\"t\":\"1250\",\"s\":3",
                "{\"total\":\"1.250\",\"currency\":\"KWD\"");
    check_money("money('c', 't', 's')", "\"c\":\"JPY\",\"t\":1250,\"s\":0", "{\"total\":\"1250\",\"currency\":\"JPY\"");
    check_money("money('c', 't', 's')", "\"c\":\"EUR\",\"t\":1250,\"s\":\"two\"", "decimals that are no number");
    check_money("money('c', 't', 's')", "\"c\":\"EUR\",\"t\":1250", "decimals that are no number");
    check_money("money('c', 't', 2)", "\"c\":\"EUR\",\"t\":12.5", "no whole number, though it is scaled");
    check_money("money('c', 't', 2)", "\"c\":\"EUR\",\"t\":-5", "[1].price.total: ");
    check_money("money('c', 't')", "\"t\":\"12.5\"", "[1].price.");
    check_money("money('c', 't')", "\"c\":\"XXQ\",\"t\":\"12.5\"", "[1].price.currency: currency of ISO 4217");
    check_money("money('c', 't'), currency = 'other'", "\"c\":\"EUR\",\"t\":1,\"other\":\"USD\"",
                "{\"total\":\"1.00\",\"currency\":\"USD\"");
}

static void maps_translate(void **state)
{
    (void)state;
    const char *map = "kind = map('k', { S = 'small', L = 'large' })";

    check_offer(map, "\"k\":\"L\"", "\"kind\":\"large\"}");
    check_offer(map, "\"k\":\"M\"", NOTHING);
    check_offer("count = map('k', { S = 1, L = 2 }, 9), is_open = map('k', { L = false }, true)", "\"k\":\"M\"",
                "\"count\":9,\"is_open\":true}");
    check_offer("kind = map('k', { [true] = 'large', [false] = 'small' })", "\"k\":false", "\"kind\":\"small\"}");
    check_offer("kind = map('k', { [true] = 'large', [false] = 'small' })", "\"k\":true", "\"kind\":\"large\"}");
    check_offer("kind = map('k', { [1] = 'small', [2.5] = 'large' })", "\"k\":2.5", "\"kind\":\"large\"}");
    check_offer("kind = map('k', { [1] = 'small', [2] = 'large' })", "\"k\":\"2\"", "\"kind\":\"large\"}");
    check_offer("kind = map(up(1).currency, { EUR = 'small' })", "\"k\":1", "\"kind\":\"small\"}");
    check_offer("count = map('k', {}, 9)", "\"k\":null", NOTHING);
    check_dropped("kind = map('k', {}, 'small')", "\"k\":[]", "[1].kind: ");
}

static void lists_are_walked_over_several_levels(void **state)
{
    const char *fields = "parts = { each = 'boxes[].parts[]', name = 'n', weight = up(1).w,\n"
                         "marks = { each = 'm[]', mark = 'k', owner = up(2).o } }";

    (void)state;
    check_offer(fields,
                "\"boxes\":[{\"w\":1,\"o\":\"A\",\"parts\":[{\"n\":\"a\",\"m\":[{\"k\":\"1\"},{\"k\":\"2\"}]}]},"
                "{\"w\":2},{\"w\":3,\"parts\":[{\"n\":\"b\"},{\"n\":\"c\",\"m\":[]}]}]",
                "\"parts\":[{\"name\":\"a\",\"weight\":1,\"marks\":[{\"mark\":\"1\",\"owner\":\"A\"},"
                "{\"mark\":\"2\",\"owner\":\"A\"}]},{\"name\":\"b\",\"weight\":3},{\"name\":\"c\",\"weight\":3,"
                "\"marks\":[]}]}");
    check_offer(fields, "\"boxes\":null", NOTHING);
    check_offer("tags = { each = 't[]', '.' }", "\"t\":[\"x\",2]", "\"tags\":[\"x\",\"2\"]}");
    check_offer("tags = { each = 't[]', 'a.b' }", "\"t\":[{\"a\":{\"b\":\"x\"}}]", "\"tags\":[\"x\"]}");
    check_dropped("tags = { each = 't[]', '.' }", "\"t\":[\"x\",[]]", "[1].tags[2]: ");
    check_dropped("tags = { each = 't[]', '.' }", "\"t\":[1,2,3,4]", "[1].tags: 0 to 3 items expected, got 4");
    check_dropped("parts = { each = 'p[]', name = 'n', weight = 'w' }",
                  "\"p\":[{\"n\":\"a\"},{\"n\":\"b\",\"w\":true}]", "[1].parts[2].weight: whole number");
    check_dropped("parts = { each = 'p[]', name = 'n' }", "\"p\":[{\"n\":\"a\"},{}]",
                  "[1].parts[2].name: required, but absent");
}

static void references_lead_to_elements_of_the_document(void **state)
{
    static const char body[] = "{\"currency\":\"EUR\",\"parts\":[{\"id\":1,\"n\":\"one\"},{\"id\":\"2\",\"n\":\"two\","
                               "\"marks\":[{\"to\":\"M\"}]}],\"marks\":[{\"x\":{\"id\":\"L\"}},{\"x\":{\"id\":\"M\"},"
                               "\"t\":\"mark\"}],\"offers\":[{\"id\":\"a\",\"total\":1,\"w\":4,\"of\":[2,1,%s]}]}";
    char text[1024];

    (void)state;
    open_plan("parts = { each = 'of[]', of = ref('parts', 'id'), name = 'n', weight = up(2).w,\n"
              "marks = { each = 'marks[]', of = ref('marks', 'x.id', 'to'), mark = 't', owner = up(1).to } }",
              "");
    (void)snprintf(text, sizeof text, body, "2");
    assert_offer(text, "\"parts\":[{\"name\":\"two\",\"weight\":4,\"marks\":[{\"mark\":\"mark\",\"owner\":\"M\"}]},"
                       "{\"name\":\"one\",\"weight\":4},{\"name\":\"two\",\"weight\":4,\"marks\":[{\"mark\":\"mark\","
                       "\"owner\":\"M\"}]}]}");
    (void)snprintf(text, sizeof text, body, "3");
    assert_verdict(answer(200, text), SCRIPT_UNPARSABLE,
                   "[1].parts[3]: table with fields expected, got a reference to "
                   "3, which is not in parts");
    (void)snprintf(text, sizeof text, body, "{}");
    assert_verdict(answer(200, text), SCRIPT_UNPARSABLE, "got a reference to ?, which is not in parts");
    // a list of leaves, and the next offer is not the worse for it
    stage_close(&stage);
    open_plan("tags = { each = 'of[]', of = ref('parts', 'id'), 'n' }", "");
    const struct normalise_call *call =
        answer(200, "{\"currency\":\"EUR\",\"parts\":[{\"id\":1,\"n\":\"one\"}],\"offers\":["
                    "{\"id\":\"a\",\"total\":1,\"of\":[7]},{\"id\":\"b\",\"total\":1,\"of\":[1]}]}");
    assert_verdict(call, SCRIPT_OK, "");
    assert_int_equal(call->offers->count, 1);
    assert_int_equal(call->offers->dropped, 1);
    assert_holds(call->offers->offers[0].json, "\"tags\":[\"one\"]");
    stage_close(&stage);
}

static void functions_get_the_row_as_the_plan_declares_it(void **state)
{
    (void)state;
    check_offer("count = function(row) return #row.list end, kind = 'list[1]', is_open = 'a.b', day = 'null',\n"
                "box = { label = function(row)\n"
                "  assert(row.undeclared == nil and row.a.c == nil and row.null == nil)\n"
                "  assert(row.id == 'a' and row.total == '10.5' and row.a.b == true)\n"
                "  return row.list[1] .. row.list[2] end }",
                "\"undeclared\":1,\"a\":{\"b\":true,\"c\":1},\"null\":null,\"list\":[\"small\",3]",
                "\"count\":2,\"is_open\":true,\"kind\":\"small\",\"box\":{\"label\":\"small3\"}}");
}

static void functions_of_objects_share_one_row(void **state)
{
    (void)state;
    check_offer("count = 'n', box = { label = function(row) return row.n .. 'x' end },\n"
                "lid = { kind = function(row) return row.n .. 'y' end,\n"
                "        label = function(row) row.n = row.n + 1 return tostring(row.n) end },\n"
                "parts = { each = 'p[]', name = function(row) return row.w .. 'z' end, weight = 'w' }",
                "\"n\":7,\"p\":[{\"w\":1},{\"w\":2}]",
                "\"parts\":[{\"name\":\"1z\",\"weight\":1},{\"name\":\"2z\",\"weight\":2}],\"box\":{\"label\":\"7x\"},"
                "\"lid\":{\"kind\":\"7y\",\"label\":\"8\"}}");
}

static void functions_get_what_stands_before_them(void **state)
{
    (void)state;
    check_offer("count = { 'n', up(1).currency, function(n, currency) assert(currency == 'EUR') return n * 2 end },\n"
                "kind = { map('k', { L = 'large' }), function(word) return word end },\n"
                "box = { label = { 'list[]', 'gone', 'f', function(list, gone, f)\n"
                "  assert(gone == nil and f == false) return table.concat(list, '-') end } }",
                "\"n\":21,\"k\":\"L\",\"list\":[\"a\",5],\"f\":false",
                "\"count\":42,\"kind\":\"large\",\"box\":{\"label\":\"a-5\"}}");
    check_offer(
        "tags = { 'n', function(n) return { n, 'x' } end }, box = { 'n', function(n) return { width = 3 } end }",
        "\"n\":21", "\"tags\":[\"21\",\"x\"],\"box\":{\"width\":3}}");
    check_offer("count = { 'n', function() end }", "\"n\":21", NOTHING);
    check_dropped("count = { 'n', function() return {} end }", "\"n\":21", "[1].count: whole number");
}

static void objects_without_a_leaf_are_absent(void **state)
{
    const char *fields = "box = { width = 'b.w', label = map('b.l', { x = 'y' }) }, lid = { kind = const 'k', label = "
                         "map('b.l', { x = 'y' }) }, count = 'n'";

    (void)state;
    check_offer(fields, "\"n\":1", "\"flags\":[\"taxes_unknown\"],\"count\":1}");
    check_offer(fields, "\"b\":{\"w\":4}", "\"box\":{\"width\":4}}");
    check_offer(fields, "\"b\":{\"l\":\"x\"}", "\"box\":{\"label\":\"y\"},\"lid\":{\"kind\":\"k\",\"label\":\"y\"}}");
    check_offer("lid = { kind = const 'k' }", "\"n\":1", "\"lid\":{\"kind\":\"k\"}}");
}

static void what_is_null_is_absent_and_what_is_wrong_is_named(void **state)
{
    (void)state;
    check_offer("count = 'n', box = { width = 'b.w' }", "\"n\":null,\"b\":null", NOTHING);
    check_dropped("count = 'n'", "\"n\":[1]", "[1].count: whole number from -100 to 100000 expected, got a list");
    check_dropped("count = 'n'", "\"n\":{}", "got an object");
    check_dropped("count = 'n'", "\"n\":1.5", "got 1.5");
    check_dropped("count = 'n'", "\"n\":1e400", "[1].count: ");
    check_dropped("count = 'n'", "\"n\":\"x\"", "got \"x\"");
    check_dropped("box = { label = 'n' }", "\"n\":true", "[1].box.label: text expected, got ");
    check_dropped("is_open = 'n'", "\"n\":1", "[1].is_open: true or false expected");
    check_dropped("kind = 'n'", "\"n\":\"big\"", "[1].kind: one of small|large expected, got \"big\"");
    check_dropped("count = 'n'", "\"n\":1,\"id\":null", "[1].id: required, but absent");
    check_dropped("count = 'a.n'", "\"a\":7,\"total\":{}", "[1].price.total: ");
}

// ---- the answer ----------------------------------------------------------------------------------------------------

#define ONE "{\"currency\":\"EUR\",\"offers\":[{\"id\":\"a\",\"total\":1}]}"

static void statuses_and_paths_decide_first(void **state)
{
    (void)state;
    open_plan("", "when = { [404] = 'empty', [429] = fail.quota, [403] = fail.auth, [402] = fail.busy('later'),\n"
                  "[400] = function(response, search, ctx) assert(search.currency == 'EUR' and ctx)\n"
                  "return fail.supplier { code = response:json({ code = text }).code } end,\n"
                  "[410] = function() return { { id = 'z', price = { total = '1', currency = 'EUR' } } } end,\n"
                  "[206] = function() error('no part') end,\n"
                  "['b.gone:present'] = fail.unexpected('b'), ['a.error:present'] = 'empty',\n"
                  "['currency:absent'] = fail.unexpected 'currency' }");
    assert_verdict(answer(404, "no JSON"), SCRIPT_EMPTY, "");
    assert_verdict(answer(403, ""), SCRIPT_FAIL_AUTH, "");
    assert_verdict(answer(402, ""), SCRIPT_FAIL_BUSY, "later");
    const struct normalise_call *call = stage_normalise(
        &stage, 0, &(struct stage_answer){ .status = 429, .body = TEXT("x"), .header = "retry-after", .value = "7" });
    assert_verdict(call, SCRIPT_FAIL_QUOTA, "");
    assert_int_equal(call->retry_after_ms, 7000);
    assert_int_equal(answer(429, "")->retry_after_ms, 0);
    call = answer(400, "{\"code\":\"E7\"}");
    assert_verdict(call, SCRIPT_FAIL_SUPPLIER, "");
    assert_string_equal(call->code, "E7");
    call = answer(410, "");
    assert_verdict(call, SCRIPT_OK, "");
    assert_int_equal(call->offers->count, 1);
    assert_verdict(answer(206, ONE), SCRIPT_ERROR, "no part");
    assert_verdict(answer(200, ONE), SCRIPT_OK, "");
    assert_verdict(answer(500, ONE), SCRIPT_EMPTY, ""); // the status decides, not the plan
    assert_verdict(answer(200, "{\"offers\":[]}"), SCRIPT_FAIL_UNEXPECTED, "currency");
    assert_verdict(answer(200, "{\"offers\":[],\"currency\":null}"), SCRIPT_FAIL_UNEXPECTED, "currency");
    assert_verdict(answer(200, "{\"currency\":1,\"a\":{\"error\":{}}}"), SCRIPT_EMPTY, "");
    assert_verdict(answer(200, "{\"currency\":1,\"b\":{\"gone\":0}}"), SCRIPT_FAIL_UNEXPECTED, "b");
    // present before absent, then by their spelling
    assert_verdict(answer(200, "{\"b\":{\"gone\":0}}"), SCRIPT_FAIL_UNEXPECTED, "b");
    assert_verdict(answer(200, "{\"b\":{\"gone\":0},\"a\":{\"error\":1}}"), SCRIPT_EMPTY, "");
    assert_verdict(answer(200, "{\"currency\":1,\"b\":{\"gone\":0},\"a\":{\"error\":1}}"), SCRIPT_EMPTY, "");
    stage_close(&stage);
}

static void an_answer_without_its_list_says_not_nothing(void **state)
{
    (void)state;
    open_plan("", "");
    assert_verdict(answer(200, "{\"offers\":[]}"), SCRIPT_EMPTY, "");
    assert_verdict(answer(200, "{}"), SCRIPT_UNPARSABLE, "offers[]: a list expected, got nothing");
    assert_verdict(answer(200, "{\"offers\":null}"), SCRIPT_UNPARSABLE, "offers[]: a list expected, got null");
    assert_verdict(answer(200, "{\"offers\":{\"a\":1}}"), SCRIPT_UNPARSABLE, "a list expected, got an object");
    assert_verdict(answer(200, "[]"), SCRIPT_UNPARSABLE, "a list expected");
    stage_close(&stage);
    open_source(HEAD "normalise = plan { offer = { id = 'id', price = { total = money('c', 't') } } } }");
    assert_offer("{\"id\":\"a\",\"c\":\"EUR\",\"t\":1}", "{\"id\":\"acme:a\"");
    stage_close(&stage);
    open_source(HEAD "normalise = plan { each = '[]', offer = { id = 'id', price = { total = money('c', 't') } } } }");
    assert_offer("[{\"id\":\"a\",\"c\":\"EUR\",\"t\":1}]", "{\"id\":\"acme:a\"");
    stage_close(&stage);
}

static void bodies_that_cannot_be_read_are_unparsable(void **state)
{
    static const char utf16[] =
        "\xff\xfe{\0\"\0c\0u\0r\0r\0e\0n\0c\0y\0\"\0:\0\"\0E\0U\0R\0\"\0,\0\"\0o\0f\0f\0e\0r\0s\0"
        "\"\0:\0[\0{\0\"\0i\0d\0\"\0:\0\"\0\xe9\0\"\0,\0\"\0t\0o\0t\0a\0l\0\"\0:\0"
        "1\0}\0]\0}\0";

    (void)state;
    open_plan("", "");
    assert_verdict(answer(200, ""), SCRIPT_UNPARSABLE, "the body is empty, JSON was expected");
    assert_verdict(answer(200, "<html>"), SCRIPT_UNPARSABLE, "the body is HTML or XML");
    assert_verdict(answer(200, "{\"offers\":[{\"id\":"), SCRIPT_UNPARSABLE, "the body is no JSON: not JSON at byte 18");
    assert_verdict(answer(200, ONE "x"), SCRIPT_UNPARSABLE, "the body is no JSON");
    const struct normalise_call *call =
        stage_normalise(&stage, 0, &(struct stage_answer){ .status = 200, .body = { utf16, sizeof utf16 - 1 } });
    assert_verdict(call, SCRIPT_OK, "");
    assert_holds(call->offers->offers[0].json, "acme:é");
    assert_offer("{\"currency\":\"EUR\",\"offers\":[{\"id\":\"\xe9\",\"total\":1}]}", "acme:é");
    stage_close(&stage);
}

static void one_bad_offer_takes_no_other_with_it(void **state)
{
    (void)state;
    open_plan("count = 'n', is_open = function(row) return #row.id == 1 end, parts = { each = 'p[]', name = 'n' }", "");
    const struct normalise_call *call =
        answer(200, "{\"currency\":\"EUR\",\"offers\":[{\"id\":\"a\",\"total\":3,\"p\":[{\"n\":\"x\"}]},"
                    "{\"id\":\"b\",\"total\":2,\"p\":[{\"n\":\"x\"},{\"n\":[]},{\"n\":\"y\"}]},7,"
                    "{\"id\":\"a\",\"total\":1},{\"id\":\"c\",\"total\":1,\"p\":[{\"n\":\"z\"}]}]}");
    assert_verdict(call, SCRIPT_OK, "");
    assert_int_equal(call->offers->count, 2);
    assert_int_equal(call->offers->dropped, 3);
    assert_string_equal(call->offers->dropped_first, "[2].parts[2].name: text expected, got a list");
    assert_holds(call->offers->offers[0].json, "\"id\":\"acme:c\"");
    assert_holds(call->offers->offers[0].json, "\"parts\":[{\"name\":\"z\"}]");
    stage_close(&stage);
}

static void more_than_a_thousand_rows_are_counted(void **state)
{
    enum { ROWS = 1203 };
    char *body = malloc(ROWS * 48 + 64);
    size_t length = (size_t)sprintf(body, "{\"currency\":\"EUR\",\"offers\":[");

    (void)state;
    for (int i = 0; i < ROWS; i++) {
        length += (size_t)sprintf(body + length, "%s{\"id\":\"o%d\",\"total\":%d}", i > 0 ? "," : "", i, i + 1);
    }
    (void)sprintf(body + length, "]}");
    open_plan("count = function(row) return row.id:sub(2) + 0 end", "");
    const struct normalise_call *call = answer(200, body);
    assert_verdict(call, SCRIPT_OK, "");
    assert_int_equal(call->offers->count, 1000);
    assert_int_equal(call->offers->dropped, 203);
    assert_string_equal(call->offers->dropped_first, "1203 offers, of which 1000 are read");
    assert_holds(call->offers->offers[999].json, "\"count\":999}");
    stage_close(&stage);
    free(body);
}

// ---- calling -------------------------------------------------------------------------------------------------------

#define CALLED                                                                                                         \
    "local offers = plan { each = 'offers[]', offer = { " BASICS "} }\nlocal other = plan { each = 'others[]', "       \
    "offer = { " BASICS "} }\nlocal kept\n" HEAD

static void a_function_may_call_a_plan_and_say_more(void **state)
{
    (void)state;
    open_source(CALLED "normalise = function(response, search, ctx)\n"
                       "  local given = offers(response, search, ctx)\n"
                       "  local page = response:json({ next = text }).next\n"
                       "  return given, page and { complete = false, merge = 'replace', next = {\n"
                       "    request = { method = 'GET', url = 'http://a.example/' .. page } } }\nend,\n"
                       "hosts = { 'a.example' } }");
    const struct normalise_call *call =
        answer(200, "{\"currency\":\"EUR\",\"next\":\"p2\",\"offers\":[{\"id\":\"a\",\"total\":1}]}");
    assert_verdict(call, SCRIPT_OK, "");
    assert_int_equal(call->offers->count, 1);
    assert_true(call->is_incomplete);
    assert_int_equal(call->merge, MERGE_REPLACE);
    assert_non_null(call->next.request);
    assert_null(answer(200, ONE)->next.request);
    stage_close(&stage);
}

static void what_a_plan_gave_is_good_for_its_answer_only(void **state)
{
    (void)state;
    open_source(CALLED "normalise = function(response, search, ctx)\n"
                       "  kept = kept or offers(response, search, ctx)\n  return kept\nend }");
    assert_verdict(answer(200, ONE), SCRIPT_OK, "");
    assert_verdict(answer(200, ONE), SCRIPT_ERROR, "normalise returned what a plan gave in an earlier call");
    stage_close(&stage);
    open_source(CALLED "normalise = function(response, search, ctx)\n"
                       "  offers(response, search, ctx)\n  return {}\nend }");
    assert_verdict(answer(200, ONE), SCRIPT_ERROR, "normalise called a plan and must return what it gave");
    stage_close(&stage);
    open_source(CALLED "normalise = function(response, search, ctx)\n"
                       "  offers(response, search, ctx)\n  local given = other(response, search, ctx)\n"
                       "  return given\nend }");
    assert_verdict(answer(200, ONE), SCRIPT_ERROR, "acme.lua:7: only one plan can be run for an answer");
    stage_close(&stage);
    open_source(CALLED "normalise = function(response, search) return offers(search, response) end }");
    assert_verdict(answer(200, ONE), SCRIPT_ERROR, "a plan is called as plan(response, search, ctx)");
    stage_close(&stage);
}

static void a_plan_that_found_nothing_to_read_leaves_the_answer_to_others(void **state)
{
    (void)state;
    open_source(CALLED "normalise = function(response, search, ctx)\n"
                       "  local is_read, given = pcall(offers, response, search, ctx)\n"
                       "  return is_read and given or other(response, search, ctx)\nend }");
    assert_verdict(answer(200, ONE), SCRIPT_OK, "");
    assert_verdict(answer(200, "{\"currency\":\"EUR\",\"others\":[{\"id\":\"a\",\"total\":1}]}"), SCRIPT_OK, "");
    assert_verdict(answer(200, "{}"), SCRIPT_UNPARSABLE, "others[]: a list expected");
    stage_close(&stage);
}

static void a_function_of_a_plan_may_read_the_document_itself(void **state)
{
    (void)state;
    open_source("local response\nlocal offers = plan { each = 'offers[]', offer = { " BASICS
                "count = function(row) return #response:json({ offers = { { id = text } }, x = raw }).offers end,\n"
                "name = 'name' } }\n" HEAD "normalise = function(r, search, ctx) response = r return offers(r, search, "
                "ctx) end }");
    const struct normalise_call *call =
        answer(200, "{\"currency\":\"EUR\",\"offers\":[{\"id\":\"a\",\"total\":1,\"name\":\"\\u0041b\"},"
                    "{\"id\":\"b\",\"total\":2,\"name\":\"\\u0041c\"}]}");
    assert_verdict(call, SCRIPT_OK, "");
    assert_int_equal(call->offers->count, 2);
    assert_holds(call->offers->offers[1].json, "\"id\":\"acme:b\"");
    assert_holds(call->offers->offers[1].json, "\"count\":2");
    assert_holds(call->offers->offers[1].item_json, "{\"name\":\"Ac\"}");
    stage_close(&stage);
}

static void functions_that_fail_fail_the_answer(void **state)
{
    (void)state;
    open_plan("count = function(row) return row.gone.x end", "");
    assert_verdict(answer(200, ONE), SCRIPT_ERROR, "acme.lua:2: attempt to index field 'gone'");
    stage_close(&stage);
    open_plan("count = function() error(fail.busy('later')) end", "");
    assert_verdict(answer(200, ONE), SCRIPT_FAIL_BUSY, "later");
    stage_close(&stage);
    open_plan("count = function() local list = {} for i = 1, 1e9 do list[i] = { i } end end", "");
    assert_verdict(answer(200, ONE), SCRIPT_MEMORY, "");
    stage_close(&stage);
}

struct watch {
    struct guard *guard;
    atomic_bool is_over;
};

static void *watch_guard(void *context)
{
    struct watch *watch = context;
    uint64_t next_us = 0;

    while (!atomic_load(&watch->is_over)) {
        pthread_mutex_lock(&watch->guard->lock);
        (void)guard_check(watch->guard, clock_now_us(), &next_us);
        pthread_mutex_unlock(&watch->guard->lock);
        (void)usleep(1000);
    }
    return NULL;
}

static void functions_that_loop_are_stopped(void **state)
{
    struct watch watch = { .guard = &stage.guard };
    pthread_t thread;

    (void)state;
#ifdef __SANITIZE_THREAD__
    print_message(
        "SKIPPED: this sanitizer keeps signals back while code of others runs, and here no other worker takes over\n");
    skip();
#endif
    assert_int_equal(guard_install(), STATUS_OK);
    open_plan("count = function(row) while row.id == 'a' do pcall(function() while true do end end) end end", "");
    stage.limit_us = 50000;
    assert_int_equal(pthread_create(&thread, NULL, watch_guard, &watch), 0);
    assert_verdict(answer(200, ONE), SCRIPT_TIMEOUT, "");
    stage.limit_us = 0;
    assert_offer("{\"currency\":\"EUR\",\"offers\":[{\"id\":\"b\",\"total\":1}]}", "acme:b");
    atomic_store(&watch.is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_to_members_and_elements),
        cmocka_unit_test(values_are_what_their_fields_take),
        cmocka_unit_test(up_begins_further_out),
        cmocka_unit_test(constants_are_what_they_say),
        cmocka_unit_test(money_has_a_currency_and_its_decimals),
        cmocka_unit_test(maps_translate),
        cmocka_unit_test(lists_are_walked_over_several_levels),
        cmocka_unit_test(references_lead_to_elements_of_the_document),
        cmocka_unit_test(functions_get_the_row_as_the_plan_declares_it),
        cmocka_unit_test(functions_of_objects_share_one_row),
        cmocka_unit_test(functions_get_what_stands_before_them),
        cmocka_unit_test(objects_without_a_leaf_are_absent),
        cmocka_unit_test(what_is_null_is_absent_and_what_is_wrong_is_named),
        cmocka_unit_test(statuses_and_paths_decide_first),
        cmocka_unit_test(an_answer_without_its_list_says_not_nothing),
        cmocka_unit_test(bodies_that_cannot_be_read_are_unparsable),
        cmocka_unit_test(one_bad_offer_takes_no_other_with_it),
        cmocka_unit_test(more_than_a_thousand_rows_are_counted),
        cmocka_unit_test(a_function_may_call_a_plan_and_say_more),
        cmocka_unit_test(what_a_plan_gave_is_good_for_its_answer_only),
        cmocka_unit_test(a_plan_that_found_nothing_to_read_leaves_the_answer_to_others),
        cmocka_unit_test(a_function_of_a_plan_may_read_the_document_itself),
        cmocka_unit_test(functions_that_fail_fail_the_answer),
        cmocka_unit_test(functions_that_loop_are_stopped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
