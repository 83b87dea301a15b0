/// Budget: how much time there is, and who gets how much of it (policy.md section 1).
///
/// Threads: any; plain values.
/// Memory:  nothing to free.
/// Time:    never reads the clock.
#pragma once

#include "base/histogram.h"
#include "model/outcome.h"

enum {
    BUDGET_RESERVE_MIN_US = 2000,
    BUDGET_RESERVE_MAX_US = 50000,
    BUDGET_RESERVE_UNKNOWN_US = 10000, // until enough samples
    BUDGET_RESERVE_SAMPLES = 1000,
};

/// Who decided how long a search takes: its caller, or a proxy of his; nobody, so the default; a rule; the engine,
/// which ends.
enum budget_from { BUDGET_FROM_CALLER, BUDGET_FROM_DEFAULT, BUDGET_FROM_RULE, BUDGET_FROM_SHUTDOWN };
const char *budget_from_name(enum budget_from from);

/// A caller's wish, clamped to the configured range.
struct budget {
    uint64_t requested_us; // by the caller; if he named none, what stands in for it
    uint64_t effective_us;
    bool is_clamped;
    enum budget_from from;
    uint64_t limit_us; // a proxy waits no longer; 0: none said so
};
struct budget budget_clamp(uint64_t requested_us, uint64_t min_us, uint64_t max_us);

/// The budget of a search that a rule for its deadline fits, by a deadline within the configured range. It stands in
/// for the default of a search that names none, and it is the most that a search gets which names one: the smaller
/// wins, as between the body and the headers.
struct budget budget_by_rule(struct budget budget, uint64_t rule_us);

/// Learns what finishing costs: timer lateness + merge + write of each search that the budget ended.
/// Decayed p99.9, half-life 5 min; replies to slow readers are not fed.
struct reserve {
    struct histogram finishing_us;
};
void reserve_init(struct reserve *reserve);
void reserve_learn(struct reserve *reserve, uint64_t finishing_us, uint64_t now_us);

/// p99.9 (10 ms before 1,000 samples) + 2 ms.
uint64_t reserve_wish(const struct reserve *reserve);
/// That, clamped to [2 ms, min(50 ms, 5 % of the budget)].
uint64_t reserve_within(uint64_t wish_us, uint64_t budget_us);
/// Both.
uint64_t reserve_for(const struct reserve *reserve, uint64_t budget_us);

/// min(arrival + ceiling, deadline - reserve) - now.
struct allocation {
    uint64_t end_us;  // absolute
    uint64_t us;      // 0: do not send
    enum bound bound; // the smaller one; equal: BOUND_BUDGET
};
struct allocation allocation_of(uint64_t arrival_us, uint64_t ceiling_us, uint64_t end_us, uint64_t now_us);
