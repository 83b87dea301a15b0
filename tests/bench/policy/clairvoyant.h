/// Clairvoyant: what somebody could have done who knew all that the trace says beforehand. No policy, but a bound.
///
/// It makes one call of each supplier, the one of all it might make that is back first, and none that is not back by
/// the deadline; it replies when the last one is back. Merging, workers and the loop cost it nothing.
///
/// Threads: any; pure.
/// Memory:  nothing to free.
#pragma once

#include "bench/policy/trace.h"

struct clairvoyant_reply {
    uint64_t took_us;
    uint64_t answered;
    double completeness;
    double connection_us;
    uint32_t requests;
};

/// `start_us`: until requests can go out.
struct clairvoyant_reply clairvoyant_play(const struct trace *trace, size_t search, uint64_t budget_us,
                                          uint64_t start_us);
