#include "farm/hotels.h"
#include "base/json_read.h"
#include "farm/draw.h"
#include "farm/hotels_world.h"
#include "farm/query.h"

#include <stdarg.h>
#include <stdio.h>

enum { GUESTS_MAX = 81, NIGHTS_MAX = 99 };

uint32_t hotels_supplier(const char *name)
{
    uint64_t number;
    struct text digits = text_of(name);

    if (digits.length != 3 || name[0] != 'h' || !text_to_u64((struct text){ name + 1, 2 }, &number)) {
        return 0;
    }
    return number <= HOTELS_SUPPLIERS ? (uint32_t)number : 0;
}

// ---- the request

static bool read_room(struct hotels_query *query, struct json_reader *reader)
{
    enum json_token token;
    uint64_t adults = 0;

    while ((token = json_next(reader)) == JSON_KEY) {
        bool is_adults = text_equals_c(reader->value, "adults");
        token = json_next(reader);
        if (is_adults && (token != JSON_NUMBER || !text_to_u64(reader->value, &adults))) {
            return false;
        }
        while (token == JSON_BEGIN_ARRAY && json_next(reader) == JSON_NUMBER) {
            query->guests++;
            token = JSON_BEGIN_ARRAY;
        }
        if (token != JSON_NUMBER && token != JSON_BEGIN_ARRAY) {
            return false;
        }
    }
    query->rooms++;
    query->guests += (uint32_t)(adults <= GUESTS_MAX ? adults : GUESTS_MAX);
    return token == JSON_END_OBJECT && adults > 0;
}

static bool read_rooms(struct hotels_query *query, struct json_reader *reader)
{
    enum json_token token = json_next(reader);

    while (token == JSON_BEGIN_ARRAY && (token = json_next(reader)) == JSON_BEGIN_OBJECT) {
        if (!read_room(query, reader)) {
            return false;
        }
        token = JSON_BEGIN_ARRAY;
    }
    return token == JSON_END_ARRAY && query->rooms >= 1 && query->rooms <= 9 && query->guests <= GUESTS_MAX;
}

static bool read_properties(struct hotels_query *query, struct json_reader *reader)
{
    enum json_token token = json_next(reader);
    uint64_t number;

    if (token != JSON_BEGIN_ARRAY) {
        return false;
    }
    while ((token = json_next(reader)) == JSON_STRING) {
        struct text id = reader->value;
        if (id.length != 8 || id.data[0] != 'P' || !text_to_u64((struct text){ id.data + 1, 7 }, &number) ||
            query->count == HOTELS_PROPERTIES_MAX) {
            return false;
        }
        query->properties[query->count++] = (uint32_t)number;
    }
    return token == JSON_END_ARRAY && query->count > 0;
}

static bool read_member(struct hotels_query *query, struct json_reader *reader, int32_t *check_out, const char **why)
{
    struct text key = reader->value;

    if (text_equals_c(key, "rooms")) {
        *why = "rooms: a list of 1 to 9 {adults, children} is expected";
        return read_rooms(query, reader);
    }
    if (text_equals_c(key, "properties")) {
        *why = "properties: a list of 1 to 200 ids like P0007919 is expected";
        return read_properties(query, reader);
    }
    enum json_token token = json_next(reader);
    bool is_check_in = text_equals_c(key, "check_in");
    if (is_check_in || text_equals_c(key, "check_out")) {
        *why = "check_in and check_out are dates";
        return token == JSON_STRING && query_read_date(reader->value, is_check_in ? &query->check_in : check_out);
    }
    *why = "the body is no JSON";
    return json_skip(reader, token);
}

bool hotels_read(struct hotels_query *query, struct text body, const char **why)
{
    struct json_reader reader;
    enum json_token token;
    int32_t check_out = 0;

    *query = (struct hotels_query){ 0 };
    json_reader_init(&reader, body);
    *why = "the body is no JSON object";
    if (json_next(&reader) != JSON_BEGIN_OBJECT) {
        return false;
    }
    while ((token = json_next(&reader)) == JSON_KEY) {
        if (!read_member(query, &reader, &check_out, why)) {
            return false;
        }
    }
    *why = "the body is no JSON object";
    if (token != JSON_END_OBJECT || json_next(&reader) != JSON_END) {
        return false;
    }
    query->nights = check_out - query->check_in;
    *why = "rooms, properties, and a stay of 1 to 99 nights are expected";
    return query->rooms > 0 && query->count > 0 && query->check_in > 0 && query->nights > 0 &&
           query->nights <= NIGHTS_MAX;
}

// ---- the answer

/// Units for a euro, in millionths, and decimals (ISO 4217).
static const struct {
    const char *code;
    uint32_t millionths;
    int decimals;
} currencies[] = {
    { "EUR", 1000000, 2 }, { "EUR", 1000000, 2 },   { "USD", 1080000, 2 },
    { "GBP", 860000, 2 },  { "JPY", 162000000, 0 }, { "KWD", 333000, 3 },
};

/// What the total of a supplier holds.
enum taxes { TAXES_SILENT, TAXES_INSIDE, TAXES_APART, TAXES_UNKNOWN, TAXES_KINDS };

