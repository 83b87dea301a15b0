#include "policy/latency.h"

#include <math.h>
#include <string.h>

// Decay without touching the buckets, as in base/histogram: an observation of `now` weighs 2^(age of the scale /
// half-life), and when that gets large, everything is scaled back once. Here only reading needs true counts: it divides
// by the weight of its moment.

static const double LN_WIDTH = 0.019802627296179712; // ln 1.02
static const uint64_t LEAST_US = 1000;
static const double RESCALE_HALF_LIVES = 16; // a float holds 2^16 beside 1 well
static const float DUST = 1e-6F;             // less than this of an observation is forgotten

static const uint64_t QUICK_US = UINT64_C(30) * 1000000;
static const uint64_t LASTING_US = UINT64_C(300) * 1000000;
static const uint64_t DAY_US = UINT64_C(86400) * 1000000;

// A change is noticed when the events of the last half minute are this many standard deviations from what the last
// minutes promised, and there are enough of either.
static const double CHANGE_DEVIATIONS = 4;
static const double CHANGE_LEAST = 10;

static const double ROUNDING = 0.01; // of sums of floats

uint32_t latency_bucket(uint64_t us)
{
    if (us <= LEAST_US) {
        return 0;
    }
    double bucket = log((double)us / (double)LEAST_US) / LN_WIDTH + 1e-9; // an edge belongs to the bucket it begins
    return bucket < LATENCY_BUCKETS ? (uint32_t)bucket : LATENCY_BUCKETS;
}

struct latency_place latency_place(uint64_t us)
{
    double buckets = us > LEAST_US ? log((double)us / (double)LEAST_US) / LN_WIDTH + 1e-9 : 0;

    if (buckets >= LATENCY_BUCKETS) {
        return (struct latency_place){ .bucket = LATENCY_BUCKETS };
    }
    uint32_t bucket = (uint32_t)buckets;
    return (struct latency_place){ .bucket = bucket, .part = (float)(buckets - bucket) };
}

uint64_t latency_bucket_us(uint32_t bucket)
{
    return (uint64_t)ceil((double)LEAST_US * exp(LN_WIDTH * bucket) - 1e-6);
}

static void counts_init(struct latency_counts *counts, uint64_t half_life_us)
{
    memset(counts, 0, sizeof(*counts));
    counts->half_life_us = half_life_us;
}

static float scaled(float count, float factor)
{
    return count * factor > DUST ? count * factor : 0;
}

static void counts_scale(struct latency_counts *counts, float factor)
{
    for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
        counts->arrivals[i] = scaled(counts->arrivals[i], factor);
        counts->value[i] = counts->arrivals[i] > 0 ? counts->value[i] * factor : 0;
        counts->errors[i] = scaled(counts->errors[i], factor);
        counts->censored[i] = scaled(counts->censored[i], factor);
    }
}

/// What one observation of `now_us` weighs. Time that goes back stands still.
static double counts_weight(const struct latency_counts *counts, uint64_t now_us)
{
    if (!counts->is_begun || now_us <= counts->decayed_at_us) {
        return 1;
    }
    return exp2((double)(now_us - counts->decayed_at_us) / (double)counts->half_life_us);
}

/// The same, for one that is counted now.
static float counts_advance(struct latency_counts *counts, uint64_t now_us)
{
    double weight = counts_weight(counts, now_us);

    if (!counts->is_begun || weight > exp2(RESCALE_HALF_LIVES)) {
        counts_scale(counts, counts->is_begun ? (float)(1 / weight) : 1);
        counts->is_begun = true;
        counts->decayed_at_us = now_us;
        weight = 1;
    }
    return (float)weight;
}

void latency_init(struct latency *latency)
{
    *latency = (struct latency){ 0 };
    counts_init(&latency->quick, QUICK_US);
    counts_init(&latency->lasting, LASTING_US);
    counts_init(&latency->day, DAY_US);
}

enum observation { ARRIVED, FAILED, CENSORED };

static void counts_add(struct latency_counts *counts, enum observation what, uint32_t bucket, double value,
                       uint64_t now_us)
{
    float weight = counts_advance(counts, now_us);

    if (what == ARRIVED) {
        counts->arrivals[bucket] += weight;
        counts->value[bucket] += weight * (float)value;
    } else if (what == FAILED) {
        counts->errors[bucket] += weight;
    } else {
        counts->censored[bucket] += weight;
    }
}

