/// Envelope: what a search request says around its query: product, budget, suppliers, limits.
///
/// Reads the body once, strictly, without building a tree; the query itself is only passed over here, for keys that
/// stand twice, the product's script validates it. Errors carry RFC 6901 pointers, and all of them are told at once.
///
/// Threads: its caller's.
/// Memory:  texts point into the body or into `scratch`, both of which outlive the envelope's use.
#pragma once

#include "app/problem.h"
#include "search/indicative.h"
#include "search/sort.h"

enum { ENVELOPE_MAX_SUPPLIERS = 256, ENVELOPE_MAX_BUDGET_MS = 3600000 };

struct envelope {
    struct buffer scratch;
    struct text product;
    uint64_t budget_ms;                            // 0: not given
    struct text suppliers[ENVELOPE_MAX_SUPPLIERS]; // absent: it was refused
    size_t supplier_count;
    bool has_suppliers;
    bool whole_or_nothing;                   // "partial": false
    bool is_test;                            // "mode": "test"
    uint32_t max_items, max_offers_per_item; // 0: not given
    enum sort sort;
    enum indicative indicative;
};

void envelope_init(struct envelope *envelope);
void envelope_fini(struct envelope *envelope);

/// False: `problem` says what is wrong (400 not JSON, 503 no memory, 422 otherwise).
MUST_CHECK bool envelope_read(struct envelope *envelope, struct text body, struct problem *problem);
