// Prices in another currency and times at places, through the products as they are.

#include "script/offers.h"

#include "base/json_read.h"
#include "base/places.h"
#include "script/bind.h"
#include "script/rates.h"

#include <lauxlib.h>
#include <lualib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char TABLE[] =
    "{\"id\":\"t-1\",\"as_of\":\"2026-11-29T14:00:00Z\",\"base\":\"EUR\",\"rates\":{\"USD\":1.25,"
    "\"JPY\":160,\"KWD\":0.3,\"CLF\":0.025}}";

struct fixture {
    lua_State *L;
    struct offer_batch *batch;
    struct places *places;
    struct rates *rates;
};

static void run(lua_State *L, const char *chunk)
{
    if (luaL_dostring(L, chunk) != 0) {
        fail_msg("%s", lua_tostring(L, -1));
    }
}

static void push_modules(lua_State *L)
{
    static const struct {
        const char *name;
        void (*push)(lua_State *L);
    } modules[] = { { "json", bind_json }, { "time", bind_time }, { "money", bind_money }, { "fail", bind_fail } };

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

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    fixture->L = luaL_newstate();
    luaL_openlibs(fixture->L);
    push_modules(fixture->L);
    assert_int_equal(places_load("scripts/data/airports.txt", NULL, NULL, &fixture->places), STATUS_OK);
    assert_int_equal(rates_parse(text_of(TABLE), "rates.json", UINT64_MAX, NULL, NULL, &fixture->rates), STATUS_OK);
    bind_time_set_places(fixture->L, fixture->places);
    offers_set_rates(fixture->L, fixture->rates);
    run(fixture->L, "package.path = 'scripts/?.lua'");
    static const char *const products[] = { "scripts/products/flights.lua", "scripts/products/hotels.lua" };
    for (size_t i = 0; i < COUNT_OF(products); i++) {
        if (luaL_dofile(fixture->L, products[i]) != 0 || !offers_compile_product(fixture->L, -1)) {
            fail_msg("%s", lua_tostring(fixture->L, -1));
        }
    }
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
    rates_release(&fixture->rates);
    free(fixture);
    return 0;
}

static void take(struct fixture *fixture, const char *product, const char *currency, const char *offer)
{
    char chunk[4096];

    offer_batch_release(&fixture->batch);
    fixture->batch = offer_batch_create(8 << 20);
    (void)snprintf(chunk, sizeof chunk, "return { %s }, { currency = '%s' }", offer, currency);
    run(fixture->L, chunk);
    assert_int_equal(offers_take(fixture->L, -2, -1, product, TEXT("acme"), fixture->batch), STATUS_OK);
    assert_int_equal(lua_gettop(fixture->L), 2);
    lua_settop(fixture->L, 0);
    for (size_t i = 0; i < fixture->batch->count; i++) {
        size_t offset = 0;
        const char *sentence = NULL;
        if (!json_is_valid(fixture->batch->offers[i].json, &offset, &sentence) ||
            !json_is_valid(fixture->batch->offers[i].item_json, &offset, &sentence)) {
            fail_msg("%s: %.*s", sentence, TEXT_ARGS(fixture->batch->offers[i].json));
        }
    }
}

static void assert_holds(struct text json, const char *part)
{
    if (memmem(json.data, json.length, part, strlen(part)) == NULL) {
        fail_msg("%s is not in %.*s", part, TEXT_ARGS(json));
    }
}

static void assert_lacks(struct text json, const char *part)
{
    if (memmem(json.data, json.length, part, strlen(part)) != NULL) {
        fail_msg("%s is in %.*s", part, TEXT_ARGS(json));
    }
}

// ---- prices --------------------------------------------------------------------------------------------------------

#define ROOM "id = '1', hotel_id = 'h', room = 'double', board = 'room_only', pay = 'now', "

static const struct offer *take_price(struct fixture *fixture, const char *currency, const char *price)
{
    char offer[2000];

    (void)snprintf(offer, sizeof offer, "{ " ROOM "price = { taxes_included = 'yes', %s } }", price);
    take(fixture, "hotels", currency, offer);
    if (fixture->batch->count != 1) {
        fail_msg("%s", fixture->batch->dropped_first);
    }
    return &fixture->batch->offers[0];
}

