#include "script/offers.h"

#include "base/json_read.h"
#include "base/places.h"

#include "script/bind.h"
#include "script/freeze.h"

#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A small product: every kind once.
static const char PRODUCT[] =
    "return { name = 'things', item_prefix = 'th', offer = {"
    "  { 'id', 'text', required = true, max = 40 },"
    "  { 'price', { { 'total', 'money', required = true }, { 'currency', 'currency', required = true },"
    "               { 'taxes_included', 'enum', values = { 'yes', 'no' } } }, required = true },"
    "  { 'parts', 'list', item = true, min = 1, max = 3, required = true, of = {"
    "      { 'code', 'text', required = true, key = true, trim_zeros = true },"
    "      { 'minutes', 'integer', max = 900, adds_duration = true },"
    "      { 'at', 'local_time', key = true }, { 'until', 'utc_time' }, { 'day', 'date' } } },"
    "  { 'is_new', 'flag' }, { 'count', 'integer', min = -5, max = 5 },"
    "  { 'tags', 'list', of = 'text', max = 2 },"
    "  { 'ref', 'text', hidden = true },"
    "} }";

struct fixture {
    lua_State *L;
    struct offer_batch *batch;
    struct places *places;
};

static void push_modules(lua_State *L)
{
    static const struct {
        const char *name;
        void (*push)(lua_State *L);
    } modules[] = { { "json", bind_json },   { "url", bind_url }, { "crypto", bind_crypto }, { "time", bind_time },
                    { "money", bind_money }, { "log", bind_log }, { "fail", bind_fail } };

    for (size_t i = 0; i < COUNT_OF(modules); i++) {
        modules[i].push(L);
        lua_setglobal(L, modules[i].name);
    }
    bind_text(L);
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_settable(L, LUA_GLOBALSINDEX);
    }
    lua_pop(L, 1);
}

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
    push_modules(fixture->L);
    assert_int_equal(places_load("scripts/data/airports.txt", NULL, NULL, &fixture->places), STATUS_OK);
    bind_time_set_places(fixture->L, fixture->places);
    run(fixture->L, "package.path = 'scripts/?.lua'");
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
    places_destroy(&fixture->places);
    free(fixture);
    return 0;
}

static enum status take_as(struct fixture *fixture, const char *list, const char *product)
{
    char chunk[4096];

    (void)snprintf(chunk, sizeof chunk, "return %s, { currency = 'EUR' }", list);
    run(fixture->L, chunk);
    enum status status = offers_take(fixture->L, -2, -1, product, TEXT("acme"), fixture->batch);
    assert_int_equal(lua_gettop(fixture->L), 2);
    lua_settop(fixture->L, 0);
    return status;
}

static void take(struct fixture *fixture, const char *list)
{
    assert_int_equal(take_as(fixture, list, "things"), STATUS_OK);
}

static void assert_text(struct text text, const char *expected)
{
    char shown[4096];

    (void)snprintf(shown, sizeof shown, "%.*s", TEXT_ARGS(text));
    assert_string_equal(shown, expected);
}

#define PRICE "price = { total = '412.3', currency = 'EUR', taxes_included = 'yes' }"
#define PARTS "parts = { { code = 'A1' } }"

