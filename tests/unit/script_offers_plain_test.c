#include "script/offers.h"

#include "script/bind.h"

#include <lauxlib.h>
#include <lualib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char PRODUCT[] =
    "return { name = 'things', item_prefix = 'th', offer = {"
    "  { 'id', 'text', required = true, max = 40 },"
    "  { 'price', { { 'total', 'money', required = true }, { 'currency', 'currency', required = true },"
    "               { 'taxes_included', 'enum', values = { 'yes', 'no' } } }, required = true },"
    "  { 'name', 'text', item = true, required = true, key = true, facet = 'names', min = 2, max = 10 },"
    "  { 'parts', 'list', item = true, of = { { 'code', 'text' } } },"
    "  { 'ref', 'text', hidden = true },"
    "  { 'handoff', { { 'url', 'text' } }, hidden = true },"
    "  { 'note', 'text' },"
    "} }";

struct fixture {
    lua_State *L;
    struct offer_batch *batch;
};

static void run(lua_State *L, const char *chunk)
{
    if (luaL_dostring(L, chunk) != 0) {
        fail_msg("%s", lua_tostring(L, -1));
    }
}

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    fixture->L = luaL_newstate();
    luaL_openlibs(fixture->L);
    bind_fail(fixture->L);
    lua_setglobal(fixture->L, "fail");
    run(fixture->L, PRODUCT);
    assert_true(offers_compile_product(fixture->L, -1));
    fixture->batch = offer_batch_create(8 << 20);
    lua_settop(fixture->L, 0);
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    offer_batch_release(&fixture->batch);
    lua_close(fixture->L);
    free(fixture);
    return 0;
}

static void take(struct fixture *fixture, const char *list)
{
    char chunk[2048];

    (void)snprintf(chunk, sizeof chunk,
                   "local price = { total = '1.00', currency = 'EUR', taxes_included = 'yes' }\n"
                   "return %s, { currency = 'EUR' }",
                   list);
    run(fixture->L, chunk);
    assert_int_equal(offers_take(fixture->L, -2, -1, "things", TEXT("acme"), fixture->batch), STATUS_OK);
    lua_settop(fixture->L, 0);
}

static void assert_text(struct text text, const char *expected)
{
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length);
}

static void assert_holds(struct text text, const char *words)
{
    char shown[1024];

    (void)snprintf(shown, sizeof shown, "%.*s", TEXT_ARGS(text));
    if (strstr(shown, words) == NULL) {
        fail_msg("no %s in %s", words, shown);
    }
}

static void controls_and_turns_of_direction_are_taken_out_of_all_that_is_shown(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = 'o\\0001', price = price, name = 'Z\\027Z', note = 'a\\226\\128\\174b\\127c\\td\\n\\'\\r', "
                  "parts = { { code = '\\226\\129\\166A\\194\\1551' } } } }");
    assert_int_equal(fixture->batch->count, 1);
    const struct offer *offer = &fixture->batch->offers[0];
    assert_text(offer->id, "o1");
    assert_holds(offer->json, "\"id\":\"acme:o1\"");
    assert_holds(offer->json, "\"note\":\"abc\\td\\n'\"");
    assert_text(offer->item_json, "{\"name\":\"ZZ\",\"parts\":[{\"code\":\"A1\"}]}");
    assert_int_equal(fixture->batch->facets.value_count, 1);
    assert_text(fixture->batch->facets.values[0].value, "ZZ");
}

static void the_same_name_with_and_without_controls_is_one_item(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', price = price, name = 'Z\\000Z' }, { id = '2', price = price, name = 'ZZ' } }");
    assert_int_equal(fixture->batch->count, 2);
    const struct offer *offers = fixture->batch->offers;
    assert_int_equal(offers[0].item.length, offers[1].item.length);
    assert_memory_equal(offers[0].item.data, offers[1].item.data, offers[0].item.length);
}

static void what_is_left_must_be_long_enough_and_new(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', price = price, name = 'Z\\000' }, { id = '2', price = price, name = 'ZZ' }, "
                  "{ id = '2\\001', price = price, name = 'ZZ' } }");
    assert_int_equal(fixture->batch->count, 1);
    assert_int_equal(fixture->batch->dropped, 2);
    assert_string_equal(fixture->batch->dropped_first, "[1].name: text of 2 to 10 bytes expected, got 1");
}

static void words_of_any_language_and_what_is_never_shown_stay_as_they_are(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', price = price, name = 'caf\\195\\169', ref = '\\001', handoff = { url = 'a\\000' }, "
                  "note = '\\230\\157\\177 \\226\\128\\166' } }");
    assert_int_equal(fixture->batch->count, 1);
    assert_text(fixture->batch->offers[0].item_json, "{\"name\":\"caf\xC3\xA9\"}");
    assert_holds(fixture->batch->offers[0].json, "\"note\":\"\xE6\x9D\xB1 \xE2\x80\xA6\"");
    assert_holds(fixture->batch->offers[0].hidden, "\"\\u0001\"");
    assert_holds(fixture->batch->offers[0].hidden, "\"a\\u0000\"");
}

static void what_is_quoted_of_a_bad_value_has_none_either(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', price = { total = '1\\0272', currency = 'EUR' }, name = 'ZZ' } }");
    assert_int_equal(fixture->batch->dropped, 1);
    assert_null(strchr(fixture->batch->dropped_first, '\033'));
    assert_non_null(strstr(fixture->batch->dropped_first, "\"12\""));
}

static void a_failure_in_place_of_an_offer_drops_that_one_and_says_why(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', price = price, name = 'ZZ' }, fail.unexpected('data[2].slices: 1, asked for 2'), "
                  "{ id = '3', price = price, name = 'ZZ' }, fail.unexpected('data[4]: another') }");
    assert_int_equal(fixture->batch->count, 2);
    assert_int_equal(fixture->batch->dropped, 2);
    assert_string_equal(fixture->batch->dropped_first, "data[2].slices: 1, asked for 2");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(controls_and_turns_of_direction_are_taken_out_of_all_that_is_shown),
        TEST(the_same_name_with_and_without_controls_is_one_item),
        TEST(what_is_left_must_be_long_enough_and_new),
        TEST(words_of_any_language_and_what_is_never_shown_stay_as_they_are),
        TEST(what_is_quoted_of_a_bad_value_has_none_either),
        TEST(a_failure_in_place_of_an_offer_drops_that_one_and_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
