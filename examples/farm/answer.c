#include "farm/answer.h"
#include "base/buffer.h"
#include "farm/timetable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Making and filling go over the same list of slots: making notes where each begins, filling writes into it. A slot
// keeps its width: what is shorter gets blanks behind it, outside of any quotes, where JSON allows them.

enum slot_kind {
    SLOT_FROM,
    SLOT_TO,
    SLOT_NUMBER,
    SLOT_MINUTES, // of a leg
    SLOT_DEPARTS,
    SLOT_ARRIVES, // of a leg, local
    SLOT_DEPARTS_OFFSET,
    SLOT_ARRIVES_OFFSET, // of a leg, with its offset from UTC
    SLOT_START,
    SLOT_END,
    SLOT_DURATION, // of a slice
    SLOT_ID,
    SLOT_TOTAL_MINOR,
    SLOT_TAX_MINOR,
    SLOT_TOTAL,
    SLOT_TAX, // of an offer
    SLOT_CABIN,
    SLOT_CABIN_LETTER,
    SLOT_CURRENCY,
    SLOT_REFERENCE, // of the answer
    SLOT_KINDS,
};

static const uint8_t slot_widths[SLOT_KINDS] = {
    [SLOT_FROM] = 3,        [SLOT_TO] = 3,           [SLOT_NUMBER] = 4,          [SLOT_MINUTES] = 4,
    [SLOT_DEPARTS] = 16,    [SLOT_ARRIVES] = 16,     [SLOT_DEPARTS_OFFSET] = 25, [SLOT_ARRIVES_OFFSET] = 25,
    [SLOT_START] = 3,       [SLOT_END] = 3,          [SLOT_DURATION] = 4,        [SLOT_ID] = 12,
    [SLOT_TOTAL_MINOR] = 8, [SLOT_TAX_MINOR] = 8,    [SLOT_TOTAL] = 11,          [SLOT_TAX] = 11,
    [SLOT_CABIN] = 10,      [SLOT_CABIN_LETTER] = 1, [SLOT_CURRENCY] = 3,        [SLOT_REFERENCE] = 16,
};

struct slot {
    uint32_t offset;
    uint8_t kind;
    uint8_t offer;
    uint8_t slice;
    uint8_t leg;
};

enum { SLOTS_MAX = 40 + ANSWER_OFFERS * (6 + QUERY_SLICES_MAX * (3 + TIMETABLE_LEGS * 8)) };
enum { BYTES_MAX = 512 << 10 };

struct answer_template {
    struct itinerary itineraries[ANSWER_OFFERS];
    struct buffer bytes;
    struct slot *slots;
    size_t slot_count;
    uint64_t salt; // of the seed and the supplier
    double price;  // how dear the supplier is
    unsigned slice_count;
    size_t offers_at[ANSWER_OFFERS + 1]; // shape A: where each offer begins, and where the last one ends
    struct query asked;                  // last
    char *kept;                          // what it got; NULL: nothing yet
};

/// The currencies that the farm sells in, by their units for a euro.
static const struct {
    char code[4];
    double units;
} currencies[] = { { "EUR", 1.0 }, { "USD", 1.08 }, { "GBP", 0.86 }, { "CHF", 0.95 } };

static void put(struct answer_template *answer, const char *bytes)
{
    buffer_append_c(&answer->bytes, bytes);
}

static void put_slot(struct answer_template *answer, enum slot_kind kind, int offer, unsigned slice, int leg)
{
    static const char blanks[] = "                         ";
    require(answer->slot_count < SLOTS_MAX);
    answer->slots[answer->slot_count++] = (struct slot){
        .offset = (uint32_t)answer->bytes.length,
        .kind = (uint8_t)kind,
        .offer = (uint8_t)offer,
        .slice = (uint8_t)slice,
        .leg = (uint8_t)leg,
    };
    buffer_append(&answer->bytes, blanks, slot_widths[kind]);
}

static void put_segment_a(struct answer_template *answer, int offer, unsigned slice, int leg)
{
    const struct itinerary_slice *plan = &answer->itineraries[offer].slices[slice];

    buffer_printf(&answer->bytes, "%s{\"carrier\":\"%s\",\"number\":\"", leg > 0 ? "," : "",
                  timetable_carrier(plan->carriers[leg]));
    put_slot(answer, SLOT_NUMBER, offer, slice, leg);
    put(answer, "\",\"from\":\"");
    put_slot(answer, SLOT_FROM, offer, slice, leg);
    put(answer, "\",\"to\":\"");
    put_slot(answer, SLOT_TO, offer, slice, leg);
    put(answer, "\",\"departs\":\"");
    put_slot(answer, SLOT_DEPARTS_OFFSET, offer, slice, leg);
    put(answer, "\",\"arrives\":\"");
    put_slot(answer, SLOT_ARRIVES_OFFSET, offer, slice, leg);
    put(answer, "\",\"minutes\":");
    put_slot(answer, SLOT_MINUTES, offer, slice, leg);
    put(answer, "}");
}

