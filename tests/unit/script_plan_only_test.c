// `only` of a plan: which elements are meant; and objects of which nothing is given. What is left out is neither an
// offer nor a dropped one.

#include "unit/script_plan_stage.h"

#define HEAD "return { name = 'acme', product = 'things', owner = 'o', hosts = {}, build_request = function() end,\n"
#define BASICS "id = 'id', price = { total = money(up(1).currency, 'total') }, "

static struct plan_stage stage;

/// A plan with this beside `each`, and these fields beside id and price.
static void open_plan(const char *beside, const char *fields)
{
    char source[4096];

    memset(&stage, 0, sizeof stage);
    support_open(&stage.world);
    (void)snprintf(source, sizeof source, HEAD "normalise = plan { each = 'offers[]', %s offer = { " BASICS "%s } } }",
                   beside, fields);
    support_add_source(&stage.world, "acme", source);
    stage_open(&stage, "tests/unit/data/plan/scripts",
               "{\"product\":\"things\",\"currency\":\"EUR\",\"query\":{\"word\":\"w\"}}");
}

/// Offers a, b, c … with these members.
static const struct normalise_call *answer(const char *const *members, size_t count)
{
    static char body[64 << 10];
    size_t length = (size_t)snprintf(body, sizeof body, "{\"currency\":\"EUR\",\"offers\":[");

    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(body + length, sizeof body - length, "%s{\"id\":\"%c\",\"total\":\"10.5\"%s%s}",
                                   i > 0 ? "," : "", (int)('a' + i), members[i][0] != '\0' ? "," : "", members[i]);
    }
    (void)snprintf(body + length, sizeof body - length, "]}");
    return stage_normalise(&stage, 0, &(struct stage_answer){ .status = 200, .body = text_of(body) });
}

/// Which of the offers with these members are meant, as "ac"; none is dropped.
static void check_meant(const char *beside, const char *const *members, size_t count, const char *meant)
{
    char found[64] = "";

    open_plan(beside, "");
    const struct normalise_call *call = answer(members, count);
    if (call->verdict != (meant[0] != '\0' ? SCRIPT_OK : SCRIPT_EMPTY)) {
        fail_msg("%s: %s: %s", beside, script_verdict_name(call->verdict), call->message);
    }
    for (size_t i = 0; call->offers != NULL && i < call->offers->count; i++) {
        struct text id = call->offers->offers[i].id;
        size_t length = strlen(found);
        found[length] = id.data[id.length - 1];
        found[length + 1] = '\0';
    }
    if (call->offers != NULL && call->offers->dropped != 0) {
        fail_msg("%s: dropped: %s", beside, call->offers->dropped_first);
    }
    if (strcmp(found, meant) != 0) {
        fail_msg("%s: %s instead of %s", beside, found, meant);
    }
    stage_close(&stage);
}

static void a_path_means_what_is_there_and_true(void **state)
{
    static const char *const members[] = {
        "\"open\":true", "\"open\":false",     "\"open\":null", "", "\"open\":0", "\"open\":1", "\"open\":\"no\"",
        "\"open\":\"\"", "\"open\":\"false\"", "\"open\":{}",
    };

    (void)state;
    check_meant("only = 'open',", members, COUNT_OF(members), "afgj");
}

static void a_value_means_what_is_spelt_so(void **state)
{
    static const char *const members[] = { "\"status\":\"OK\"", "\"status\":\"RQ\"", "",
                                           "\"status\":1",      "\"status\":true",   "\"status\":null" };

    (void)state;
    check_meant("only = { 'status', 'OK' },", members, COUNT_OF(members), "a");
    check_meant("only = { 'status', { 'RQ', 1 } },", members, COUNT_OF(members), "bd");
    check_meant("only = { 'status', true },", members, COUNT_OF(members), "e");
    check_meant("only = { up(1).currency, 'EUR' },", members, COUNT_OF(members), "abcdef");
    check_meant("only = { asked 'query.word', 'x' },", members, COUNT_OF(members), "");
    check_meant("only = map('status', { OK = true, RQ = false }),", members, COUNT_OF(members), "a");
}

