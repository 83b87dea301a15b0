// The plans of examples/farm and the Lua that they stand for give the same offers, byte by byte; so do the words of the
// documentation.

#include "unit/script_plan_stage.h"

#include <stdarg.h>

enum { BODIES = 32, OFFERS_MAX = 12, TEXT_SIZE = 1 << 20, CLOCK_SIZE = 80 };

static struct plan_stage planned, by_hand;
static char body[TEXT_SIZE];
static size_t body_length;
static uint64_t dice;

static uint32_t throw_dice(uint32_t sides)
{
    dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(dice >> 33) % sides;
}

static void put(const char *format, ...) PRINTF_LIKE(1, 2);

static void put(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int added = vsnprintf(body + body_length, sizeof body - body_length, format, arguments);
    va_end(arguments);
    body_length += (size_t)added;
    assert_true(body_length < sizeof body);
}

// ---- documents -----------------------------------------------------------------------------------------------------

static const struct {
    const char *code;
    int offset_min; // in January
} airports[] = { { "MAD", 60 }, { "LHR", 0 }, { "JFK", -300 }, { "HND", 540 }, { "DEL", 330 } };

static const struct {
    const char *code;
    int decimals;
} currencies[] = { { "EUR", 2 }, { "JPY", 0 }, { "KWD", 3 }, { "GBP", 2 } };

/// One flight: where it goes and when, by the clocks of each place.
struct flight {
    uint32_t from, to, number, minutes;
    char departs[CLOCK_SIZE], arrives[CLOCK_SIZE];
};

static void write_clock(char out[CLOCK_SIZE], uint32_t minute, uint32_t airport)
{
    int offset = airports[airport].offset_min;
    uint32_t local = (uint32_t)((int)minute + offset);

    (void)snprintf(out, CLOCK_SIZE, "2030-01-%02uT%02u:%02u:00%c%02d:%02d", 10 + local / 1440, local / 60 % 24,
                   local % 60, offset < 0 ? '-' : '+', abs(offset) / 60, abs(offset) % 60);
}

/// The next one of a journey; the clock goes on.
static struct flight fly(uint32_t from, uint32_t *minute)
{
    struct flight flight = { .from = from,
                             .to = (from + 1 + throw_dice(COUNT_OF(airports) - 1)) % COUNT_OF(airports),
                             .number = 1 + throw_dice(9000),
                             .minutes = 60 + throw_dice(600) };

    write_clock(flight.departs, *minute, flight.from);
    write_clock(flight.arrives, *minute + flight.minutes, flight.to);
    *minute += flight.minutes + 40 + throw_dice(200);
    return flight;
}

/// A member that is there, null, or not there at all.
static void put_maybe(const char *name, const char *value)
{
    uint32_t thrown = throw_dice(8);

    if (thrown > 1) {
        put(",\"%s\":%s", name, value);
    } else if (thrown == 1) {
        put(",\"%s\":null", name);
    }
}

static void put_amount(const char *name, uint32_t amount, uint32_t currency)
{
    static const uint32_t powers[] = { 1, 10, 100, 1000 };
    int decimals = currencies[currency].decimals;
    uint32_t power = powers[decimals];

    if (decimals == 0) {
        put(",\"%s\":\"%u\"", name, amount);
    } else {
        put(",\"%s\":\"%u.%0*u\"", name, amount / power, decimals, amount % power);
    }
}

static void put_nested_slice(void)
{
    uint32_t minute = 1500 + throw_dice(3000);
    uint32_t at = throw_dice(COUNT_OF(airports));
    uint32_t count = 1 + throw_dice(3);

    put("{\"segments\":[");
    for (uint32_t i = 0; i < count; i++) {
        struct flight flight = fly(at, &minute);
        put("%s{\"carrier\":\"%s\",\"number\":\"%u\",\"from\":\"%s\",\"departs\":\"%s\",\"to\":\"%s\","
            "\"arrives\":\"%s\",\"minutes\":%u,\"extra\":[{\"a\":1}]}",
            i > 0 ? "," : "", throw_dice(2) == 0 ? "IB" : "BA", flight.number, airports[flight.from].code,
            flight.departs, airports[flight.to].code, flight.arrives, flight.minutes);
        at = flight.to;
    }
    put("]}");
}