static void an_offer_is_written_in_the_order_of_the_schema(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = 'x\"1', count = -5, is_new = false, tags = { 'a', '\xc3\xa9' }, ref = 'secret', " PRICE
                  ", parts = { { day = '20270503', code = '007', at = '2027-05-03 20:05', minutes = 95, "
                  "['until'] = '2027-05-03T20:05:00+02:00' } } } }");
    assert_int_equal(fixture->batch->count, 1);
    const struct offer *offer = &fixture->batch->offers[0];
    assert_text(offer->id, "x\"1");
    assert_int_equal(offer->total_micros, 412300000);
    assert_string_equal(offer->currency, "EUR");
    assert_int_equal(offer->flag, OFFER_COMPARABLE);
    assert_int_equal(offer->duration_min, 95);
    assert_text(offer->item_json, "{\"parts\":[{\"code\":\"7\",\"minutes\":95,\"at\":\"2027-05-03T20:05:00\","
                                  "\"until\":\"2027-05-03T18:05:00Z\",\"day\":\"2027-05-03\"}]}");
    char expected[1000];
    (void)snprintf(expected, sizeof expected,
                   "{\"id\":\"acme:x\\\"1\",\"supplier\":\"acme\",\"item\":\"%.*s\",\"price\":{\"total\":\"412.30\","
                   "\"currency\":\"EUR\",\"taxes_included\":\"yes\"},\"price_status\":\"live\",\"is_new\":false,"
                   "\"count\":-5,\"tags\":[\"a\",\"\xc3\xa9\"]}",
                   TEXT_ARGS(offer->item));
    assert_text(offer->json, expected);
    assert_int_equal(offer->item.length, 19);
    assert_memory_equal(offer->item.data, "th_", 3);
    size_t offset = 0;
    const char *sentence = NULL;
    assert_true(json_is_valid(offer->json, &offset, &sentence));
}

// A script may give its tables metatables; what they would add is not in the offer.
static void fields_of_a_metatable_are_none_of_the_offer(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ setmetatable({ id = '1', count = 3, " PARTS " }, { __index = { " PRICE " } }),"
                  "  setmetatable({ id = '2', " PRICE ", " PARTS " },"
                  "    { __index = function() error('asked') end, __newindex = error }) }");
    assert_int_equal(fixture->batch->count, 1);
    assert_text(fixture->batch->offers[0].id, "2");
    assert_int_equal(fixture->batch->dropped, 1);
    assert_string_equal(fixture->batch->dropped_first, "[1].price: required, but absent");
}

static void the_time_of_observation_stands_in_each_offer(void **state)
{
    struct fixture *fixture = *state;

    offers_set_observed(fixture->L, 951825600500000);
    take(fixture, "{ { id = '1', " PRICE ", " PARTS " } }");
    assert_non_null(strstr(fixture->batch->offers[0].json.data,
                           "\"price_status\":\"live\",\"observed_at\":\"2000-02-29T12:00:00Z\""));
}

static void offers_of_the_same_thing_share_their_item(void **state)
{
    struct fixture *fixture = *state;

    take(fixture,
         "{ { id = '1', " PRICE ", parts = { { code = 'A', at = '2027-05-03T20:05:00' } } },"
         "  { id = '2', " PRICE ", parts = { { code = '0A', at = '20270503T2005', minutes = 5 } } },"
         "  { id = '3', " PRICE ", parts = { { code = 'A', at = '2027-05-03T20:06:00' } } },"
         "  { id = '4', " PRICE ", parts = { { code = 'A', at = '2027-05-03T20:05:00' }, { code = 'B' } } } }");
    const struct offer *by_id[5] = { NULL };
    assert_int_equal(fixture->batch->count, 4);
    for (size_t i = 0; i < 4; i++) {
        by_id[fixture->batch->offers[i].id.data[0] - '0'] = &fixture->batch->offers[i];
    }
    assert_true(text_equals(by_id[1]->item, by_id[2]->item));
    assert_false(text_equals(by_id[1]->item, by_id[3]->item));
    assert_false(text_equals(by_id[1]->item, by_id[4]->item));
    assert_text(by_id[3]->item_json, "{\"parts\":[{\"code\":\"A\",\"at\":\"2027-05-03T20:06:00\"}]}");
}

static void an_offer_without_identity_is_an_item_of_its_own(void **state)
{
    struct fixture *fixture = *state;

    run(fixture->L, "return { name = 'bare', offer = { { 'id', 'text', required = true }, { 'price', {"
                    " { 'total', 'money', required = true }, { 'currency', 'currency', required = true } },"
                    " required = true } } }");
    assert_true(offers_compile_product(fixture->L, -1));
    lua_settop(fixture->L, 0);
    assert_int_equal(take_as(fixture, "{ { id = '1', price = { total = '1', currency = 'USD' } } }", "bare"),
                     STATUS_OK);
    const struct offer *offer = &fixture->batch->offers[0];
    assert_text(offer->item, "acme:1");
    assert_null(offer->item_json.data);
    assert_int_equal(offer->duration_min, UINT32_MAX);
    assert_int_equal(offer->flag, OFFER_TAXES_UNCLEAR + OFFER_NOT_CONVERTIBLE);
}

