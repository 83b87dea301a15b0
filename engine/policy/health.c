#include "policy/health.h"

static const double SLOW_QUANTILE = 0.99;
static const double UNRESOLVED_MOST = 0.5; // less than the share of slow ones that opens a breaker

void health_init(struct health *health, struct breaker_settings settings, uint64_t now_us)
{
    *health = (struct health){ 0 };
    breaker_init(&health->breaker, settings, now_us);
    latency_init(&health->latency);
    latency_curve_init(&health->curve);
}

void health_set(struct health *health, struct breaker_settings settings, uint64_t now_us)
{
    if (health->breaker.settings.is_on && !settings.is_on) {
        breaker_close(&health->breaker, now_us); // what is switched on again begins anew
    }
    health->breaker.settings = settings;
}

enum breaker_answer health_ask(struct health *health, uint32_t dice, uint64_t now_us, struct breaker_pass *pass)
{
    if (!health->breaker.settings.is_on) {
        *pass = (struct breaker_pass){ .epoch = health->breaker.epoch };
        return BREAKER_PASS;
    }
    return breaker_ask(&health->breaker, dice, now_us, pass);
}

/// Of those that arrive: a supplier that fails now and then has a 99 % of its answers, too. Where more than half of the
/// attempts were cut by us and nobody knows what they would have taken, the last answers that we saw are those of our
/// own patience: then nothing is known.
static uint64_t slow_of(const struct latency_curve *day)
{
    double arrive = (double)day->delivered[LATENCY_BUCKETS];
    uint64_t us = 0;

    if (day->day_samples < HEALTH_DAY_SAMPLES || (double)day->unresolved[LATENCY_BUCKETS] > UNRESOLVED_MOST ||
        !latency_quantile(day, arrive * SLOW_QUANTILE, &us)) {
        return 0;
    }
    return us;
}

/// The same, if those that were not followed until they were slow anyway had all come in the end.
static uint64_t sure_slow_of(const struct latency_curve *day)
{
    double arrive = (double)day->delivered[LATENCY_BUCKETS];
    uint64_t us = 0;

    if (day->known_us < HEALTH_SLOW_US) {
        arrive += latency_unresolved(day, day->known_us);
    }
    return latency_quantile(day, arrive * SLOW_QUANTILE, &us) ? us : 0;
}

static void health_read(struct health *health, uint64_t now_us)
{
    struct latency_curve day;

    if (latency_wants_fit(&health->latency, now_us)) {
        (void)latency_fit(&health->latency, now_us, &health->curve);
        health->fits++;
    }
    bool is_known = health->slow_us != 0 || health->curve.day_samples < HEALTH_DAY_SAMPLES;
    if (!is_known || now_us >= health->day_read_us + HEALTH_DAY_US) {
        latency_fit_day(&health->latency, now_us, &day);
        health->slow_us = slow_of(&day);
        health->sure_slow_us = health->slow_us != 0 ? sure_slow_of(&day) : 0;
        health->day_read_us = now_us;
    }
}

static bool is_slow(const struct health *health, const struct health_result *result)
{
    uint64_t slow_us = result->by_built_in ? health->sure_slow_us : health->slow_us;

    return result->pending_us > (slow_us != 0 ? slow_us : HEALTH_SLOW_US);
}

static enum breaker_verdict verdict_of(const struct health *health, const struct health_result *result)
{
    switch (result->end) {
    case HEALTH_GOOD:
        return BREAKER_WAS_GOOD;
    case HEALTH_BAD:
        return BREAKER_WAS_BAD;
    case HEALTH_UNREACHABLE:
        return BREAKER_WAS_UNREACHABLE;
    case HEALTH_CUT:
        return is_slow(health, result) ? BREAKER_WAS_SLOW : BREAKER_WAS_OURS;
    case HEALTH_OURS:
        break;
    }
    // Whatever it says: that it answers is what a probe is out for.
    return result->pass.probe != 0 && result->has_answered ? BREAKER_WAS_GOOD : BREAKER_WAS_OURS;
}

static void learn(struct health *health, const struct health_result *result, uint64_t now_us)
{
    switch (result->end) {
    case HEALTH_GOOD:
        latency_arrived(&health->latency, result->took_us, result->value, now_us);
        break;
    case HEALTH_BAD:
    case HEALTH_UNREACHABLE:
        latency_failed(&health->latency, result->took_us, now_us);
        break;
    case HEALTH_CUT:
        latency_censored(&health->latency, result->took_us, now_us);
        break;
    case HEALTH_OURS:
        return;
    }
    health_read(health, now_us);
}

enum breaker_verdict health_learn(struct health *health, const struct health_result *result, uint64_t now_us)
{
    enum breaker_verdict verdict = verdict_of(health, result); // by what was known before it

    learn(health, result, now_us);
    return verdict;
}

bool health_judge(struct health *health, struct breaker_guard *guard, struct breaker_pass pass,
                  enum breaker_verdict verdict, uint32_t dice, uint64_t now_us)
{
    return health->breaker.settings.is_on && breaker_tell(&health->breaker, guard, pass, verdict, dice, now_us);
}

bool health_tell(struct health *health, struct breaker_guard *guard, const struct health_result *result, uint32_t dice,
                 uint64_t now_us)
{
    enum breaker_verdict verdict = health_learn(health, result, now_us);

    return health_judge(health, guard, result->pass, verdict, dice, now_us);
}
