// What a person is told of an error of a script: code, sentence, excerpt, the table that lacked something, its place.

#include "base/redact.h"
#include "script/bind.h"
#include "script/freeze.h"
#include "script/sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>

static const char document[] =
    "{\"offers\":[{\"id\":\"a\",\"total\":{\"amount\":\"1.00\",\"currency\":\"EUR\"}},"
    "{\"id\":\"b\",\"brand\":\"x\",\"totalPrice\":\"2.00\",\"legs\":[{\"from\":\"A\"},{\"to\":"
    "\"B\"}]}],\"meta\":{\"page\":1},\"odd name\":{\"k\":{}}}";

static struct sandbox *sandbox;
static const char *source;

static bool find_source(void *context, struct text shown, struct text *path, struct text *found)
{
    (void)context;
    *path = TEXT("suppliers/t.lua");
    *found = text_of(source);
    return text_equals_c(shown, "t.lua");
}

static int open_sandbox(void **state)
{
    (void)state;
    sandbox = sandbox_create(8 << 20, NULL, NULL);
    assert_non_null(sandbox);
    sandbox->trouble.find_source = find_source;
    return 0;
}

static int close_sandbox(void **state)
{
    (void)state;
    sandbox_destroy(&sandbox);
    return 0;
}

/// The chunk gets the document, which it has read, and a frozen search.
static int run_chunk(lua_State *L)
{
    lua_settop(L, 0);
    if (!sandbox_load(L, TEXT("t.lua"), text_of(source))) {
        return lua_error(L);
    }
    assert_true(bind_json_decode(L, text_of(document)));
    trouble_keep_root(L, false);
    assert_true(bind_json_decode(L, TEXT("{\"query\":{\"cabin\":\"economy\"}}")));
    freeze_deep(L);
    lua_call(L, 2, 0);
    return 0;
}

static const struct failure *fails(const char *chunk)
{
    source = chunk;
    enum sandbox_result result = sandbox_call(sandbox, run_chunk, NULL, NULL);
    if (result != SANDBOX_ERROR) {
        fail_msg("%s: did not fail, but %d", chunk, (int)result);
    }
    return &sandbox->trouble.failure;
}

static void assert_told(const char *chunk, enum code code, const char *message, const char *notes, const char *help)
{
    const struct failure *why = fails(chunk);

    if (why->code != code || strstr(why->message, message) == NULL || strstr(why->notes, notes) == NULL ||
        strstr(why->help, help) == NULL) {
        fail_msg("%s\nwanted E%04d %s | %s | %s\ngot    E%04d %s:%u: %s\n%s\nhelp: %s", chunk, (int)code, message,
                 notes, help, (int)why->code, why->file, why->line, why->message, why->notes, why->help);
    }
}

static void a_missing_field_is_told_with_its_table_and_the_way_to_it(void **state)
{
    (void)state;
    const struct failure *why = fails("local body = ...\n"
                                      "for _, f in ipairs(body.offers) do\n"
                                      "  local price = money.parse(f.total.amount, f.total.currency)\n"
                                      "end\n");
    assert_string_equal(why->file, "suppliers/t.lua");
    assert_int_equal(why->line, 3);
    assert_int_equal(why->code, CODE_NIL_FIELD);
    assert_string_equal(why->message, "field `total` is missing here");
    assert_string_equal(why->notes, "    3 |   local price = money.parse(f.total.amount, f.total.currency)\n"
                                    "f is body.offers[2]: { brand, id, legs, totalPrice }");
    assert_string_equal(why->help, "guard it, or return fail.unexpected(\"offers[2].total\")");
}

