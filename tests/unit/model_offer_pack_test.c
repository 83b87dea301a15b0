#include "base/checksum.h"
#include "model/offer_pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NOW_S = 1790000000 };

static const uint64_t NOW_MS = (uint64_t)NOW_S * 1000;

/// How an offer of the test is written.
struct sketch {
    const char *id;
    uint32_t flag;
    int64_t units;
    uint32_t minutes;
    const char *flags;      // its JSON; "": none
    const char *expires_at; // NULL: it does not say
    bool expires_first;     // before the price
    const char *hidden, *item_json;
    const char *board; // the value of a facet; NULL: none
};

static struct text copy(struct offer_batch *batch, const char *words)
{
    struct text text = arena_copy(&batch->arena, text_of(words));
    assert_non_null(text.data);
    return text;
}

static struct text within(struct text json, const char *words, size_t skipped)
{
    const char *found = strstr(json.data, words);
    assert_non_null(found);
    return (struct text){ found + skipped, strlen(words) - skipped };
}

static void write_json(const struct sketch *sketch, const char *status, char *out, size_t size)
{
    char expiry[80] = "";

    if (sketch->expires_at != NULL) {
        (void)snprintf(expiry, sizeof expiry, ",\"expires_at\":\"%s\"", sketch->expires_at);
    }
    (void)snprintf(out, size,
                   "{\"id\":\"acme:%s\",\"supplier\":\"acme\",\"item\":\"i_%s\"%s,\"price\":{\"total\":\"%lld.00\"},"
                   "\"price_status\":\"%s\",\"observed_at\":\"2026-11-30T12:00:00Z\"%s%s,\"room\":\"\\u00e4\"}",
                   sketch->id, sketch->id, sketch->expires_first ? expiry : "", (long long)sketch->units, status,
                   sketch->flags, sketch->expires_first ? "" : expiry);
}

static void add_offer(struct offer_batch *batch, struct offer *offer, const struct sketch *sketch)
{
    char words[600];

    write_json(sketch, "live", words, sizeof words);
    *offer = (struct offer){ .flag = sketch->flag,
                             .total_micros = sketch->units * OFFER_MICROS,
                             .currency = "EUR",
                             .duration_min = sketch->minutes,
                             .id = copy(batch, sketch->id),
                             .json = copy(batch, words) };
    (void)snprintf(words, sizeof words, "i_%s", sketch->id);
    offer->item = copy(batch, words);
    offer->head_length =
        (uint32_t)((size_t)(within(offer->json, words, 0).data - offer->json.data) + strlen(words) + 1);
    offer->status_at = (uint32_t)(within(offer->json, "\"live\"", 1).data - offer->json.data);
    (void)snprintf(words, sizeof words, "{\"total\":\"%lld.00\"}", (long long)sketch->units);
    offer->price = within(offer->json, words, 0);
    if (sketch->expires_at != NULL) {
        offer->expires_at = within(offer->json, sketch->expires_at, 0);
    }
    if (sketch->hidden != NULL) {
        offer->hidden = copy(batch, sketch->hidden);
    }
    if (sketch->item_json != NULL) {
        offer->item_json = copy(batch, sketch->item_json);
    }
    if (sketch->board != NULL) {
        ptrdiff_t number = facet_table_find(&batch->facets, &batch->arena, 1, text_of(sketch->board), true);
        uint16_t *marks = arena_alloc_array(&batch->arena, 1, sizeof *marks);
        require(number >= 0 && marks != NULL);
        marks[0] = (uint16_t)number;
        offer->marks = marks;
        offer->mark_count = 1;
        facet_value_count(&batch->facets.values[number], offer_comparable_micros(offer));
    }
}

static struct offer_batch *batch_of(const struct sketch *sketches, size_t count)
{
    struct offer_batch *batch = offer_batch_create(1 << 20);
    const struct text names[] = { TEXT("stars"), TEXT("board") };

    assert_non_null(batch);
    assert_true(facet_table_open(&batch->facets, &batch->arena, names, COUNT_OF(names)));
    batch->offers = arena_alloc_array(&batch->arena, count, sizeof *batch->offers);
    assert_non_null(batch->offers);
    for (size_t i = 0; i < count; i++) {
        add_offer(batch, &batch->offers[i], &sketches[i]);
    }
    batch->count = count;
    batch->decimals = 2;
    offer_batch_sort(batch);
    return batch;
}