static void assert_dropped(struct fixture *fixture, const char *currency, const char *price, const char *why)
{
    char offer[2000];

    (void)snprintf(offer, sizeof offer, "{ " ROOM "price = { taxes_included = 'yes', %s } }", price);
    take(fixture, "hotels", currency, offer);
    assert_int_equal(fixture->batch->count, 0);
    if (strstr(fixture->batch->dropped_first, why) == NULL) {
        fail_msg("%s: %s", why, fixture->batch->dropped_first);
    }
}

static void a_price_is_shown_in_the_currency_of_the_search(void **state)
{
    struct fixture *fixture = *state;
    const struct offer *offer =
        take_price(fixture, "EUR", "total = '412.30', currency = 'USD', base = '400.00', taxes = '12.30'");

    assert_int_equal(offer->total_micros, 329840000);
    assert_string_equal(offer->currency, "EUR");
    assert_int_equal(offer->flag, OFFER_COMPARABLE);
    assert_holds(offer->json, "\"price\":{\"total\":\"329.84\",\"currency\":\"EUR\",\"base\":\"320.00\","
                              "\"taxes\":\"9.84\",\"taxes_included\":\"yes\",\"supplier_price\":{\"amount\":\"412.30\","
                              "\"currency\":\"USD\"},\"fx\":{\"id\":\"t-1\",\"as_of\":\"2026-11-29T14:00:00Z\"}}");
    assert_lacks(offer->json, "flags");
}

static void currencies_keep_their_own_decimals(void **state)
{
    struct fixture *fixture = *state;

    assert_holds(take_price(fixture, "JPY", "total = '10.01', currency = 'EUR'")->json, "\"total\":\"1602\"");
    assert_holds(take_price(fixture, "EUR", "total = '1601', currency = 'JPY'")->json, "\"total\":\"10.01\"");
    assert_holds(take_price(fixture, "KWD", "total = '10.01', currency = 'EUR'")->json, "\"total\":\"3.003\"");
    assert_holds(take_price(fixture, "CLF", "total = '10.01', currency = 'EUR'")->json, "\"total\":\"0.2503\"");
    assert_holds(take_price(fixture, "JPY", "total = '1.234', currency = 'KWD'")->json, "\"total\":\"658\"");
}

static void a_price_in_the_currency_of_the_search_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    const struct offer *offer = take_price(fixture, "USD", "total = '412.30', currency = 'USD'");

    assert_int_equal(offer->flag, OFFER_COMPARABLE);
    assert_lacks(offer->json, "supplier_price");
    assert_lacks(offer->json, "fx");
}

// Without a rate nothing is converted, nor what stands beside the total.
static void a_price_without_a_rate_stays_as_it_is_and_may_not_win(void **state)
{
    struct fixture *fixture = *state;
    const struct offer *offer = take_price(fixture, "EUR",
                                           "total = '412.30', currency = 'AUD', due_later = { { kind = 'resort fee', "
                                           "amount = '10.00', currency = 'USD' } }");

    assert_int_equal(offer->flag, OFFER_NOT_CONVERTIBLE);
    assert_string_equal(offer->currency, "AUD");
    assert_int_equal(offer->total_micros, 412300000);
    assert_holds(offer->json, "\"total\":\"412.30\",\"currency\":\"AUD\"");
    assert_holds(offer->json, "\"amount\":\"10.00\",\"currency\":\"USD\"");
    assert_lacks(offer->json, "supplier_price");
    offers_set_rates(fixture->L, NULL); // what a table that is too old is
    offer = take_price(fixture, "EUR", "total = '412.30', currency = 'USD'");
    assert_int_equal(offer->flag, OFFER_NOT_CONVERTIBLE);
    assert_string_equal(offer->currency, "USD");
    offers_set_rates(fixture->L, fixture->rates);
}

