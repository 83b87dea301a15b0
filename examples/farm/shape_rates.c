#include "farm/shape_rates.h"

#include "base/buffer.h"
#include "farm/draw.h"
#include "farm/hotels_world.h"
#include "farm/query.h"
#include "farm/tls.h"

#include <stdio.h>
#include <string.h>

enum { RATES_OF_ROOM = 2 };
enum { PROPERTY_DIGITS = 10000000, CLOCK_OFF_S = 300, NIGHTS_MAX = 99, GUESTS_MAX = 14 };

static const struct {
    char code[4];
    uint32_t millionths;
} currencies[] = { { "EUR", 1000000 }, { "USD", 1080000 }, { "GBP", 860000 }, { "CHF", 950000 } };

// ---- the request ---------------------------------------------------------------------------------------------------

/// The value of `name` in `EAN name=value,name=value`.
static struct text find_credential(struct text header, const char *name)
{
    struct text value = { NULL, 0 };

    while (header.length > 0) {
        struct text behind;
        struct text key = text_split(text_trim(text_split(header, ',', &header)), '=', &behind);
        value = text_equals_c(key, name) ? behind : value;
    }
    return value;
}

static bool is_signed(struct text header, uint64_t wall_s)
{
    static const struct text scheme = { "EAN ", 4 };
    char plain[128], digest[TLS_DIGEST_HEX_MAX];
    uint64_t seconds;

    if (!text_starts_with(header, scheme)) {
        return false;
    }
    header = (struct text){ header.data + scheme.length, header.length - scheme.length };
    struct text written = find_credential(header, "timestamp");
    if (!text_equals_c(find_credential(header, "APIKey"), RATES_KEY) || written.length > 20 ||
        !text_to_u64(written, &seconds) || seconds + CLOCK_OFF_S < wall_s || seconds > wall_s + CLOCK_OFF_S) {
        return false;
    }
    int length = snprintf(plain, sizeof plain, "%s%s%.*s", RATES_KEY, RATES_SECRET, TEXT_ARGS(written));
    return tls_digest(512, (struct text){ plain, (size_t)length }, digest) &&
           text_equals_c(find_credential(header, "Signature"), digest);
}

/// "2-7,9": two adults, children of seven and nine. Commas may come escaped.
static bool read_occupancy(struct rates_query *query, struct text value)
{
    struct rates_occupancy room = { .children = 0 };
    size_t length = 0;

    for (size_t i = 0; i < value.length && length + 1 < sizeof room.written; i++) {
        bool is_comma = value.length - i >= 3 && text_equals_nocase((struct text){ value.data + i, 3 }, TEXT("%2C"));
        room.written[length++] = is_comma ? ',' : value.data[i];
        i += is_comma ? 2 : 0;
    }
    struct text ages;
    struct text adults = text_split((struct text){ room.written, length }, '-', &ages);
    uint64_t number;
    if (!text_to_u64(adults, &number) || number == 0 || number > GUESTS_MAX || query->room_count == RATES_ROOMS_MAX) {
        return false;
    }
    room.adults = (unsigned)number;
    while (ages.length > 0) {
        if (!text_to_u64(text_split(ages, ',', &ages), &number) || number > 17) {
            return false;
        }
        room.children++;
    }
    for (uint32_t i = 0; i < query->room_count; i++) {
        if (strcmp(query->rooms[i].written, room.written) == 0) {
            return true;
        }
    }
    query->rooms[query->room_count++] = room;
    return true;
}

