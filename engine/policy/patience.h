/// Patience: how long an answer is worth waiting for, and when waiting for all that is out is worth nothing any more
/// (policy.md section 3).
///
/// Both look ahead over all horizons, not one step: a slow supplier that never answers before 1.2 s is worth nothing in
/// the next 50 ms, and yet much.
///
/// Threads: any; plain values.
/// Memory:  curves are borrowed.
/// Time:    never reads the clock; times count from the start of an attempt.
#pragma once

#include "policy/latency.h"

#include <stddef.h>

enum { PATIENCE_HORIZONS = 20 };

/// The built-in ceiling: the least t from which on no horizon u is worth its wait,
///   max over u > t of (G(u) - G(t)) / S(t) - price * (u - t) <= 0,
/// `price` of a held connection in shares of the supplier's mean value a second, and on which as many attempts were
/// followed for as long again as say that what was not seen is not worth it either. Else 60 s, where curves end.
uint64_t patience_ceiling(const struct latency_curve *curve, double price_per_s);

/// One that is still out.
struct pending {
    const struct latency_curve *curve;
    uint64_t elapsed_us; // since its start
    double value;        // what its answer would add, in offers
    uint64_t end_us;     // its own end or that of the search, since its start; 0: that of the search
};

/// What waiting brings, at the best of 20 horizons up to `left_us` from now:
///   max over u of sum of value * (G(u) - G(t)) / S(t), less `cost_per_s` * (u - t).
/// 0 when nothing brings anything. `until_us`: the horizon it is at, from now.
double patience_gain(const struct pending *pending, size_t count, uint64_t left_us, double cost_per_s,
                     uint64_t *until_us);

/// Finish early: the gain is not above `least`.
bool patience_is_over(const struct pending *pending, size_t count, uint64_t left_us, double cost_per_s, double least);

/// What the next offers add to a list of `held`: 1 / (1 + held / scale); scale 0: always 1.
double patience_novelty(double held, double scale);