static void what_is_due_later_is_converted_from_its_own_currency(void **state)
{
    struct fixture *fixture = *state;
    const struct offer *offer = take_price(fixture, "EUR",
                                           "total = '412.30', currency = 'USD', due_later = {"
                                           "{ kind = 'resort fee', amount = '30.00', currency = 'USD' },"
                                           "{ kind = 'city tax', amount = '1600', currency = 'JPY' },"
                                           "{ kind = 'bed tax', amount = '2.00', currency = 'EUR' } }");

    assert_holds(offer->json, "{\"kind\":\"resort fee\",\"amount\":\"24.00\",\"currency\":\"EUR\"}");
    assert_holds(offer->json, "{\"kind\":\"city tax\",\"amount\":\"10.00\",\"currency\":\"EUR\",\"supplier_price\":{"
                              "\"amount\":\"1600\",\"currency\":\"JPY\"}}");
    assert_holds(offer->json, "{\"kind\":\"bed tax\",\"amount\":\"2.00\",\"currency\":\"EUR\"}");
    offer = take_price(fixture, "EUR",
                       "total = '412.30', currency = 'EUR', due_later = {"
                       "{ kind = 'resort fee', amount = '30.00', currency = 'USD' } }");
    assert_holds(offer->json, "{\"kind\":\"resort fee\",\"amount\":\"24.00\",\"currency\":\"EUR\",\"supplier_price\":{"
                              "\"amount\":\"30.00\",\"currency\":\"USD\"}}");
    assert_lacks(offer->json, "\"fx\"");
}

static void what_is_due_later_in_another_currency_is_part_of_the_total_too(void **state)
{
    struct fixture *fixture = *state;

    assert_dropped(fixture, "EUR",
                   "total = '5.50', currency = 'EUR', due_later = {"
                   "{ kind = 'resort fee', amount = '600.00', currency = 'USD' } }",
                   "price.due_later: what is due later is part of the total");
    assert_dropped(fixture, "EUR",
                   "total = '5.50', currency = 'USD', due_later = {"
                   "{ kind = 'resort fee', amount = '500.00', currency = 'EUR' } }",
                   "price.due_later: what is due later is part of the total");
    // What each amount was rounded by is no hidden charge: 0.01 USD is 0.008 EUR, shown as 0.01.
    (void)take_price(
        fixture, "EUR",
        "total = '0.03', currency = 'USD', due_later = {"
        "{ kind = 'a', amount = '0.01', currency = 'USD' }, { kind = 'b', amount = '0.01', currency = 'USD' },"
        "{ kind = 'c', amount = '0.01', currency = 'USD' } }");
}

// Each is rounded on its own: the total is what was converted, not the sum of the parts.
static void the_total_is_converted_and_not_added_up(void **state)
{
    struct fixture *fixture = *state;
    const struct offer *offer =
        take_price(fixture, "EUR", "total = '0.02', currency = 'USD', base = '0.01', taxes = '0.01'");

    assert_holds(offer->json, "\"total\":\"0.02\",\"currency\":\"EUR\",\"base\":\"0.01\",\"taxes\":\"0.01\"");
    offer = take_price(fixture, "USD", "total = '3', currency = 'JPY', base = '2', taxes = '1'");
    assert_holds(offer->json, "\"total\":\"0.02\",\"currency\":\"USD\",\"base\":\"0.02\",\"taxes\":\"0.01\"");
}

static void what_cannot_be_a_price_is_dropped_with_its_path(void **state)
{
    struct fixture *fixture = *state;

    assert_dropped(fixture, "EUR", "total = '412.30'", "[1].price.total: an amount without a currency beside it");
    assert_dropped(fixture, "EUR", "total = '412.30', currency = 'NUC'", "[1].price.currency: currency of ISO 4217");
    assert_dropped(fixture, "EUR", "total = '412.30', currency = 'USD', supplier_price = { amount = '1' }",
                   "[1].price: \"supplier_price\" is the engine's to write");
    assert_dropped(fixture, "EUR", "total = '412.30', currency = 'USD', fx = { id = 'x' }", "\"fx\" is the engine's");
    assert_dropped(fixture, "JPY", "total = '9000000000000.00', currency = 'EUR'", "[1].price.total: an amount out of");
}

// ---- times ---------------------------------------------------------------------------------------------------------

struct leg {
    const char *from, *departs, *to, *arrives, *more;
};

static void take_legs(struct fixture *fixture, const struct leg *legs, size_t count, const char *slice)
{
    char offer[4000];
    size_t length = 0;

    length +=
        (size_t)snprintf(offer, sizeof offer,
                         "{ id = '1', price = { total = '1', currency = 'EUR' }, slices = { { %s segments = {", slice);
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(offer + length, sizeof offer - length,
                                   "{ carrier = 'NH', number = '%zu', origin = '%s', destination = '%s', departs = { "
                                   "['local'] = '%s' }, arrives = { ['local'] = '%s' }, %s },",
                                   i + 1, legs[i].from, legs[i].to, legs[i].departs, legs[i].arrives, legs[i].more);
    }
    (void)snprintf(offer + length, sizeof offer - length, "} } } }");
    take(fixture, "flights", "EUR", offer);
}