struct seller {
    const struct hotels_query *query;
    uint64_t seed;
    uint32_t number;
    size_t currency;
    enum taxes taxes;
    char *at, *end;
};

static void put(struct seller *seller, const char *format, ...) PRINTF_LIKE(2, 3);
static void put(struct seller *seller, const char *format, ...)
{
    size_t room = (size_t)(seller->end - seller->at);
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(seller->at, room, format, arguments);
    va_end(arguments);
    require(length >= 0 && (size_t)length < room);
    seller->at += length;
}

/// A member with an amount in the supplier's currency, as text.
static void put_amount(struct seller *seller, const char *name, uint64_t euro_cents)
{
    static const uint64_t powers[] = { 1, 10, 100, 1000 };
    int decimals = currencies[seller->currency].decimals;
    uint64_t unit = powers[decimals];
    uint64_t minor = euro_cents * currencies[seller->currency].millionths / 1000000 * unit / 100;

    if (decimals == 0) {
        put(seller, ",\"%s\":\"%llu\"", name, (unsigned long long)minor);
    } else {
        put(seller, ",\"%s\":\"%llu.%0*llu\"", name, (unsigned long long)(minor / unit), decimals,
            (unsigned long long)(minor % unit));
    }
}

static void put_terms(struct seller *seller, uint64_t mixed)
{
    static const char *const beds[] = { "1 double", "2 single", "1 king", "1 double, 1 sofa" };
    char day[11] = "";

    put(seller, ",\"beds\":\"%s\",\"pay\":\"%s\"", beds[mixed % 4], mixed / 4 % 3 == 0 ? "hotel" : "now");
    if (mixed / 12 % 2 == 0) {
        query_write_date(seller->query->check_in - 2, day);
        put(seller, ",\"free_until\":\"%sT18:00:00Z\"", day);
    }
}

static void put_rate(struct seller *seller, uint32_t property, uint32_t hotel, uint32_t rate)
{
    static const char *const boards[] = { "RO", "BB", "HB" };
    static const char *const rooms[] = { "Standard room", "Superior room", "Suite" };
    const struct hotels_query *query = seller->query;
    uint64_t stays = (uint64_t)query->nights * query->rooms;
    uint64_t mixed = draw_mix(draw_mix(seller->seed, hotel), (uint64_t)query->check_in);
    uint64_t own = draw_mix(mixed, seller->number * 8 + rate);
    uint64_t guests = stays * 100 + (query->guests > query->rooms ? (query->guests - query->rooms) * 1500 : 0);
    uint64_t cents = (5000 + world_stars(hotel) * 4000 + mixed % 9000 + rate * 2500) * guests / 100;

    cents = cents * (90 + own % 21) / 100;
    put(seller, "%s{\"key\":\"%u-%u-%d-%d\",\"room\":\"%s\",\"board\":\"%s\"", rate > 0 ? "," : "", property, rate,
        query->check_in, query->nights, rooms[own / 21 % 3], boards[rate]);
    put_amount(seller, "total", cents);
    if (seller->taxes == TAXES_INSIDE || seller->taxes == TAXES_APART) {
        put_amount(seller, "taxes", cents / 10);
    }
    if (mixed / 9000 % 5 == 0) {
        put_amount(seller, "resort_fee", stays * 2500);
    }
    put_terms(seller, own / 63);
    put(seller, "}");
}

static void put_property(struct seller *seller, char letter, uint32_t property, uint32_t hotel, bool is_first)
{
    uint32_t rates = 1 + (uint32_t)(draw_mix(hotel, seller->number + 100) % HOTELS_RATES_MAX);

    put(seller, "%s{\"id\":\"%c%07u\",\"rates\":[", is_first ? "" : ",", letter, property);
    for (uint32_t rate = 0; rate < rates; rate++) {
        put_rate(seller, property, hotel, rate);
    }
    put(seller, "]}");
}

size_t hotels_render(const struct hotels_query *query, uint64_t seed, uint32_t supplier, char *out)
{
    static const char *const taxes[TAXES_KINDS] = { "included", "included", "excluded", "unknown" };
    struct seller seller = { .query = query,
                             .seed = seed,
                             .number = supplier,
                             .currency = (supplier + COUNT_OF(currencies) - 1) % COUNT_OF(currencies),
                             .taxes = supplier % TAXES_KINDS,
                             .at = out,
                             .end = out + HOTELS_ANSWER_MAX };
    bool is_first = true;

    put(&seller, "{\"currency\":\"%s\",\"taxes\":\"%s\",\"properties\":[", currencies[seller.currency].code,
        taxes[seller.taxes]);
    for (uint32_t i = 0; i < query->count; i++) {
        uint32_t hotel;
        if (world_hotel(query->properties[i], supplier, &hotel)) {
            put_property(&seller, 'P', query->properties[i], hotel, is_first);
            is_first = false;
        }
    }
    if (supplier % 10 == 0) {
        put_property(&seller, 'N', supplier, WORLD_HOTELS + supplier, is_first); // newer than any table
    }
    put(&seller, "]}");
    return (size_t)(seller.at - out);
}
