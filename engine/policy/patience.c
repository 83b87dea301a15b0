#include "policy/patience.h"

#include <math.h>

enum { TOGETHER_OF_A_STEP = 16 };

// Of n of whom none came, no more than 3/n do, and that is right 19 times of 20.
static const double UNSEEN = 3;

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

/// Would the most that can have escaped us, in as long again as has been waited so far, still be worth less than its
/// wait? A flat end that rests on a few attempts, or on none because we cut them all, is no end.
static bool is_end(const struct latency_curve *curve, uint32_t bucket, double price_per_s)
{
    uint64_t wait_us = latency_bucket_us(bucket);
    double followed = (double)curve->followed[latency_bucket(2 * wait_us)];

    return UNSEEN <= followed * price_per_s * (double)wait_us / 1e6;
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
        bool is_dear = steepest <= price_per_s * (double)curve->unresolved[i] || steepest <= 0;
        if (is_dear && (i == 0 || is_end(curve, i, price_per_s))) {
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

static bool is_before(struct latency_place place, struct latency_place other)
{
    return place.bucket != other.bucket ? place.bucket < other.bucket : place.part < other.part;
}

double patience_gain(const struct pending *pending, size_t count, uint64_t left_us, double cost_per_s,
                     uint64_t *until_us)
{
    double gains[PATIENCE_HORIZONS] = { 0 };
    struct latency_place places[PATIENCE_HORIZONS] = { 0 };
    uint64_t elapsed_us = 0;
    double best = 0;

    *until_us = 0;
    for (size_t i = 0; i < count; i++) {
        const struct latency_curve *curve = pending[i].curve;
        if (i == 0 || !is_together(pending[i].elapsed_us, elapsed_us, left_us)) {
            elapsed_us = pending[i].elapsed_us;
            for (uint32_t h = 0; h < PATIENCE_HORIZONS; h++) {
                places[h] = latency_place(elapsed_us + left_us * (h + 1) / PATIENCE_HORIZONS);
            }
        }
        struct latency_place now = latency_place(pending[i].elapsed_us);
        double unresolved = latency_read(curve->unresolved, now), delivered = latency_read(curve->delivered, now);
        double worth = unresolved > 1e-6 ? pending[i].value / unresolved : 0;
        struct latency_place last = { .bucket = LATENCY_BUCKETS };
        if (pending[i].end_us != 0) {
            last = is_before(latency_place(pending[i].end_us), now) ? now : latency_place(pending[i].end_us);
        }
        for (uint32_t h = 0; h < PATIENCE_HORIZONS; h++) {
            struct latency_place then = is_before(places[h], last) ? places[h] : last;
            then = h + 1 == PATIENCE_HORIZONS && pending[i].end_us != 0 ? last : then; // to the very end
            gains[h] += worth * fmax(latency_read(curve->delivered, then) - delivered, 0);
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
