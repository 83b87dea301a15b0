#include "base/histogram.h"

#include <math.h>
#include <string.h>

// Decay without touching the buckets: a sample of `now` weighs 2^((now - decayed_at) / half_life), so that older ones
// weigh less beside it. Only the ratios matter. When the weight gets large, everything is scaled back once.

enum { HISTOGRAM_RESCALE_HALF_LIVES = 32 };

static const double histogram_log_width = 0.019802627296179712; // ln 1.02
static const double histogram_dust = 1e-12;                     // less than this of a sample is forgotten

void histogram_init(struct histogram *histogram, uint64_t half_life_us)
{
    memset(histogram, 0, sizeof(*histogram));
    histogram->half_life_us = half_life_us;
}

static size_t histogram_bucket(uint64_t value)
{
    if (value <= 1) {
        return 0;
    }
    size_t bucket = (size_t)(log((double)value) / histogram_log_width);
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

static void histogram_rescale(struct histogram *histogram, double half_lives, uint64_t now_us)
{
    double factor = exp2(-half_lives);

    histogram->total = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        double count = histogram->buckets[i] * factor;
        histogram->buckets[i] = count > histogram_dust ? count : 0;
        histogram->total += histogram->buckets[i];
    }
    histogram->decayed_at_us = now_us;
}

// What a sample of `now_us` weighs. Time that goes back counts as standing still.
static double histogram_weight(struct histogram *histogram, uint64_t now_us)
{
    if (histogram->half_life_us == 0) {
        return 1;
    }
    if (histogram->samples == 0) {
        histogram->decayed_at_us = now_us;
    }
    if (now_us <= histogram->decayed_at_us) {
        return 1;
    }
    double half_lives = (double)(now_us - histogram->decayed_at_us) / (double)histogram->half_life_us;
    if (half_lives > HISTOGRAM_RESCALE_HALF_LIVES) {
        histogram_rescale(histogram, half_lives, now_us);
        return 1;
    }
    return exp2(half_lives);
}

void histogram_add(struct histogram *histogram, uint64_t value, uint64_t now_us)
{
    double weight = histogram_weight(histogram, now_us);

    histogram->buckets[histogram_bucket(value)] += weight;
    histogram->total += weight;
    histogram->samples++;
    if (value > histogram->max) {
        histogram->max = value;
    }
}

// The largest whole number in the bucket, hence never below any value that was put into it.
static uint64_t histogram_upper_edge(size_t bucket)
{
    double edge = exp(histogram_log_width * (double)(bucket + 1));

    return (uint64_t)edge;
}

uint64_t histogram_quantile(const struct histogram *histogram, double quantile)
{
    if (histogram->samples == 0) {
        return 0;
    }
    double share = quantile > 0 ? (quantile < 1 ? quantile : 1) : 0;
    double target = share * histogram->total * (1 - 1e-12); // rounding must not push 1.0 past the last bucket
    double below = 0;
    size_t last = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] <= 0) {
            continue;
        }
        below += histogram->buckets[i];
        last = i;
        if (below >= target) {
            break;
        }
    }
    return histogram_upper_edge(last);
}
