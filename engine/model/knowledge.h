/// Knowledge: what is known of one account of a supplier, as it was read last: how long its answers take, and what they
/// are worth.
///
/// It is made anew when more is known and published by pointer; whoever holds one sees the same numbers to the end.
/// What is to be evaluated of it is policy's (policy/known.h) and comes as functions, so that scripts can ask too.
///
/// Threads: immutable once published; the count is atomic.
/// Memory:  one allocation of malloc, of which this is the beginning; freed with the last hold.
#pragma once

#include "base/check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct knowledge;

/// All times of attempts count from their start.
struct knowledge_ops {
    /// Chance that an attempt still out after `elapsed_us` is here by `until_us`. False: nobody knows.
    bool (*chance)(const struct knowledge *knowledge, uint64_t elapsed_us, uint64_t until_us, double *chance);
    /// From when on waiting costs more than it brings, of an answer worth `value` when a second costs `delay_cost`.
    /// False: nobody knows.
    bool (*worth_waiting)(const struct knowledge *knowledge, double value, double delay_cost, uint64_t *us);
};

/// Times by which shares of the answers are here, 0: nobody knows.
struct knowledge_latency {
    uint64_t samples; // 0: nothing is known
    uint64_t p50_us, p75_us, p95_us, p99_us;
};

struct knowledge {
    atomic_uint references;
    const struct knowledge_ops *ops;
    struct knowledge_latency latency;
    uint64_t ceiling_us; // the built-in one, from the start of an attempt; 0: none
    bool has_win_rate;
    double win_rate; // how often the cheapest offer of a search was its own, when it answered
};

/// NULL gives NULL.
struct knowledge *knowledge_hold(struct knowledge *knowledge);
void knowledge_drop(struct knowledge **knowledge);