static void put_offer_a(struct answer_template *answer, int offer, struct draw *draw)
{
    static const char *const brands[] = { "LIGHT", "BASIC", "CLASSIC", "FLEX" };
    uint32_t brand = draw_below(draw, 4);

    put(answer, offer > 0 ? "," : "");
    answer->offers_at[offer] = answer->bytes.length;
    put(answer, "{\"id\":\"");
    put_slot(answer, SLOT_ID, offer, 0, 0);
    put(answer, "\",\"price\":{\"total\":");
    put_slot(answer, SLOT_TOTAL_MINOR, offer, 0, 0);
    put(answer, ",\"taxes\":");
    put_slot(answer, SLOT_TAX_MINOR, offer, 0, 0);
    put(answer, ",\"scale\":2},\"cabin\":");
    put_slot(answer, SLOT_CABIN, offer, 0, 0);
    buffer_printf(&answer->bytes,
                  ",\"brand\":\"%s\",\"bags\":{\"cabin\":1,\"checked\":%u},\"refundable\":%s,\"seats\":%u",
                  brands[brand], brand / 2, brand == 3 ? "true" : "false", 1 + draw_below(draw, 9));
    put(answer, ",\"slices\":[");
    for (unsigned slice = 0; slice < answer->slice_count; slice++) {
        put(answer, slice > 0 ? ",{\"from\":\"" : "{\"from\":\"");
        put_slot(answer, SLOT_START, offer, slice, 0);
        put(answer, "\",\"to\":\"");
        put_slot(answer, SLOT_END, offer, slice, 0);
        put(answer, "\",\"minutes\":");
        put_slot(answer, SLOT_DURATION, offer, slice, 0);
        put(answer, ",\"segments\":[");
        for (int leg = 0; leg < answer->itineraries[offer].slices[slice].leg_count; leg++) {
            put_segment_a(answer, offer, slice, leg);
        }
        put(answer, "]}");
    }
    put(answer, "]}");
}

static void put_shape_a(struct answer_template *answer, struct draw *draw)
{
    put(answer, "{\"search\":\"");
    put_slot(answer, SLOT_REFERENCE, 0, 0, 0);
    put(answer, "\",\"currency\":\"");
    put_slot(answer, SLOT_CURRENCY, 0, 0, 0);
    put(answer, "\",\"offers\":[");
    for (int offer = 0; offer < ANSWER_OFFERS; offer++) {
        put_offer_a(answer, offer, draw);
    }
    answer->offers_at[ANSWER_OFFERS] = answer->bytes.length;
    put(answer, "]}");
}

static unsigned put_legs_b(struct answer_template *answer)
{
    unsigned count = 0;

    for (int offer = 0; offer < ANSWER_OFFERS; offer++) {
        for (unsigned slice = 0; slice < answer->slice_count; slice++) {
            const struct itinerary_slice *plan = &answer->itineraries[offer].slices[slice];
            for (int leg = 0; leg < plan->leg_count; leg++) {
                buffer_printf(&answer->bytes, "%s{\"id\":\"L%u\",\"flight\":\"%s", count > 0 ? "," : "", count,
                              timetable_carrier(plan->carriers[leg]));
                count++;
                put_slot(answer, SLOT_NUMBER, offer, slice, leg);
                put(answer, "\",\"orig\":\"");
                put_slot(answer, SLOT_FROM, offer, slice, leg);
                put(answer, "\",\"dest\":\"");
                put_slot(answer, SLOT_TO, offer, slice, leg);
                put(answer, "\",\"dep\":\"");
                put_slot(answer, SLOT_DEPARTS, offer, slice, leg);
                put(answer, "\",\"arr\":\"");
                put_slot(answer, SLOT_ARRIVES, offer, slice, leg);
                put(answer, "\",\"min\":");
                put_slot(answer, SLOT_MINUTES, offer, slice, leg);
                put(answer, ",\"class\":\"");
                put_slot(answer, SLOT_CABIN_LETTER, offer, slice, leg);
                put(answer, "\"}");
            }
        }
    }
    return count;
}

