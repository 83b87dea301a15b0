#include "model/offer_pack.h"

#include "base/checksum.h"
#include "base/clock.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

// The word of the price's status is cut out of the JSON, because reading puts another one there; noted is where it was,
// and where a flag goes that comes with time.

enum { PACKING_MEMORY = 8 << 20, UNSEEN = UINT16_MAX };

struct packing {
    struct buffer *out;
    size_t start; // of the pack in it
    struct arena memory;
    struct facet_table facets; // of all parts
    const struct offer_batch *named;
    uint16_t *numbers; // in `facets`, of the values of the part in hand
    int64_t *totals;   // of what may win
    size_t total_count, offers;
    int decimals;
    bool all_expire;
    struct last_known_head *head;
};

static void put_u16(struct buffer *out, uint16_t value)
{
    uint16_t bytes = htole16(value);
    buffer_append(out, &bytes, sizeof bytes);
}

static void put_u32(struct buffer *out, size_t value)
{
    uint32_t bytes = htole32((uint32_t)value);
    buffer_append(out, &bytes, sizeof bytes);
}

static void put_u64(struct buffer *out, uint64_t value)
{
    uint64_t bytes = htole64(value);
    buffer_append(out, &bytes, sizeof bytes);
}

/// Where in the offer's JSON things are, counted without the word of its status.
struct places {
    struct text before, behind; // the word
    size_t flags_at;
    bool has_flags; // `flags_at` is within the list, else where one would begin
};

static size_t skip(struct text json, size_t at, struct text expected)
{
    struct text rest = { json.data + at, json.length - at };
    return text_starts_with(rest, expected) ? at + expected.length : at;
}

// `"price_status":"…"`, then `"observed_at":"…"` and `"flags":[…]`, each of which may be missing.
static bool find_places(const struct offer *offer, struct places *places)
{
    struct text json = offer->json;
    size_t at = offer->status_at;

    if (at == 0 || at >= json.length || offer->head_length > at) {
        return false;
    }
    const char *quote = memchr(json.data + at, '"', json.length - at);
    if (quote == NULL) {
        return false;
    }
    size_t behind = (size_t)(quote - json.data);
    size_t cut = behind - at;
    size_t flags_at = behind + 1;
    size_t observed_at = skip(json, flags_at, TEXT(",\"observed_at\":\""));
    if (observed_at != flags_at) {
        quote = memchr(json.data + observed_at, '"', json.length - observed_at);
        if (quote == NULL) {
            return false;
        }
        flags_at = (size_t)(quote - json.data) + 1;
    }
    size_t in_flags = skip(json, flags_at, TEXT(",\"flags\":["));
    *places = (struct places){ .before = { json.data, at },
                               .behind = { json.data + behind, json.length - behind },
                               .flags_at = in_flags - cut,
                               .has_flags = in_flags != flags_at };
    return true;
}

/// Offset and length of a part of the JSON, without the word of the status.
static void put_span(struct buffer *out, const struct offer *offer, const struct places *places, struct text span)
{
    size_t cut = offer->json.length - places->before.length - places->behind.length;
    size_t at = span.length == 0 ? 0 : (size_t)(span.data - offer->json.data);

    put_u32(out, at > places->before.length ? at - cut : at);
    put_u32(out, span.length);
}

static uint64_t expiry_of(const struct offer *offer)
{
    uint64_t expires_ms = 0;

    if (offer->expires_at.length == 0) {
        return 0;
    }
    // What nobody can read is over at once: it is shown, and wins nothing.
    return clock_read_utc(offer->expires_at, &expires_ms) && expires_ms > 0 ? expires_ms : 1;
}

/// False: there are more values than an answer may have, or no memory.
static bool put_marks(struct packing *packing, const struct offer_batch *batch, const struct offer *offer)
{
    for (size_t i = 0; i < offer->mark_count; i++) {
        uint16_t *number = &packing->numbers[offer->marks[i]];
        if (*number == UNSEEN) {
            const struct facet_value *value = &batch->facets.values[offer->marks[i]];
            ptrdiff_t found =
                facet_table_find(&packing->facets, &packing->memory, value->facet, value->value, value->is_text);
            if (found < 0) {
                return false;
            }
            *number = (uint16_t)found;
        }
        put_u16(packing->out, *number);
    }
    return true;
}

static void note_offer(struct packing *packing, const struct offer *offer, uint64_t expires_ms)
{
    struct last_known_head *head = packing->head;

    packing->offers++;
    packing->all_expire = packing->all_expire && expires_ms != 0;
    head->expires_ms = expires_ms > head->expires_ms ? expires_ms : head->expires_ms;
    if (offer->flag == OFFER_COMPARABLE) {
        packing->totals[packing->total_count++] = offer->total_micros;
        memcpy(head->currency, offer->currency, sizeof head->currency);
    }
}

static enum status put_offer(struct packing *packing, const struct offer_batch *batch, const struct offer *offer)
{
    struct buffer *out = packing->out;
    struct places places;
    uint64_t expires_ms = expiry_of(offer);

