#include "search/permit.h"

static bool try_it(struct permit *permit, struct world *world, const struct script_account *account, bool uses_kept,
                   struct permit_refusal *refusal)
{
    static const struct {
        enum outcome outcome;
        const char *detail;
    } REFUSALS[] = {
        [QUOTA_BLOCKED] = { OUTCOME_RATE_LIMITED, "the supplier asked to wait" },
        [QUOTA_PER_SECOND] = { OUTCOME_RATE_LIMITED, "the account's requests of a second are used" },
        [QUOTA_PER_MINUTE] = { OUTCOME_RATE_LIMITED, "the account's requests of a minute are used" },
        [QUOTA_PER_DAY] = { OUTCOME_RATE_LIMITED, "the account's requests of a day are used" },
        [QUOTA_CONCURRENT] = { OUTCOME_SATURATED, "as many requests of the account as may be are under way" },
    };
    uint64_t wait_us = 0;

    require(permit->account == NULL);
    if (world->ops->permit_begin == NULL) {
        return true;
    }
    bool is_kept = uses_kept && world->ops->permit_begin_kept != NULL;
    enum quota_answer answer = is_kept ? world->ops->permit_begin_kept(world, account, &wait_us)
                                       : world->ops->permit_begin(world, account, &wait_us);
    if (answer == QUOTA_FREE) {
        permit->account = account;
        return true;
    }
    *refusal = (struct permit_refusal){ .outcome = REFUSALS[answer].outcome,
                                        .retry_after_ms = (wait_us + 999) / 1000,
                                        .detail = REFUSALS[answer].detail };
    return false;
}

bool permit_try(struct permit *permit, struct world *world, const struct script_account *account,
                struct permit_refusal *refusal)
{
    return try_it(permit, world, account, false, refusal);
}

void permit_give_up(struct world *world, const struct script_account *account)
{
    if (world->ops->permit_given_up != NULL) {
        world->ops->permit_given_up(world, account);
    }
}

static bool take(struct permit *permit, struct world *world, const struct script_account *account, bool uses_kept,
                 struct permit_refusal *refusal)
{
    bool is_taken = try_it(permit, world, account, uses_kept, refusal);

    if (!is_taken && refusal->outcome == OUTCOME_SATURATED) {
        permit_give_up(world, account);
    }
    return is_taken;
}

bool permit_take(struct permit *permit, struct world *world, const struct script_account *account,
                 struct permit_refusal *refusal)
{
    return take(permit, world, account, false, refusal);
}

bool permit_take_kept(struct permit *permit, struct world *world, const struct script_account *account,
                      struct permit_refusal *refusal)
{
    return take(permit, world, account, true, refusal);
}

void permit_strained(struct world *world, const struct script_account *account)
{
    if (world->ops->account_strained != NULL) {
        world->ops->account_strained(world, account);
    }
}

void permit_return(struct permit *permit, struct world *world)
{
    if (permit->account != NULL) {
        world->ops->permit_end(world, permit->account);
        permit->account = NULL;
    }
}

uint64_t permit_block(struct world *world, const struct script_account *account, uint64_t wait_ms)
{
    uint64_t blocked_us = world->ops->account_block != NULL
                              ? world->ops->account_block(world, account, wait_ms * 1000)
                              : quota_block_us(wait_ms * 1000); // nobody counts: as it would be

    return (blocked_us + 999) / 1000;
}

uint64_t permit_learn(struct world *world, const struct normalise_call *answer, enum rejection rejection)
{
    if (rejection == REJECTION_QUOTA) {
        permit_strained(world, answer->account);
        return permit_block(world, answer->account, answer->retry_after_ms);
    }
    if (answer->retry_after_ms > 0) { // it is busy, and said for how long
        return permit_block(world, answer->account, answer->retry_after_ms);
    }
    if (answer->is_quota_used) {
        (void)permit_block(world, answer->account, answer->quota_wait_ms);
    }
    return answer->retry_after_ms;
}