static void each_kind_of_nil_has_its_code(void **state)
{
    (void)state;
    assert_told("local b = ... local n = b.nix return n.x", CODE_NIL_FIELD, "`n` is nil here", "", "");
    assert_told("local b = ... return b.offers[3].id", CODE_NIL_FIELD, "item `[3]` is missing here",
                "b.offers is body.offers: a list of 2", "fail.unexpected(\"offers[3]\")");
    assert_told("local b = ... local i = 3 return b.offers[i].id", CODE_NIL_FIELD, "item `[3]` is missing here", "",
                "");
    assert_told("local b = ... return b.meta.pages()", CODE_NIL_CALL, "field `pages` is missing",
                "b.meta is body.meta: { page }", "did you mean `page`?");
    assert_told("local b = ... return b.meta:go()", CODE_NIL_CALL, "field `go` is missing", "", "");
    assert_told("local b = ... return b.offers[2].price + 1", CODE_ARITHMETIC, "field `price` is missing",
                "body.offers[2]: {", "fail.unexpected(\"offers[2].price\")");
    assert_told("local b = ... return 'x' .. b.meta.name", CODE_CONCATENATION, "field `name` is missing",
                "body.meta: { page }", "");
    assert_told("local b = ... return b.meta.count < 3", CODE_COMPARISON, "field `count` is missing",
                "body.meta: { page }", "");
    assert_told("local b = ... return #b.list", CODE_LENGTH, "field `list` is missing", "b is body: {", "");
    assert_told("local b = ... for _ in ipairs(b.offer) do end", CODE_ARGUMENT, "field `offer` is missing",
                "b is body: {", "did you mean `offers`?");
    assert_told("local b = ... return b.meta.page.x.y", CODE_NOT_A_TABLE, "field `page` is a number", "body.meta", "");
}

static void upvalues_and_nested_tables_are_found(void **state)
{
    (void)state;
    assert_told(
        "local b = ...\nlocal o = b.offers[2]\nlocal function f()\n  return o.legs[2].from.code\nend\nlocal x = "
        "f()\nreturn x",
        CODE_NIL_FIELD, "field `from` is missing here", "o.legs[2] is body.offers[2].legs[2]: { to }",
        "offers[2].legs[2].from");
    assert_told("local b = ... local o = b['odd name'].k return o.x.y", CODE_NIL_FIELD, "field `x` is missing",
                "o is body[\"odd name\"].k: { }", "fail.unexpected(\"[\"odd name\"].k.x\")");
    assert_told("local _, search = ... return search.query.trip.x", CODE_NIL_FIELD, "field `trip` is missing",
                "search.query is { cabin }", "guard it: `search.query.trip and search.query.trip.x`");
}

static void other_mistakes_have_codes_of_their_own(void **state)
{
    (void)state;
    assert_told("local x = mony", CODE_GLOBAL_UNKNOWN, "unknown global \"mony\"", "", "did you mean \"money\"?");
    assert_told("x = 1", CODE_GLOBAL_WRITTEN, "cannot be set", "    1 | x = 1", "local");
    assert_told("local _, s = ... s.query.cabin = 'x'", CODE_FROZEN, "read-only", "", "copy");
    assert_told("error('no luck')", CODE_RAISED, "no luck", "    1 | error", "");
    assert_told("assert(false, 'no luck')", CODE_RAISED, "no luck", "", "");
    assert_told("require('nothing')", CODE_MODULE_MISSING, "nothing", "", "scripts/");
    assert_told("money.parse(12.5, 'EUR')", CODE_MONEY_FLOAT, "float", "", "decimal");
    assert_told("money.ad({}, 'EUR')", CODE_GLOBAL_UNKNOWN, "money.ad", "", "");
    assert_told("time.duration({})", CODE_ARGUMENT, "bad argument", "", "");
    assert_told("return ('x'):find('%')", CODE_PATTERN, "pattern", "", "");
    assert_told("local function f() return 1 + f() end f()", CODE_TOO_DEEP, "stack overflow", "", "itself");
    assert_told("return json.encode({ f = print })", CODE_GLOBAL_UNKNOWN, "print", "", "");
    assert_told("return json.encode({ f = error })", CODE_JSON, "json.encode", "", "");
}