static const struct sketch THREE[] = {
    { .id = "b",
      .units = 200,
      .minutes = 90,
      .flags = "",
      .expires_at = "2027-01-01T00:00:00Z",
      .board = "ro",
      .hidden = ",\"handoff\":{\"ref\":\"x\"}",
      .item_json = "{\"hotel\":\"H1\"}" },
    { .id = "a",
      .units = 300,
      .minutes = 45,
      .flags = "",
      .expires_at = "2026-12-01T00:00:00.500Z",
      .expires_first = true,
      .board = "bb" },
    { .id = "c",
      .flag = OFFER_TAXES_UNCLEAR,
      .units = 100,
      .minutes = UINT32_MAX,
      .flags = ",\"flags\":[\"taxes_unknown\"]",
      .expires_at = "2026-12-02T00:00:00Z",
      .board = "ro" },
};

static void pack_one(struct offer_batch *batch, uint8_t *is_gone, struct buffer *out, struct last_known_head *head)
{
    struct store_part part = { .batch = batch, .is_gone = is_gone };

    *head = (struct last_known_head){ .observed_ms = 7, .until_ms = 9 };
    buffer_init(out, 1 << 20);
    assert_int_equal(offer_pack(&part, 1, out, head), STATUS_OK);
}

static void assert_text(struct text a, struct text b)
{
    assert_int_equal(a.length, b.length);
    assert_int_equal(a.data == NULL, b.data == NULL);
    assert_true(a.length == 0 || text_equals(a, b));
}

static void assert_same_but_json(const struct offer *a, const struct offer *b)
{
    assert_int_equal(a->flag, b->flag);
    assert_true(a->total_micros == b->total_micros);
    assert_string_equal(a->currency, b->currency);
    assert_int_equal(a->duration_min, b->duration_min);
    assert_text(a->item, b->item);
    assert_text(a->id, b->id);
    assert_text(a->item_json, b->item_json);
    assert_text(a->price, b->price);
    assert_text(a->expires_at, b->expires_at);
    assert_text(a->hidden, b->hidden);
    assert_int_equal(a->head_length, b->head_length);
    assert_int_equal(a->status_at, b->status_at);
    assert_int_equal(a->mark_count, b->mark_count);
    if (a->mark_count > 0) {
        assert_memory_equal(a->marks, b->marks, a->mark_count * sizeof *a->marks);
    }
}

static void assert_same_facets(const struct facet_table *a, const struct facet_table *b)
{
    assert_int_equal(a->name_count, b->name_count);
    assert_int_equal(a->value_count, b->value_count);
    for (size_t i = 0; i < a->name_count; i++) {
        assert_text(a->names[i], b->names[i]);
    }
    for (size_t i = 0; i < a->value_count; i++) {
        assert_text(a->values[i].value, b->values[i].value);
        assert_int_equal(a->values[i].count, b->values[i].count);
        assert_true(a->values[i].lowest_micros == b->values[i].lowest_micros);
        assert_int_equal(a->values[i].facet, b->values[i].facet);
        assert_int_equal(a->values[i].is_text, b->values[i].is_text);
    }
}

static void what_is_packed_comes_out_as_it_was(void **state)
{
    struct offer_batch *batch = batch_of(THREE, COUNT_OF(THREE)), *read = NULL;
    struct buffer packed;
    struct last_known_head head;
    (void)state;

    pack_one(batch, NULL, &packed, &head);
    assert_int_equal(offer_unpack(buffer_text(&packed), PRICE_LIVE, 1, &read), STATUS_OK);
    assert_int_equal(read->count, batch->count);
    assert_int_equal(read->decimals, 2);
    for (size_t i = 0; i < batch->count; i++) {
        assert_same_but_json(&batch->offers[i], &read->offers[i]);
        assert_text(batch->offers[i].json, read->offers[i].json);
        assert_int_equal(batch->by_duration[i], read->by_duration[i]);
    }
    assert_same_facets(&batch->facets, &read->facets);
    offer_batch_release(&read);
    offer_batch_release(&batch);
    buffer_fini(&packed);
}

