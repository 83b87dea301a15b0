/// Last known: what a supplier's account answered to a query last, and what is known of that without reading it.
///
/// Only whole, valid answers become one. It is known by supplier, account, product, canonical query and the schema of
/// offers; the store (store/store.h) keeps it.
///
/// Threads: plain values.
#pragma once

#include <stdint.h>

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
