#include "search/stream.h"

#include "search/coverage.h"
#include "search/search_internal.h"
#include "search/shown.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_EVENT_MAX = 16 << 20 };

const char *search_event_name(enum search_event event)
{
    static const char *const names[] = {
        [SEARCH_EVENT_SEARCH] = "search",     [SEARCH_EVENT_OFFERS] = "offers", [SEARCH_EVENT_RETRACT] = "retract",
        [SEARCH_EVENT_SUPPLIER] = "supplier", [SEARCH_EVENT_DONE] = "done",
    };
    return names[event];
}

void stream_init(struct stream *stream, search_on_event on_event, void *owner)
{
    *stream = (struct stream){ .on_event = on_event, .owner = owner, .next_seq = 1 };
    text_map_init(&stream->items);
    buffer_init(&stream->event, STREAM_EVENT_MAX);
    buffer_init(&stream->gone, STREAM_EVENT_MAX);
}

void stream_fini(struct stream *stream)
{
    for (size_t i = 0; i < stream->batch_count; i++) {
        offer_batch_release(&stream->batches[i]);
    }
    free(stream->batches);
    text_map_fini(&stream->items);
    buffer_fini(&stream->event);
    buffer_fini(&stream->gone);
}

uint64_t stream_take_seq(struct stream *stream)
{
    return stream->next_seq++;
}

static struct json_writer *event_begin(struct stream *stream)
{
    buffer_clear(&stream->event);
    json_writer_init(&stream->json, &stream->event);
    json_begin_object(&stream->json);
    json_field_u64(&stream->json, "seq", stream->next_seq);
    return &stream->json;
}

/// Adds the coverage so far and hands the event over.
static void event_end(struct stream *stream, const struct search *search, enum search_event event)
{
    struct coverage coverage;
    size_t found = 0;

    coverage_count(&coverage, search->attempts, search->attempt_count);
    coverage.has_store = search_has_store(search);
    for (size_t i = 0; i < search->attempt_count; i++) {
        found += attempt_is_dark(&search->attempts[i]) ? 0 : attempt_shown(&search->attempts[i])->live;
    }
    json_key(&stream->json, "coverage");
    coverage_write(&coverage, search->options.detail, &stream->json, found, found);
    json_end_object(&stream->json);
    if (stream->event.is_full) {
        stream->is_broken = true;
        return;
    }
    stream->next_seq++;
    stream->on_event(stream->owner, event, buffer_text(&stream->event));
}

void stream_began(struct stream *stream, const struct search *search)
{
    struct json_writer *json = event_begin(stream);

    json_field_text(json, "search_id", search->options.search_id);
    json_field_u64(json, "generation", search->options.catalogue->generation);
    event_end(stream, search, SEARCH_EVENT_SEARCH);
    for (size_t i = 0; i < search->attempt_count; i++) {
        if (search->attempts[i].state == ATTEMPT_CLOSED && !attempt_is_dark(&search->attempts[i])) {
            stream_supplier(stream, search, &search->attempts[i]);
        }
    }
}

void stream_supplier(struct stream *stream, const struct search *search, const struct attempt *attempt)
{
    struct json_writer *json = event_begin(stream);

    json_key(json, "supplier");
    coverage_write_attempt(attempt, search->options.arrival_us, search->options.detail, json);
    event_end(stream, search, SEARCH_EVENT_SUPPLIER);
}

// ---------------------------------------------------------------------------------------------------------------
// offers

static bool stream_hold(struct stream *stream, struct offer_batch *batch)
{
    if (stream->batch_count == stream->batch_capacity) {
        size_t capacity = stream->batch_capacity == 0 ? 64 : 2 * stream->batch_capacity;
        void *grown = realloc(stream->batches, capacity * sizeof(void *));
        if (grown == NULL) {
            return false;
        }
        stream->batches = grown;
        stream->batch_capacity = capacity;
    }
    stream->batches[stream->batch_count++] = offer_batch_acquire(batch);
    return true;
}

static bool has_same_item(const struct offer *a, const struct offer *b)
{
    return text_equals(a->item_json, b->item_json);
}

/// Writes the item of an offer unless these bytes were sent last.
static void write_item(struct stream *stream, const struct attempt *attempt, const struct offer *offer)
{
    if (offer->item_json.data == NULL) {
        return;
    }
    struct text_map_slot *slot = text_map_insert(&stream->items, offer->item);
    if (slot == NULL) {
        stream->is_broken = true;
        return;
    }
    if (slot->value == NULL || !has_same_item(slot->value, offer)) {
        shown_write_item_key(&stream->json, attempt->supplier, offer, attempt->search->options.detail);
        json_raw(&stream->json, offer->item_json);
        slot->value = offer;
    }
}

void stream_offers(struct stream *stream, const struct attempt *attempt, const struct stock_batch *held)
{
    const struct search *search = attempt->search;
    struct offer_batch *batch = held->batch;

    if (stream->is_broken || !stream_hold(stream, batch)) {
        stream->is_broken = true;
        return;
    }
    struct json_writer *json = event_begin(stream);
    json_key(json, "items");
    json_begin_object(json);
    for (size_t i = 0; i < batch->count; i++) {
        if (!stock_is_gone(held, i)) {
            write_item(stream, attempt, &batch->offers[i]);
        }
    }
    json_end_object(json);
    json_key(json, "offers");
    json_begin_array(json);
    for (size_t i = 0; i < batch->count; i++) {
        if (!stock_is_gone(held, i)) {
            shown_write_offer(json, attempt->supplier, &batch->offers[i], (struct text){ NULL, 0 },
                              search->options.detail);
        }
    }
    json_end_array(json);
    event_end(stream, search, SEARCH_EVENT_OFFERS);
}

