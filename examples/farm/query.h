/// Query: what a request asks for, read from either of the two JSON shapes.
///
/// Shape A: {"trip": [{"from", "to", "date"}], "travellers": {"adults", "children", "infants"}, "cabin", "currency"}
/// Shape B: {"od": ["MAD-LHR-2030-05-12"], "pax": "2ADT1CHD", "class": "Y", "cur": "EUR"}
///
/// Threads: any.
/// Memory:  a plain value.
#pragma once

#include "base/text.h"

enum { QUERY_SLICES_MAX = 6, QUERY_PARTY_MAX = 9 };
enum query_shape { QUERY_SHAPE_A, QUERY_SHAPE_B };
enum query_cabin { QUERY_ECONOMY, QUERY_PREMIUM, QUERY_BUSINESS, QUERY_FIRST };

struct query_slice {
    char from[4];
    char to[4];
    int32_t day; // days since 1970-01-01
};

struct query {
    struct query_slice slices[QUERY_SLICES_MAX];
    uint8_t slice_count;
    uint8_t party;
    uint8_t cabin; // enum query_cabin
    char currency[4];
    uint64_t hash; // of the meaning, not of the bytes
};

/// False: `*why` is a constant sentence for the caller.
MUST_CHECK bool query_read(struct query *query, enum query_shape shape, struct text body, const char **why);

/// Both ask for the same, so that one answer serves both.
bool query_equals(const struct query *a, const struct query *b);

/// Fills the hash of a query that was read otherwise. False: it has no slice.
MUST_CHECK bool query_finish(struct query *query);

/// False: not a date, or not of these two centuries.
MUST_CHECK bool query_read_date(struct text text, int32_t *day);

/// "YYYY-MM-DD" of a day; writes exactly ten bytes.
void query_write_date(int32_t day, char out[10]);