static struct text take_leg(struct fixture *fixture, const char *from, const char *departs, const char *to,
                            const char *arrives, const char *more)
{
    struct leg leg = { from, departs, to, arrives, more };

    take_legs(fixture, &leg, 1, "");
    if (fixture->batch->count != 1) {
        fail_msg("%s", fixture->batch->dropped_first);
    }
    return fixture->batch->offers[0].item_json;
}

static void assert_leg_dropped(struct fixture *fixture, const struct leg *leg, const char *why)
{
    take_legs(fixture, leg, 1, "");
    if (fixture->batch->count != 0 || strstr(fixture->batch->dropped_first, why) == NULL) {
        fail_msg("%s: %s", why, fixture->batch->dropped_first);
    }
}

static void a_flight_may_arrive_before_it_left_by_the_clocks(void **state)
{
    struct fixture *fixture = *state;
    struct text item =
        take_leg(fixture, "HND", "2027-04-16T19:53:00", "EWR", "2027-04-16T18:59:00", "duration_min = 726");

    assert_holds(item, "\"departs\":{\"local\":\"2027-04-16T19:53:00\",\"zone\":\"Asia/Tokyo\","
                       "\"utc\":\"2027-04-16T10:53:00Z\"}");
    assert_holds(item, "\"arrives\":{\"local\":\"2027-04-16T18:59:00\",\"zone\":\"America/New_York\","
                       "\"utc\":\"2027-04-16T22:59:00Z\"}");
    assert_holds(item, "\"duration_min\":726");
    assert_int_equal(fixture->batch->offers[0].duration_min, 726);
    assert_int_equal(fixture->batch->corrected, 0);
}

static void durations_are_told_by_the_zones_when_nobody_tells_them(void **state)
{
    struct fixture *fixture = *state;

    assert_holds(take_leg(fixture, "DEL", "2027-05-03T01:10:00", "KTM", "2027-05-03T03:00:00", ""),
                 "\"duration_min\":95");
    assert_holds(take_leg(fixture, "ADL", "2027-01-03T10:00:00", "PER", "2027-01-03T11:00:00", ""),
                 "\"duration_min\":210");
    assert_holds(take_leg(fixture, "AKL", "2027-05-03T10:00:00", "HNL", "2027-05-02T20:40:00", ""),
                 "\"duration_min\":520");
    assert_holds(take_leg(fixture, "HNL", "2027-05-02T13:00:00", "AKL", "2027-05-03T20:00:00", ""),
                 "\"duration_min\":540");
}

static void an_itinerary_may_take_more_than_a_day(void **state)
{
    struct fixture *fixture = *state;
    static const struct leg legs[] = {
        { "LHR", "2027-04-16T18:10:00", "CDG", "2027-04-16T20:30:00", "duration_min = 80" },
        { "CDG", "2027-04-17T15:50:00", "JFK", "2027-04-17T17:10:00", "duration_min = 440" },
    };

    take_legs(fixture, legs, 2, "duration_min = 1680,");
    assert_int_equal(fixture->batch->count, 1);
    assert_int_equal(fixture->batch->offers[0].duration_min, 1680);
    assert_holds(fixture->batch->offers[0].item_json, "{\"duration_min\":1680,\"segments\":[");
    assert_int_equal(fixture->batch->corrected, 0);
}

