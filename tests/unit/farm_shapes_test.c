// The shapes of large suppliers: what a request asks for, what is wrong with others, and answers that are strict JSON.

#include "base/json_read.h"
#include "farm/shape_rates.h"
#include "farm/shapes.h"
#include "farm/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAPS(legs, party)                                                                                              \
    "{\"query\":{\"market\":\"GB\",\"locale\":\"en-GB\",\"currency\":\"CHF\",\"queryLegs\":[" legs                     \
    "],\"cabinClass\":\"CABIN_CLASS_BUSINESS\"," party "}}"
#define LEG                                                                                                            \
    "{\"originPlaceId\":{\"iata\":\"MAD\"},\"destinationPlaceId\":{\"iata\":\"LHR\"},"                                 \
    "\"date\":{\"year\":2030,\"month\":5,\"day\":12}}"
#define TABLES(date, passengers)                                                                                       \
    "{\"OTA_AirLowFareSearchRQ\":{\"OriginDestinationInformation\":[{\"DepartureDateTime\":\"" date                    \
    "\",\"OriginLocation\":{\"LocationCode\":\"MAD\"},\"DestinationLocation\":{\"LocationCode\":\"LHR\"}}],"           \
    "\"TravelPreferences\":{\"CabinPref\":[{\"Cabin\":\"F\"}]},\"TravelerInfoSummary\":{\"AirTravelerAvail\":[{"       \
    "\"PassengerTypeQuantity\":[" passengers "]}],\"PriceRequestInformation\":{\"CurrencyCode\":\"USD\"}}}}"

enum { WALL_S = 1900000000 };

static struct sessions *sessions;
static struct supplier supplier;
static struct step step;
static const char *status, *why;
static char out[RATES_ANSWER_MAX];

static bool ask(const char *method, const char *path, const char *body)
{
    struct request request = { .method = text_of(method), .path = text_of(path), .body = text_of(body) };
    return shapes_read(&step, &supplier, sessions, &request, &status, &why);
}

static void begin(enum supplier_shape shape)
{
    supplier = (struct supplier){ .shape = shape, .rounds = 3, .seed = 5, .index = 2 };
    sessions_reset(sessions, 5);
}

static void assert_refused(const char *method, const char *path, const char *body, const char *expected)
{
    assert_false(ask(method, path, body));
    if (strncmp(status, expected, 3) != 0) {
        fail_msg("%s: %s", status, why);
    }
}

static void maps_are_created_and_polled(void **state)
{
    char path[64];

    (void)state;
    begin(SUPPLIER_MAPS);
    assert_true(ask("POST", "/v3/search/create", MAPS(LEG, "\"adults\":2,\"childrenAges\":[7]")));
    assert_int_equal(step.query.party, 3);
    assert_int_equal(step.query.cabin, QUERY_BUSINESS);
    assert_string_equal(step.query.currency, "CHF");
    assert_int_equal(step.first, 0);
    assert_false(step.is_last);
    (void)snprintf(path, sizeof path, "/v3/search/poll/%016llx", (unsigned long long)step.session);
    assert_true(ask("POST", path, ""));
    assert_int_equal(step.first, 5);
    assert_true(ask("POST", path, ""));
    assert_true(step.is_last);
    assert_int_equal(step.query.party, 3);
    assert_true(ask("POST", path, "")); // and again what is there
    assert_true(step.is_last);
    assert_int_equal(step.first + step.count, ANSWER_OFFERS);
    assert_refused("POST", "/v3/search/poll/0123456789abcdef", "", "404");
    assert_refused("POST", "/v3/search/poll/", "", "404");
    assert_refused("GET", path, "", "405");
}

static void requests_that_make_no_sense_are_told_so(void **state)
{
    (void)state;
    begin(SUPPLIER_MAPS);
    assert_refused("POST", "/v3/search", MAPS(LEG, "\"adults\":1"), "404");
    assert_refused("POST", "/v3/search/create", "{\"query\":", "400");
    assert_refused("POST", "/v3/search/create", "{}", "400");
    assert_refused("POST", "/v3/search/create", MAPS("", "\"adults\":1"), "400");
    assert_refused("POST", "/v3/search/create", MAPS("{}", "\"adults\":1"), "400");
    assert_refused("POST", "/v3/search/create", MAPS(LEG, "\"adults\":0"), "400");
    assert_refused("POST", "/v3/search/create", MAPS(LEG, "\"adults\":99"), "400");
    begin(SUPPLIER_TABLES);
    assert_true(ask("POST", "/v4/offers/shop", TABLES("2030-05-12T00:00:00", "{\"Quantity\":2},{\"Quantity\":1}")));
    assert_int_equal(step.query.party, 3);
    assert_int_equal(step.query.cabin, QUERY_FIRST);
    assert_int_equal(step.count, ANSWER_OFFERS);
    assert_refused("POST", "/v4/offers/shop", TABLES("2030-13-12T00:00:00", "{\"Quantity\":2}"), "400");
    assert_refused("POST", "/v4/offers/shop", TABLES("2030-05-12T00:00:00", ""), "400");
    assert_refused("POST", "/v3/search/create", TABLES("2030-05-12T00:00:00", "{\"Quantity\":2}"), "404");
}