static void what_may_not_win_is_flagged_and_sorted_last(void **state)
{
    struct fixture *fixture = *state;

    take(fixture,
         "{ { id = 'unclear', price = { total = '1', currency = 'EUR' }, " PARTS " },"
         "  { id = 'foreign', price = { total = '2', currency = 'JPY', taxes_included = 'yes' }, " PARTS " },"
         "  { id = 'dear', price = { total = '99.99', currency = 'EUR', taxes_included = 'yes' }, " PARTS " } }");
    assert_int_equal(fixture->batch->count, 3);
    assert_text(fixture->batch->offers[0].id, "dear");
    assert_text(fixture->batch->offers[1].id, "unclear");
    assert_int_equal(fixture->batch->offers[1].flag, OFFER_TAXES_UNCLEAR);
    assert_text(fixture->batch->offers[2].id, "foreign");
    assert_int_equal(fixture->batch->offers[2].flag, OFFER_NOT_CONVERTIBLE);
    assert_int_equal(fixture->batch->offers[2].total_micros, 2000000);
}

static void an_unknown_part_of_the_duration_makes_it_unknown(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', " PRICE ", parts = { { code = 'A', minutes = 5 }, { code = 'B' } } } }");
    assert_int_equal(fixture->batch->offers[0].duration_min, UINT32_MAX);
}

struct bad {
    const char *offer;
    const char *finding;
};

