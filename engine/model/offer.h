/// Offer: the offers of one answer, as columns to rank by and bytes to copy.
///
/// A worker makes a batch: valid offers only, each with its finished JSON, sorted by offer_compare. Searches merge
/// batches by these columns and never look inside the bytes.
///
/// Threads: immutable after creation; the count is atomic.
/// Memory:  counted; one arena.
#pragma once

#include "base/status.h"
#include "model/facet.h"

enum {
    OFFER_MAX_PER_ANSWER = 1000,
    OFFER_MAX_PER_BATCH = 2000, // of several answers put together
    OFFER_MICROS = 1000000,
};

/// Why an offer may be shown but never wins "cheapest"; 0: comparable.
enum offer_flag { OFFER_COMPARABLE = 0, OFFER_TAXES_UNCLEAR = 1, OFFER_NOT_CONVERTIBLE = 2, OFFER_EXPIRED = 4 };

struct offer {
    uint32_t flag;        // sum of enum offer_flag
    int64_t total_micros; // the total in millionths of the currency's unit
    char currency[4];
    uint32_t duration_min; // for sort = duration; UINT32_MAX: none
    struct text item;      // identity of the thing offered, e.g. the flights
    struct text id;        // unique within the supplier
    struct text json;      // the finished offer object: `id` is "supplier:id"
    uint32_t head_length;  // … so many bytes of it are `id`, `supplier` and `item`, with its first brace
    struct text item_json; // the finished object of what is common to the item; absent: none
    uint32_t status_at;    // within `json`: where the value of `price_status` begins, behind its quote; 0: not known
    struct text price;     // within `json`: the object
    struct text expires_at;
    struct text hidden;    // what is checked and never shown, as members of JSON, each behind a comma; absent: nothing
    const uint16_t *marks; // its facet values, as numbers of the batch's table; each once
    uint16_t mark_count;
};

struct offer_batch {
    uint32_t references; // atomic; use acquire and release
    struct arena arena;
    struct offer *offers; // sorted by offer_compare
    size_t count;
    const uint16_t *by_duration; // their numbers in the order of offer_compare_duration; NULL: none has a duration
    struct facet_table facets;
    int decimals;            // of the currency that comparable offers are in
    size_t unmapped;         // offers whose thing has no identity but the supplier's own
    size_t dropped;          // offers that were not valid
    char dropped_first[256]; // path and reason of the first one dropped
    struct buffer *drops;    // where all of them are told, a line each; NULL: nowhere
    size_t corrected;        // durations that did not agree with their times
    char corrected_first[160];
    size_t ended; // objects left out, because they were over when the answer came: a term of refund
    char ended_first[160];
};

/// The total of an offer where it may win; INT64_MAX: it may not.
static inline int64_t offer_comparable_micros(const struct offer *offer)
{
    return offer->flag == OFFER_COMPARABLE ? offer->total_micros : INT64_MAX;
}

/// An empty batch with one reference; the maker fills `offers` from its arena, then sorts. NULL without memory.
MUST_CHECK struct offer_batch *offer_batch_create(size_t memory_ceiling);
struct offer_batch *offer_batch_acquire(struct offer_batch *batch);
void offer_batch_release(struct offer_batch **batch);
/// Both orders; without memory there is none by duration.
void offer_batch_sort(struct offer_batch *batch);

/// The order of the reply within one supplier: (flag, total, currency, item, id).
int offer_compare(const struct offer *a, const struct offer *b);

/// Which is quicker, the flagged ones last: (flag, duration). 0: ask another order.
int offer_compare_duration(const struct offer *a, const struct offer *b);