static void make_nested(uint32_t seed)
{
    static const char *const brands[] = { "\"LIGHT\"", "\"Caf\\u00e9 \\\"plus\\\"\"", "\"\"", "\"BASIC\"" };
    uint32_t currency = seed % COUNT_OF(currencies);
    uint32_t count = seed % 8 == 7 ? 0 : 1 + throw_dice(OFFERS_MAX);

    body_length = 0;
    put("{\"search\":\"x\",\"currency\":\"%s\",\"offers\":[", currencies[currency].code);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t repeats = throw_dice(12); // sometimes an id that was there, or one that is too long
        put("%s{\"id\":\"%s%u\",\"price\":{\"total\":%u,\"taxes\":%u,\"scale\":%d},\"cabin\":\"%s\"", i > 0 ? "," : "",
            repeats == 0 ? "twice" : "o", repeats == 0 ? 1 : i, 1000 + throw_dice(90000), throw_dice(1000),
            currencies[currency].decimals, throw_dice(6) == 0 ? "sofa" : "economy");
        put_maybe("brand", brands[throw_dice(COUNT_OF(brands))]);
        put_maybe("refundable", throw_dice(2) == 0 ? "true" : "false");
        put_maybe("seats", throw_dice(5) == 0 ? "5000" : "4");
        put(",\"bags\":{\"cabin\":1"); // an object without any leaf is absent in a plan, but not in Lua
        put_maybe("checked", "0");
        put("},\"slices\":[");
        put_nested_slice();
        if (throw_dice(2) == 0) {
            put(",");
            put_nested_slice();
        }
        put("]}");
    }
    put("]}");
}

/// Journey J{n} has the legs L{n}0, L{n}1, …
static void put_flat_journeys(uint32_t count, uint32_t legs_of[])
{
    put("\"legs\":[");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t minute = 1500 + throw_dice(3000);
        uint32_t at = throw_dice(COUNT_OF(airports));
        legs_of[i] = 1 + throw_dice(3);
        for (uint32_t k = 0; k < legs_of[i]; k++) {
            struct flight flight = fly(at, &minute);
            put("%s{\"id\":\"L%u%u\",\"flight\":\"%s%u\",\"orig\":\"%s\",\"dest\":\"%s\",\"dep\":\"%s\",\"arr\":\"%s\","
                "\"min\":%u,\"class\":\"%c\"}",
                i + k > 0 ? "," : "", i, k, throw_dice(2) == 0 ? "IB" : "BA", flight.number, airports[flight.from].code,
                airports[flight.to].code, flight.departs, flight.arrives, flight.minutes, "YWCFX"[throw_dice(5)]);
            at = flight.to;
        }
    }
    put("],\"journeys\":[");
    for (uint32_t i = 0; i < count; i++) {
        put("%s{\"legs\":[", i > 0 ? "," : "");
        for (uint32_t k = 0; k < legs_of[i]; k++) {
            put("%s\"L%u%u\"", k > 0 ? "," : "", i, k);
        }
        put("],\"id\":\"J%u\"}", i);
    }
    put("]");
}

static void make_flat(uint32_t seed)
{
    uint32_t currency = seed % COUNT_OF(currencies);
    uint32_t journeys = 2 + throw_dice(6);
    uint32_t legs_of[8];
    uint32_t count = seed % 8 == 7 ? 0 : 1 + throw_dice(OFFERS_MAX);

    body_length = 0;
    put("{\"status\":\"OK\",\"cur\":\"%s\",", currencies[currency].code);
    put_flat_journeys(journeys, legs_of);
    put(",\"fares\":[");
    for (uint32_t i = 0; i < count; i++) {
        put("%s{\"id\":\"f%u\",\"carry_on\":\"1PC\",\"checked\":\"%s\",\"journeys\":[\"J%u\"%s", i > 0 ? "," : "",
            throw_dice(8) == 0 ? 0 : i, throw_dice(3) == 0 ? "23KG" : "2PC", throw_dice(journeys),
            throw_dice(2) == 0 ? ",\"J1\"]" : "]");
        put_amount("total", 1000 + throw_dice(90000), currency);
        put_amount("tax", throw_dice(1000), currency);
        put_maybe("family", "\"FLEX\"");
        put_maybe("refund", throw_dice(2) == 0 ? "\"NO\"" : "\"FEE\"");
        put_maybe("change", "\"NO\"");
        put_maybe("seats", "9");
        put("}");
    }
    put("]}");
}

// ---- comparing -----------------------------------------------------------------------------------------------------

static void assert_same_text(struct text a, struct text b)
{
    if (!text_equals(a, b)) {
        fail_msg("%.*s\n%.*s\nin %s", TEXT_ARGS(a), TEXT_ARGS(b), body);
    }
}

