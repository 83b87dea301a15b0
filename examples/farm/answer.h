/// Answer: thirty offers for a journey, in one of two JSON shapes, out of a template made once.
///
/// A template is the finished bytes for a number of slices with slots of fixed width: airports, times, flight numbers,
/// prices, ids. Rendering copies the bytes and fills the slots by the query, so that an answer costs a few microseconds
/// and no memory. Equal (seed, supplier, query) give equal bytes, so a template keeps the answer that it gave last: a
/// bench asks for the same thing again and again, and what it measures is not the farm. Two in five itineraries come
/// from a timetable that all suppliers share.
///
/// Threads: one; rendering alone does not change a template.
/// Memory:  a template owns its bytes and the answer kept; rendering writes into the caller's.
#pragma once

#include "farm/query.h"
#include "farm/timetable.h"

enum { ANSWER_OFFERS = 30, ANSWER_SHARED = 12 };

struct answer_template;

/// NULL without memory. `supplier` is its index.
MUST_CHECK struct answer_template *answer_template_create(enum query_shape shape, uint64_t seed, uint32_t supplier,
                                                          unsigned slice_count);
void answer_template_destroy(struct answer_template **answer);

/// Bytes of every answer of this template.
size_t answer_length(const struct answer_template *answer);

/// Writes answer_length() bytes. The query has as many slices as the template.
void answer_render(const struct answer_template *answer, const struct query *query, char *out);

/// The same bytes, kept until another query is asked; absent without memory.
struct text answer_recall(struct answer_template *answer, const struct query *query);

/// The offers of an answer as numbers, for shapes that are written otherwise.
struct answer_sale {
    struct route routes[QUERY_SLICES_MAX]; // which the legs point into
    struct leg legs[ANSWER_OFFERS][QUERY_SLICES_MAX][TIMETABLE_LEGS];
    int durations[ANSWER_OFFERS][QUERY_SLICES_MAX];
    int64_t totals[ANSWER_OFFERS], taxes[ANSWER_OFFERS]; // in hundredths
    const struct itinerary *itineraries;
    const char *currency;
    uint64_t hash;
};

void answer_sell(const struct answer_template *answer, const struct query *query, struct answer_sale *sale);

/// Keeps `count` offers from `first` on of a rendered answer of shape A and opens its end: what is left lacks the
/// closing brace, so that members can follow. Returns the new length.
size_t answer_keep(const struct answer_template *answer, char *rendered, unsigned first, unsigned count);