static void a_bad_offer_is_dropped_alone_and_told_with_its_path(void **state)
{
    static const struct bad rows[] = {
        { "3", "[2]: an offer expected, got number" },
        { "{ " PRICE ", " PARTS " }", "[2].id: required, but absent" },
        { "{ id = '', " PRICE ", " PARTS " }", "[2].id: text of 1 to 40 bytes expected, got 0" },
        { "{ id = 7, " PRICE ", " PARTS " }", "[2].id: text expected, got number" },
        { "{ id = '2', " PRICE ", " PARTS ", brnad = 'x' }",
          "[2]: unknown field \"brnad\"; there are id, price, parts, is_new, count, tags, ref" },
        { "{ id = '2', price = { totl = '1', currency = 'EUR' }, " PARTS " }",
          "[2].price: unknown field \"totl\"; did you mean \"total\"?" },
        { "{ id = '2', price = { amount = '1', currency = 'EUR' }, " PARTS " }",
          "[2].price: unknown field \"amount\"; \"total\" is required, but absent" },
        { "{ id = '2', price = { curency = 'EUR' }, " PARTS " }",
          "[2].price: unknown field \"curency\"; did you mean \"currency\"? \"total\" is required, but absent" },
        { "{ id = '2', " PRICE ", " PARTS ", 5 }", "[2]: fields expected, got a list" },
        { "{ id = '2', " PRICE ", parts = { { code = 'A' }, { code = 'B', at = 'noon' } } }",
          "[2].parts[2].at: local time without offset, such as 2027-05-03T20:05:00, expected, got \"noon\"" },
        { "{ id = '2', " PRICE ", parts = { { code = 'A', at = '2027-05-03T20:05:00Z' } } }",
          "[2].parts[1].at: local time without offset, such as 2027-05-03T20:05:00, expected, got "
          "\"2027-05-03T20:05:00Z\"" },
        { "{ id = '2', " PRICE ", parts = { { code = 'A', ['until'] = '2027-05-03T20:05:00' } } }",
          "[2].parts[1].until: time with Z or an offset expected, got \"2027-05-03T20:05:00\"" },
        { "{ id = '2', " PRICE ", parts = {} }", "[2].parts: 1 to 3 items expected, got 0" },
        { "{ id = '2', " PRICE ", parts = { a = 1 } }", "[2].parts: 1 to 3 items expected, got 0" },
        { "{ id = '2', " PRICE ", parts = { 'A' } }", "[2].parts[1]: table with fields expected, got \"A\"" },
        { "{ id = '2', " PRICE ", " PARTS ", tags = { a = 1 } }", "[2].tags: list expected, got fields" },
        { "{ id = '2', " PRICE ", " PARTS ", count = 6 }", "[2].count: whole number from -5 to 5 expected, got 6" },
        { "{ id = '2', " PRICE ", " PARTS ", count = 0.5 }", "[2].count: whole number from -5 to 5 expected, got 0.5" },
        { "{ id = '2', " PRICE ", " PARTS ", is_new = 'yes' }", "[2].is_new: true or false expected, got \"yes\"" },
        { "{ id = '2', " PARTS ", price = { total = 412.3, currency = 'EUR' } }",
          "[2].price.total: money as decimal text such as \"412.30\" expected, got a number: a float is an error" },
        { "{ id = '2', " PARTS ", price = { total = '1.005', currency = 'EUR' } }",
          "[2].price.total: more decimals than the currency has, got \"1.005\"" },
        { "{ id = '2', " PARTS ", price = { total = '-1', currency = 'EUR' } }",
          "[2].price.total: an amount that is not negative expected, got \"-1\"" },
        { "{ id = '2', " PARTS ", price = { total = '1', currency = 'NUC' } }",
          "[2].price.currency: currency of ISO 4217 expected, got \"NUC\"" },
        { "{ id = '2', " PARTS ", price = { total = '1' } }",
          "[2].price.total: an amount without a currency beside it" },
        { "{ id = '2', " PARTS ", price = { currency = 'EUR' } }", "[2].price.total: required, but absent" },
        { "{ id = '2', " PARTS ", price = { total = '1', currency = 'EUR', taxes_included = 'maybe' } }",
          "[2].price.taxes_included: one of yes|no expected, got \"maybe\"" },
        { "{ id = '1', " PRICE ", " PARTS " }", "[2]: its id \"1\" stands earlier in this answer" },
        { "{ id = '2', " PRICE ", " PARTS ", ref = ('r'):rep(501) }",
          "[2].ref: text of 0 to 500 bytes expected, got 501" },
    };
    struct fixture *fixture = *state;
    char list[2048];

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)snprintf(list, sizeof list,
                       "{ { id = '1', " PRICE ", " PARTS " }, %s, { id = '3', " PRICE ", " PARTS " } }", rows[i].offer);
        offer_batch_release(&fixture->batch);
        fixture->batch = offer_batch_create(1 << 20);
        take(fixture, list);
        assert_string_equal(fixture->batch->dropped_first, rows[i].finding);
        assert_int_equal(fixture->batch->dropped, 1);
        assert_int_equal(fixture->batch->count, 2);
    }
}

static void a_text_where_a_whole_number_belongs_is_told_to_be_converted(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = '1', " PRICE ", " PARTS ", count = '4' } }");
    assert_string_equal(fixture->batch->dropped_first,
                        "[1].count: whole number from -5 to 5 expected, got the text \"4\": give it through tonumber");
}

static void bytes_that_are_no_utf8_do_not_reach_the_reply(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "{ { id = 'caf\\233', " PRICE ", " PARTS " } }");
    assert_true(text_is_utf8(fixture->batch->offers[0].json));
}

static void only_so_many_offers_are_read(void **state)
{
    struct fixture *fixture = *state;

    take(fixture, "(function() local t = {} for i = 1, 1005 do t[i] = { id = tostring(i), " PRICE ", " PARTS
                  " } end return t end)()");
    assert_int_equal(fixture->batch->count, OFFER_MAX_PER_ANSWER);
    assert_int_equal(fixture->batch->dropped, 5);
    assert_string_equal(fixture->batch->dropped_first, "1005 offers, of which 1000 are read");
}