/// The offer without the second at which it was taken.
static struct text without_clock(struct text json, char out[TEXT_SIZE])
{
    static const char key[] = "\"observed_at\":\"";
    const char *found = memmem(json.data, json.length, key, sizeof key - 1);

    assert_non_null(found);
    memcpy(out, json.data, json.length);
    memset(out + (found - json.data) + sizeof key - 1, '0', strlen("2030-01-01T00:00:00Z"));
    return (struct text){ out, json.length };
}

static void assert_same_offer(const struct offer *a, const struct offer *b)
{
    static char first[TEXT_SIZE], second[TEXT_SIZE];

    assert_same_text(without_clock(a->json, first), without_clock(b->json, second));
    assert_same_text(a->item, b->item);
    assert_same_text(a->item_json, b->item_json);
    assert_same_text(a->id, b->id);
    assert_int_equal(a->total_micros, b->total_micros);
    assert_string_equal(a->currency, b->currency);
    assert_int_equal(a->flag, b->flag);
    assert_int_equal(a->duration_min, b->duration_min);
    assert_int_equal(a->mark_count, b->mark_count);
    for (size_t i = 0; i < a->mark_count; i++) {
        assert_int_equal(a->marks[i], b->marks[i]);
    }
}

static void assert_same_facets(const struct facet_table *a, const struct facet_table *b)
{
    assert_int_equal(a->value_count, b->value_count);
    for (size_t i = 0; i < a->value_count; i++) {
        assert_same_text(a->values[i].value, b->values[i].value);
        assert_int_equal(a->values[i].count, b->values[i].count);
        assert_int_equal(a->values[i].lowest_micros, b->values[i].lowest_micros);
        assert_int_equal(a->values[i].facet, b->values[i].facet);
    }
}

static size_t assert_same_answer(const struct normalise_call *a, const struct normalise_call *b)
{
    if (a->verdict != b->verdict || strcmp(a->message, b->message) != 0) {
        fail_msg("%s: %s\n%s: %s\nin %s", script_verdict_name(a->verdict), a->message, script_verdict_name(b->verdict),
                 b->message, body);
    }
    if (a->offers == NULL) {
        return 0;
    }
    assert_int_equal(a->offers->count, b->offers->count);
    assert_int_equal(a->offers->dropped, b->offers->dropped);
    assert_string_equal(a->offers->dropped_first, b->offers->dropped_first);
    assert_int_equal(a->offers->corrected, b->offers->corrected);
    for (size_t i = 0; i < a->offers->count; i++) {
        assert_same_offer(&a->offers->offers[i], &b->offers->offers[i]);
    }
    assert_same_facets(&a->offers->facets, &b->offers->facets);
    return a->offers->count;
}

static void open_both(const char *name)
{
    static const char facts[] = "{\"product\":\"flights\",\"currency\":\"EUR\",\"query\":{}}";
    char file[160];

    (void)snprintf(file, sizeof file, "examples/farm/suppliers/%s.lua", name);
    memset(&planned, 0, sizeof planned);
    memset(&by_hand, 0, sizeof by_hand);
    support_open(&planned.world);
    support_open(&by_hand.world);
    support_add(&planned.world, name, file);
    (void)snprintf(file, sizeof file, "tests/unit/data/plan/suppliers/%s.lua", name);
    support_add(&by_hand.world, name, file);
    stage_open(&planned, "scripts", facts);
    stage_open(&by_hand, "scripts", facts);
}

/// Both over the same answer. How many offers there were.
static size_t compare(uint16_t status, struct text text)
{
    struct stage_answer answer = { .status = status, .body = text };

    return assert_same_answer(stage_normalise(&planned, 0, &answer), stage_normalise(&by_hand, 0, &answer));
}

static void compare_documents(const char *name, void (*make)(uint32_t seed))
{
    size_t offers = 0;
    size_t dropped = 0;

    open_both(name);
    for (uint32_t seed = 0; seed < BODIES; seed++) {
        dice = seed;
        make(seed);
        offers += compare(200, (struct text){ body, body_length });
        dropped += planned.call->offers != NULL ? planned.call->offers->dropped : 0;
    }
    assert_true(offers > (size_t)BODIES * 2); // there was something to compare
    assert_true(dropped > 0);
    (void)compare(500, TEXT("{\"error\":{\"code\":\"internal\"}}"));
    (void)compare(503, TEXT(""));
    (void)compare(429, TEXT("{\"error\":{\"code\":\"rate_limited\",\"message\":\"too many requests\"}}"));
    (void)compare(400, TEXT("{\"error\":{\"code\":\"invalid_request\",\"message\":\"cabin\"}}"));
    assert_string_equal(planned.call->code, "invalid_request");
    (void)compare(200, TEXT("{\"status\":\"OK\"}"));
    assert_int_equal(planned.call->verdict, SCRIPT_FAIL_UNEXPECTED);
    stage_close(&planned);
    stage_close(&by_hand);
}

