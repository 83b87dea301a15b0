#include "policy/known.h"

#include "policy/patience.h"

static const double GONE = 1e-6; // of an attempt: less than this share is still out

// Where more than half of the attempts were still out when they were cut, the last answers that we saw are those of our
// own patience, and no end of waiting can be read from them.
static const double UNRESOLVED_MOST = 0.5;

// A horizon a little behind the last attempt that was followed is known as well: reserves move by some ms.
enum { REACH_BUCKETS = 3 };

static bool is_known(const struct known *known)
{
    return known->curve.samples >= KNOWN_LEAST;
}

static bool known_chance(const struct knowledge *knowledge, uint64_t elapsed_us, uint64_t until_us, double *chance)
{
    const struct known *known = known_of(knowledge);

    if (!is_known(known)) {
        return false;
    }
    *chance = latency_chance(&known->curve, elapsed_us, until_us);
    return true;
}

/// Nothing is worth waiting for: that is no ceiling, for a supplier that is never asked can never do better. And where
/// waiting has no end that is known there is none.
static bool known_ceiling(const struct known *known, double price, uint64_t *us)
{
    *us = patience_ceiling(&known->curve, price);
    return *us > latency_bucket_us(0) && *us < latency_bucket_us(LATENCY_BUCKETS) &&
           latency_unresolved(&known->curve, *us) <= UNRESOLVED_MOST;
}

static bool known_worth_waiting(const struct knowledge *knowledge, double value, double delay_cost, uint64_t *us)
{
    const struct known *known = known_of(knowledge);

    return is_known(known) && value > 0 && known_ceiling(known, delay_cost / value, us);
}

static const struct knowledge_ops OPS = { .chance = known_chance, .worth_waiting = known_worth_waiting };

static uint64_t quantile_of(const struct latency_curve *curve, double quantile)
{
    uint64_t us = 0;
    return latency_quantile(curve, quantile, &us) ? us : 0;
}

void known_finish(struct known *known, double held_cost)
{
    struct knowledge *knowledge = &known->knowledge;
    const struct latency_curve *curve = &known->curve;

    atomic_init(&knowledge->references, 1);
    knowledge->ops = &OPS;
    knowledge->latency = (struct knowledge_latency){ 0 };
    if (is_known(known)) {
        knowledge->latency = (struct knowledge_latency){ .samples = (uint64_t)curve->samples,
                                                         .p50_us = quantile_of(curve, 0.5),
                                                         .p75_us = quantile_of(curve, 0.75),
                                                         .p95_us = quantile_of(curve, 0.95),
                                                         .p99_us = quantile_of(curve, 0.99) };
    }
    knowledge->ceiling_us = 0;
    if (held_cost > 0 && is_known(known) && !known_ceiling(known, held_cost, &knowledge->ceiling_us)) {
        knowledge->ceiling_us = 0;
    }
    knowledge->win_rate = 0;
    knowledge->has_win_rate = worth_win_rate(&known->worth, &knowledge->win_rate);
}

bool known_reaches(const struct known *known, uint64_t elapsed_us, uint64_t until_us)
{
    const struct latency_curve *curve = &known->curve;

    if (!is_known(known)) {
        return false;
    }
    if ((double)curve->unresolved[latency_bucket(elapsed_us)] < GONE) { // it outlived all that we saw
        return curve->samples >= KNOWN_TAIL_LEAST;
    }
    return latency_bucket(until_us) <= latency_bucket(curve->known_us) + REACH_BUCKETS;
}
