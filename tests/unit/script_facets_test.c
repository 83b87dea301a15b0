// What the core makes of an offer beside its bytes: facets, who names an item that nobody could map, what is due later,
// and why an offer may not win.

#include "script/offers.h"

#include <lauxlib.h>
#include <lualib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char PRODUCT[] =
    "return { name = 'things', item_prefix = 'th', offer = {"
    "  { 'id', 'text', required = true },"
    "  { 'price', { { 'total', 'money', required = true }, { 'currency', 'currency', required = true },"
    "               { 'taxes_included', 'enum', values = { 'yes', 'no', 'unknown' } },"
    "               { 'due_later', 'list', of = { { 'kind', 'text' }, { 'amount', 'money', required = true },"
    "                                             { 'currency', 'currency', required = true } } } },"
    "    required = true },"
    "  { 'thing', 'text', item = true, key = true },"
    "  { 'own', 'text', max = 20, stands_in = true },"
    "  { 'size', 'integer', facet = 'sizes', max = 99 },"
    "  { 'grade', 'enum', values = { 'a', 'b' }, facet = 'grades' },"
    "  { 'legs', 'list', facet = 'changes', facet_less = 1, max = 20, of = {"
    "      { 'maker', 'text', max = 10, facet = 'makers' } } },"
    "} }";

struct fixture {
    lua_State *L;
    struct offer_batch *batch;
};

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    fixture->L = luaL_newstate();
    luaL_openlibs(fixture->L);
    assert_int_equal(luaL_dostring(fixture->L, PRODUCT), 0);
    if (!offers_compile_product(fixture->L, -1)) {
        fail_msg("%s", lua_tostring(fixture->L, -1));
    }
    fixture->batch = offer_batch_create(8 << 20);
    assert_non_null(fixture->batch);
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

/// The offers of a search in `currency`.
static void take_in(struct fixture *fixture, const char *currency, const char *list)
{
    char chunk[4096];

    (void)snprintf(chunk, sizeof chunk, "return %s, { currency = '%s' }", list, currency);
    if (luaL_dostring(fixture->L, chunk) != 0) {
        fail_msg("%s", lua_tostring(fixture->L, -1));
    }
    assert_int_equal(offers_take(fixture->L, -2, -1, "things", TEXT("acme"), fixture->batch), STATUS_OK);
    lua_settop(fixture->L, 0);
}

static void take(struct fixture *fixture, const char *list)
{
    take_in(fixture, "EUR", list);
}

/// "sizes 3 2 100000000" of the value's facet, value, count and lowest total; lines in the order of first sight.
static void assert_values(const struct fixture *fixture, const char *expected)
{
    const struct facet_table *table = &fixture->batch->facets;
    char told[1024] = "";
    size_t length = 0;

    for (size_t i = 0; i < table->value_count; i++) {
        const struct facet_value *value = &table->values[i];
        char lowest[32] = "-";
        if (value->lowest_micros != INT64_MAX) {
            (void)snprintf(lowest, sizeof lowest, "%lld", (long long)(value->lowest_micros / OFFER_MICROS));
        }
        length += (size_t)snprintf(told + length, sizeof told - length, "%s %.*s %u %s\n",
                                   table->names[value->facet].data, TEXT_ARGS(value->value), value->count, lowest);
    }
    assert_string_equal(told, expected);
}

static void assert_dropped(const struct fixture *fixture, const char *reason)
{
    assert_int_equal(fixture->batch->dropped, 1);
    assert_string_equal(fixture->batch->dropped_first, reason);
}

#define PRICE(total) "price = { total = '" total "', currency = 'EUR', taxes_included = 'yes' }"

static void each_value_is_counted_with_its_lowest_total(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', thing = 't', size = 3, grade = 'a', " PRICE(
                      "300") " },"
                             "  { id = '2', thing = 't', size = 3, grade = 'b', " PRICE(
                                 "200") " },"
                                        "  { id = '3', thing = 't', " PRICE("100") " } }");
    assert_int_equal(fixture->batch->count, 3);
    assert_values(fixture, "sizes 3 2 200\ngrades a 1 300\ngrades b 1 200\n");
}

static void a_value_that_stands_twice_in_an_offer_counts_once(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', thing = 't', " PRICE(
                      "300") ","
                             "    legs = { { maker = 'BA' }, { maker = 'QF' }, { maker = 'BA' } } } }");
    assert_values(fixture, "makers BA 1 300\nmakers QF 1 300\nchanges 2 1 300\n");
    assert_int_equal(fixture->batch->offers[0].mark_count, 3);
}