static void the_nested_shape_gives_the_same_offers(void **state)
{
    (void)state;
    compare_documents("farm_a", make_nested);
}

static void the_flat_shape_gives_the_same_offers(void **state)
{
    (void)state;
    compare_documents("farm_b", make_flat);
}

/// To tell which of two hours it is the engine looks at the times that are still to come.
static void an_hour_that_comes_twice_is_the_same_one(void **state)
{
    static const char answer[] =
        "{\"currency\":\"EUR\",\"offers\":[{\"id\":\"a\",\"price\":{\"total\":1,\"taxes\":0,\"scale\":2},\"bags\":{"
        "\"cabin\":1},"
        "\"slices\":[{\"segments\":[{\"carrier\":\"AF\",\"number\":\"1\",\"from\":\"CDG\",\"to\":\"FCO\",\"departs\":"
        "\"2027-10-31T02:30:00\",\"arrives\":\"2027-10-31T03:35:00\",\"minutes\":65}]}]}]}";

    (void)state;
    open_both("farm_a");
    assert_int_equal(compare(200, text_of(answer)), 1);
    struct text item = planned.call->offers->offers[0].item_json;
    assert_non_null(memmem(item.data, item.length, "\"utc\":\"2027-10-31T01:30:00Z\"", 28));
    assert_non_null(memmem(item.data, item.length, "\"duration_min\":65}", 18));
    stage_close(&planned);
    stage_close(&by_hand);
}

/// What stands between two texts of scripts/README.md.
static struct text read_documentation(const char *begin, const char *end)
{
    static char readme[1 << 17];
    FILE *file = fopen("scripts/README.md", "re");

    assert_non_null(file);
    size_t length = fread(readme, 1, sizeof readme - 1, file);
    readme[length] = '\0';
    assert_int_equal(fclose(file), 0);
    char *found = strstr(readme, begin);
    assert_non_null(found);
    found += strlen(begin);
    char *stop = strstr(found, end);
    assert_non_null(stop);
    return (struct text){ found, (size_t)(stop - found) };
}

static void the_example_of_the_documentation_does_what_is_said_of_it(void **state)
{
    char source[4096];
    char wanted[256];

    (void)state;
    (void)snprintf(
        source, sizeof source,
        "return { name = 'doc', product = 'hotels', owner = 'o', hosts = {}, build_request = function() end,\n"
        "normalise = plan {%.*s}",
        TEXT_ARGS(read_documentation("```lua\nnormalise = plan {", "```")));
    memset(&planned, 0, sizeof planned);
    support_open(&planned.world);
    support_add_source(&planned.world, "doc", source);
    stage_open(&planned, "scripts", "{\"product\":\"hotels\",\"currency\":\"EUR\",\"query\":{}}");
    struct stage_answer answer = { .status = 200, .body = read_documentation("From `", "` comes") };
    const struct normalise_call *call = stage_normalise(&planned, 0, &answer);
    if (call->verdict != SCRIPT_OK) {
        fail_msg("%s: %s", script_verdict_name(call->verdict), call->message);
    }
    assert_int_equal(call->offers->count, 1);
    const struct offer *offer = &call->offers->offers[0];
    (void)snprintf(wanted, sizeof wanted, "%.*s", TEXT_ARGS(offer->json));
    assert_non_null(strstr(wanted, "\"id\":\"doc:r1\""));
    assert_non_null(strstr(wanted, "{\"total\":\"412.30\",\"currency\":\"EUR\",\"taxes_included\":\"yes\"}"));
    struct text json = without_clock(offer->json, body);
    struct text end = TEXT("\"room\":\"Twin\",\"board\":\"breakfast\",\"pay\":\"now\"}");
    assert_true(json.length > end.length);
    assert_same_text((struct text){ json.data + json.length - end.length, end.length }, end);
    assert_same_text(offer->item_json, TEXT("{\"hotel_id\":\"h-7\",\"name\":\"Sol\"}"));
    stage_close(&planned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nested_shape_gives_the_same_offers),
        cmocka_unit_test(the_flat_shape_gives_the_same_offers),
        cmocka_unit_test(an_hour_that_comes_twice_is_the_same_one),
        cmocka_unit_test(the_example_of_the_documentation_does_what_is_said_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