static void the_status_of_a_price_is_what_the_reader_says(void **state)
{
    static const char *const WORDS[] = { "live", "cached", "indicative" };
    struct offer_batch *batch = batch_of(THREE, COUNT_OF(THREE)), *read = NULL;
    struct buffer packed;
    struct last_known_head head;
    (void)state;

    pack_one(batch, NULL, &packed, &head);
    for (int status = PRICE_LIVE; status <= PRICE_INDICATIVE; status++) {
        assert_int_equal(offer_unpack(buffer_text(&packed), (enum price_status)status, 1, &read), STATUS_OK);
        for (size_t i = 0; i < COUNT_OF(THREE); i++) {
            char expected[600];
            const struct offer *offer = &read->offers[i];
            const struct sketch *sketch = &THREE[i]; // as they are sorted
            write_json(sketch, WORDS[status], expected, sizeof expected);
            assert_text(offer->json, text_of(expected));
            assert_same_but_json(offer, &batch->offers[i]);
        }
        offer_batch_release(&read);
    }
    offer_batch_release(&batch);
    buffer_fini(&packed);
}

static void what_was_indicative_is_packed_without_that_word(void **state)
{
    struct offer_batch *batch = batch_of(THREE, COUNT_OF(THREE)), *indicative = NULL;
    struct buffer packed, again;
    struct last_known_head head;
    (void)state;

    pack_one(batch, NULL, &packed, &head);
    assert_int_equal(offer_unpack(buffer_text(&packed), PRICE_INDICATIVE, 1, &indicative), STATUS_OK);
    pack_one(indicative, NULL, &again, &head);
    assert_text(buffer_text(&again), buffer_text(&packed));
    offer_batch_release(&indicative);
    offer_batch_release(&batch);
    buffer_fini(&packed);
    buffer_fini(&again);
}

static void an_offer_whose_time_is_over_says_so_and_does_not_win(void **state)
{
    struct offer_batch *batch = batch_of(THREE, COUNT_OF(THREE)), *read = NULL;
    struct buffer packed;
    struct last_known_head head;
    uint64_t later_ms = 1796256000000; // 2026-12-03
    (void)state;

    pack_one(batch, NULL, &packed, &head);
    assert_int_equal(offer_unpack(buffer_text(&packed), PRICE_CACHED, later_ms, &read), STATUS_OK);
    assert_true(text_equals_c(read->offers[0].id, "b"));
    assert_int_equal(read->offers[0].flag, OFFER_COMPARABLE);
    assert_true(text_equals_c(read->offers[1].id, "a"));
    assert_int_equal(read->offers[1].flag, OFFER_EXPIRED);
    assert_non_null(strstr(read->offers[1].json.data,
                           "\"price_status\":\"cached\",\"observed_at\":\"2026-11-30T12:00:00Z\","
                           "\"flags\":[\"expired\"],\"room\""));
    assert_int_equal(read->offers[2].flag, OFFER_EXPIRED | OFFER_TAXES_UNCLEAR);
    assert_non_null(strstr(read->offers[2].json.data, "\"flags\":[\"expired\",\"taxes_unknown\"]"));
    assert_true(text_equals_c(read->offers[2].expires_at, "2026-12-02T00:00:00Z"));
    assert_true(text_equals_c(read->offers[1].price, "{\"total\":\"300.00\"}"));
    // What has expired is not the lowest of its facet's value either.
    assert_true(read->facets.values[0].lowest_micros == 200 * (int64_t)OFFER_MICROS);
    assert_true(read->facets.values[1].lowest_micros == INT64_MAX);
    offer_batch_release(&read);
    offer_batch_release(&batch);
    buffer_fini(&packed);
}

static void the_head_tells_what_a_search_needs_of_it(void **state)
{
    struct offer_batch *batch = batch_of(THREE, COUNT_OF(THREE));
    struct buffer packed;
    struct last_known_head head;
    (void)state;

    pack_one(batch, NULL, &packed, &head);
    assert_int_equal(head.offers, 3);
    assert_int_equal(head.bytes, packed.length);
    assert_int_equal(head.observed_ms, 7);
    assert_int_equal(head.until_ms, 9);
    assert_true(head.expires_ms == 1798761600000);
    assert_true(head.median_micros == 200 * (int64_t)OFFER_MICROS); // of 200 and 300; the third may not win
    assert_string_equal(head.currency, "EUR");
    offer_batch_release(&batch);
    buffer_fini(&packed);
}

static void when_one_does_not_say_when_it_expires_the_whole_does_not(void **state)
{
    struct sketch two[] = { THREE[0], THREE[1] };
    struct buffer packed;
    struct last_known_head head;
    (void)state;

    two[1].expires_at = NULL;
    struct offer_batch *batch = batch_of(two, COUNT_OF(two));
    pack_one(batch, NULL, &packed, &head);
    assert_true(head.expires_ms == 0);
    offer_batch_release(&batch);
    buffer_fini(&packed);
}