static void values_beyond_what_can_be_counted_cost_no_offer(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "(function() local offers = {} "
                  "for i = 1, 500 do local legs = {} "
                  "  for k = 1, 12 do legs[k] = { maker = i .. '-' .. k } end "
                  "  offers[i] = { id = tostring(i), thing = tostring(i), legs = legs, "
                  "    price = { total = '1', currency = 'EUR', taxes_included = 'yes' } } "
                  "end return offers end)()");
    assert_int_equal(fixture->batch->count, 500);
    assert_int_equal(fixture->batch->dropped, 0);
    assert_int_equal(fixture->batch->facets.value_count, FACET_VALUES_MAX);
}

static void an_offer_that_is_dropped_counts_nowhere(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', thing = 't', size = 5, grade = 'c', " PRICE("300") " } }");
    assert_int_equal(fixture->batch->count, 0);
    assert_values(fixture, "sizes 5 0 -\n");
}

static void what_may_not_win_is_counted_without_its_total(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', thing = 't', size = 1, price = { total = '1', currency = 'EUR', "
                  "    taxes_included = 'no' } },"
                  "  { id = '2', thing = 't', size = 1, price = { total = '1', currency = 'JPY', "
                  "    taxes_included = 'yes' } } }");
    assert_values(fixture, "sizes 1 2 -\n");
}

static void each_reason_not_to_win_is_told(void **state)
{
    static const struct {
        const char *price, *flags;
        uint32_t flag;
    } rows[] = {
        { "total = '9', currency = 'EUR', taxes_included = 'yes'", NULL, OFFER_COMPARABLE },
        { "total = '9', currency = 'EUR', taxes_included = 'no'", "\"flags\":[\"taxes_excluded\"]",
          OFFER_TAXES_UNCLEAR },
        { "total = '9', currency = 'EUR', taxes_included = 'unknown'", "\"flags\":[\"taxes_unknown\"]",
          OFFER_TAXES_UNCLEAR },
        { "total = '9', currency = 'EUR'", "\"flags\":[\"taxes_unknown\"]", OFFER_TAXES_UNCLEAR },
        { "total = '9', currency = 'KWD', taxes_included = 'yes'", "\"flags\":[\"other_currency\"]",
          OFFER_NOT_CONVERTIBLE },
        { "total = '9', currency = 'KWD', taxes_included = 'no'", "\"flags\":[\"taxes_excluded\",\"other_currency\"]",
          OFFER_TAXES_UNCLEAR + OFFER_NOT_CONVERTIBLE },
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char list[256];
        (void)snprintf(list, sizeof list, "{ { id = '1', thing = 't', price = { %s } } }", rows[i].price);
        offer_batch_release(&fixture->batch);
        fixture->batch = offer_batch_create(1 << 20);
        take(fixture, list);
        assert_int_equal(fixture->batch->count, 1);
        const struct offer *offer = &fixture->batch->offers[0];
        assert_int_equal(offer->flag, rows[i].flag);
        const char *found = memmem(offer->json.data, offer->json.length, "\"flags\"", 7);
        assert_int_equal(found != NULL, rows[i].flags != NULL);
        if (found != NULL) {
            assert_memory_equal(found, rows[i].flags, strlen(rows[i].flags));
        }
    }
}

static void what_nobody_could_map_is_named_by_its_supplier_and_counted(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', own = '77', " PRICE("1") " }, { id = '2', own = '77', " PRICE(
                      "2") " },"
                           "  { id = '3', own = '77', thing = 'ours', " PRICE("3") " } }");
    assert_int_equal(fixture->batch->count, 3);
    assert_int_equal(fixture->batch->unmapped, 2);
    assert_true(text_equals(fixture->batch->offers[0].item, TEXT("acme:77")));
    assert_true(text_equals(fixture->batch->offers[1].item, TEXT("acme:77")));
    assert_true(text_starts_with(fixture->batch->offers[2].item, TEXT("th_")));
}

static void an_offer_that_says_in_no_way_what_it_is_of_is_dropped(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', " PRICE("1") " } }");
    assert_dropped(fixture, "[1].own: required, because nothing else says which thing this is");
}

static void a_name_that_is_no_text_is_told_at_its_place(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', own = 77, " PRICE("1") " } }");
    assert_dropped(fixture, "[1].own: text expected, got number");
}

#define DUE(total, fees)                                                                                               \
    "{ { id = '1', thing = 't', price = { total = '" total "', currency = 'USD', due_later = { " fees " } } } }"

