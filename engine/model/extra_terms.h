/// Extra terms: what a supplier and the settings say of calls that are made a second time.
///
/// Threads: any.
/// Memory:  plain values; texts are their owner's.
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXTRA_STATUSES_MAX = 16, EXTRA_ENDPOINTS_MAX = 8 };

/// Of a supplier, as its script says.
struct extra_terms {
    bool may_hedge;                        // `limits.hedge`: the same endpoint may be asked twice
    double call_cost;                      // of a call, in offers; 0: not said, which is 1
    uint16_t retry_on[EXTRA_STATUSES_MAX]; // statuses that are asked again at once
    size_t retry_on_count;
    bool has_retry_on;            // it was said; `{}` means none
    const struct text *endpoints; // origins that answer the same requests: "https://b.acme.example"
    size_t endpoint_count;
    struct text origin; // that they are alternatives of: where the script's own base_url leads; absent: any. A request
                        // to another one, such as a test system that the settings name, does not go to them
};

/// Of the settings.
struct extra_settings {
    bool is_on;          // false: no call is made twice
    double per_supplier; // extra calls, as a share of ordinary ones; 0..1
    double engine;       // of all suppliers together
};

/// Is an answer with this status asked for again?
static inline bool extra_terms_retry(const struct extra_terms *terms, uint16_t status)
{
    if (!terms->has_retry_on) {
        return status == 503 || status == 504;
    }
    for (size_t i = 0; i < terms->retry_on_count; i++) {
        if (terms->retry_on[i] == status) {
            return true;
        }
    }
    return false;
}