static void an_empty_answer_is_a_pack_as_well(void **state)
{
    struct offer_batch *read = NULL;
    struct buffer packed;
    struct last_known_head head = { 0 };
    (void)state;

    buffer_init(&packed, 1 << 10);
    assert_int_equal(offer_pack(NULL, 0, &packed, &head), STATUS_OK);
    assert_int_equal(head.offers, 0);
    assert_int_equal(offer_unpack(buffer_text(&packed), PRICE_CACHED, 1, &read), STATUS_OK);
    assert_int_equal(read->count, 0);
    offer_batch_release(&read);
    buffer_fini(&packed);
}

static void parts_are_put_together_without_what_is_gone(void **state)
{
    const struct sketch more[] = {
        { .id = "d", .units = 250, .minutes = 30, .flags = "", .board = "hb" },
        { .id = "e", .units = 90, .minutes = 20, .flags = "", .board = "ro" },
    };
    uint8_t is_gone[] = { 0, 1, 0 }; // "a"
    struct offer_batch *first = batch_of(THREE, 3), *read = NULL;
    struct offer_batch *second = batch_of(more, COUNT_OF(more)); // as sorted: e, d
    struct store_part parts[] = { { first, is_gone }, { second, NULL } };
    static const char *const ORDER[] = { "e", "b", "d", "c" };
    struct buffer packed;
    struct last_known_head head = { 0 };
    (void)state;

    buffer_init(&packed, 1 << 20);
    assert_int_equal(offer_pack(parts, 2, &packed, &head), STATUS_OK);
    assert_int_equal(offer_unpack(buffer_text(&packed), PRICE_CACHED, 1, &read), STATUS_OK);
    assert_int_equal(read->count, COUNT_OF(ORDER));
    for (size_t i = 0; i < COUNT_OF(ORDER); i++) {
        assert_true(text_equals_c(read->offers[i].id, ORDER[i]));
    }
    assert_int_equal(read->facets.value_count, 2); // ro and hb: bb is gone with its offer
    for (size_t i = 0; i < read->count; i++) {
        struct text value = read->facets.values[read->offers[i].marks[0]].value;
        assert_true(text_equals_c(value, i == 2 ? "hb" : "ro"));
    }
    assert_int_equal(read->facets.values[read->offers[0].marks[0]].count, 3);
    assert_true(read->facets.values[read->offers[0].marks[0]].lowest_micros == 90 * (int64_t)OFFER_MICROS);
    offer_batch_release(&read);
    offer_batch_release(&first);
    offer_batch_release(&second);
    buffer_fini(&packed);
}

static void what_cannot_be_one_answer_is_refused(void **state)
{
    struct offer_batch *batch = batch_of(THREE, 3), *other = batch_of(THREE, 3);
    struct store_part parts[] = { { batch, NULL }, { other, NULL } };
    struct buffer packed;
    struct last_known_head head = { 0 };
    (void)state;

    buffer_init(&packed, 1 << 20);
    buffer_append_text(&packed, TEXT("before"));
    other->facets.names[1] = TEXT("meals");
    assert_int_equal(offer_pack(parts, 2, &packed, &head), STATUS_INVALID);
    batch->offers[1].status_at = 0;
    assert_int_equal(offer_pack(parts, 1, &packed, &head), STATUS_INVALID);
    assert_text(buffer_text(&packed), (struct text){ packed.data, 6 });
    batch->offers[1].status_at = other->offers[1].status_at;
    assert_int_equal(offer_pack(parts, 1, &packed, &head), STATUS_OK);
    offer_batch_release(&batch);
    offer_batch_release(&other);
    buffer_fini(&packed);
}

static void a_buffer_that_is_too_small_is_left_as_it_was(void **state)
{
    struct offer_batch *batch = batch_of(THREE, 3);
    struct store_part part = { batch, NULL };
    struct buffer packed, whole;
    struct last_known_head head;
    (void)state;

    pack_one(batch, NULL, &whole, &head);
    for (size_t ceiling = 0; ceiling < whole.length; ceiling++) {
        buffer_init(&packed, ceiling);
        assert_int_equal(offer_pack(&part, 1, &packed, &head), STATUS_NO_MEMORY);
        assert_int_equal(packed.length, 0);
        buffer_fini(&packed);
    }
    offer_batch_release(&batch);
    buffer_fini(&whole);
}

// Each in a block of its own length, so that a read beyond it is seen.
static enum status unpack_copy(const char *bytes, size_t length)
{
    struct offer_batch *read = NULL;
    char *exact = malloc(length > 0 ? length : 1);

