/// Shapes: answers in the manner of three large suppliers, whose scripts are mostly plans.
///
///     maps    POST /v3/search/create, then /v3/search/poll/ID: itineraries, legs, segments, places and carriers are
///             maps by id, prices whole thousandths, times {year, month, …}; each poll tells the whole list as it is
///     tables  POST /v4/offers/shop: itineraries name legs, legs name schedules, in tables of the answer; amounts are
///             JSON numbers, times have no date of their own, only an offset and days to add
///     rates   GET /v3/properties/availability: up to 250 properties, with rooms and rates in them and prices by the
///             occupancy of a room; each request is signed by SHA-512 over key, secret and time (shape_rates.h)
///
/// Flights are those of shape A (answer.h), written otherwise.
///
/// Threads: any, the loop's for what is read.
/// Memory:  plain values; an answer is written into the caller's.
#pragma once

#include "base/buffer.h"
#include "farm/step.h"

enum { SHAPES_ANSWER_MAX = 1 << 20 }; // bytes

/// Flights of the shapes maps and tables.
static inline bool shapes_is_needed(const struct supplier *supplier)
{
    return supplier->shape == SUPPLIER_MAPS || supplier->shape == SUPPLIER_TABLES;
}

/// What a request asks for. False: `*status` and `*why` say what is wrong with it.
MUST_CHECK bool shapes_read(struct step *step, struct supplier *supplier, struct sessions *sessions,
                            const struct request *request, const char **status, const char **why);

/// Writes the answer into SHAPES_ANSWER_MAX bytes; returns its length.
size_t shapes_render(const struct step *step, const struct supplier *supplier, char *out);

void shape_maps_write(struct buffer *out, const struct step *step, const struct answer_sale *sale);
void shape_tables_write(struct buffer *out, const struct step *step, const struct answer_sale *sale);