static void answers_are_strict_json_and_equal_for_equal_queries(void **state)
{
    static const enum supplier_shape shapes[] = { SUPPLIER_MAPS, SUPPLIER_TABLES };
    static const char *const bodies[] = { MAPS(LEG "," LEG "," LEG, "\"adults\":1"),
                                          TABLES("2030-05-12T00:00:00", "{\"Quantity\":1}") };
    static char again[SHAPES_ANSWER_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        begin(shapes[i]);
        assert_true(ask("POST", supplier_shape_row(shapes[i])->path, bodies[i]));
        unsigned slices = step.query.slice_count;
        supplier.templates[slices - 1] = answer_template_create(QUERY_SHAPE_A, 5, 2, slices);
        assert_non_null(supplier.templates[slices - 1]);
        size_t length = shapes_render(&step, &supplier, out);
        assert_true(json_is_valid((struct text){ out, length }, NULL, NULL));
        assert_int_equal(shapes_render(&step, &supplier, again), length);
        assert_memory_equal(out, again, length);
        answer_template_destroy(&supplier.templates[slices - 1]);
    }
}

static struct rates_query rates;

static bool ask_rates(const char *query, uint64_t second, const char *secret)
{
    char plain[128], digest[TLS_DIGEST_HEX_MAX], header[320];
    int length = snprintf(plain, sizeof plain, "%s%s%llu", RATES_KEY, secret, (unsigned long long)second);

    assert_true(tls_digest(512, (struct text){ plain, (size_t)length }, digest));
    (void)snprintf(header, sizeof header, "Authorization: EAN APIKey=%s,Signature=%s,timestamp=%llu\r\n", RATES_KEY,
                   digest, (unsigned long long)second);
    struct request request = { .method = TEXT("GET"), .query_string = text_of(query), .head = text_of(header) };
    return rates_read(&rates, &request, WALL_S, &status, &why);
}

#define STAY "checkin=2030-05-12&checkout=2030-05-14&currency=GBP"

static void rates_are_asked_for_by_signed_requests(void **state)
{
    (void)state;
    assert_true(ask_rates(STAY
                          "&occupancy=2-7,9&occupancy=1&occupancy=2-7%2C9&property_id=10407031&property_id=10158416",
                          WALL_S - 299, RATES_SECRET));
    assert_int_equal(rates.room_count, 2);
    assert_int_equal(rates.rooms[0].children, 2);
    assert_int_equal(rates.nights, 2);
    size_t length = rates_render(&rates, 5, out);
    assert_true(length > 2);
    assert_true(json_is_valid((struct text){ out, length }, NULL, NULL));
    assert_false(ask_rates(STAY "&occupancy=1&property_id=10407031", WALL_S, "other"));
    assert_memory_equal(status, "401", 3);
    assert_false(ask_rates(STAY "&occupancy=1&property_id=10407031", WALL_S - 301, RATES_SECRET));
    assert_memory_equal(status, "401", 3);
    assert_false(ask_rates(STAY "&occupancy=1", WALL_S, RATES_SECRET));
    assert_memory_equal(status, "400", 3);
    assert_false(ask_rates(STAY "&occupancy=0&property_id=10407031", WALL_S, RATES_SECRET));
    assert_false(ask_rates(STAY "&occupancy=1-18&property_id=10407031", WALL_S, RATES_SECRET));
    assert_memory_equal(status, "400", 3);
}

static void at_most_250_properties_are_priced_at_once(void **state)
{
    static char query[8192];
    int length = snprintf(query, sizeof query, "%s&occupancy=1", STAY);

    (void)state;
    for (int i = 0; i < RATES_PROPERTIES_MAX; i++) {
        length += snprintf(query + length, sizeof query - (size_t)length, "&property_id=1%07d", i);
    }
    assert_true(ask_rates(query, WALL_S, RATES_SECRET));
    assert_int_equal(rates.count, RATES_PROPERTIES_MAX);
    (void)snprintf(query + length, sizeof query - (size_t)length, "&property_id=1");
    assert_false(ask_rates(query, WALL_S, RATES_SECRET));
}

static int open_sessions(void **state)
{
    (void)state;
    sessions = sessions_create();
    return sessions == NULL ? -1 : 0;
}

static int close_sessions(void **state)
{
    (void)state;
    sessions_destroy(&sessions);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_created_and_polled),
        cmocka_unit_test(requests_that_make_no_sense_are_told_so),
        cmocka_unit_test(answers_are_strict_json_and_equal_for_equal_queries),
        cmocka_unit_test(rates_are_asked_for_by_signed_requests),
        cmocka_unit_test(at_most_250_properties_are_priced_at_once),
    };
    return cmocka_run_group_tests(tests, open_sessions, close_sessions);
}