static void the_hour_that_comes_twice_is_the_one_that_agrees_with_the_duration(void **state)
{
    struct fixture *fixture = *state;
    const char *departs = "2027-10-31T02:30:00";
    struct text item = take_leg(fixture, "CDG", departs, "FCO", "2027-10-31T03:35:00", "duration_min = 65");

    assert_holds(item, "\"utc\":\"2027-10-31T01:30:00Z\"");
    item = take_leg(fixture, "CDG", departs, "FCO", "2027-10-31T03:35:00", "duration_min = 125");
    assert_holds(item, "\"utc\":\"2027-10-31T00:30:00Z\"");
    item = take_leg(fixture, "CDG", departs, "FCO", "2027-10-31T03:35:00", "");
    assert_holds(item, "\"utc\":\"2027-10-31T00:30:00Z\"");
    assert_holds(item, "\"duration_min\":125");
    // … on arrival, too, and never before the departure
    item = take_leg(fixture, "FCO", "2027-10-31T00:20:00", "CDG", departs, "duration_min = 190");
    assert_holds(item, "\"utc\":\"2027-10-31T01:30:00Z\"");
    item = take_leg(fixture, "TUN", "2027-10-31T02:00:00", "CDG", "2027-10-31T02:30:00", "");
    assert_holds(item, "\"duration_min\":30");
    // … and when both come twice
    item = take_leg(fixture, "CDG", "2027-10-31T02:05:00", "FCO", "2027-10-31T02:10:00", "duration_min = 65");
    assert_holds(item, "\"utc\":\"2027-10-31T00:05:00Z\"");
    assert_holds(item, "\"utc\":\"2027-10-31T01:10:00Z\"");
    assert_int_equal(fixture->batch->corrected, 0);
}

static void an_hour_that_does_not_come_is_a_mistake(void **state)
{
    static const struct leg leg = { "CDG", "2027-03-28T02:30:00", "FCO", "2027-03-28T05:00:00", "" };

    assert_leg_dropped(*state, &leg,
                       "[1].slices[1].segments[1].departs.local: 2027-03-28T02:30:00 does not exist in Europe/Paris");
}

static void zones_decide_when_the_duration_does_not_agree(void **state)
{
    static const char *const told[] = { "duration_min = 205", "duration_min = 5", "duration_min = 980", "" };
    struct fixture *fixture = *state;
    struct text item =
        take_leg(fixture, "LHR", "2022-04-16T18:10:00", "CMN", "2022-04-16T21:35:00", "duration_min = 205");

    assert_holds(item, "\"duration_min\":265");
    assert_int_equal(fixture->batch->corrected, 1);
    assert_string_equal(fixture->batch->corrected_first,
                        "[1].slices[1].segments[1].duration_min: 205 minutes are told, "
                        "but its times are 265 minutes apart");
    for (size_t i = 0; i < COUNT_OF(told); i++) { // whatever their width
        item = take_leg(fixture, "LHR", "2022-04-16T18:10:00", "CMN", "2022-04-16T21:35:00", told[i]);
        assert_holds(item, "Z\"},\"duration_min\":265}]}]}");
    }
}

static void a_duration_that_is_half_a_day_off_means_a_wrong_date(void **state)
{
    static const struct leg late = { "LHR", "2027-04-16T18:10:00", "CDG", "2027-04-17T20:30:00", "duration_min = 80" };
    static const struct leg early = { "LHR", "2027-04-16T18:10:00", "CDG", "2027-04-16T18:30:00", "" };

    assert_leg_dropped(*state, &late,
                       "[1].slices[1].segments[1].duration_min: 80 minutes are told, but its times are "
                       "1520 minutes apart");
    assert_leg_dropped(*state, &early, "[1].slices[1].segments[1].duration_min: its times are -40 minutes apart");
}

static void an_airport_that_nobody_knows_is_named(void **state)
{
    static const struct leg leg = { "LHR", "2027-04-16T18:10:00", "QQQ", "2027-04-16T20:30:00", "" };
    static const struct leg small = { "LHR", "2027-04-16T18:10:00", "cdg", "2027-04-16T20:30:00", "" };

    assert_leg_dropped(*state, &leg,
                       "[1].slices[1].segments[1].destination: \"QQQ\" is a place whose time zone is not known; "
                       "scripts/data/airports.txt has those that are");
    assert_leg_dropped(*state, &small,
                       "[1].slices[1].segments[1].destination: \"cdg\" is a place whose time zone is not known; "
                       "airports are capitals");
}

