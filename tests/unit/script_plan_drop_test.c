// What an author is told of an offer of a plan that was dropped, and of an answer without its list.

#include "script/body_keys.h"
#include "script/plan_source.h"
#include "unit/script_plan_stage.h"

#define HEAD                                                                                                           \
    "return {\n  name = 'acme', product = 'things', owner = 'o', hosts = {}, build_request = function() end,\n"        \
    "  normalise = plan {\n    each = 'data[]',\n    offer = {\n      id = 'id',\n"                                    \
    "      price = { total = money(asked 'currency', 'total') },\n"

static struct plan_stage stage;

/// Runs the plan with these further leaves, from line 8 on.
static void run_plan(const char *leaves, const char *body)
{
    char source[4096];

    memset(&stage, 0, sizeof stage);
    support_open(&stage.world);
    (void)snprintf(source, sizeof source, HEAD "%s\n    },\n  },\n}\n", leaves);
    support_add_source(&stage.world, "acme", source);
    stage_open(&stage, "tests/unit/data/plan/scripts",
               "{\"product\":\"things\",\"currency\":\"EUR\",\"query\":{\"word\":\"small\",\"rooms\":[2,3]}}");
    (void)stage_normalise(&stage, 0, &(struct stage_answer){ .status = 200, .body = text_of(body) });
}

static void assert_told(enum code code, uint32_t line, const char *note, const char *help)
{
    const struct failure *told = &stage.run.trouble;

    if (told->code != code || told->line != line || strstr(told->notes, note) == NULL ||
        strstr(told->help, help) == NULL) {
        fail_msg("%d at line %u: %s\n%s\nhelp: %s", (int)told->code, told->line, told->message, told->notes,
                 told->help);
    }
    stage_close(&stage);
}

static void a_leaf_that_finds_nothing_is_told_with_its_line_and_the_names_that_are_there(void **state)
{
    static const char body[] =
        "{\"data\":[{\"id\":1,\"total\":2,\"list\":[{\"name\":\"a\"},{\"at\":{\"nameOf\":1}}]}]}";
    static const char leaves[] = "      parts = {\n        each = 'list[]',\n        name = 'at.nameof',\n      },";

    (void)state;
    run_plan(leaves, body);
    assert_told(CODE_OFFER_DROPPED, 10, "   10 |         name = 'at.nameof',", "");
    run_plan(leaves, body);
    assert_told(CODE_OFFER_DROPPED, 10, "`offer.parts.name` reads body.data[1].list[1].at.nameof\n", "");
    run_plan(leaves, body);
    assert_told(CODE_OFFER_DROPPED, 10, "body.data[1].list[1] is { name }", "");
    run_plan(leaves, "{\"data\":[{\"id\":1,\"total\":2,\"list\":[{\"at\":{\"nameOf\":1,\"no\":2}}]}]}");
    assert_told(CODE_OFFER_DROPPED, 10, "body.data[1].list[1].at is { nameOf, no }", "did you mean `nameOf`?");
}

static void the_element_is_the_one_that_was_bad(void **state)
{
    (void)state;
    run_plan("      parts = { each = 'list[]', name = 'n' },",
             "{\"data\":[{\"id\":1,\"total\":2,\"list\":[{\"n\":\"a\"},{\"n\":\"b\"},{\"m\":1}]}]}");
    assert_told(CODE_OFFER_DROPPED, 8, "body.data[1].list[3] is { m }", "");
}

