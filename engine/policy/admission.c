#include "policy/admission.h"

#include <math.h>

static const double CUT_LEAST = 0.95, CUT_MOST = 0.4; // what is left of the most, after a cut
static const double GROWTH = 0.02;                    // of the most, in an interval
static const double NEWEST = 0.05;                    // the share of the last search in what one takes
static const double SEVERE = 8;                       // times the target
static const double SHED_PRICE = 4;
enum { OPEN_FOR = 10 }; // intervals without a refusal before the refusing ends

const char *overload_level_name(enum overload_level level)
{
    static const char *const NAMES[OVERLOAD_LEVELS] = {
        [OVERLOAD_NONE] = "none",
        [OVERLOAD_NO_EXTRAS] = "no_extras",
        [OVERLOAD_SHEDDING] = "shedding",
        [OVERLOAD_REFUSING] = "refusing",
    };
    return NAMES[level];
}

static void interval_begins(struct admission *admission)
{
    for (size_t i = 0; i < ADMISSION_QUEUES; i++) {
        admission->least_us[i] = UINT64_MAX;
    }
}

void admission_init(struct admission *admission, struct admission_settings settings)
{
    *admission = (struct admission){ .settings = settings };
    interval_begins(admission);
}

void admission_set(struct admission *admission, struct admission_settings settings)
{
    if (admission->settings.is_on && !settings.is_on) {
        admission_init(admission, settings);
    }
    admission->settings = settings;
}

/// The longest of what each queue's luckiest waited; 0: nothing waited, UINT64_MAX never.
static uint64_t standing_us(const struct admission *admission)
{
    uint64_t longest_us = 0;

    for (size_t i = 0; i < ADMISSION_QUEUES; i++) {
        uint64_t us = admission->least_us[i];
        longest_us = us != UINT64_MAX && us > longest_us ? us : longest_us;
    }
    return longest_us;
}

static bool has_heard(const struct admission *admission)
{
    for (size_t i = 0; i < ADMISSION_QUEUES; i++) {
        if (admission->least_us[i] != UINT64_MAX) {
            return true;
        }
    }
    return false;
}

static void cut(struct admission *admission, uint64_t standing_us, uint64_t now_us)
{
    double interval_us = (double)admission->settings.interval_us;
    double took_us = fmax(admission->took_us, interval_us);

    if (admission->cut_us != 0 && (double)(now_us - admission->cut_us) < took_us) {
        return; // what was admitted before the last one is still under way
    }
    double left = 1 - (double)(standing_us - admission->settings.target_us) / took_us;
    double borne = fmin(admission->most, admission->in_flight);
    admission->most = fmax(1, borne * fmin(CUT_LEAST, fmax(CUT_MOST, left)));
    admission->cut_us = now_us;
}

static void climb(struct admission *admission, uint64_t standing_us)
{
    bool is_severe = (double)standing_us > SEVERE * (double)admission->settings.target_us;
    bool was_refusing = admission->rung >= ADMISSION_REFUSES_AT;

    admission->rung += 1 + is_severe;
    admission->rung = admission->rung < ADMISSION_RUNGS ? admission->rung : ADMISSION_RUNGS;
    if (!was_refusing && admission->rung >= ADMISSION_REFUSES_AT) {
        admission->most = INFINITY;
        admission->cut_us = 0;
        admission->open_for = 0;
    }
}

static void descend(struct admission *admission)
{
    if (admission->rung < ADMISSION_REFUSES_AT) {
        admission->rung -= admission->rung > 0;
        return;
    }
    admission->most += admission->was_full ? fmax(1, admission->most * GROWTH) : 0;
    admission->rung -= admission->open_for >= OPEN_FOR;
}

static void interval_ends(struct admission *admission, bool is_busy, uint64_t now_us)
{
    uint64_t longest_us = standing_us(admission);

    if (!has_heard(admission) && is_busy) {
        return;
    }
    admission->open_for = admission->was_full ? 0 : admission->open_for + 1;
    if (longest_us > admission->settings.target_us) {
        climb(admission, longest_us);
        if (admission->rung >= ADMISSION_REFUSES_AT) {
            cut(admission, longest_us, now_us);
        }
    } else {
        descend(admission);
    }
    admission->was_full = false;
    interval_begins(admission);
}

void admission_advance(struct admission *admission, bool is_busy, uint64_t now_us)
{
    static const uint64_t FORGOTTEN = 100; // intervals after which nothing is left of anything
    uint64_t interval_us = admission->settings.interval_us;

    if (!admission->settings.is_on) {
        return;
    }
    if (admission->end_us == 0) {
        admission->end_us = now_us + interval_us;
    }
    if (now_us >= admission->end_us + FORGOTTEN * interval_us) {
        admission_init(admission, admission->settings);
        admission->end_us = now_us + interval_us;
    }
    for (; now_us >= admission->end_us; admission->end_us += interval_us) {
        interval_ends(admission, is_busy, now_us);
    }
}

void admission_note(struct admission *admission, enum admission_queue queue, uint64_t waited_us, uint64_t now_us)
{
    admission_advance(admission, true, now_us);
    if (waited_us < admission->least_us[queue]) {
        admission->least_us[queue] = waited_us;
    }
}

bool admission_admit(struct admission *admission, uint32_t in_flight, uint64_t now_us)
{
    admission_advance(admission, in_flight > 0, now_us);
    admission->in_flight = in_flight;
    if (in_flight < admission_most(admission)) {
        return true;
    }
    admission->was_full = true;
    return false;
}

void admission_done(struct admission *admission, uint64_t took_us)
{
    double us = (double)took_us;

    admission->took_us += admission->took_us > 0 ? NEWEST * (us - admission->took_us) : us;
}

uint32_t admission_most(const struct admission *admission)
{
    bool refuses = admission->rung >= ADMISSION_REFUSES_AT && admission->most < UINT32_MAX;

    return refuses ? (uint32_t)admission->most : UINT32_MAX;
}

enum overload_level admission_level(const struct admission *admission)
{
    if (admission->rung >= ADMISSION_REFUSES_AT) {
        return OVERLOAD_REFUSING;
    }
    if (admission->rung >= ADMISSION_SHEDS_AT) {
        return OVERLOAD_SHEDDING;
    }
    return admission->rung > 0 ? OVERLOAD_NO_EXTRAS : OVERLOAD_NONE;
}

double admission_price(const struct admission *admission)
{
    return admission->rung >= ADMISSION_SHEDS_AT ? SHED_PRICE * (admission->rung - ADMISSION_SHEDS_AT + 1) : 1;
}