static void what_is_due_later_is_within_the_total(void **state)
{
    struct fixture *fixture = *state;

    take_in(fixture, "USD",
            DUE("240.00", "{ kind = 'resort_fee', amount = '40', currency = 'USD' },"
                          "{ kind = 'city_tax', amount = '200', currency = 'USD' }"));
    assert_int_equal(fixture->batch->count, 1);
    assert_int_equal(fixture->batch->dropped, 0);
}

static void a_total_without_the_fee_that_is_due_later_is_dropped(void **state)
{
    struct fixture *fixture = *state;

    take_in(fixture, "USD",
            DUE("239.99", "{ kind = 'resort_fee', amount = '40', currency = 'USD' },"
                          "{ kind = 'city_tax', amount = '200', currency = 'USD' }"));
    assert_dropped(fixture, "[1].price.due_later: what is due later is part of the total, but more than it");
}

static void a_fee_in_another_currency_is_not_compared(void **state)
{
    struct fixture *fixture = *state;

    take_in(fixture, "USD", DUE("10", "{ kind = 'city_tax', amount = '500', currency = 'JPY' }"));
    assert_int_equal(fixture->batch->count, 1);
}

static void an_offer_without_a_currency_is_dropped_with_its_path(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', thing = 't', price = { total = '9', taxes_included = 'yes' } } }");
    assert_int_equal(fixture->batch->count, 0);
    assert_int_equal(fixture->batch->dropped, 1);
    assert_non_null(strstr(fixture->batch->dropped_first, "[1].price"));
}

static void a_wrong_declaration_is_told(void **state)
{
    static const struct {
        const char *field, *sentence;
    } rows[] = {
        { "{ 'x', 'text', facet = 'xs' }", "offer field x: a facet is made of text of at most 64 bytes, integers, enums"
                                           " and lists" },
        { "{ 'x', 'money', facet = 'xs' }, { 'c', 'currency' }", "a facet is made of" },
        { "{ 'x', 'integer', facet = 'X s' }", "`facet` is a name of small letters" },
        { "{ 'x', 'integer', facet_less = 0.5 }", "`facet_less` must be a whole number" },
        { "{ 'x', 'integer', stands_in = true }", "`stands_in` for it" },
        { "{ 'x', 'text', stands_in = true }, { 'y', 'text', stands_in = true }", "`stands_in` for it" },
        { "{ 'x', { { 'a', 'integer', facet = 'a' }, { 'b', 'integer', facet = 'b' }, { 'c', 'integer', facet = 'c' },"
          " { 'd', 'integer', facet = 'd' }, { 'e', 'integer', facet = 'e' }, { 'f', 'integer', facet = 'f' },"
          " { 'g', 'integer', facet = 'g' }, { 'h', 'integer', facet = 'h' }, { 'i', 'integer', facet = 'i' } } }",
          "at most 8 facets" },
    };
    struct fixture *fixture = *state;
    lua_State *L = fixture->L;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char chunk[1024];
        (void)snprintf(chunk, sizeof chunk,
                       "return { name = 'bad', offer = { { 'id', 'text', required = true }, { 'price', { { 'total', "
                       "'money', required = true }, { 'currency', 'currency', required = true } }, required = true }, "
                       "%s } }",
                       rows[i].field);
        assert_int_equal(luaL_dostring(L, chunk), 0);
        assert_false(offers_compile_product(L, -1));
        if (strstr(lua_tostring(L, -1), rows[i].sentence) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", lua_tostring(L, -1), rows[i].sentence);
        }
        lua_settop(L, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_value_is_counted_with_its_lowest_total),
        TEST(a_value_that_stands_twice_in_an_offer_counts_once),
        TEST(values_beyond_what_can_be_counted_cost_no_offer),
        TEST(an_offer_that_is_dropped_counts_nowhere),
        TEST(what_may_not_win_is_counted_without_its_total),
        TEST(each_reason_not_to_win_is_told),
        TEST(what_nobody_could_map_is_named_by_its_supplier_and_counted),
        TEST(an_offer_that_says_in_no_way_what_it_is_of_is_dropped),
        TEST(a_name_that_is_no_text_is_told_at_its_place),
        TEST(what_is_due_later_is_within_the_total),
        TEST(a_total_without_the_fee_that_is_due_later_is_dropped),
        TEST(a_fee_in_another_currency_is_not_compared),
        TEST(an_offer_without_a_currency_is_dropped_with_its_path),
        TEST(a_wrong_declaration_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
