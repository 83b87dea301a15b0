#include "base/checksum.h"
#include "model/offer_pack.h"

#include <endian.h>
#include <string.h>

// Whatever the bytes say is held against what there is: a length against the rest, an offset against its text, a number
// against its table.

enum { DECIMALS_MAX = 6 };

static const uint32_t FLAGS = OFFER_TAXES_UNCLEAR | OFFER_NOT_CONVERTIBLE | OFFER_EXPIRED;

struct reading {
    struct text rest;
    bool is_bad; // something went beyond the end; all later reads give nothing
    enum price_status status;
    uint64_t now_ms;
    struct offer_batch *batch;
    size_t names, values;
};

static struct text take(struct reading *reading, size_t length)
{
    struct text taken = { reading->rest.data, length };

    if (reading->is_bad || length > reading->rest.length) {
        reading->is_bad = true;
        return (struct text){ 0 };
    }
    reading->rest.data += length;
    reading->rest.length -= length;
    return taken;
}

static uint16_t take_u16(struct reading *reading)
{
    uint16_t value = 0;
    struct text taken = take(reading, sizeof value);

    if (taken.data != NULL) {
        memcpy(&value, taken.data, sizeof value);
    }
    return le16toh(value);
}

static uint32_t take_u32(struct reading *reading)
{
    uint32_t value = 0;
    struct text taken = take(reading, sizeof value);

    if (taken.data != NULL) {
        memcpy(&value, taken.data, sizeof value);
    }
    return le32toh(value);
}

static uint64_t take_u64(struct reading *reading)
{
    uint64_t value = 0;
    struct text taken = take(reading, sizeof value);

    if (taken.data != NULL) {
        memcpy(&value, taken.data, sizeof value);
    }
    return le64toh(value);
}

/// Part of the packed JSON.
struct span {
    uint32_t at, length;
};

static struct span take_span(struct reading *reading)
{
    uint32_t at = take_u32(reading);
    return (struct span){ at, take_u32(reading) };
}

/// The fixed fields of an offer, and its texts as they were packed.
struct packed_offer {
    struct offer offer; // its columns
    uint64_t expires_ms;
    uint32_t flags_at, has_flags;
    struct span price, expires_at;
    struct text id, item, item_json, hidden, json, marks;
};

/// A span lies before the word of the status, or behind the place of a new flag.
static bool is_apart(const struct packed_offer *packed, struct span span)
{
    uint64_t end = (uint64_t)span.at + span.length;
    return end <= packed->json.length && (end <= packed->offer.status_at || span.at >= packed->flags_at);
}

static bool is_sound(const struct packed_offer *packed)
{
    const struct offer *offer = &packed->offer;

    return (offer->flag & ~FLAGS) == 0 && offer->mark_count <= FACET_MARKS_MAX && packed->has_flags <= 1 &&
           offer->currency[3] == '\0' && offer->status_at > 0 && offer->head_length <= offer->status_at &&
           offer->status_at < packed->flags_at && packed->flags_at < packed->json.length &&
           is_apart(packed, packed->price) && is_apart(packed, packed->expires_at);
}

static bool take_packed(struct reading *reading, struct packed_offer *packed)
{
    struct offer *offer = &packed->offer;

    *packed = (struct packed_offer){ 0 };
    offer->flag = take_u32(reading);
    offer->total_micros = (int64_t)take_u64(reading);
    struct text currency = take(reading, sizeof offer->currency);
    offer->duration_min = take_u32(reading);
    packed->expires_ms = take_u64(reading);
    offer->head_length = take_u32(reading);
    offer->status_at = take_u32(reading);
    packed->flags_at = take_u32(reading);
    packed->has_flags = take_u32(reading);
    packed->price = take_span(reading);
    packed->expires_at = take_span(reading);
    offer->mark_count = take_u16(reading);
    size_t lengths[5];
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        lengths[i] = take_u32(reading);
    }
    packed->marks = take(reading, offer->mark_count * sizeof *offer->marks);
    struct text *const texts[] = { &packed->id, &packed->item, &packed->item_json, &packed->hidden, &packed->json };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        *texts[i] = take(reading, lengths[i]);
    }
    if (reading->is_bad) {
        return false;
    }
    memcpy(offer->currency, currency.data, sizeof offer->currency);
    return is_sound(packed);
}

