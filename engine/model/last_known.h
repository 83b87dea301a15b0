/// Last known: what a supplier's account answered to a query last, and what is known of that without reading it.
///
/// Only whole, valid answers become one. It is known by supplier, account, product, canonical query and the schema of
/// offers; the store (store/store.h) keeps it.
///
/// Threads: plain values.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// What an answer that is held back is told by.
#define PRICE_GUARD_CODE "price_guard"

/// How the price of an offer came about, as the offer says it.
enum price_status { PRICE_LIVE, PRICE_CACHED, PRICE_INDICATIVE };
const char *price_status_name(enum price_status status);

/// Kept beside the offers, so that the index of a search need not read them.
struct last_known_head {
    uint64_t observed_ms;  // since 1970: when the answer came
    uint64_t until_ms;     // since 1970: it is forgotten then
    uint64_t expires_ms;   // since 1970: the last of its offers has expired; 0: not all say when
    uint32_t offers;       // 0: the answer was empty
    uint32_t bytes;        // that its offers take in the store
    int64_t median_micros; // the median of totals that may win; 0: none may
    char currency[4];      // of that
};

/// What a generation's settings say of it.
struct last_known_settings {
    bool is_on;                // there is a store
    bool fills;                // attempts that were cut go on, so that it has their answers
    uint64_t slice_us;         // how long a search waits for the store
    uint64_t max_age_ms;       // older stands in for nothing
    uint64_t empty_max_age_ms; // the same of answers without offers
};

/// What they say of one supplier.
struct last_known_terms {
    uint64_t max_age_ms;   // 0: as the generation's
    uint64_t fresh_for_ms; // younger than this it is used, and the supplier not asked; 0: it is always asked
    uint64_t price_guard;  // by how much a median may fall below the last known one; millionths; 0: as far as it likes
};