static bool read_parameter(struct rates_query *query, struct text key, struct text value, int32_t *check_out)
{
    uint64_t number;

    if (text_equals_c(key, "checkin")) {
        return query_read_date(value, &query->check_in);
    }
    if (text_equals_c(key, "checkout")) {
        return query_read_date(value, check_out);
    }
    if (text_equals_c(key, "occupancy")) {
        return read_occupancy(query, value);
    }
    if (text_equals_c(key, "currency")) {
        bool fits = value.length == 3;
        memcpy(query->currency, fits ? value.data : "EUR", 3);
        return fits;
    }
    if (text_equals_c(key, "property_id")) {
        if (!text_to_u64(value, &number) || number > UINT32_MAX || query->count == RATES_PROPERTIES_MAX) {
            return false;
        }
        query->properties[query->count++] = (uint32_t)number;
    }
    return true;
}

bool rates_read(struct rates_query *query, const struct request *request, uint64_t wall_s, const char **status,
                const char **why)
{
    struct text rest = request->query_string;
    int32_t check_out = 0;

    *query = (struct rates_query){ .currency = "EUR" };
    *status = "405 Method Not Allowed";
    *why = "GET is expected";
    if (!text_equals(request->method, TEXT("GET"))) {
        return false;
    }
    *status = "401 Unauthorized";
    *why = "the signature is wrong, or its time is";
    if (!is_signed(request_header(request, "authorization"), wall_s)) {
        return false;
    }
    *status = "400 Bad Request";
    *why = "checkin, checkout, currency, 1 to 9 occupancy and 1 to 250 property_id are expected";
    while (rest.length > 0) {
        struct text value;
        struct text key = text_split(text_split(rest, '&', &rest), '=', &value);
        if (!read_parameter(query, key, value, &check_out)) {
            return false;
        }
    }
    query->nights = check_out - query->check_in;
    return query->check_in > 0 && query->nights > 0 && query->nights <= NIGHTS_MAX && query->room_count > 0 &&
           query->count > 0;
}

// ---- the answer ----------------------------------------------------------------------------------------------------

struct pricing {
    struct buffer *out;
    const struct rates_query *query;
    const char *currency;
    uint32_t millionths;
};

static void write_money(struct pricing *pricing, const char *name, uint64_t euro_cents)
{
    uint64_t cents = euro_cents * pricing->millionths / 1000000;

    buffer_printf(pricing->out,
                  "\"%s\":{\"billable_currency\":{\"value\":\"%llu.%02llu\",\"currency\":\"%s\"},"
                  "\"request_currency\":{\"value\":\"%llu.%02llu\",\"currency\":\"%s\"}}",
                  name, (unsigned long long)(euro_cents / 100), (unsigned long long)(euro_cents % 100), "EUR",
                  (unsigned long long)(cents / 100), (unsigned long long)(cents % 100), pricing->currency);
}

/// The prices of a rate by occupancy; what the hotel itself takes stands apart.
static void write_occupancies(struct pricing *pricing, uint64_t nightly_cents, bool has_fee)
{
    uint64_t nights = (uint64_t)pricing->query->nights;

    for (uint32_t i = 0; i < pricing->query->room_count; i++) {
        const struct rates_occupancy *room = &pricing->query->rooms[i];
        uint64_t cents = nightly_cents * (60 + 20 * room->adults + 10 * room->children) / 100 * nights;
        buffer_printf(pricing->out, "%s\"%s\":{\"totals\":{", i > 0 ? "," : "", room->written);
        write_money(pricing, "inclusive", cents + cents / 10);
        buffer_append_byte(pricing->out, ',');
        write_money(pricing, "exclusive", cents);
        if (has_fee) {
            buffer_append_byte(pricing->out, ',');
            write_money(pricing, "property_fees", nights * 1500);
        }
        buffer_append_c(pricing->out, "}");
        if (has_fee) {
            buffer_append_c(pricing->out, ",\"fees\":{");
            write_money(pricing, "resort_fee", nights * 1500);
            buffer_append_c(pricing->out, "}");
        }
        buffer_append_c(pricing->out, "}");
    }
}