/// What the JSON gets that was not packed: the word of the status, and the flag of an offer whose time is over.
struct additions {
    struct text word, flag;
};

static struct additions additions_of(const struct reading *reading, struct packed_offer *packed)
{
    bool is_over = packed->expires_ms != 0 && packed->expires_ms <= reading->now_ms;
    struct additions additions = { .word = text_of(price_status_name(reading->status)) };

    if (is_over && (packed->offer.flag & OFFER_EXPIRED) == 0) {
        packed->offer.flag |= OFFER_EXPIRED;
        additions.flag = packed->has_flags != 0 ? TEXT("\"expired\",") : TEXT(",\"flags\":[\"expired\"]");
    }
    return additions;
}

static struct text place(char **at, struct text text)
{
    struct text placed = { *at, text.length };

    *at = text_put(*at, text);
    return placed;
}

static struct text place_if_any(char **at, struct text text)
{
    return text.length > 0 ? place(at, text) : (struct text){ 0 };
}

static struct text place_json(char **at, const struct packed_offer *packed, const struct additions *additions)
{
    const char *json = packed->json.data;
    size_t status_at = packed->offer.status_at, flags_at = packed->flags_at;
    char *start = *at;

    (void)place(at, (struct text){ json, status_at });
    (void)place(at, additions->word);
    (void)place(at, (struct text){ json + status_at, flags_at - status_at });
    (void)place(at, additions->flag);
    (void)place(at, (struct text){ json + flags_at, packed->json.length - flags_at });
    return (struct text){ start, (size_t)(*at - start) };
}

static struct text place_of_span(const struct offer *offer, const struct packed_offer *packed, struct span span,
                                 const struct additions *additions)
{
    size_t moved = span.at >= packed->flags_at ? additions->word.length + additions->flag.length : 0;
    return span.length > 0 ? (struct text){ offer->json.data + span.at + moved, span.length } : (struct text){ 0 };
}

static enum status take_marks(struct reading *reading, const struct packed_offer *packed, struct offer *offer)
{
    uint16_t *marks = arena_alloc_array(&reading->batch->arena, offer->mark_count, sizeof *marks);

    if (marks == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < offer->mark_count; i++) {
        uint16_t mark;
        memcpy(&mark, packed->marks.data + i * sizeof mark, sizeof mark);
        marks[i] = le16toh(mark);
        if (marks[i] >= reading->values) {
            return STATUS_INVALID;
        }
    }
    offer->marks = marks;
    return STATUS_OK;
}

static enum status take_offer(struct reading *reading)
{
    struct offer_batch *batch = reading->batch;
    struct offer *offer = &batch->offers[batch->count];
    struct packed_offer packed;

    if (!take_packed(reading, &packed)) {
        return STATUS_INVALID;
    }
    struct additions additions = additions_of(reading, &packed);
    *offer = packed.offer;
    char *at = arena_alloc_raw(&batch->arena, packed.id.length + packed.item.length + packed.item_json.length +
                                                  packed.hidden.length + packed.json.length + additions.word.length +
                                                  additions.flag.length + 1);
    if (at == NULL) {
        return STATUS_NO_MEMORY;
    }
    offer->id = place(&at, packed.id);
    offer->item = place(&at, packed.item);
    offer->json = place_json(&at, &packed, &additions);
    offer->item_json = place_if_any(&at, packed.item_json);
    offer->hidden = place_if_any(&at, packed.hidden);
    *at = '\0';
    offer->price = place_of_span(offer, &packed, packed.price, &additions);
    offer->expires_at = place_of_span(offer, &packed, packed.expires_at, &additions);
    batch->count++;
    return offer->mark_count > 0 ? take_marks(reading, &packed, offer) : STATUS_OK;
}

