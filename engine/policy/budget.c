#include "policy/budget.h"

static const uint64_t reserve_half_life_us = 5ULL * 60 * 1000000;

struct budget budget_clamp(uint64_t requested_us, uint64_t min_us, uint64_t max_us)
{
    struct budget budget = { .requested_us = requested_us, .effective_us = requested_us };

    if (budget.effective_us > max_us) {
        budget.effective_us = max_us;
    }
    if (budget.effective_us < min_us) {
        budget.effective_us = min_us;
    }
    budget.is_clamped = budget.effective_us != requested_us;
    return budget;
}

const char *budget_from_name(enum budget_from from)
{
    static const char *const names[] = {
        [BUDGET_FROM_CALLER] = "caller",
        [BUDGET_FROM_DEFAULT] = "default",
        [BUDGET_FROM_RULE] = "rule",
        [BUDGET_FROM_SHUTDOWN] = "shutdown",
    };
    return names[from];
}

struct budget budget_by_rule(struct budget budget, uint64_t rule_us)
{
    if (budget.from == BUDGET_FROM_CALLER && rule_us >= budget.effective_us) {
        return budget;
    }
    if (budget.from != BUDGET_FROM_CALLER) {
        budget.requested_us = rule_us;
    }
    budget.effective_us = rule_us;
    budget.from = BUDGET_FROM_RULE;
    if (budget.limit_us != 0 && budget.limit_us < rule_us) {
        budget.effective_us = budget.limit_us;
        budget.from = BUDGET_FROM_CALLER;
    }
    budget.is_clamped = budget.effective_us != budget.requested_us;
    return budget;
}

void reserve_init(struct reserve *reserve)
{
    histogram_init(&reserve->finishing_us, reserve_half_life_us);
}

void reserve_learn(struct reserve *reserve, uint64_t finishing_us, uint64_t now_us)
{
    histogram_add(&reserve->finishing_us, finishing_us, now_us);
}

uint64_t reserve_wish(const struct reserve *reserve)
{
    bool is_known = reserve->finishing_us.samples >= BUDGET_RESERVE_SAMPLES;
    uint64_t finishing_us = is_known ? histogram_quantile(&reserve->finishing_us, 0.999) : BUDGET_RESERVE_UNKNOWN_US;

    return finishing_us + BUDGET_RESERVE_MIN_US;
}

uint64_t reserve_within(uint64_t wish_us, uint64_t budget_us)
{
    uint64_t wanted_us = wish_us;
    uint64_t most_us = budget_us / 20;

    if (most_us > BUDGET_RESERVE_MAX_US) {
        most_us = BUDGET_RESERVE_MAX_US;
    }
    if (wanted_us > most_us) {
        wanted_us = most_us;
    }
    return wanted_us > BUDGET_RESERVE_MIN_US ? wanted_us : BUDGET_RESERVE_MIN_US;
}

uint64_t reserve_for(const struct reserve *reserve, uint64_t budget_us)
{
    return reserve_within(reserve_wish(reserve), budget_us);
}

struct allocation allocation_of(uint64_t arrival_us, uint64_t ceiling_us, uint64_t end_us, uint64_t now_us)
{
    uint64_t ceiling_end_us = ceiling_us < UINT64_MAX - arrival_us ? arrival_us + ceiling_us : UINT64_MAX;
    struct allocation allocation = { .end_us = end_us, .bound = BOUND_BUDGET };

    if (ceiling_end_us < end_us) {
        allocation.end_us = ceiling_end_us;
        allocation.bound = BOUND_CEILING;
    }
    allocation.us = allocation.end_us > now_us ? allocation.end_us - now_us : 0;
    return allocation;
}