static void a_function_decides(void **state)
{
    static const char *const members[] = { "\"status\":\"OK\",\"seats\":3", "\"status\":\"OK\",\"seats\":0",
                                           "\"status\":\"RQ\",\"seats\":4", "" };

    (void)state;
    check_meant("only = { 'status', 'seats', function(s, n) return s == 'OK' and n ~= '0' end },", members,
                COUNT_OF(members), "a");
    check_meant("only = { 'status', function(s) return s == 'RQ' end },", members, COUNT_OF(members), "c");
    check_meant("only = function(row) return row.id ~= 'b' end,", members, COUNT_OF(members), "acd");
}

static void where_all_are_left_out_the_answer_is_empty(void **state)
{
    static const char *const members[] = { "\"status\":\"RQ\"", "\"status\":\"RQ\"" };

    (void)state;
    open_plan("only = { 'status', 'OK' },", "");
    const struct normalise_call *call = answer(members, COUNT_OF(members));
    assert_int_equal(call->verdict, SCRIPT_EMPTY);
    assert_true(call->offers == NULL || call->offers->dropped == 0);
    stage_close(&stage);
}

static void what_cannot_be_compared_is_dropped_and_told(void **state)
{
    static const char *const members[] = { "\"status\":\"RQ\"", "\"status\":[\"OK\"]", "\"status\":\"OK\"" };

    (void)state;
    open_plan("only = { 'status', 'OK' },", "");
    const struct normalise_call *call = answer(members, COUNT_OF(members));
    assert_int_equal(call->offers->count, 1);
    assert_int_equal(call->offers->dropped, 1);
    assert_non_null(strstr(call->offers->dropped_first, "[2]: an offer expected, got "));
    assert_non_null(strstr(call->offers->dropped_first, "which `only` cannot compare"));
    stage_close(&stage);
}

static void a_list_has_the_elements_that_are_meant(void **state)
{
    static const char *const members[] = {
        "\"flights\":[{\"back\":0,\"from\":\"MAD\"},{\"back\":1,\"from\":\"LHR\"},{\"back\":0,\"from\":\"CDG\"}]"
    };

    (void)state;
    open_plan("", "tags = { each = 'flights[]', only = { 'back', '0' }, 'from' }");
    const struct normalise_call *call = answer(members, 1);
    if (call->offers->count != 1) {
        fail_msg("%s", call->offers->dropped_first);
    }
    struct text json = call->offers->offers[0].json;
    assert_non_null(memmem(json.data, json.length, "\"tags\":[\"MAD\",\"CDG\"]", 20));
    stage_close(&stage);
}

/// Of so many elements half are meant.
static void check_counts(int elements, size_t offers, size_t dropped)
{
    size_t size = (size_t)elements * 64 + 64;
    char *body = malloc(size);
    assert_non_null(body);
    size_t length = (size_t)snprintf(body, size, "{\"currency\":\"EUR\",\"offers\":[");

    for (int i = 0; i < elements; i++) {
        length += (size_t)snprintf(body + length, size - length, "%s{\"id\":\"%d\",\"total\":\"1\",\"open\":%s}",
                                   i > 0 ? "," : "", i, i % 2 == 1 ? "true" : "false");
    }
    length += (size_t)snprintf(body + length, size - length, "]}");
    open_plan("only = 'open',", "");
    const struct normalise_call *call =
        stage_normalise(&stage, 0, &(struct stage_answer){ .status = 200, .body = { body, length } });
    assert_int_equal(call->offers->count, offers);
    assert_int_equal(call->offers->dropped, dropped);
    stage_close(&stage);
    free(body);
}

static void what_is_left_out_counts_for_no_cap(void **state)
{
    (void)state;
    check_counts(1200, 600, 0);
    check_counts(2400, 1000, 200);
}

