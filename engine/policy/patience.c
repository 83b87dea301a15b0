#include "policy/patience.h"

#include <math.h>

enum { TOGETHER_OF_A_STEP = 16 };

// ---- the ceiling

struct point {
    double at_s, delivered;
};

static struct point point_of(const struct latency_curve *curve, uint32_t bucket)
{
    return (struct point){ (double)latency_bucket_us(bucket) / 1e6, (double)curve->delivered[bucket] };
}

static double slope(struct point from, struct point to)
{
    return (to.delivered - from.delivered) / (to.at_s - from.at_s);
}

/// Some horizon u of t is worth its wait when (G(u) - G(t)) / (u - t) > price * S(t). The steepest such line from t
/// goes to the next corner of the upper hull of what lies behind t, so that one pass from the end finds all of them.
uint64_t patience_ceiling(const struct latency_curve *curve, double price_per_s)
{
    struct point hull[LATENCY_BUCKETS + 1];
    uint32_t corners = 0, ceiling = LATENCY_BUCKETS;

    for (uint32_t i = LATENCY_BUCKETS + 1; i-- > 0;) {
        struct point here = point_of(curve, i);
        while (corners >= 2 && slope(here, hull[corners - 1]) <= slope(hull[corners - 1], hull[corners - 2])) {
            corners--;
        }
        double steepest = corners > 0 ? slope(here, hull[corners - 1]) : 0;
        if (steepest <= price_per_s * (double)curve->unresolved[i] || steepest <= 0) {
            ceiling = i;
        }
        hull[corners++] = here;
    }
    return latency_bucket_us(ceiling);
}

// ---- the early finish

/// Attempts that began nearly together share their horizons, which are then off by a fraction of a step, but for the
/// last one.
static bool is_together(uint64_t elapsed_us, uint64_t other_us, uint64_t left_us)
{
    uint64_t apart_us = elapsed_us > other_us ? elapsed_us - other_us : other_us - elapsed_us;
    return apart_us <= left_us / PATIENCE_HORIZONS / TOGETHER_OF_A_STEP;
}

double patience_gain(const struct pending *pending, size_t count, uint64_t left_us, double cost_per_s,
                     uint64_t *until_us)
{
    double gains[PATIENCE_HORIZONS] = { 0 };
    uint32_t buckets[PATIENCE_HORIZONS] = { 0 };
    uint64_t elapsed_us = 0;
    double best = 0;

    *until_us = 0;
    for (size_t i = 0; i < count; i++) {
        const struct latency_curve *curve = pending[i].curve;
        if (i == 0 || !is_together(pending[i].elapsed_us, elapsed_us, left_us)) {
            elapsed_us = pending[i].elapsed_us;
            for (uint32_t h = 0; h < PATIENCE_HORIZONS; h++) {
                buckets[h] = latency_bucket(elapsed_us + left_us * (h + 1) / PATIENCE_HORIZONS);
            }
        }
        uint32_t now = latency_bucket(pending[i].elapsed_us);
        double unresolved = (double)curve->unresolved[now], delivered = (double)curve->delivered[now];
        double worth = unresolved > 1e-6 ? pending[i].value / unresolved : 0;
        uint32_t last = pending[i].end_us != 0 ? latency_bucket(pending[i].end_us) : LATENCY_BUCKETS;
        last = last > now ? last : now;
        for (uint32_t h = 0; h < PATIENCE_HORIZONS; h++) {
            uint32_t then = buckets[h] < last ? buckets[h] : last;
            then = h + 1 == PATIENCE_HORIZONS && pending[i].end_us != 0 ? last : then; // to the very end
            gains[h] += worth * ((double)curve->delivered[then] - delivered);
        }
    }
    for (uint32_t h = 0; h < PATIENCE_HORIZONS; h++) {
        uint64_t wait_us = left_us * (h + 1) / PATIENCE_HORIZONS;
        double gain = gains[h] - cost_per_s * (double)wait_us / 1e6;
        if (gain > best) {
            best = gain;
            *until_us = wait_us;
        }
    }
    return best;
}

bool patience_is_over(const struct pending *pending, size_t count, uint64_t left_us, double cost_per_s, double least)
{
    uint64_t until_us;

    return patience_gain(pending, count, left_us, cost_per_s, &until_us) <= least;
}

double patience_novelty(double held, double scale)
{
    return scale > 0 ? 1 / (1 + fmax(held, 0) / scale) : 1;
}