static void what_a_script_says_of_zone_and_utc_must_agree(void **state)
{
    struct fixture *fixture = *state;
    char offer[2000];
    static const struct {
        const char *departs, *why;
    } cases[] = {
        { "['local'] = '2027-04-16T18:10', utc = '2027-04-16T17:10:00Z'", NULL },
        { "['local'] = '2027-04-16T18:10', utc = '2027-04-16T19:10:00+02:00', zone = 'Europe/London'", NULL },
        { "['local'] = '2027-04-16T18:10', zone = 'GB'", NULL },
        { "['local'] = '2027-04-16T18:10', zone = 'Europe/Lisbon'", NULL },
        { "['local'] = '2027-04-16T18:10', utc = '2027-04-16T18:10:00Z'",
          "departs.utc: \"2027-04-16T18:10:00Z\" does not agree with the clocks of the place, by which it is "
          "2027-04-16T17:10:00Z" },
        { "['local'] = '2027-04-16T18:10', zone = 'Europe/Paris'",
          "departs.zone: \"Europe/Paris\" has other clocks than the place, whose zone is Europe/London" },
        { "['local'] = '2027-04-16T18:10', utc = 'soon'", "departs.utc: time with Z" },
        { "['local'] = '2027-04-16T18:10+01:00'", NULL },
        { "['local'] = '2027-04-16T18:10+02:00'", "departs.utc: \"2027-04-16T18:10+02:00\" does not agree" },
        { "['local'] = '2027-04-16T18:10+01:00', utc = '2027-04-16T17:10:00Z'",
          "departs.local: local time without offset" },
        { "utc = '2027-04-16T17:10:00Z'", "departs.local: required, but absent" },
        { "['local'] = '2027-04-16T18:10', at = 1", "departs: unknown field \"at\"" },
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        (void)snprintf(
            offer, sizeof offer,
            "{ id = '1', price = { total = '1', currency = 'EUR' }, slices = { { segments = { { carrier = "
            "'BA', number = '1', origin = 'LHR', destination = 'CDG', departs = { %s }, arrives = { ['local'] "
            "= '2027-04-16T20:30' } } } } } }",
            cases[i].departs);
        take(fixture, "flights", "EUR", offer);
        if (fixture->batch->count != (cases[i].why == NULL ? 1 : 0) ||
            (cases[i].why != NULL && strstr(fixture->batch->dropped_first, cases[i].why) == NULL)) {
            fail_msg("%s: %s", cases[i].departs, fixture->batch->dropped_first);
        }
    }
}

static void scripts_ask_for_the_clocks_of_airports(void **state)
{
    struct fixture *fixture = *state;

    run(fixture->L, "assert(time.zone('SYD') == 'Australia/Sydney')"
                    "assert(time.zone(nil) == nil)"
                    "local zone, why = time.zone('QQQ')"
                    "assert(zone == nil and why:find('QQQ', 1, true))"
                    "assert(time.utc_at('2027-05-03T20:05', 'SYD') == '2027-05-03T10:05:00Z')"
                    "assert(time.local_at('2027-05-03T10:05:00Z', 'SYD') == '2027-05-03T20:05:00')"
                    "assert(time.utc_at('2027-10-31T02:30', 'CDG') == '2027-10-31T00:30:00Z')"
                    "assert(select(2, time.utc_at('2027-03-28T02:30', 'CDG')):find('put forward', 1, true))"
                    "assert(time.utc_at('2027-03-28', 'CDG') == nil)"
                    "assert(not pcall(time.zone, 7))");
    lua_settop(fixture->L, 0);
}

// ---- moments that are over -----------------------------------------------------------------------------------------

static const char *stay_json(struct fixture *fixture, const char *refund)
{
    static char json[2000];
    char offer[1000];

    (void)snprintf(offer, sizeof offer,
                   "{ " ROOM "price = { total = '1', currency = 'EUR' }, refund = %s, beds = 'one' }", refund);
    take(fixture, "hotels", "EUR", offer);
    if (fixture->batch->count != 1) {
        fail_msg("%s", fixture->batch->dropped_first);
    }
    (void)snprintf(json, sizeof json, "%.*s", TEXT_ARGS(fixture->batch->offers[0].json));
    return strstr(json, "\"pay\"") != NULL && strstr(json, "\"refund\"") != NULL ? strstr(json, "\"refund\"")
                                                                                 : strstr(json, "\"pay\"");
}

