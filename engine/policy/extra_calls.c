#include "policy/extra_calls.h"

static const double LEAST_CHANCE = 0.05; // that a retry still arrives
static const double CONNECT_QUANTILE = 0.99;
enum { UNKNOWN_SLACK = 4 };

const char *extra_answer_name(enum extra_answer answer)
{
    static const char *const names[] = {
        [EXTRA_YES] = "sent",
        [EXTRA_NO_TIME] = "no_time",
        [EXTRA_TOO_SOON] = "too_soon",
        [EXTRA_UNKNOWN] = "unknown",
        [EXTRA_BREAKER] = "breaker",
        [EXTRA_BUSY] = "busy",
        [EXTRA_QUOTA] = "quota",
        [EXTRA_OVERLOAD] = "overload",
        [EXTRA_NOT_WORTH] = "not_worth",
        [EXTRA_ALLOWANCE] = "allowance",
    };

    return names[answer];
}

static enum extra_answer veto(const struct extra_target *target)
{
    if (target->is_overloaded) {
        return EXTRA_OVERLOAD;
    }
    if (!target->is_closed) {
        return EXTRA_BREAKER;
    }
    if (target->quota_us < EXTRA_QUOTA_US) {
        return EXTRA_QUOTA;
    }
    return target->most != 0 && target->running > target->most / 2 ? EXTRA_BUSY : EXTRA_YES;
}

static bool is_known(const struct latency_curve *curve)
{
    return curve->samples >= EXTRA_SAMPLES;
}

enum extra_answer extra_retry(const struct extra_target *target, uint64_t took_us, uint64_t left_us)
{
    bool fits = is_known(target->curve) ? latency_chance(target->curve, 0, left_us) >= LEAST_CHANCE
                                        : left_us > 0 && left_us / UNKNOWN_SLACK >= took_us;

    return fits ? veto(target) : EXTRA_NO_TIME;
}

bool extra_connect_us(const struct latency_curve *connects, uint64_t *us)
{
    if (!is_known(connects) || !latency_quantile(connects, CONNECT_QUANTILE, us)) {
        return false;
    }
    *us = *us > EXTRA_FLOOR_US ? *us : EXTRA_FLOOR_US;
    return true;
}

double extra_rho(const struct extra_pairs *pairs)
{
    return (pairs->late + 2) / (pairs->late + pairs->in_time + 4);
}

enum extra_answer extra_hedge(const struct extra_hedge *hedge, const struct extra_target *target)
{
    uint64_t median_us = 0;

    if (hedge->elapsed_us < EXTRA_FLOOR_US) {
        return EXTRA_TOO_SOON;
    }
    if (!is_known(hedge->first) || !is_known(target->curve)) {
        return EXTRA_UNKNOWN;
    }
    if (!latency_quantile(target->curve, 0.5, &median_us) || median_us > hedge->left_us) {
        return EXTRA_NO_TIME;
    }
    enum extra_answer answer = veto(target);
    if (answer != EXTRA_YES) {
        return answer;
    }
    double late = 1 - latency_chance(hedge->first, hedge->elapsed_us, hedge->elapsed_us + hedge->left_us);
    double save = latency_delivered(target->curve, hedge->left_us) * (1 - hedge->rho);
    return hedge->value * late * save > hedge->price ? EXTRA_YES : EXTRA_NOT_WORTH;
}
