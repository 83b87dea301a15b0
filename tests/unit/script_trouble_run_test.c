// What is told of errors within a whole run of `normalise`: documents read by shapes, functions of plans, modules, and
// the ways that a script can fail without raising.

#include "unit/script_plan_stage.h"

#define HEAD "return { name = 'acme', product = 'things', owner = 'o', hosts = {}, build_request = function() end,\n"

static struct plan_stage stage;

static const char document[] = "{\"currency\":\"EUR\",\"groups\":[{\"offers\":[]},{\"offers\":[{\"id\":\"a\",\"total\":"
                               "\"10.5\",\"fare\":{\"n\":1}},"
                               "{\"id\":\"b\",\"total\":\"10.5\",\"brand\":{\"code\":\"x\"}}]}]}";

static void open_source(const char *source)
{
    memset(&stage, 0, sizeof stage);
    support_open(&stage.world);
    support_add_source(&stage.world, "acme", source);
    stage_open(&stage, "tests/unit/data/plan/scripts",
               "{\"product\":\"things\",\"currency\":\"EUR\",\"query\":{\"word\":\"w\"}}");
}

/// What `normalise` is told of when this is its body; NULL: nothing.
static struct failure *run_source(const char *source)
{
    open_source(source);
    (void)stage_normalise(&stage, 0, &(struct stage_answer){ .status = 200, .body = text_of(document) });
    struct failure *why = run_take_trouble(&stage.run);
    stage_close(&stage);
    return why;
}

static void assert_told(const char *source, enum code code, uint32_t line, const char *message, const char *notes,
                        const char *help)
{
    struct failure *why = run_source(source);

    if (why == NULL) {
        fail_msg("nothing is told of %s", source);
    } else if (why->code != code || why->line != line || strstr(why->message, message) == NULL ||
               strstr(why->notes, notes) == NULL || strstr(why->help, help) == NULL) {
        fail_msg("got E%04d %s:%u: %s\n%s\nhelp: %s", (int)why->code, why->file, why->line, why->message, why->notes,
                 why->help);
    }
    free(why);
}

static void a_document_read_by_a_shape_has_its_path(void **state)
{
    (void)state;
    assert_told(
        HEAD "normalise = function(response)\n"
             "  local groups = response:json({ groups = { { offers = { { id = text, fare = { n = integer } } } } } "
             "}).groups\n"
             "  for _, o in ipairs(groups[2].offers) do\n"
             "    local n = o.fare.n\n"
             "  end\n"
             "end }",
        CODE_NIL_FIELD, 5, "field `fare` is missing here", "o is body.groups[2].offers[2], of which is read: { id }",
        "if the answer has it, declare `fare` in the shape or plan; else guard it, or return "
        "fail.unexpected(\"groups[2].offers[2].fare\")");
}

static void a_document_read_whole_has_no_field_that_was_not_declared(void **state)
{
    (void)state;
    assert_told(HEAD "normalise = function(response)\n"
                     "  local groups = response:json().groups\n"
                     "  return groups[2].offers[2].fare.n\n"
                     "end }",
                CODE_NIL_FIELD, 4, "field `fare` is missing here",
                "groups[2].offers[2] is body.groups[2].offers[2]: { brand, id, total }",
                "guard it, or return fail.unexpected(\"groups[2].offers[2].fare\")");
}

static void what_was_called_last_is_told_with_the_only_line_that_it_can_be(void **state)
{
    (void)state;
    assert_told(HEAD "normalise = function(response)\n"
                     "  -- return money.parse(x)\n"
                     "  return money.parse({})\n"
                     "end }",
                CODE_ARGUMENT, 4, "'money.parse'", "    4 |   return money.parse({})", "");
    assert_told(HEAD "normalise = function(response)\n"
                     "  if response.status == 500 then return money.parse('1') end\n"
                     "  return money.parse({})\n"
                     "end }",
                CODE_ARGUMENT, 0, "'money.parse'", "leaves no line", "");
    assert_told(HEAD "normalise = function(response)\n"
                     "  return ('x'):rep(nil)\n"
                     "end }",
                CODE_ARGUMENT, 3, "'string.rep'", "    3 |", "");
}

static void a_function_of_a_plan_has_its_row(void **state)
{
    (void)state;
    assert_told(HEAD "normalise = plan { each = 'groups[].offers[]', offer = { id = 'id',\n"
                     "  price = { total = money(up(2).currency, 'total') },\n"
                     "  count = function(o)\n"
                     "    return o.fare.n + 1\n"
                     "  end, kind = 'fare.n' } } }",
                CODE_NIL_FIELD, 5, "field `fare` is missing here",
                "o is body.groups[2].offers[2], of which is read: { ", "offers[2].fare");
}