static void a_refund_that_was_over_when_the_answer_came_is_none(void **state)
{
    struct fixture *fixture = *state;
    const struct {
        const char *refund, *json;
        size_t ended;
    } cases[] = {
        { "{ free_until = '2027-05-03T20:05:00Z' }", "\"pay\":\"now\",\"beds\":\"one\"}", 1 },
        { "{ free_until = '20270503T2205+0200' }", "\"pay\":\"now\",\"beds\":\"one\"}", 1 },
        { "{ free_until = '2024-02-22T00:00:00+11:00' }", "\"pay\":\"now\",\"beds\":\"one\"}", 1 },
        { "{ free_until = '2027-05-03T20:06:00Z' }",
          "\"refund\":{\"free_until\":\"2027-05-03T20:06:00Z\"},\"pay\":\"now\",\"beds\":\"one\"}", 0 },
        { "{}", "\"refund\":{},\"pay\":\"now\",\"beds\":\"one\"}", 0 },
    };

    offers_set_observed(fixture->L, 1809374760ULL * 1000000); // 2027-05-03T20:06:00Z
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(stay_json(fixture, cases[i].refund), cases[i].json);
        assert_int_equal(fixture->batch->ended, cases[i].ended);
        assert_string_equal(fixture->batch->dropped_first, "");
    }
    (void)stay_json(fixture, cases[0].refund);
    assert_string_equal(fixture->batch->ended_first,
                        "[1].refund.free_until: 2027-05-03T20:05:00Z was over when the answer came");
    offers_set_observed(fixture->L, 1809374760ULL * 1000000 - 60 * 1000000);
    (void)stay_json(fixture, cases[0].refund);
    assert_int_equal(fixture->batch->ended, 0);
}

static void an_end_stands_where_its_object_may_be_left_out(void **state)
{
    static const char END[] = "a utc_time `ends` an object that is not required, of no item and of no list";
    static const struct {
        const char *field, *at;
    } cases[] = {
        { "{ 'a', 'text', ends = true }", "a" },
        { "{ 'a', { { 'b', 'date', ends = true } } }", "a.b" },
        { "{ 'a', { { 'b', 'utc_time', ends = true } }, required = true }", "a" },
        { "{ 'a', { { 'b', 'utc_time', ends = true } }, item = true }", "a" },
        { "{ 'a', 'list', of = { { 'b', 'utc_time', ends = true } } }", "a" },
    };
    struct fixture *fixture = *state;
    char chunk[400], why[200];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        (void)snprintf(chunk, sizeof chunk, "return { name = 'p', offer = { %s } }", cases[i].field);
        (void)snprintf(why, sizeof why, "offer field %s: %s", cases[i].at, END);
        run(fixture->L, chunk);
        assert_false(offers_compile_product(fixture->L, 1));
        assert_string_equal(lua_tostring(fixture->L, -1), why);
        lua_settop(fixture->L, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_price_is_shown_in_the_currency_of_the_search),
        cmocka_unit_test(currencies_keep_their_own_decimals),
        cmocka_unit_test(a_price_in_the_currency_of_the_search_is_left_alone),
        cmocka_unit_test(a_price_without_a_rate_stays_as_it_is_and_may_not_win),
        cmocka_unit_test(what_is_due_later_is_converted_from_its_own_currency),
        cmocka_unit_test(what_is_due_later_in_another_currency_is_part_of_the_total_too),
        cmocka_unit_test(the_total_is_converted_and_not_added_up),
        cmocka_unit_test(what_cannot_be_a_price_is_dropped_with_its_path),
        cmocka_unit_test(a_flight_may_arrive_before_it_left_by_the_clocks),
        cmocka_unit_test(durations_are_told_by_the_zones_when_nobody_tells_them),
        cmocka_unit_test(an_itinerary_may_take_more_than_a_day),
        cmocka_unit_test(the_hour_that_comes_twice_is_the_one_that_agrees_with_the_duration),
        cmocka_unit_test(an_hour_that_does_not_come_is_a_mistake),
        cmocka_unit_test(zones_decide_when_the_duration_does_not_agree),
        cmocka_unit_test(a_duration_that_is_half_a_day_off_means_a_wrong_date),
        cmocka_unit_test(an_airport_that_nobody_knows_is_named),
        cmocka_unit_test(what_a_script_says_of_zone_and_utc_must_agree),
        cmocka_unit_test(scripts_ask_for_the_clocks_of_airports),
        cmocka_unit_test(a_refund_that_was_over_when_the_answer_came_is_none),
        cmocka_unit_test(an_end_stands_where_its_object_may_be_left_out),
    };

    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
