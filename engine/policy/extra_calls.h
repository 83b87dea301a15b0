/// Extra calls: when a second call is worth it, best value first (policy.md section 4). A call is made a second time
/// only while there is slack for it, and never when it could not be here in time.
///
/// A fast failure is retried at once; a connect that takes longer than nearly all is raced by another; an answer that
/// is likely to be late is asked for elsewhere. The allowance is the caller's: it is asked last, when all of this says
/// yes.
///
/// Threads: any; plain values.
/// Memory:  curves are borrowed.
/// Time:    never reads the clock.
#pragma once

#include "policy/latency.h"

enum {
    EXTRA_FLOOR_US = 20000,    // sooner nobody is late
    EXTRA_SAMPLES = 50,        // fewer say nothing of a supplier
    EXTRA_QUOTA_US = 10000000, // after a refusal for quota
};

/// Why not. The names are told in replies.
enum extra_answer {
    EXTRA_YES,
    EXTRA_NO_TIME,   // it could not be here in time
    EXTRA_TOO_SOON,  // nobody is late yet
    EXTRA_UNKNOWN,   // too few samples
    EXTRA_BREAKER,   // it is not closed
    EXTRA_BUSY,      // too many calls of it are under way
    EXTRA_QUOTA,     // it refused for quota lately
    EXTRA_OVERLOAD,  // we are
    EXTRA_NOT_WORTH, // what it costs
    EXTRA_ALLOWANCE, // used up; the caller's to say
};
const char *extra_answer_name(enum extra_answer answer);

/// How the one stands that would be called again.
struct extra_target {
    const struct latency_curve *curve;
    bool is_closed;         // its breaker
    uint32_t running, most; // calls under way, and as many as may be; 0: any number
    uint64_t quota_us;      // since it last refused for quota; UINT64_MAX: never
    bool is_overloaded;     // we are
};

/// A call failed fast, in a way that another may not. `left_us`: until the end of the allocation. While too little is
/// known of the supplier, there must be four times as much left as the failure took.
enum extra_answer extra_retry(const struct extra_target *target, uint64_t took_us, uint64_t left_us);

/// When to race a connect that is not there yet, from its start: at the 99 % of connects, at least 20 ms. False: never,
/// for too few are known.
MUST_CHECK bool extra_connect_us(const struct latency_curve *connects, uint64_t *us);

/// Of pairs whose first call was late, how many second ones were late, too: rho, with a prior of Beta(2, 2).
struct extra_pairs {
    double late, in_time;
};
double extra_rho(const struct extra_pairs *pairs);

struct extra_hedge {
    const struct latency_curve *first; // of the one that is out
    uint64_t elapsed_us;               // since its start
    uint64_t left_us;                  // until the end of the allocation
    double value;                      // of its answer, in offers
    double price;                      // of the extra call, in offers: theta * call_cost
    double rho;
};
/// Fires iff value * p_late * p_save > price, and the target's median fits what remains, and nothing vetoes:
///   p_late = 1 - (G(D) - G(t)) / S(t), p_save = G'(D - t) * (1 - rho), G' of the target.
enum extra_answer extra_hedge(const struct extra_hedge *hedge, const struct extra_target *target);