static void what_a_script_catches_leaves_no_trace(void **state)
{
    (void)state;
    assert_told("pcall(money.parse, 1.5, 'EUR') local b = ... return b.none.x", CODE_NIL_FIELD, "`none`", "", "");
    source = "pcall(error, 'x')";
    assert_int_equal(sandbox_call(sandbox, run_chunk, NULL, NULL), SANDBOX_OK);
    assert_int_equal(sandbox->trouble.failure.code, CODE_NONE);
}

static void hostile_tables_are_not_asked(void **state)
{
    (void)state;
    assert_told("local t = setmetatable({ a = 1 }, { __index = function() error('asked') end, __tostring = function() "
                "error('asked') end }) local u = setmetatable({ t = t }, { __index = function(_, k) if k == 'n' then "
                "return nil end error('asked') end })\nreturn u.n.x",
                CODE_NIL_FIELD, "field `n` is missing", "u is { t }", "");
    assert_told("local t = {} t.t = t\nreturn t.t.t.none.x", CODE_NIL_FIELD, "field `none`", "t.t.t is { t }", "");
}

static void many_keys_are_cut_and_sorted(void **state)
{
    (void)state;
    assert_told("local t = {} for i = 30, 10, -1 do t['k' .. i] = i end\nreturn t.none.x", CODE_NIL_FIELD, "`none`",
                "t is { k10, k11, k12, k13, k14, k15, k16, k17, k18, k19, k20, k21, ... }", "");
}

static void keys_and_lines_lose_secrets(void **state)
{
    (void)state;
    assert_int_equal(redact_add(TEXT("sesame-opens-17")), STATUS_OK);
    const struct failure *why = fails("local t = { ['sesame-opens-17'] = 1, plain = 2 }\n"
                                      "local x = t.none.x -- sesame-opens-17\n");
    assert_null(strstr(why->notes, "sesame-opens-17"));
    assert_non_null(strstr(why->notes, "t is { ***, plain }"));
    assert_non_null(strstr(why->notes, "-- ***"));
    why = fails("local t = {} error('key sesame-opens-17')");
    assert_null(strstr(why->message, "sesame"));
}

static void values_are_never_shown(void **state)
{
    (void)state;
    const struct failure *why = fails("local t = { name = 'Jane Doe', n = 12345 }\nreturn t.none.x");
    assert_null(strstr(why->notes, "Jane"));
    assert_null(strstr(why->notes, "12345"));
}

static void strings_comments_and_assignments_are_not_read(void **state)
{
    (void)state;
    assert_told("local b = ...\nlocal t = {}\nt.x = \"b.none.y\" .. b.meta.what -- b.gone", CODE_CONCATENATION,
                "field `what` is missing", "b.meta is body.meta", "");
}

static void a_failure_in_a_large_document_ends_soon(void **state)
{
    (void)state;
    assert_told("local b = ... local t = {} for i = 1, 90000 do t[i] = i end b.t = t local u = { t = t, k = 1 "
                "}\nreturn u.none.x",
                CODE_NIL_FIELD, "`none`", "u is { k, t }", "");
}

static void out_of_memory_and_a_stop_have_no_notes(void **state)
{
    (void)state;
    source = "local t = {} while true do t[#t + 1] = ('x'):rep(100000) .. #t end";
    assert_int_equal(sandbox_call(sandbox, run_chunk, NULL, NULL), SANDBOX_OUT_OF_MEMORY);
    assert_int_equal(sandbox->trouble.failure.code, CODE_NONE);
    close_sandbox(NULL);
    open_sandbox(NULL);
}

static void an_error_beside_the_memory_cap_is_still_told(void **state)
{
    (void)state;
    assert_told("local b = ... local keep = {} for i = 1, 2 do keep[i] = ('x'):rep(1024 * 1024) .. i end\nreturn "
                "b.none.x",
                CODE_NIL_FIELD, "`none`", "b is body", "");
}