static void put_journeys_b(struct answer_template *answer)
{
    unsigned journey = 0, next_leg = 0;

    for (int offer = 0; offer < ANSWER_OFFERS; offer++) {
        for (unsigned slice = 0; slice < answer->slice_count; slice++) {
            buffer_printf(&answer->bytes, "%s{\"id\":\"J%u\",\"min\":", journey > 0 ? "," : "", journey);
            journey++;
            put_slot(answer, SLOT_DURATION, offer, slice, 0);
            buffer_printf(&answer->bytes, ",\"legs\":[\"L%u\"", next_leg++);
            if (answer->itineraries[offer].slices[slice].leg_count == 2) {
                buffer_printf(&answer->bytes, ",\"L%u\"", next_leg++);
            }
            put(answer, "]}");
        }
    }
}

static void put_fare_b(struct answer_template *answer, int offer, struct draw *draw)
{
    static const char *const families[] = { "LIGHT", "BASIC", "CLASSIC", "FLEX" };
    static const char *const refunds[] = { "NO", "NO", "FEE", "YES" };
    uint32_t family = draw_below(draw, 4);

    put(answer, offer > 0 ? ",{\"id\":\"" : "{\"id\":\"");
    put_slot(answer, SLOT_ID, offer, 0, 0);
    put(answer, "\",\"total\":");
    put_slot(answer, SLOT_TOTAL, offer, 0, 0);
    put(answer, ",\"tax\":");
    put_slot(answer, SLOT_TAX, offer, 0, 0);
    put(answer, ",\"journeys\":[");
    for (unsigned slice = 0; slice < answer->slice_count; slice++) {
        buffer_printf(&answer->bytes, "%s\"J%u\"", slice > 0 ? "," : "", (unsigned)offer * answer->slice_count + slice);
    }
    buffer_printf(&answer->bytes,
                  "],\"family\":\"%s\",\"carry_on\":\"1PC\",\"checked\":\"%uPC\",\"refund\":\"%s\",\"change\":\"%s\","
                  "\"seats\":%u,"
                  "\"conditions\":[\"TICKETING WITHIN 24 HOURS\",\"NO SHOW FORFEITS ALL REMAINING FLIGHTS\"]}",
                  families[family], family / 2, refunds[family], refunds[family], 1 + draw_below(draw, 9));
}

static void put_shape_b(struct answer_template *answer, struct draw *draw)
{
    put(answer, "{\"status\":\"OK\",\"ref\":\"");
    put_slot(answer, SLOT_REFERENCE, 0, 0, 0);
    put(answer, "\",\"cur\":\"");
    put_slot(answer, SLOT_CURRENCY, 0, 0, 0);
    put(answer, "\",\"legs\":[");
    put_legs_b(answer);
    put(answer, "],\"journeys\":[");
    put_journeys_b(answer);
    put(answer, "],\"fares\":[");
    for (int offer = 0; offer < ANSWER_OFFERS; offer++) {
        put_fare_b(answer, offer, draw);
    }
    put(answer, "]}");
}

/// The shared itineraries first: each supplier sells some of a pool that follows from the seed alone.
static void draw_itineraries(struct answer_template *answer, uint64_t seed, struct draw *draw)
{
    enum { POOL = ANSWER_SHARED * 3 / 2 };
    struct itinerary pool[POOL];
    struct draw common = { draw_mix(seed, 0x7ab1e) };

    for (int i = 0; i < POOL; i++) {
        timetable_draw(&pool[i], &common);
    }
    for (unsigned i = 0; i < ANSWER_SHARED; i++) {
        unsigned chosen = i + draw_below(draw, POOL - i);
        answer->itineraries[i] = pool[chosen];
        pool[chosen] = pool[i];
    }
    for (int i = ANSWER_SHARED; i < ANSWER_OFFERS; i++) {
        timetable_draw(&answer->itineraries[i], draw);
    }
}

struct answer_template *answer_template_create(enum query_shape shape, uint64_t seed, uint32_t supplier,
                                               unsigned slice_count)
{
    struct answer_template *answer = calloc(1, sizeof(*answer));

    if (answer == NULL) {
        return NULL;
    }
    buffer_init(&answer->bytes, BYTES_MAX);
    answer->slots = calloc(SLOTS_MAX, sizeof(*answer->slots));
    if (answer->slots == NULL) {
        answer_template_destroy(&answer);
        return NULL;
    }
    answer->salt = draw_mix(seed, 1000 + supplier);
    answer->slice_count = slice_count;
    struct draw draw = { answer->salt };
    answer->price = 0.92 + 0.2 * draw_unit(&draw);
    draw_itineraries(answer, seed, &draw);
    if (shape == QUERY_SHAPE_A) {
        put_shape_a(answer, &draw);
    } else {
        put_shape_b(answer, &draw);
    }
    if (answer->bytes.is_full) {
        answer_template_destroy(&answer);
    }
    return answer;
}

