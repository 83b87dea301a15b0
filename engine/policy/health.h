/// Health: what is known of one account of a supplier from what became of its calls: its breaker and its latency
/// (policy.md sections 2 and 5).
///
/// Whoever calls asks first and tells afterwards, once. What we ended ourselves is never held against the supplier, but
/// for this: a phase of the network that was pending longer than 99 % of its answers of the day took, or 5 s while that
/// is not known, is slow, whichever bound ended it. So a supplier that hangs opens its breaker, and a healthy one that
/// is cut a thousand times does not. A built-in ceiling is read from those answers and cuts the later ones: what it cut
/// is slow only by a 99 % that holds even if all that was not followed had come.
///
/// Threads: one owner; the caller holds the account's lock.
/// Memory:  a plain value to embed (about 31 KiB); nothing to free.
/// Time:    never reads the clock, every call takes `now_us`, which does not go back.
#pragma once

#include "policy/breaker.h"
#include "policy/latency.h"

enum {
    HEALTH_SLOW_US = 5000000, // while the day is not known
    HEALTH_DAY_SAMPLES = 50,  // fewer do not make a day
    HEALTH_DAY_US = 60000000, // how often it is read
};

/// What became of a call.
enum health_end {
    HEALTH_GOOD,        // an answer, even an empty one
    HEALTH_BAD,         // the supplier's failure, or that it says it is busy
    HEALTH_UNREACHABLE, // no connection
    HEALTH_CUT,         // we ended it while it could still have come
    HEALTH_OURS,        // anything else says nothing of the supplier
};

struct health_result {
    struct breaker_pass pass;
    enum health_end end;
    uint64_t took_us;    // since it began: until the body was here, or it failed, or was cut
    uint64_t pending_us; // cut in a phase of the network: since that fetch began; 0: in another one
    bool by_built_in;    // cut by the built-in ceiling
    double value;        // of an answer: its offers
    bool has_answered;   // a whole answer came, whatever it said
    bool was_asked;      // something of it went out, or could have
};

struct health {
    struct breaker breaker;
    struct latency latency;
    struct latency_curve curve; // of the last minutes
    uint32_t fits;              // how often it was read
    uint64_t slow_us;           // 99 % of the day's answers were here by then; 0: not known
    uint64_t sure_slow_us;      // the same, if all that was not followed had come as well; 0: not known
    uint64_t day_read_us;
};

void health_init(struct health *health, struct breaker_settings settings, uint64_t now_us);
/// New settings count at once; what is known stays.
void health_set(struct health *health, struct breaker_settings settings, uint64_t now_us);

/// May a call go out? As breaker_ask; always, when breakers are off.
MUST_CHECK enum breaker_answer health_ask(struct health *health, uint32_t dice, uint64_t now_us,
                                          struct breaker_pass *pass);
/// The two halves of health_tell, for callers whose guard is under a lock of its own, which only the second one needs:
/// what is learned, which may take some 10 us, and says what the breaker makes of it; then the breaker, where it is on.
MUST_CHECK enum breaker_verdict health_learn(struct health *health, const struct health_result *result,
                                             uint64_t now_us);
bool health_judge(struct health *health, struct breaker_guard *guard, struct breaker_pass pass,
                  enum breaker_verdict verdict, uint32_t dice, uint64_t now_us);
/// True: the breaker's state changed.
bool health_tell(struct health *health, struct breaker_guard *guard, const struct health_result *result, uint32_t dice,
                 uint64_t now_us);