/// Whatever an error's words begin with, its place is one in a script.
static void a_place_in_the_words_of_others_is_no_place(void **state)
{
    (void)state;
    const struct failure *why = fails("local b = ...\nerror('suppliers/zz.lua:99: forged', 0)");
    assert_string_equal(why->file, "suppliers/t.lua");
    assert_int_equal(why->line, 2);
    assert_string_equal(why->message, "suppliers/zz.lua:99: forged");
    why = fails("error('connect api.x:443: refused', 0)");
    assert_int_equal(why->line, 1);
    assert_string_equal(why->message, "connect api.x:443: refused");
    why = fails("error('t.lua:443: beyond its end', 0)");
    assert_int_equal(why->line, 1);
    assert_int_equal(redact_add(TEXT("sesame-opens-17")), STATUS_OK);
    why = fails("error('key sesame-opens-17:12: bad', 0)");
    assert_null(strstr(why->file, "sesame"));
    assert_string_equal(why->message, "key ***:12: bad");
}

static void what_was_caught_and_raised_again_has_both_places(void **state)
{
    (void)state;
    const struct failure *why = fails("local _, e = pcall(function()\n  local b = nil + 1\nend)\nerror(e, 0)");
    assert_string_equal(why->file, "suppliers/t.lua");
    assert_int_equal(why->line, 2);
    assert_non_null(strstr(why->notes, "    2 |   local b = nil + 1\n"));
    assert_non_null(strstr(why->notes, "it was raised at t.lua:4"));
}

static void an_error_that_is_no_text_has_its_line(void **state)
{
    (void)state;
    const char *const chunks[] = { "local b = ...\nerror({ a = 1 })", "local b = ...\nerror(nil)",
                                   "local b = ...\nerror(function() end)" };
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        assert_told(chunks[i], CODE_RAISED, "not a text", "    2 | error(", "fail.");
        assert_int_equal(sandbox->trouble.failure.line, 2);
    }
    source = "error(fail.busy('later'))";
    assert_int_equal(sandbox_call(sandbox, run_chunk, NULL, NULL), SANDBOX_ERROR);
    assert_int_equal(sandbox->trouble.failure.code, CODE_NONE);
}

static void a_key_is_cut_without_showing_part_of_a_secret(void **state)
{
    (void)state;
    assert_int_equal(redact_add(TEXT("sesame-opens-17")), STATUS_OK);
    const struct failure *why = fails("local b = ... local k = ('a'):rep(88) .. 'sesame-opens-17'\nreturn b[k].y");
    assert_int_equal(why->code, CODE_NIL_FIELD);
    assert_non_null(strstr(why->message, "aaaaa"));
    assert_null(strstr(why->message, "sesa"));
    assert_null(strstr(why->help, "sesa"));
}

/// What is told of a line on which more than one thing could be it: the interpreter's words, and no culprit.
static void assert_no_culprit(const char *chunk)
{
    const struct failure *why = fails(chunk);

    if (strstr(why->message, "missing") != NULL || strstr(why->notes, " is ") != NULL || why->help[0] == '\0') {
        fail_msg("%s: %s\n%s\nhelp: %s", chunk, why->message, why->notes, why->help);
    }
}

static void a_culprit_is_told_only_when_nothing_else_can_be_it(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "local x = no and a.total.amount or c.total.amount",
        "local f, x = function() return a.total.amount end, c.total.amount",
        "local x = { pick(b).total.amount, a.total.amount }",
        "if not a.total then for _ in ipairs(pick(b).rows) do end end",
        "local s = 'x' .. tostring(a.total) .. pick(b).total",
        "if a.p == nil and c.q < c.rank then return end",
        "a.total.amount = c.total.x",
        "local x = a[1], pick(b)[7].id",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char chunk[300];
        (void)snprintf(chunk, sizeof chunk,
                       "local b = ...\nlocal no = false\nlocal a, c = b.offers[2], b.meta\n"
                       "local function pick(d) return d.offers[2] end\n%s",
                       lines[i]);
        assert_no_culprit(chunk);
    }
}