static void an_argument_of_a_plan_has_its_path(void **state)
{
    (void)state;
    assert_told(HEAD "normalise = plan { each = 'groups[].offers[]', offer = { id = 'id',\n"
                     "  price = { total = money(up(2).currency, 'total') },\n"
                     "  count = { 'id', 'brand', function(_, brand)\n"
                     "    return brand and brand.none.x or 1\n"
                     "  end }, kind = 'brand.code' } } }",
                CODE_NIL_FIELD, 5, "field `none` is missing here",
                "brand is body.groups[2].offers[2].brand, of which is read: { code }",
                "groups[2].offers[2].brand.none");
}

static void what_a_plan_did_not_give_has_no_path(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "local function f(q) return q.none.x end return f(h)",
        "o = { id = 1 } return o.none.x",
        "return map({ h }, function(q) return q.none.x end)",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        char script[1500];
        (void)snprintf(script, sizeof script,
                       HEAD "normalise = plan { each = 'groups[].offers[]', offer = { id = 'id',\n"
                            "  price = { total = money(up(2).currency, 'total') },\n"
                            "  count = { '.', up(1), function(o, h)\n"
                            "    %s\n"
                            "  end }, kind = 'brand.code' } } }",
                       bodies[i]);
        struct failure *why = run_source(script);
        if (why == NULL || why->code != CODE_NIL_FIELD || strstr(why->notes, "body.") != NULL ||
            strstr(why->help, "guard it") == NULL) {
            fail_msg("%s: %s\n%s\nhelp: %s", bodies[i], why == NULL ? "nothing" : why->message,
                     why == NULL ? "" : why->notes, why == NULL ? "" : why->help);
        }
        free(why);
    }
}

static void what_only_a_verdict_says_is_not_told_twice(void **state)
{
    (void)state;
    assert_null(run_source(HEAD "normalise = function() return fail.busy('later') end }"));
    assert_null(run_source(HEAD "normalise = function() return {} end }"));
    assert_null(run_source(HEAD "normalise = function() return {{ id = 'a' }} end }"));
}

static void breaches_of_the_contract_have_codes(void **state)
{
    (void)state;
    assert_told(HEAD "normalise = function() end }", CODE_RETURNED, 2, "normalise returned nothing",
                "    2 | normalise = function() end }", "return offers");
    assert_told(HEAD
                "normalise = function(r) return {}, { next = { request = { path = '/x' }, state = ('x'):rep(70000) } "
                "} end }",
                CODE_STATE_TOO_LARGE, 2, "64 KiB", "", "page number");
    assert_told(HEAD
                "normalise = function(r)\n return {}, { next = { request = { url = 'https://other.example/x' } } } end "
                "}",
                CODE_HOST_NOT_ALLOWED, 2, "other.example", "", "`hosts`");
    assert_told(HEAD "normalise = function(r, s, ctx)\n  local k = ctx.secret.NOPE return {} end }",
                CODE_SECRET_MISSING, 3, "NOPE", "", "secrets");
    assert_told(HEAD "normalise = function(r)\n  local d = r:xml({ a = text }) return {} end }", CODE_UNPARSABLE, 3,
                "XML was expected", "", "");
    assert_told(HEAD "normalise = function(r)\n  local g = r:json { groups = 'x' } return g end }", CODE_SHAPE, 3,
                "shape at `groups`", "", "leaves");
}

static void out_of_memory_is_told_with_the_file(void **state)
{
    (void)state;
    struct failure *why =
        run_source(HEAD "normalise = function(r) local t = {} while true do t[#t + 1] = { #t } end end }");
    assert_non_null(why);
    assert_int_equal(why->code, CODE_MEMORY);
    assert_non_null(strstr(why->file, "/acme.lua"));
    assert_string_equal(why->notes, "");
    free(why);
}

static void a_plan_that_was_caught_leaves_nothing_behind(void **state)
{
    (void)state;
    assert_told(HEAD "normalise = function(response, search, ctx)\n"
                     "  local p = plan { each = 'groups[].offers[]', offer = { id = 'id', price = { total = "
                     "money(up(2).currency, 'total') }, count = function(o) return o.none.x end } }\n"
                     "  pcall(p, response, search, ctx)\n"
                     "  local t = {}\n"
                     "  return t.none.x\n"
                     "end }",
                CODE_NIL_FIELD, 6, "field `none` is missing here", "t is { }", "guard it: `t.none and t.none.x`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_read_by_a_shape_has_its_path),
        cmocka_unit_test(a_document_read_whole_has_no_field_that_was_not_declared),
        cmocka_unit_test(what_was_called_last_is_told_with_the_only_line_that_it_can_be),
        cmocka_unit_test(a_function_of_a_plan_has_its_row),
        cmocka_unit_test(an_argument_of_a_plan_has_its_path),
        cmocka_unit_test(what_a_plan_did_not_give_has_no_path),
        cmocka_unit_test(what_only_a_verdict_says_is_not_told_twice),
        cmocka_unit_test(breaches_of_the_contract_have_codes),
        cmocka_unit_test(out_of_memory_is_told_with_the_file),
        cmocka_unit_test(a_plan_that_was_caught_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
