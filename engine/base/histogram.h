/// Histogram: counts values in logarithmic buckets (2 % wide), for quantiles of times.
///
/// With a half-life the counts decay, so that quantiles follow the recent past; with 0 they never do.
/// Values from 1 to 2^40; smaller ones count as 1, larger ones all in the last bucket.
///
/// Threads: one owner.
/// Memory:  a plain value to embed (about 11 KB).
/// Time:    always an argument.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stdint.h>

enum { HISTOGRAM_BUCKETS = 1408 };

struct histogram {
    double buckets[HISTOGRAM_BUCKETS];
    double total;
    uint64_t samples; // ever, undecayed
    uint64_t half_life_us;
    uint64_t decayed_at_us;
    uint64_t max;
};

void histogram_init(struct histogram *histogram, uint64_t half_life_us);
void histogram_add(struct histogram *histogram, uint64_t value, uint64_t now_us);

/// The value below which the share `quantile` (0..1) lies, upper edge of its bucket; 0 when empty.
uint64_t histogram_quantile(const struct histogram *histogram, double quantile);