static void an_operand_or_argument_is_told_among_others(void **state)
{
    (void)state;
#define TWO "local b = ...\nlocal a, c = b.offers[2], b.meta\n"
    assert_told(TWO "local t = { a.total, ipairs(c.rows) }", CODE_ARGUMENT, "field `rows` is missing", "c is body.meta",
                "fail.unexpected(\"meta.rows\")");
    assert_told(TWO "if a.total == nil and a.id < c.rank then return end", CODE_COMPARISON, "field `rank` is missing",
                "c is body.meta", "");
    assert_told(TWO "local t = { a.total, #c.rows }", CODE_LENGTH, "field `rows` is missing", "c is body.meta", "");
    assert_told(TWO "local s, x = [[ a.total.x ]], c.total.x", CODE_NIL_FIELD, "field `total` is missing",
                "c is body.meta", "");
    assert_told(TWO "local s = [==[\n  a.total.x ]] ]==] .. c.total.x", CODE_NIL_FIELD, "field `total` is missing",
                "c is body.meta", "");
    assert_told(TWO "local x = --[[ a.total.x ]] c.total.x", CODE_NIL_FIELD, "field `total` is missing",
                "c is body.meta", "");
    assert_told(TWO "local t = (a.p or 0) + c.p", CODE_ARITHMETIC, "field `p` is missing", "c is body.meta", "");
    assert_told(TWO "local t = (a.x and a.x.y) or c.x.z", CODE_NIL_FIELD, "field `x` is missing", "c is body.meta", "");
    assert_told(TWO "for _ in c.rows do end", CODE_NIL_CALL, "field `rows` is missing", "c is body.meta", "");
#undef TWO
}

static void a_guard_guards_what_is_nil(void **state)
{
    (void)state;
    assert_told("local copy = { id = 1 }\nreturn copy.total.amount", CODE_NIL_FIELD, "field `total`", "copy is { id }",
                "guard it: `copy.total and copy.total.amount`");
    assert_told("local copy = { id = 1 }\nreturn 'x' .. copy.total", CODE_CONCATENATION, "field `total`", "",
                "guard it: `if copy.total then`");
}

static void a_field_whose_name_is_no_name_is_written_in_brackets(void **state)
{
    (void)state;
    assert_told("local b = ... return b.meta['x-no'].y", CODE_NIL_FIELD, "field `x-no`", "",
                "fail.unexpected(\"meta['x-no']\")");
    assert_told("local copy = { id = 1 }\nreturn 'x' .. copy['x-no']", CODE_CONCATENATION, "field `x-no`", "",
                "guard it: `if copy[\"x-no\"] then`");
}

static void a_loop_over_numbers_tells_its_part(void **state)
{
    (void)state;
    assert_told("local b = ...\nfor i = 1, b.meta.rows do end", CODE_ARITHMETIC, "limit must be a number: field `rows`",
                "b.meta is body.meta: { page }", "fail.unexpected(\"meta.rows\")");
    assert_told("local b = ...\nfor i = b.meta.first, 3 do end", CODE_ARITHMETIC, "field `first` is missing", "", "");
    assert_told("local b = ...\nfor i = 1, 3, b.meta.step do end", CODE_ARITHMETIC, "field `step` is missing", "", "");
    assert_told("local b = ...\nfor i = 1, nil do end", CODE_ARITHMETIC, "'for' limit", "    2 | for i", "guard it");
}

static void helpers_have_their_names(void **state)
{
    (void)state;
    assert_told("local s = string.format('%d', {})", CODE_ARGUMENT, "to 'string.format' (number expected", "    1 |",
                "");
    assert_told("local s = ('%d'):format({})", CODE_ARGUMENT, "to 'string.format' (number expected", "    1 |", "");
    assert_told("return money.parse({})", CODE_ARGUMENT, "to 'money.parse' (text expected", "`return money.parse(", "");
    assert_int_equal(sandbox->trouble.failure.line, 0);
}