static void the_memory_cap_ends_the_taking(void **state)
{
    struct fixture *fixture = *state;

    offer_batch_release(&fixture->batch);
    fixture->batch = offer_batch_create(120000);
    assert_int_equal(take_as(fixture,
                             "(function() local t = {} for i = 1, 1000 do t[i] = { id = tostring(i), " PRICE ", " PARTS
                             " } end return t end)()",
                             "things"),
                     STATUS_FULL);
}

static void an_offer_of_absurd_size_is_dropped(void **state)
{
    struct fixture *fixture = *state;

    run(fixture->L, "return { name = 'wide', offer = { { 'id', 'text', required = true }, { 'price', {"
                    " { 'total', 'money', required = true }, { 'currency', 'currency', required = true } },"
                    " required = true }, { 'note', 'text', max = 1000000 } } }");
    assert_true(offers_compile_product(fixture->L, -1));
    lua_settop(fixture->L, 0);
    assert_int_equal(take_as(fixture,
                             "{ { id = '1', price = { total = '1', currency = 'EUR' }, note = ('n'):rep(70000) },"
                             "  { id = '2', price = { total = '1', currency = 'EUR' } } }",
                             "wide"),
                     STATUS_OK);
    assert_int_equal(fixture->batch->count, 1);
    assert_string_equal(fixture->batch->dropped_first, "[1]: the offer is larger than 64 KiB");
}

static void what_is_no_list_or_product_is_invalid(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(take_as(fixture, "'offers'", "things"), STATUS_INVALID);
    assert_int_equal(take_as(fixture, "{}", "nothing"), STATUS_INVALID);
    assert_int_equal(take_as(fixture, "{}", "things"), STATUS_OK);
    assert_int_equal(fixture->batch->count, 0);
}

static void frozen_tables_are_read_like_plain_ones(void **state)
{
    struct fixture *fixture = *state;
    lua_State *L = fixture->L;

    run(L, "return { { id = '1', " PRICE ", " PARTS " } }");
    freeze_deep(L);
    run(L, "return { currency = 'JPY' }");
    freeze_deep(L);
    assert_int_equal(offers_take(L, 1, 2, "things", TEXT("acme"), fixture->batch), STATUS_OK);
    assert_int_equal(fixture->batch->count, 1);
    assert_int_equal(fixture->batch->offers[0].flag, OFFER_NOT_CONVERTIBLE);
}

static void a_wrong_declaration_is_told_with_its_path(void **state)
{
    static const struct bad rows[] = {
        { "offer = { { 'id', 'txet' } }", "offer field id: unknown kind `txet`; did you mean `text`?" },
        { "offer = { { 'id', 'text', requird = true } }",
          "offer field id: unknown option `requird`; did you mean `required`?" },
        { "offer = { { 'id', 'text' } }",
          "offer: `id` (text), `price.total` (money) and `price.currency` (currency) must "
          "be declared and required" },
        { "offer = { { 'price', { { 'total', 'money' } } } }",
          "offer field price: money needs a field of kind `currency` beside it" },
        { "offer = { { 'a', 'list' } }", "offer field a: `of` must tell what the list is of" },
        { "offer = { { 'a', 'enum' } }", "offer field a: `values` must list what an enum may be" },
        { "offer = { { 'a', 'text' }, { 'a', 'text' } }", "offer: field `a` is declared twice" },
        { "offer = { { 'A b', 'text' } }", "offer: a field starts with its name: small letters, digits and _" },
        { "offer = {}", "offer: a list of 1 to 64 fields expected" },
        { "offer = 3", "offer: a list of fields expected" },
        { "offer = { { 'a', 'text', max = 'x' } }", "offer field a: `max` must be a whole number" },
    };
    struct fixture *fixture = *state;
    char chunk[400];

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)snprintf(chunk, sizeof chunk, "return { name = 'p', %s }", rows[i].offer);
        run(fixture->L, chunk);
        assert_false(offers_compile_product(fixture->L, 1));
        assert_string_equal(lua_tostring(fixture->L, -1), rows[i].finding);
        assert_int_equal(lua_gettop(fixture->L), 2);
        lua_settop(fixture->L, 0);
    }
}