static void observe(struct latency *latency, enum observation what, uint64_t us, double value, uint64_t now_us)
{
    uint32_t bucket = latency_bucket(us);

    bucket = bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
    counts_add(&latency->quick, what, bucket, value, now_us);
    counts_add(&latency->lasting, what, bucket, value, now_us);
    counts_add(&latency->day, what, bucket, value, now_us);
    if (latency->unfitted == 0 && latency->fitted_us == 0) {
        latency->fitted_us = now_us; // the first second begins with the first observation
    }
    latency->unfitted++;
}

void latency_arrived(struct latency *latency, uint64_t us, double value, uint64_t now_us)
{
    observe(latency, ARRIVED, us, value > 0 ? value : 0, now_us);
}

void latency_failed(struct latency *latency, uint64_t us, uint64_t now_us)
{
    observe(latency, FAILED, us, 0, now_us);
}

void latency_censored(struct latency *latency, uint64_t us, uint64_t now_us)
{
    observe(latency, CENSORED, us, 0, now_us);
}

bool latency_wants_fit(const struct latency *latency, uint64_t now_us)
{
    return latency->unfitted >= LATENCY_FIT_OBSERVATIONS ||
           (latency->unfitted > 0 && now_us >= latency->fitted_us + LATENCY_FIT_US);
}

// ---- reading

struct totals {
    double all, arrivals, value;
};

static struct totals totals_of(const struct latency_counts *counts)
{
    struct totals totals = { 0 };

    for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
        totals.arrivals += (double)counts->arrivals[i];
        totals.value += (double)counts->value[i];
        totals.all += (double)counts->arrivals[i] + (double)counts->errors[i] + (double)counts->censored[i];
    }
    return totals;
}

/// Reads the lasting counts, each times `lasting`, with those of the day, each times `day`, into the curve.
static void read_curve(const struct latency *latency, double lasting, double day, struct latency_curve *curve)
{
    const struct latency_counts *now = &latency->lasting, *before = &latency->day;
    struct totals now_all = totals_of(now), before_all = totals_of(before);
    double at_risk = now_all.all * lasting + before_all.all * day;
    double arrivals = now_all.arrivals * lasting + before_all.arrivals * day;
    double value = now_all.value * lasting + before_all.value * day;
    double unresolved = 1, delivered = 0;

    for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
        curve->unresolved[i] = (float)unresolved;
        curve->delivered[i] = (float)delivered;
        double arrived = (double)now->arrivals[i] * lasting + (double)before->arrivals[i] * day;
        double failed = (double)now->errors[i] * lasting + (double)before->errors[i] * day;
        double cut = (double)now->censored[i] * lasting + (double)before->censored[i] * day;
        if (at_risk > (double)DUST && arrived + failed + cut > 0) {
            // Where nothing was worth anything, every answer is worth the same.
            double worth = value > 0
                               ? ((double)now->value[i] * lasting + (double)before->value[i] * day) * arrivals / value
                               : arrived;
            delivered += unresolved * worth / at_risk;
            unresolved *= fmax(0, 1 - (arrived + failed) / at_risk);
            at_risk -= arrived + failed + cut;
        }
    }
    curve->unresolved[LATENCY_BUCKETS] = (float)unresolved;
    curve->delivered[LATENCY_BUCKETS] = (float)delivered;
}

/// Does the last half minute contradict the last minutes? One-sample log-rank test: events seen beside events expected,
/// which are, bucket by bucket, those still at risk times the curve's hazard there; ends where the curve does.
static bool is_changed(const struct latency *latency, const struct latency_curve *curve, uint64_t now_us)
{
    const struct latency_counts *quick = &latency->quick;
    double weight = counts_weight(quick, now_us);
    double at_risk = totals_of(quick).all / weight;
    double seen = 0, expected = 0;

    for (uint32_t i = 0; i < LATENCY_BUCKETS && (double)curve->unresolved[i] > 1e-3; i++) {
        double events = ((double)quick->arrivals[i] + (double)quick->errors[i]) / weight;
        expected += at_risk * (1 - (double)curve->unresolved[i + 1] / (double)curve->unresolved[i]);
        seen += events;
        at_risk -= events + (double)quick->censored[i] / weight;
    }
    return fmax(seen, expected) >= CHANGE_LEAST && expected > 0 &&
           fabs(seen - expected) > CHANGE_DEVIATIONS * sqrt(expected);
}