    if (packing->offers == OFFER_MAX_PER_BATCH || !find_places(offer, &places)) {
        return STATUS_INVALID;
    }
    note_offer(packing, offer, expires_ms);
    put_u32(out, offer->flag);
    put_u64(out, (uint64_t)offer->total_micros);
    buffer_append(out, offer->currency, sizeof offer->currency);
    put_u32(out, offer->duration_min);
    put_u64(out, expires_ms);
    put_u32(out, offer->head_length);
    put_u32(out, places.before.length);
    put_u32(out, places.flags_at);
    put_u32(out, places.has_flags);
    put_span(out, offer, &places, offer->price);
    put_span(out, offer, &places, offer->expires_at);
    put_u16(out, offer->mark_count);
    put_u32(out, offer->id.length);
    put_u32(out, offer->item.length);
    put_u32(out, offer->item_json.length);
    put_u32(out, offer->hidden.length);
    put_u32(out, places.before.length + places.behind.length);
    if (!put_marks(packing, batch, offer)) {
        return STATUS_NO_MEMORY;
    }
    buffer_append_text(out, offer->id);
    buffer_append_text(out, offer->item);
    buffer_append_text(out, offer->item_json);
    buffer_append_text(out, offer->hidden);
    buffer_append_text(out, places.before);
    buffer_append_text(out, places.behind);
    return out->is_full ? STATUS_NO_MEMORY : STATUS_OK;
}

/// The facets of a product are the same in all parts of an answer. False: these are not.
static bool take_names(struct packing *packing, const struct offer_batch *batch)
{
    const struct facet_table *facets = &batch->facets;

    if (facets->name_count == 0) {
        return true;
    }
    if (packing->named == NULL) {
        packing->named = batch;
        return facet_table_open(&packing->facets, &packing->memory, facets->names, facets->name_count);
    }
    const struct facet_table *known = &packing->named->facets;
    bool are_same = known->name_count == facets->name_count;
    for (size_t i = 0; are_same && i < known->name_count; i++) {
        are_same = text_equals(known->names[i], facets->names[i]);
    }
    return are_same;
}

static enum status put_part(struct packing *packing, const struct store_part *part)
{
    const struct offer_batch *batch = part->batch;
    enum status status = STATUS_OK;

    if (!take_names(packing, batch)) {
        return STATUS_INVALID;
    }
    if (batch->count > 0) {
        packing->decimals = batch->decimals;
    }
    memset(packing->numbers, 0xFF, FACET_VALUES_MAX * sizeof *packing->numbers);
    for (size_t i = 0; status == STATUS_OK && i < batch->count; i++) {
        if (part->is_gone == NULL || part->is_gone[i] == 0) {
            status = put_offer(packing, batch, &batch->offers[i]);
        }
    }
    return status;
}

static void put_facets(struct packing *packing)
{
    const struct facet_table *facets = &packing->facets;

    for (size_t i = 0; i < facets->name_count; i++) {
        put_u32(packing->out, facets->names[i].length);
        buffer_append_text(packing->out, facets->names[i]);
    }
    for (size_t i = 0; i < facets->value_count; i++) {
        const struct facet_value *value = &facets->values[i];
        buffer_append_byte(packing->out, (char)value->facet);
        buffer_append_byte(packing->out, value->is_text ? 1 : 0);
        put_u32(packing->out, value->value.length);
        buffer_append_text(packing->out, value->value);
    }
}

static void put_header(struct packing *packing)
{
    struct buffer header = { .data = packing->out->data + packing->start,
                             .capacity = OFFER_PACK_HEADER,
                             .ceiling = OFFER_PACK_HEADER };
    size_t length = packing->out->length - packing->start;

    buffer_append_text(&header, OFFER_PACK_MAGIC);
    put_u32(&header, OFFER_PACK_SCHEMA);
    header.length += sizeof(uint64_t);
    put_u32(&header, packing->offers);
    put_u32(&header, packing->facets.name_count);
    put_u32(&header, packing->facets.value_count);
    put_u32(&header, (size_t)packing->decimals);
    header.length = OFFER_PACK_SUMMED - sizeof(uint64_t);
    put_u64(&header, checksum_of((struct text){ header.data + OFFER_PACK_SUMMED, length - OFFER_PACK_SUMMED }));
}

static int compare_totals(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void fill_head(struct packing *packing)
{
    struct last_known_head *head = packing->head;

    head->offers = (uint32_t)packing->offers;
    head->bytes = (uint32_t)(packing->out->length - packing->start);
    head->expires_ms = packing->all_expire ? head->expires_ms : 0;
    if (packing->total_count > 0) {
        qsort(packing->totals, packing->total_count, sizeof *packing->totals, compare_totals);
        head->median_micros = packing->totals[(packing->total_count - 1) / 2];
    }
}

static enum status pack(struct packing *packing, const struct store_part *parts, size_t count)
{
    static const char nothing[OFFER_PACK_HEADER];
    enum status status = STATUS_OK;

    packing->numbers = arena_alloc_array(&packing->memory, FACET_VALUES_MAX, sizeof *packing->numbers);
    packing->totals = arena_alloc_array(&packing->memory, OFFER_MAX_PER_BATCH, sizeof *packing->totals);
    if (packing->numbers == NULL || packing->totals == NULL) {
        return STATUS_NO_MEMORY;
    }
    buffer_append(packing->out, nothing, sizeof nothing);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = put_part(packing, &parts[i]);
    }
    if (status != STATUS_OK) {
        return status;
    }
    put_facets(packing);
    if (packing->out->is_full) {
        return STATUS_NO_MEMORY;
    }
    put_header(packing);
    fill_head(packing);
    return STATUS_OK;
}

enum status offer_pack(const struct store_part *parts, size_t count, struct buffer *out, struct last_known_head *head)
{
    struct packing packing = { .out = out, .start = out->length, .all_expire = true, .head = head };

    *head = (struct last_known_head){ .observed_ms = head->observed_ms, .until_ms = head->until_ms };
    arena_init(&packing.memory, PACKING_MEMORY);
    enum status status = pack(&packing, parts, count);
    if (status != STATUS_OK) {
        out->length = packing.start;
    }
    facet_table_close(&packing.facets);
    arena_fini(&packing.memory);
    return status;
}