static void the_place_within_what_a_reference_names_is_that_of_the_list(void **state)
{
    static const char body[] = "{\"data\":[{\"id\":1,\"total\":2,\"legs\":[{\"slice\":\"b\",\"at\":7}]}],\"slices\":["
                               "{\"nr\":\"a\",\"of\":[]},{\"nr\":\"b\",\"of\":[{\"id\":6},{\"id\":7,\"m\":1}]}]}";

    (void)state;
    run_plan("      parts = { each = 'legs[]', of = ref('slices[].of', { up(1).nr, 'id' }, { 'slice', 'at' }), name = "
             "'n' },",
             body);
    assert_told(CODE_OFFER_DROPPED, 8, "`offer.parts.name` reads body.slices[2].of[2].n", "");
    run_plan("      parts = { each = 'legs[]', of = ref('slices[].of', { up(1).nr, 'id' }, { 'slice', 'at' }), name = "
             "'n' },",
             body);
    assert_told(CODE_OFFER_DROPPED, 8, "body.slices[2].of[2] is { id, m }", "");
}

/// An author looks on.
static void assert_xml_refused(const char *each, const char *body, const char *note, const char *help)
{
    char source[1024];

    memset(&stage, 0, sizeof stage);
    support_open(&stage.world);
    (void)snprintf(
        source, sizeof source,
        "return { name = 'acme', product = 'things', owner = 'o', hosts = {}, build_request = function() end,\n"
        "  normalise = plan { from = 'xml', xmlns = { s = 'urn:s' },\n    each = '%s',\n"
        "    offer = { id = '@id', price = { total = money(asked 'currency', '@total') } } } }",
        each);
    support_add_source(&stage.world, "acme", source);
    stage_open(&stage, "tests/unit/data/plan/scripts", "{\"product\":\"things\",\"currency\":\"EUR\",\"query\":{}}");
    stage.is_watched = true;
    (void)stage_normalise(
        &stage, 0,
        &(struct stage_answer){ .status = 200, .body = text_of(body), .header = "content-type", .value = "text/xml" });
    assert_told(CODE_UNPARSABLE, 3, note, help);
}

static void an_answer_of_xml_is_told_with_its_lists(void **state)
{
    (void)state;
    assert_xml_refused("Found.Fare[]", "<Found><Way><o/><o/></Way><Offer/><Offer/></Found>",
                       "Found has the lists Offer[], Way.o[]", "`each` names the list");
    assert_xml_refused("s:Envelope.s:Body.Found.Offer[]", "<Found><Offer/><Offer/></Found>",
                       "Found has the lists Offer[]", "the answer has no envelope");
    assert_xml_refused("Envelope.Body.Found.Offer[]", "<Found><Offer/></Found>", "", "the answer has no envelope");
    assert_xml_refused("s:Envelope.s:Body.Found.Fare[]",
                       "<Envelope xmlns='urn:s'><Body><Found xmlns=''><Offer/><Offer/></Found></Body></Envelope>",
                       "s:Envelope.s:Body.Found has the lists Offer[]", "`each` names the list");
}

static void a_function_that_is_given_a_list_is_told_of(void **state)
{
    (void)state;
    run_plan("      name = { 'id', up(1).rows, function(id, rows) return id .. rows[1] end },",
             "{\"rows\":[{}],\"data\":[{\"id\":1,\"total\":2}]}");
    assert_non_null(strstr(stage.run.trouble.message, "name: text expected, got a list as `rows`"));
    stage_close(&stage);
}

static void a_duration_is_told_its_helper(void **state)
{
    static const char body[] = "{\"data\":[{\"id\":1,\"total\":2,\"long\":\"PT2H\"}]}";

    (void)state;
    run_plan("      wait_min = 'long',", body);
    assert_non_null(strstr(stage.run.trouble.message, "got \"PT2H\": time.minutes reads it"));
    stage_close(&stage);
    run_plan("      count = 'long',", body);
    assert_non_null(strstr(stage.run.trouble.message, "got \"PT2H\""));
    assert_null(strstr(stage.run.trouble.message, "time.minutes")); // no minutes
    stage_close(&stage);
}

static void otherwise_is_for_unknown_values_and_the_message_says_so(void **state)
{
    (void)state;
    run_plan("      parts = { each = 'list[]', name = map('n', { A = 'axle' }, 'other') },",
             "{\"data\":[{\"id\":1,\"total\":2,\"list\":[{}]}]}");
    assert_non_null(
        strstr(stage.run.trouble.message, "what a map gives otherwise is for a value that it does not know"));
    stage_close(&stage);
}