static enum status take_values(struct reading *reading)
{
    struct offer_batch *batch = reading->batch;
    struct facet_table *facets = &batch->facets;

    facets->values = arena_alloc_array(&batch->arena, reading->values, sizeof *facets->values);
    if (facets->values == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (; facets->value_count < reading->values; facets->value_count++) {
        struct text kind = take(reading, 2);
        struct text value = take(reading, take_u32(reading));
        if (reading->is_bad || kind.data == NULL || (uint8_t)kind.data[0] >= facets->name_count ||
            (uint8_t)kind.data[1] > 1) {
            return STATUS_INVALID;
        }
        struct facet_value *taken = &facets->values[facets->value_count];
        *taken = (struct facet_value){ .value = arena_copy(&batch->arena, value),
                                       .lowest_micros = INT64_MAX,
                                       .facet = (uint8_t)kind.data[0],
                                       .is_text = kind.data[1] != 0 };
        if (taken->value.data == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

static enum status take_facets(struct reading *reading)
{
    struct text names[FACETS_MAX] = { 0 };

    for (size_t i = 0; i < reading->names; i++) {
        names[i] = take(reading, take_u32(reading));
    }
    if (reading->is_bad) {
        return STATUS_INVALID;
    }
    if (!facet_table_open(&reading->batch->facets, &reading->batch->arena, names, reading->names)) {
        return STATUS_NO_MEMORY;
    }
    return reading->values > 0 ? take_values(reading) : STATUS_OK;
}

static void count_facets(struct offer_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct offer *offer = &batch->offers[i];
        for (size_t j = 0; j < offer->mark_count; j++) {
            facet_value_count(&batch->facets.values[offer->marks[j]], offer_comparable_micros(offer));
        }
    }
}

static enum status take_all(struct reading *reading, size_t offers)
{
    struct offer_batch *batch = reading->batch;
    enum status status = STATUS_OK;

    if (offers > 0) {
        batch->offers = arena_alloc_array(&batch->arena, offers, sizeof *batch->offers);
        status = batch->offers != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    }
    while (status == STATUS_OK && batch->count < offers) {
        status = take_offer(reading);
    }
    if (status == STATUS_OK) {
        status = take_facets(reading);
    }
    if (status == STATUS_OK && reading->rest.length > 0) {
        status = STATUS_INVALID;
    }
    if (status == STATUS_OK) {
        count_facets(batch);
        offer_batch_sort(batch);
    }
    return status;
}

enum status offer_unpack(struct text packed, enum price_status status, uint64_t now_ms, struct offer_batch **batch)
{
    struct reading reading = { .rest = packed, .status = status, .now_ms = now_ms };
    struct text magic = take(&reading, OFFER_PACK_MAGIC.length);
    uint32_t schema = take_u32(&reading);
    uint64_t checksum = take_u64(&reading);

    *batch = NULL;
    if (reading.is_bad || !text_equals(magic, OFFER_PACK_MAGIC) || schema != OFFER_PACK_SCHEMA ||
        checksum != checksum_of(reading.rest)) {
        return STATUS_INVALID;
    }
    size_t offers = take_u32(&reading);
    reading.names = take_u32(&reading);
    reading.values = take_u32(&reading);
    uint32_t decimals = take_u32(&reading);
    if (reading.is_bad || offers > OFFER_MAX_PER_BATCH || offers > reading.rest.length / OFFER_PACK_FIXED ||
        reading.names > FACETS_MAX || reading.values > FACET_VALUES_MAX || decimals > DECIMALS_MAX) {
        return STATUS_INVALID;
    }
    // Twice what came has room for tables, and for the words of all offers.
    reading.batch = offer_batch_create(2 * packed.length + ((size_t)1 << 20));
    if (reading.batch == NULL) {
        return STATUS_NO_MEMORY;
    }
    reading.batch->decimals = (int)decimals;
    enum status taken = take_all(&reading, offers);
    if (taken == STATUS_OK) {
        *batch = reading.batch;
    } else {
        offer_batch_release(&reading.batch);
    }
    return taken;
}
