/// Latency: what is known of how long a supplier takes, and what is not (policy.md section 2).
///
/// A call that we cut did not take 900 ms; it took at least 900 ms. So there are three kinds of observations: it
/// arrived, with what its answer was worth; it failed; it was censored, that is cut by us while it could still have
/// come. They are counted in buckets 2 % wide, three times, with half-lives of 30 s (to notice a change), 5 min (to
/// decide) and 24 h (what to believe while there are few), and read by the estimator of Aalen and Johansen (1978),
/// arrivals weighted by their value.
///
/// Threads: one owner; the caller holds the supplier's lock. A curve is a plain value that never changes.
/// Memory:  plain values to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LATENCY_BUCKETS = 556, // from 1 ms to 60 s; what is outside counts in the first or the last
    LATENCY_FIT_OBSERVATIONS = 64,
    LATENCY_FIT_US = 1000000,
    LATENCY_PRIOR_WEIGHT = 20, // observations that the day counts as
    LATENCY_FOLLOWED = 15,     // observations that make a piece of a curve known
};

/// What can become of an attempt, seen from its start.
struct latency_curve {
    float unresolved[LATENCY_BUCKETS + 1]; // S: share of attempts that are neither here nor failed, by a bucket's begin
    float delivered[LATENCY_BUCKETS + 1];  // G: share of an answer's mean value that is here by then; may end below 1
    float followed[LATENCY_BUCKETS + 1];   // attempts that were still out by then, and that we had not cut before
    double samples;                        // of the last minutes, decayed; without the day's
    double day_samples;
    uint64_t known_us; // up to here enough of the attempts it is read from were followed to their end
};

struct latency_counts {
    float arrivals[LATENCY_BUCKETS], value[LATENCY_BUCKETS], errors[LATENCY_BUCKETS], censored[LATENCY_BUCKETS];
    uint64_t half_life_us, decayed_at_us;
    bool is_begun;
};

struct latency {
    struct latency_counts quick, lasting, day;
    uint32_t unfitted; // observations since the last fit
    uint64_t fitted_us;
    uint32_t changes; // noticed so far
};

void latency_init(struct latency *latency);

/// The answer's body was here after `us`. `value`: what it was worth, in any unit that is the same for all of them,
/// such as the offers that were new; less than nothing counts as nothing.
void latency_arrived(struct latency *latency, uint64_t us, double value, uint64_t now_us);
/// It ended after `us` in a way that is the supplier's.
void latency_failed(struct latency *latency, uint64_t us, uint64_t now_us);
/// We gave it up after `us`.
void latency_censored(struct latency *latency, uint64_t us, uint64_t now_us);

/// After 64 observations, or one and a second.
bool latency_wants_fit(const struct latency *latency, uint64_t now_us);

/// Reads the curve. When the last half minute contradicts the last minutes, these are forgotten first, and it says
/// true.
bool latency_fit(struct latency *latency, uint64_t now_us, struct latency_curve *curve);

/// As latency_fit, for somebody who only looks: nothing is forgotten, and the next fit comes when it would have.
void latency_look(const struct latency *latency, uint64_t now_us, struct latency_curve *curve);

/// Reads the day's counts alone.
void latency_fit_day(const struct latency *latency, uint64_t now_us, struct latency_curve *curve);

/// Of nothing: no attempt ever ends.
void latency_curve_init(struct latency_curve *curve);

/// S and G after `us`. Inside a bucket they are taken to go straight from its begin to its end: near 2 s it is 40 ms
/// wide, and steps of that width would say that nothing comes in the last of them.
double latency_unresolved(const struct latency_curve *curve, uint64_t us);
double latency_delivered(const struct latency_curve *curve, uint64_t us);

/// Chance, weighted by value, that an attempt still unresolved after `elapsed_us` is here by `until_us`, both from its
/// start: (G(u) - G(t)) / S(t).
double latency_chance(const struct latency_curve *curve, uint64_t elapsed_us, uint64_t until_us);

/// The time by which the share `quantile` (0..1) is here. False: nobody knows, for too few ever were.
MUST_CHECK bool latency_quantile(const struct latency_curve *curve, double quantile, uint64_t *us);

/// A time as a curve has it: its bucket, and the part of the bucket that is over by then.
struct latency_place {
    uint32_t bucket;
    float part;
};

struct latency_place latency_place(uint64_t us);

/// S, G: at a place.
static inline double latency_read(const float *values, struct latency_place place)
{
    double here = (double)values[place.bucket];

    return place.part > 0 ? here + ((double)values[place.bucket + 1] - here) * (double)place.part : here;
}

/// The bucket that a time falls in, and where it begins; LATENCY_BUCKETS: beyond the last.
uint32_t latency_bucket(uint64_t us);
uint64_t latency_bucket_us(uint32_t bucket);