void stream_note_gone(struct stream *stream, const struct attempt *attempt, const struct offer *offer)
{
    struct json_writer json;

    if (stream->gone.length > 0) {
        buffer_append_byte(&stream->gone, ',');
    }
    json_writer_init(&json, &stream->gone);
    shown_write_id(&json, attempt->supplier, offer, attempt->search->options.detail);
    stream->is_broken = stream->is_broken || stream->gone.is_full;
}

void stream_retract(struct stream *stream, const struct search *search, const char *reason)
{
    if (stream->gone.length == 0 || stream->is_broken) {
        return;
    }
    struct json_writer *json = event_begin(stream);
    json_key(json, "ids");
    json_begin_array(json);
    json_raw(json, buffer_text(&stream->gone));
    json_end_array(json);
    json_field_c(json, "reason", reason);
    buffer_clear(&stream->gone);
    event_end(stream, search, SEARCH_EVENT_RETRACT);
}

// ---------------------------------------------------------------------------------------------------------------
// settle

static int compare_addresses(const void *a, const void *b)
{
    const struct offer *x = *(const struct offer *const *)a;
    const struct offer *y = *(const struct offer *const *)b;
    return (x > y) - (x < y);
}

static void settle_items(struct stream *stream, const struct search *search, const struct merge_result *merged)
{
    size_t stale = 0;

    for (size_t i = 0; i < merged->item_count; i++) {
        const struct offer *offer = merged->items[i].offer;
        const struct text_map_slot *slot = text_map_find(&stream->items, offer->item);
        stale += slot != NULL && slot->value != NULL && !has_same_item(slot->value, offer);
    }
    if (stale == 0) {
        return;
    }
    struct json_writer *json = event_begin(stream);
    json_key(json, "items");
    json_begin_object(json);
    for (size_t i = 0; i < merged->item_count; i++) {
        write_item(stream, merged->items[i].attempt, merged->items[i].offer);
    }
    json_end_object(json);
    json_key(json, "offers");
    json_begin_array(json);
    json_end_array(json);
    event_end(stream, search, SEARCH_EVENT_OFFERS);
}

/// What stands in for it is told at the end, and of it only what counts.
static bool is_untold(const struct attempt *attempt)
{
    return attempt->recalled.is_shown && !attempt->recalled.is_told;
}

/// Those that count of what has not been told.
static void settle_untold(struct stream *stream, const struct search *search, const struct merge_result *merged)
{
    size_t untold = 0;

    for (size_t i = 0; i < merged->pick_count; i++) {
        untold += is_untold(merged->picks[i].attempt);
    }
    if (untold == 0) {
        return;
    }
    struct json_writer *json = event_begin(stream);
    json_key(json, "items");
    json_begin_object(json);
    for (size_t i = 0; i < merged->pick_count; i++) {
        if (is_untold(merged->picks[i].attempt)) {
            write_item(stream, merged->picks[i].attempt, merged->picks[i].offer);
        }
    }
    json_end_object(json);
    json_key(json, "offers");
    json_begin_array(json);
    for (size_t i = 0; i < merged->pick_count; i++) {
        const struct merge_pick *pick = &merged->picks[i];
        if (is_untold(pick->attempt)) {
            shown_write_offer(json, pick->attempt->supplier, pick->offer, (struct text){ NULL, 0 },
                              search->options.detail);
        }
    }
    json_end_array(json);
    event_end(stream, search, SEARCH_EVENT_OFFERS);
}

/// Notes every offer that is held but was not picked.
static void settle_attempt(struct stream *stream, const struct attempt *attempt, const struct offer *const *picked,
                           size_t picked_count)
{
    const struct stock *shown = attempt_shown(attempt);

    for (size_t i = 0; i < shown->count && !is_untold(attempt); i++) {
        const struct stock_batch *batch = &shown->batches[i];
        for (size_t j = 0; j < batch->batch->count; j++) {
            const struct offer *offer = &batch->batch->offers[j];
            if (!stock_is_gone(batch, j) &&
                bsearch(&offer, picked, picked_count, sizeof(void *), compare_addresses) == NULL) {
                stream_note_gone(stream, attempt, offer);
            }
        }
    }
}

void stream_settle(struct stream *stream, const struct search *search, const struct merge_result *merged)
{
    if (stream->is_broken) {
        return;
    }
    settle_untold(stream, search, merged);
    settle_items(stream, search, merged);
    const struct offer **picked = malloc((merged->pick_count + 1) * sizeof(void *));
    if (picked == NULL) {
        stream->is_broken = true;
        return;
    }
    for (size_t i = 0; i < merged->pick_count; i++) {
        picked[i] = merged->picks[i].offer;
    }
    qsort(picked, merged->pick_count, sizeof(void *), compare_addresses);
    for (size_t i = 0; i < search->attempt_count; i++) {
        if (!attempt_is_dark(&search->attempts[i])) {
            settle_attempt(stream, &search->attempts[i], picked, merged->pick_count);
        }
    }
    free(picked);
    stream_retract(stream, search, "over_limit");
}