static void a_stack_that_is_full_has_a_line(void **state)
{
    (void)state;
    assert_told("local b = ...\nlocal function f() return 1 + f() end\nf()", CODE_TOO_DEEP, "stack overflow",
                "    2 | local function f()", "itself");
    assert_int_equal(sandbox->trouble.failure.line, 2);
}

static void of_a_long_line_the_piece_around_the_fault_is_shown(void **state)
{
    (void)state;
    char chunk[1200], filler[400];

    memset(filler, 'y', sizeof filler - 1);
    filler[sizeof filler - 1] = '\0';
    (void)snprintf(chunk, sizeof chunk, "local b = ... local s = '%s' .. b.meta.none.x .. '%s'", filler, filler);
    assert_told(chunk, CODE_NIL_FIELD, "`none`", "    1 | ...yyyy", "");
    assert_non_null(strstr(sandbox->trouble.failure.notes, "y' .. b.meta.none.x .. 'y"));
    assert_non_null(strstr(sandbox->trouble.failure.notes, "yyy...\n"));
    (void)snprintf(chunk, sizeof chunk, "local b = ... error('short') local s = '%s'", filler);
    assert_told(chunk, CODE_RAISED, "short", "    1 | local b", "");
}

static void lines_end_as_lua_lets_them_end(void **state)
{
    (void)state;
    static const char *const ends[] = { "\r", "\r\n", "\n\r", "\n" };

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char chunk[100];
        (void)snprintf(chunk, sizeof chunk, "local b = ...%s%slocal x = b.none.x -- three%slocal z = 4", ends[i],
                       ends[i], ends[i]);
        assert_told(chunk, CODE_NIL_FIELD, "`none`", "    3 | local x = b.none.x -- three\n", "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_field_is_told_with_its_table_and_the_way_to_it),
        cmocka_unit_test(each_kind_of_nil_has_its_code),
        cmocka_unit_test(upvalues_and_nested_tables_are_found),
        cmocka_unit_test(other_mistakes_have_codes_of_their_own),
        cmocka_unit_test(what_a_script_catches_leaves_no_trace),
        cmocka_unit_test(hostile_tables_are_not_asked),
        cmocka_unit_test(many_keys_are_cut_and_sorted),
        cmocka_unit_test(keys_and_lines_lose_secrets),
        cmocka_unit_test(values_are_never_shown),
        cmocka_unit_test(strings_comments_and_assignments_are_not_read),
        cmocka_unit_test(a_failure_in_a_large_document_ends_soon),
        cmocka_unit_test(out_of_memory_and_a_stop_have_no_notes),
        cmocka_unit_test(an_error_beside_the_memory_cap_is_still_told),
        cmocka_unit_test(a_place_in_the_words_of_others_is_no_place),
        cmocka_unit_test(what_was_caught_and_raised_again_has_both_places),
        cmocka_unit_test(an_error_that_is_no_text_has_its_line),
        cmocka_unit_test(a_key_is_cut_without_showing_part_of_a_secret),
        cmocka_unit_test(a_culprit_is_told_only_when_nothing_else_can_be_it),
        cmocka_unit_test(an_operand_or_argument_is_told_among_others),
        cmocka_unit_test(a_guard_guards_what_is_nil),
        cmocka_unit_test(a_field_whose_name_is_no_name_is_written_in_brackets),
        cmocka_unit_test(a_loop_over_numbers_tells_its_part),
        cmocka_unit_test(helpers_have_their_names),
        cmocka_unit_test(a_stack_that_is_full_has_a_line),
        cmocka_unit_test(of_a_long_line_the_piece_around_the_fault_is_shown),
        cmocka_unit_test(lines_end_as_lua_lets_them_end),
    };
    return cmocka_run_group_tests(tests, open_sandbox, close_sandbox);
}