static void an_answer_without_the_list_is_told_which_it_has(void **state)
{
    (void)state;
    run_plan("", "{\"hits\":[{\"rooms\":[1]}],\"meta\":{\"links\":[]}}");
    assert_non_null(strstr(stage.run.trouble.message,
                           "data[]: a list expected, got nothing; the answer has the lists hits[], hits[].rooms[], "
                           "meta.links[]"));
    assert_told(CODE_UNPARSABLE, 4, "    4 |     each = 'data[]',", "`each` names the list");
    run_plan("", "{\"error\":1}");
    assert_non_null(strstr(stage.run.trouble.message, "; the answer has no list"));
    stage_close(&stage);
}

static void lines_are_found_past_strings_comments_and_functions(void **state)
{
    static const char source[] =
        "local a = plan {\n  offer = {\n    -- price = {\n    id = \"price = {\", --[[ x = {\n ]]\n"
        "    name = { \"n\", function(n) return (n) end },\n    price = {\n"
        "      [\"total\"] = \"t\",\n    },\n    parts = { each = \"x[]\",\n"
        "      total = 'y' },\n  },\n}\nlocal b = plan {\n  offer = {\n    id = 'b',\n  },\n}\n";
    struct text text = text_of(source);

    (void)state;
    assert_int_equal(plan_source_line(text, 1, "offer.price.total"), 8);
    assert_int_equal(plan_source_line(text, 1, "offer.parts.total"), 11);
    assert_int_equal(plan_source_line(text, 1, "offer.price.currency"), 7);
    assert_int_equal(plan_source_line(text, 1, "offer.name"), 6);
    assert_int_equal(plan_source_line(text, 1, "nothing"), 1);
    assert_int_equal(plan_source_line(text, 14, "offer.id"), 16);
    assert_int_equal(plan_source_line(text, 99, "offer.id"), 99);
    assert_int_equal(plan_source_line(TEXT("plan { [[ x"), 1, "offer"), 1);
}

static void paths_are_followed_as_far_as_they_go(void **state)
{
    static const char body[] = "{\"a\":[{\"b\":1},{\"c\":{\"d\":null,\"e\":[]}}]}";
    struct body_keys found;
    char keys[100];

    (void)state;
    assert_true(body_keys_find(text_of(body), TEXT("body.a[2].c.x.y"), &found));
    assert_int_equal(found.length, strlen("body.a[2].c"));
    body_keys_print(&found, keys, sizeof keys);
    assert_string_equal(keys, "{ d, e }");
    assert_true(body_keys_find(text_of(body), TEXT("body.a[3].c"), &found));
    assert_int_equal(found.length, strlen("body.a"));
    assert_string_equal(found.kind, "a list");
    assert_true(body_keys_find(text_of(body), TEXT("body.a[1].b"), &found));
    assert_string_equal(found.kind, "a number");
    assert_false(body_keys_find(TEXT("{\"a\":"), TEXT("body.a.b"), &found));
    assert_false(body_keys_find(TEXT(""), TEXT("body.a"), &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leaf_that_finds_nothing_is_told_with_its_line_and_the_names_that_are_there),
        cmocka_unit_test(the_element_is_the_one_that_was_bad),
        cmocka_unit_test(the_place_within_what_a_reference_names_is_that_of_the_list),
        cmocka_unit_test(an_answer_of_xml_is_told_with_its_lists),
        cmocka_unit_test(a_function_that_is_given_a_list_is_told_of),
        cmocka_unit_test(a_duration_is_told_its_helper),
        cmocka_unit_test(otherwise_is_for_unknown_values_and_the_message_says_so),
        cmocka_unit_test(an_answer_without_the_list_is_told_which_it_has),
        cmocka_unit_test(lines_are_found_past_strings_comments_and_functions),
        cmocka_unit_test(paths_are_followed_as_far_as_they_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