    assert_non_null(exact);
    memcpy(exact, bytes, length);
    enum status status = offer_unpack((struct text){ exact, length }, PRICE_INDICATIVE, NOW_MS, &read);
    assert_int_equal(read != NULL, status == STATUS_OK);
    offer_batch_release(&read);
    free(exact);
    return status;
}

static void whatever_is_cut_or_altered_is_refused(void **state)
{
    struct offer_batch *batch = batch_of(THREE, 3);
    struct buffer packed;
    struct last_known_head head;
    (void)state;

    pack_one(batch, NULL, &packed, &head);
    for (size_t length = 0; length < packed.length; length++) {
        assert_int_equal(unpack_copy(packed.data, length), STATUS_INVALID);
    }
    for (size_t bit = 0; bit < packed.length * 8; bit++) {
        packed.data[bit / 8] = (char)(packed.data[bit / 8] ^ 1 << bit % 8);
        assert_int_equal(unpack_copy(packed.data, packed.length), STATUS_INVALID);
        packed.data[bit / 8] = (char)(packed.data[bit / 8] ^ 1 << bit % 8);
    }
    assert_int_equal(unpack_copy(packed.data, packed.length), STATUS_OK);
    buffer_append_byte(&packed, ' ');
    assert_int_equal(unpack_copy(packed.data, packed.length), STATUS_INVALID);
    offer_batch_release(&batch);
    buffer_fini(&packed);
}

static void sum_again(struct buffer *packed)
{
    uint64_t checksum =
        checksum_of((struct text){ packed->data + OFFER_PACK_SUMMED, packed->length - OFFER_PACK_SUMMED });
    memcpy(packed->data + 8, &checksum, sizeof checksum); // this machine's order is the pack's
}

// A forger can sum. Nothing is read beyond the end, and what comes out stays within its own texts.
static void bytes_that_were_forged_are_refused_or_harmless(void **state)
{
    static const unsigned char BAD[] = { 0x00, 0x01, 0x7F, 0x80, 0xFF };
    struct offer_batch *batch = batch_of(THREE, 3);
    struct buffer packed;
    struct last_known_head head;
    size_t refused = 0;
    (void)state;

    pack_one(batch, NULL, &packed, &head);
    for (size_t i = OFFER_PACK_SUMMED; i < packed.length; i++) {
        char was = packed.data[i];
        for (size_t j = 0; j < COUNT_OF(BAD); j++) {
            packed.data[i] = (char)BAD[j];
            sum_again(&packed);
            refused += unpack_copy(packed.data, packed.length) != STATUS_OK;
        }
        packed.data[i] = was;
    }
    assert_true(refused > 500); // nearly all that are no part of a text
    for (size_t length = OFFER_PACK_HEADER; length < packed.length; length++) {
        struct buffer cut = packed;
        cut.length = length;
        sum_again(&cut);
        assert_int_equal(unpack_copy(packed.data, length), STATUS_INVALID);
    }
    offer_batch_release(&batch);
    buffer_fini(&packed);
}

static void another_schema_is_refused(void **state)
{
    struct offer_batch *batch = batch_of(THREE, 3);
    struct buffer packed;
    struct last_known_head head;
    (void)state;

    pack_one(batch, NULL, &packed, &head);
    packed.data[4]++;
    assert_int_equal(unpack_copy(packed.data, packed.length), STATUS_INVALID);
    offer_batch_release(&batch);
    buffer_fini(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_comes_out_as_it_was),
        cmocka_unit_test(the_status_of_a_price_is_what_the_reader_says),
        cmocka_unit_test(what_was_indicative_is_packed_without_that_word),
        cmocka_unit_test(an_offer_whose_time_is_over_says_so_and_does_not_win),
        cmocka_unit_test(the_head_tells_what_a_search_needs_of_it),
        cmocka_unit_test(when_one_does_not_say_when_it_expires_the_whole_does_not),
        cmocka_unit_test(an_empty_answer_is_a_pack_as_well),
        cmocka_unit_test(parts_are_put_together_without_what_is_gone),
        cmocka_unit_test(what_cannot_be_one_answer_is_refused),
        cmocka_unit_test(a_buffer_that_is_too_small_is_left_as_it_was),
        cmocka_unit_test(whatever_is_cut_or_altered_is_refused),
        cmocka_unit_test(bytes_that_were_forged_are_refused_or_harmless),
        cmocka_unit_test(another_schema_is_refused),
    };
    return cmocka_run_group_tests_name("model/offer_pack", tests, NULL, NULL);
}