void answer_template_destroy(struct answer_template **answer)
{
    if (*answer == NULL) {
        return;
    }
    buffer_fini(&(*answer)->bytes);
    free((*answer)->slots);
    free((*answer)->kept);
    free(*answer);
    *answer = NULL;
}

size_t answer_length(const struct answer_template *answer)
{
    return answer->bytes.length;
}

/// What one rendering knows: the legs of all offers and the spellings that many slots share.
struct rendering {
    const struct answer_template *answer;
    const struct query *query;
    struct answer_sale *sale;
    char dates[QUERY_SLICES_MAX][8][10]; // from two days before the slice's day
    unsigned currency;
};

static void rendering_prices(struct rendering *rendering)
{
    static const double cabins[] = { 1.0, 1.7, 3.2, 5.5 };
    const struct query *query = rendering->query;
    double base = 0;

    for (unsigned i = 0; i < query->slice_count; i++) {
        base += 22.0 + 0.62 * rendering->sale->routes[i].direct.flight_min;
    }
    base *= cabins[query->cabin] * currencies[rendering->currency].units * query->party;
    for (unsigned i = 0; i < ANSWER_OFFERS; i++) {
        double noise = 0.97 + 0.06 * (double)(draw_mix(rendering->sale->hash, i) >> 40) * 0x1p-24;
        double total = base * rendering->answer->price * rendering->answer->itineraries[i].price * noise;
        rendering->sale->totals[i] = (int64_t)(total * 100.0);
        rendering->sale->taxes[i] = (int64_t)(total * 18.0);
    }
}

static void rendering_init(struct rendering *rendering, const struct answer_template *answer, const struct query *query)
{
    rendering->answer = answer;
    rendering->query = query;
    rendering->sale->hash = draw_mix(answer->salt, query->hash);
    rendering->currency = 0;
    for (unsigned i = 0; i < COUNT_OF(currencies); i++) {
        if (memcmp(query->currency, currencies[i].code, 3) == 0) {
            rendering->currency = i;
        }
    }
    for (unsigned i = 0; i < query->slice_count; i++) {
        const struct query_slice *slice = &query->slices[i];
        timetable_route(&rendering->sale->routes[i], slice->from, slice->to);
        for (int day = 0; day < 8; day++) {
            query_write_date(slice->day + day - 2, rendering->dates[i][day]);
        }
        for (int offer = 0; offer < ANSWER_OFFERS; offer++) {
            rendering->sale->durations[offer][i] =
                timetable_legs(&answer->itineraries[offer].slices[i], &rendering->sale->routes[i], slice->day,
                               rendering->sale->legs[offer][i]);
        }
    }
    rendering_prices(rendering);
    rendering->sale->itineraries = answer->itineraries;
    rendering->sale->currency = currencies[rendering->currency].code;
}

void answer_sell(const struct answer_template *answer, const struct query *query, struct answer_sale *sale)
{
    struct rendering rendering = { .sale = sale };

    require(query->slice_count == answer->slice_count);
    rendering_init(&rendering, answer, query);
}

static void write_two(char *out, int value)
{
    out[0] = (char)('0' + value / 10);
    out[1] = (char)('0' + value % 10);
}

/// Digits from the left; the rest of the slot stays blank.
static char *write_number(char *out, int64_t value)
{
    char digits[20];
    int count = 0;

    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (count > 0) {
        *out++ = digits[--count];
    }
    return out;
}

static void write_money(char *out, int64_t hundredths)
{
    *out++ = '"';
    out = write_number(out, hundredths / 100);
    *out++ = '.';
    write_two(out, (int)(hundredths % 100));
    out[2] = '"';
}

static void write_time(char *out, const char dates[8][10], int minutes)
{
    int day = (minutes + 2 * 1440) / 1440;
    int of_day = minutes + 2 * 1440 - day * 1440;

    require(day >= 0 && day < 8);
    memcpy(out, dates[day], 10);
    out[10] = 'T';
    write_two(out + 11, of_day / 60);
    out[13] = ':';
    write_two(out + 14, of_day % 60);
}

static void write_offset(char *out, int offset_min)
{
    int size = offset_min < 0 ? -offset_min : offset_min;

    out[0] = ':';
    out[1] = out[2] = '0';
    out[3] = offset_min < 0 ? '-' : '+';
    write_two(out + 4, size / 60);
    out[6] = ':';
    write_two(out + 7, size % 60);
}