static void write_rate(struct pricing *pricing, uint32_t property, uint32_t rate, uint64_t drawn, uint64_t cents)
{
    char day[11] = "";
    bool is_refundable = drawn / 7 % 2 == 0;

    buffer_printf(pricing->out,
                  "%s{\"id\":\"%u-%u-%d-%d\",\"status\":\"available\",\"available_rooms\":%u,"
                  "\"refundable\":%s,\"amenities\":{",
                  rate % RATES_OF_ROOM > 0 ? "," : "", property, rate, pricing->query->check_in, pricing->query->nights,
                  1 + (unsigned)(drawn % 7), is_refundable ? "true" : "false");
    if (rate % RATES_OF_ROOM > 0) {
        buffer_append_c(pricing->out, "\"2192\":{\"id\":\"2192\",\"name\":\"Free breakfast\"}");
    }
    buffer_append_c(pricing->out, "},\"bed_groups\":{\"37310\":{\"id\":\"37310\",\"description\":\"1 King Bed\"}},");
    if (is_refundable) {
        query_write_date(pricing->query->check_in - 2, day);
        buffer_printf(pricing->out,
                      "\"cancel_penalties\":[{\"start\":\"%sT18:00:00.000+02:00\",\"percent\":\"100%%\"}],", day);
    }
    buffer_append_c(pricing->out, "\"occupancy_pricing\":{");
    write_occupancies(pricing, cents * (100 + 15 * rate) / 100 * (is_refundable ? 110 : 100) / 100,
                      drawn / 14 % 5 == 0);
    buffer_append_c(pricing->out, "}}");
}

static void write_property(struct pricing *pricing, uint64_t seed, uint32_t property, uint32_t hotel, bool is_first)
{
    static const char *const rooms[] = { "Standard Room", "Superior Room, Courtyard View", "Suite" };
    uint64_t drawn = draw_mix(draw_mix(seed, property), (uint64_t)pricing->query->check_in);
    uint64_t cents = 5000 + world_stars(hotel) * 4000 + drawn % 6000;

    buffer_printf(pricing->out, "%s{\"property_id\":\"%u\",\"status\":\"available\",\"rooms\":[", is_first ? "" : ",",
                  property);
    for (uint32_t room = 0; room <= drawn / 6000 % 2; room++) {
        buffer_printf(pricing->out, "%s{\"id\":\"%u\",\"room_name\":\"%s\",\"rates\":[", room > 0 ? "," : "",
                      200 + room, rooms[(drawn / 12000 + room) % COUNT_OF(rooms)]);
        for (uint32_t rate = 0; rate < RATES_OF_ROOM; rate++) {
            write_rate(pricing, property, room * RATES_OF_ROOM + rate, drawn / 36000 + rate, cents);
        }
        buffer_append_c(pricing->out, "]}");
    }
    buffer_append_c(pricing->out, "]}");
}

size_t rates_render(const struct rates_query *query, uint64_t seed, char *out)
{
    struct buffer buffer = { .data = out, .capacity = RATES_ANSWER_MAX, .ceiling = RATES_ANSWER_MAX };
    struct pricing pricing = { .out = &buffer, .query = query, .currency = "EUR", .millionths = 1000000 };
    bool is_first = true;

    for (size_t i = 0; i < COUNT_OF(currencies); i++) {
        if (memcmp(query->currency, currencies[i].code, 3) == 0) {
            pricing.currency = currencies[i].code;
            pricing.millionths = currencies[i].millionths;
        }
    }
    buffer_append_byte(&buffer, '[');
    for (uint32_t i = 0; i < query->count; i++) {
        uint32_t hotel;
        if (world_hotel(query->properties[i] % PROPERTY_DIGITS, query->properties[i] / PROPERTY_DIGITS, &hotel) &&
            draw_mix(hotel, (uint64_t)query->check_in) % 4 != 0) { // the others are sold out, and left out
            write_property(&pricing, seed, query->properties[i], hotel, is_first);
            is_first = false;
        }
    }
    buffer_append_byte(&buffer, ']');
    require(!buffer.is_full);
    return buffer.length;
}