// ---- the real product, a real supplier, a real answer --------------------------------------------------------------

static char *read_payload(const char *name, size_t *length)
{
    const char *shared = getenv("LASTCALL_SHARED");
    char path[1000];

    (void)snprintf(path, sizeof path, "%s/payloads/%s", shared != NULL ? shared : "../shared", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        print_message("SKIPPED: no %s\n", path);
        skip();
        return NULL;
    }
    char *bytes = malloc(1 << 20);
    *length = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

// Runs Duffel's normalise over a body; its result is on top of the stack.
static void normalise_duffel(lua_State *L, const char *name, int status)
{
    size_t length = 0;
    char *bytes = read_payload(name, &length);

    lua_pushlstring(L, bytes, length);
    lua_setglobal(L, "body");
    free(bytes);
    lua_pushinteger(L, status);
    lua_setglobal(L, "status");
    run(L, "local response = { status = status, headers = { ['ratelimit-reset'] = 'Mon, 03 May 2027 20:05:30 GMT' },"
           "  json = function() local v, why = json.decode(body) if why then error(why, 0) end return v end }"
           "return (dofile('suppliers/duffel.lua').normalise(response, { currency = 'GBP', query = {"
           "  slices = { { origin = 'SYD', destination = 'MEL', date = '2022-04-16' } }, travellers = { { type = "
           "'adult' } } } },"
           "  { now = { s = time.epoch('2027-05-03T20:05:00Z') }, step = 1, options = { page_size = 0 } }))");
}

static void compile_flights(lua_State *L)
{
    run(L, "return dofile('scripts/products/flights.lua')");
    if (!offers_compile_product(L, -1)) {
        fail_msg("%s", lua_tostring(L, -1));
    }
    lua_settop(L, 0);
}

static const struct offer *find_offer(const struct offer_batch *batch, struct text id)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (text_equals(batch->offers[i].id, id)) {
            return &batch->offers[i];
        }
    }
    return NULL;
}

static void the_real_duffel_answer_gives_all_its_offers_exactly(void **state)
{
    struct fixture *fixture = *state;
    lua_State *L = fixture->L;

    compile_flights(L);
    normalise_duffel(L, "duffel/offer_requests.create_with_offers.json", 201);
    run(L, "return { currency = 'GBP' }");
    assert_int_equal(offers_take(L, -2, -1, "flights", TEXT("duffel"), fixture->batch), STATUS_OK);
    assert_string_equal(fixture->batch->dropped_first, "");
    assert_int_equal(fixture->batch->count, 68);
    // Each against the document itself.
    run(L, "local t = {} for i, o in ipairs(json.decode(body).data.offers) do local s = o.slices[1].segments[1] "
           "t[i] = { o.id, o.total_amount, o.total_currency, s.departing_at, s.arriving_at, s.origin.iata_code, "
           "s.destination.iata_code } end return t");
    for (int i = 1; i <= 68; i++) {
        const char *column[8] = { NULL };
        char fragment[200];
        lua_rawgeti(L, -1, i);
        for (int j = 1; j <= 7; j++) {
            lua_rawgeti(L, -j, j);
            column[j] = lua_tostring(L, -1);
        }
        const struct offer *offer = find_offer(fixture->batch, text_of(column[1]));
        assert_non_null(offer);
        (void)snprintf(fragment, sizeof fragment, "\"total\":\"%s\",\"currency\":\"%s\"", column[2], column[3]);
        assert_non_null(memmem(offer->json.data, offer->json.length, fragment, strlen(fragment)));
        assert_int_equal(offer->total_micros, llround(strtod(column[2], NULL) * 100) * 10000);
        (void)snprintf(fragment, sizeof fragment,
                       "\"origin\":\"%s\",\"destination\":\"%s\",\"departs\":{\"local\":\"%s\",\"zone\":\"Australia/",
                       column[6], column[7], column[4]);
        assert_non_null(memmem(offer->item_json.data, offer->item_json.length, fragment, strlen(fragment)));
        assert_int_equal(offer->duration_min, 95);
        assert_int_equal(offer->flag, OFFER_COMPARABLE);
        lua_pop(L, 8);
    }
}