static void write_hex(char *out, uint64_t value, int digits)
{
    for (int i = 0; i < digits; i++) {
        out[i] = "0123456789abcdef"[(value >> (60 - 4 * i)) & 15];
    }
}

static void fill_leg(const struct rendering *rendering, const struct slot *slot, char *out)
{
    const struct leg *leg = &rendering->sale->legs[slot->offer][slot->slice][slot->leg];

    switch (slot->kind) {
    case SLOT_FROM:
        memcpy(out, leg->hop->from.code, 3);
        break;
    case SLOT_TO:
        memcpy(out, leg->hop->to.code, 3);
        break;
    case SLOT_NUMBER:
        write_number(out, leg->number);
        break;
    case SLOT_MINUTES:
        write_number(out, leg->flight_min);
        break;
    case SLOT_DEPARTS:
    case SLOT_DEPARTS_OFFSET:
        write_time(out, rendering->dates[slot->slice], leg->departs_min);
        break;
    default:
        write_time(out, rendering->dates[slot->slice], leg->arrives_min);
    }
    if (slot->kind == SLOT_DEPARTS_OFFSET || slot->kind == SLOT_ARRIVES_OFFSET) {
        write_offset(out + 16, slot->kind == SLOT_DEPARTS_OFFSET ? leg->departs_offset_min : leg->arrives_offset_min);
    }
}

static void fill(const struct rendering *rendering, const struct slot *slot, char *out)
{
    static const struct text cabins[] = {
        { "\"economy\"", 9 },
        { "\"premium\"", 9 },
        { "\"business\"", 10 },
        { "\"first\"", 7 },
    };

    switch (slot->kind) {
    case SLOT_START:
        memcpy(out, rendering->query->slices[slot->slice].from, 3);
        break;
    case SLOT_END:
        memcpy(out, rendering->query->slices[slot->slice].to, 3);
        break;
    case SLOT_DURATION:
        write_number(out, rendering->sale->durations[slot->offer][slot->slice]);
        break;
    case SLOT_ID:
        write_hex(out, draw_mix(rendering->sale->hash, 0x0ffe5 + slot->offer), 12);
        break;
    case SLOT_TOTAL_MINOR:
        write_number(out, rendering->sale->totals[slot->offer]);
        break;
    case SLOT_TAX_MINOR:
        write_number(out, rendering->sale->taxes[slot->offer]);
        break;
    case SLOT_TOTAL:
        write_money(out, rendering->sale->totals[slot->offer]);
        break;
    case SLOT_TAX:
        write_money(out, rendering->sale->taxes[slot->offer]);
        break;
    case SLOT_CABIN:
        memcpy(out, cabins[rendering->query->cabin].data, cabins[rendering->query->cabin].length);
        break;
    case SLOT_CABIN_LETTER:
        *out = "YWCF"[rendering->query->cabin];
        break;
    case SLOT_CURRENCY:
        memcpy(out, currencies[rendering->currency].code, 3);
        break;
    case SLOT_REFERENCE:
        write_hex(out, rendering->sale->hash, 16);
        break;
    default:
        fill_leg(rendering, slot, out);
    }
}

void answer_render(const struct answer_template *answer, const struct query *query, char *out)
{
    struct answer_sale sale;
    struct rendering rendering = { .sale = &sale };

    require(query->slice_count == answer->slice_count);
    rendering_init(&rendering, answer, query);
    memcpy(out, answer->bytes.data, answer->bytes.length);
    for (size_t i = 0; i < answer->slot_count; i++) {
        fill(&rendering, &answer->slots[i], out + answer->slots[i].offset);
    }
}

struct text answer_recall(struct answer_template *answer, const struct query *query)
{
    if (answer->kept == NULL || !query_equals(query, &answer->asked)) {
        char *kept = answer->kept != NULL ? answer->kept : malloc(answer->bytes.length);
        if (kept == NULL) {
            return (struct text){ NULL, 0 };
        }
        answer_render(answer, query, kept);
        answer->kept = kept;
        answer->asked = *query;
    }
    return (struct text){ answer->kept, answer->bytes.length };
}

size_t answer_keep(const struct answer_template *answer, char *rendered, unsigned first, unsigned count)
{
    const size_t *at = answer->offers_at;
    size_t length = at[0];

    require(first + count <= ANSWER_OFFERS);
    if (count > 0) {
        size_t end = first + count < ANSWER_OFFERS ? at[first + count] - 1 : at[ANSWER_OFFERS]; // without the comma
        memmove(rendered + length, rendered + at[first], end - at[first]);
        length += end - at[first];
    }
    rendered[length++] = ']';
    return length;
}