/// What was known is over: it counts as few observations from now on, so that those to come soon outweigh it.
static void counts_shrink(struct latency_counts *counts, uint64_t now_us)
{
    double weight = counts_weight(counts, now_us), all = totals_of(counts).all / weight;

    if (all > LATENCY_PRIOR_WEIGHT) {
        counts_scale(counts, (float)(LATENCY_PRIOR_WEIGHT / all / weight));
        counts->decayed_at_us = now_us;
    }
}

/// How many were followed, and up to where the curve rests on them. An attempt that was cut says nothing of what comes
/// behind; one that ended needs no following. So those still at risk are compared with the share still out.
static void fill_followed(const struct latency_counts *counts, double factor, struct latency_curve *curve)
{
    double at_risk = totals_of(counts).all * factor;

    curve->known_us = UINT64_MAX;
    for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
        curve->followed[i] = (float)at_risk;
        if (curve->known_us == UINT64_MAX && at_risk + ROUNDING < LATENCY_FOLLOWED * (double)curve->unresolved[i]) {
            curve->known_us = latency_bucket_us(i);
        }
        at_risk -= ((double)counts->arrivals[i] + (double)counts->errors[i] + (double)counts->censored[i]) * factor;
        at_risk = at_risk > (double)DUST ? at_risk : 0;
    }
    curve->followed[LATENCY_BUCKETS] = 0;
}

void latency_look(const struct latency *latency, uint64_t now_us, struct latency_curve *curve)
{
    double lasting = 1 / counts_weight(&latency->lasting, now_us);
    double day_weight = counts_weight(&latency->day, now_us);
    double day_samples = totals_of(&latency->day).all / day_weight;
    double prior = (day_samples > LATENCY_PRIOR_WEIGHT ? LATENCY_PRIOR_WEIGHT / day_samples : 1) / day_weight;

    read_curve(latency, lasting, prior, curve);
    curve->samples = totals_of(&latency->lasting).all * lasting;
    curve->day_samples = day_samples;
    fill_followed(&latency->lasting, lasting, curve);
}

bool latency_fit(struct latency *latency, uint64_t now_us, struct latency_curve *curve)
{
    latency->unfitted = 0;
    latency->fitted_us = now_us;
    latency_look(latency, now_us, curve);
    if (!is_changed(latency, curve, now_us)) {
        return false;
    }
    counts_shrink(&latency->quick, now_us);
    counts_shrink(&latency->lasting, now_us);
    latency->changes++;
    latency_look(latency, now_us, curve);
    return true;
}

void latency_fit_day(const struct latency *latency, uint64_t now_us, struct latency_curve *curve)
{
    double weight = counts_weight(&latency->day, now_us);

    read_curve(latency, 0, 1 / weight, curve);
    curve->samples = 0;
    curve->day_samples = totals_of(&latency->day).all / weight;
    fill_followed(&latency->day, 1 / weight, curve);
}

void latency_curve_init(struct latency_curve *curve)
{
    *curve = (struct latency_curve){ 0 };
    for (uint32_t i = 0; i <= LATENCY_BUCKETS; i++) {
        curve->unresolved[i] = 1;
    }
}

double latency_unresolved(const struct latency_curve *curve, uint64_t us)
{
    return latency_read(curve->unresolved, latency_place(us));
}

double latency_delivered(const struct latency_curve *curve, uint64_t us)
{
    return latency_read(curve->delivered, latency_place(us));
}

double latency_chance(const struct latency_curve *curve, uint64_t elapsed_us, uint64_t until_us)
{
    struct latency_place from = latency_place(elapsed_us);
    double unresolved = latency_read(curve->unresolved, from);

    if (until_us <= elapsed_us || unresolved < 1e-6) {
        return 0;
    }
    double gain = latency_read(curve->delivered, latency_place(until_us)) - latency_read(curve->delivered, from);
    return fmin(fmax(gain, 0) / unresolved, 1);
}

bool latency_quantile(const struct latency_curve *curve, double quantile, uint64_t *us)
{
    uint32_t low = 0, high = LATENCY_BUCKETS;

    if (quantile <= 0 || (double)curve->delivered[high] < quantile) {
        return false;
    }
    while (low < high) { // the first that has it
        uint32_t middle = (low + high) / 2;
        if ((double)curve->delivered[middle] < quantile) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *us = latency_bucket_us(low);
    return true;
}