static void assert_refused(const char *plan, const char *why)
{
    struct support_findings findings = { .count = 0 };
    struct support_world world;
    char source[1024];

    support_open(&world);
    (void)snprintf(source, sizeof source, HEAD "normalise = plan { %s } }", plan);
    support_add_source(&world, "acme", source);
    assert_int_equal(script_set_load("tests/unit/data/plan/scripts", world.sources, world.count, support_on_finding,
                                     &findings, &world.set),
                     STATUS_INVALID);
    if (strstr(findings.text, why) == NULL) {
        fail_msg("no \"%s\" in: %s", why, findings.text);
    }
    support_close(&world);
}

static void mistakes_are_findings_with_their_place(void **state)
{
    (void)state;
    assert_refused("each = 'a[]', only = 7, offer = {}", "acme.lua:2: plan: only: a path, { path, value");
    assert_refused("each = 'a[]', only = {}, offer = {}", "plan: only: a path, { path, value");
    assert_refused("each = 'a[]', only = { 'x' }, offer = {}", "plan: only: a path, { path, value");
    assert_refused("each = 'a[]', only = { 'x', 'y', 'z' }, offer = {}", "plan: only: a path, { path, value");
    assert_refused("each = 'a[]', only = { 'x', {} }, offer = {}", "plan: only: behind the path stand a value");
    assert_refused("each = 'a[]', only = { 'x', { {} } }, offer = {}", "plan: only: a text, a number, true or false");
    assert_refused("each = 'a[]', only = const 'x', offer = {}", "plan: only: a path, { path, value");
    assert_refused("each = 'a[]', only = 'x..y', offer = {}", "plan: only: `x..y`: a name is missing");
    assert_refused("only = 'x', offer = {}", "`only` goes with `each`");
    assert_refused("each = 'a[]', offer = { tags = { each = 'b[]', only = 7, 'c' } }",
                   "plan: offer.tags.only: a path, { path, value");
    assert_refused("each = 'a[]', only = { asked 'query.wrod', 'w' }, offer = {}",
                   "plan: `only` asks for \"query.wrod\"");
}

// A promise that nobody made is none: refund = {} would be one.
static void an_object_whose_functions_give_nothing_is_absent(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *members;
        bool has_lid;
    } ROWS[] = {
        { "lid = { label = { 'l', function(l) return l == 'x' and 'y' or nil end } }", "\"l\":\"z\"", false },
        { "lid = { label = { 'l', function(l) return l == 'x' and 'y' or nil end } }", "\"l\":\"x\"", true },
        { "lid = { kind = const 'k', label = { 'l', function(l) return l end } }", "\"n\":1", false },
        { "lid = { kind = const 'k', label = { 'l', function(l) return l end } }", "\"l\":\"x\"", true },
        { "lid = { kind = const 'k' }", "\"n\":1", true },
    };

    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        open_plan("", ROWS[i].fields);
        const struct normalise_call *call = answer(&ROWS[i].members, 1);
        assert_int_equal(call->verdict, SCRIPT_OK);
        struct text json = call->offers->offers[0].json;
        if ((memmem(json.data, json.length, "\"lid\"", 5) != NULL) != ROWS[i].has_lid) {
            fail_msg("%s of %s: %.*s", ROWS[i].fields, ROWS[i].members, TEXT_ARGS(json));
        }
        stage_close(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_whose_functions_give_nothing_is_absent),
        cmocka_unit_test(a_path_means_what_is_there_and_true),
        cmocka_unit_test(a_value_means_what_is_spelt_so),
        cmocka_unit_test(a_function_decides),
        cmocka_unit_test(where_all_are_left_out_the_answer_is_empty),
        cmocka_unit_test(what_cannot_be_compared_is_dropped_and_told),
        cmocka_unit_test(a_list_has_the_elements_that_are_meant),
        cmocka_unit_test(what_is_left_out_counts_for_no_cap),
        cmocka_unit_test(mistakes_are_findings_with_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