static void duffels_errors_become_typed_failures(void **state)
{
    static const struct {
        const char *file;
        int status;
        const char *kind;
        const char *code;
        uint64_t retry_after_ms;
    } rows[] = {
        { "duffel/error.authentication_error.json", 401, "auth", NULL, 0 },
        { "duffel/error.rate_limit_error.json", 429, "quota", NULL, 30000 },
        { "duffel/error.validation_error.json", 422, "supplier", "validation_required", 0 },
        { "duffel/error.airline_error.json", 502, "supplier", "airline_unknown", 0 },
        { "duffel/error.api_error.json", 500, "busy", NULL, 0 },
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct script_fail failure;
        normalise_duffel(fixture->L, rows[i].file, rows[i].status);
        assert_true(bind_fail_read(fixture->L, -1, &failure));
        assert_string_equal(failure.kind, rows[i].kind);
        assert_int_equal(failure.wait.after_ms, rows[i].retry_after_ms);
        if (rows[i].code != NULL) {
            assert_string_equal(failure.code, rows[i].code);
        }
        lua_settop(fixture->L, 0);
    }
}

static void duffels_request_carries_the_whole_search(void **state)
{
    struct fixture *fixture = *state;
    lua_State *L = fixture->L;

    run(L, "local search = assert(dofile('scripts/products/flights.lua').query({ query = {"
           "  slices = { { origin = 'SYD', destination = 'MEL', date = '2027-05-03' } }, cabin = 'premium',"
           "  travellers = { { type = 'adult' }, { type = 'child', age = 5 }, { type = 'infant_lap' } }, max_stops = 0 "
           "} },"
           "  { s = time.epoch('2027-05-01T00:00:00Z'), ms = 0, iso = '2027-05-01T00:00:00Z' }))"
           "local r = dofile('suppliers/duffel.lua').build_request(search, { secret = { DUFFEL_TOKEN = 't' }, "
           "  remaining_ms = 5000, options = { page_size = 0 } }) return r.path .. '?' .. url.query(r.query) .. ' ' .. "
           "r.headers.authorization .. ' "
           "' .. "
           "  json.encode(r.json)");
    assert_string_equal(
        lua_tostring(L, -1),
        "/air/offer_requests?return_offers=true&supplier_timeout=4850 Bearer t "
        "{\"data\":{\"cabin_class\":\"premium_economy\",\"max_connections\":0,\"passengers\":[{\"type\":\"adult\"},"
        "{\"age\":5},{\"type\":\"infant_without_seat\"}],\"slices\":[{\"departure_date\":\"2027-05-03\","
        "\"destination\":\"MEL\",\"origin\":\"SYD\"}]}}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_offer_is_written_in_the_order_of_the_schema),
        TEST(fields_of_a_metatable_are_none_of_the_offer),
        TEST(the_time_of_observation_stands_in_each_offer),
        TEST(offers_of_the_same_thing_share_their_item),
        TEST(an_offer_without_identity_is_an_item_of_its_own),
        TEST(what_may_not_win_is_flagged_and_sorted_last),
        TEST(an_unknown_part_of_the_duration_makes_it_unknown),
        TEST(a_bad_offer_is_dropped_alone_and_told_with_its_path),
        TEST(a_text_where_a_whole_number_belongs_is_told_to_be_converted),
        TEST(bytes_that_are_no_utf8_do_not_reach_the_reply),
        TEST(only_so_many_offers_are_read),
        TEST(the_memory_cap_ends_the_taking),
        TEST(an_offer_of_absurd_size_is_dropped),
        TEST(what_is_no_list_or_product_is_invalid),
        TEST(frozen_tables_are_read_like_plain_ones),
        TEST(a_wrong_declaration_is_told_with_its_path),
        TEST(the_real_duffel_answer_gives_all_its_offers_exactly),
        TEST(duffels_errors_become_typed_failures),
        TEST(duffels_request_carries_the_whole_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
