#include "policy/admission.h"

#include <math.h>

// The refused share: what is admitted is multiplied under pressure, and grows by addition when it is over, as all who
// share a bottleneck do well to. An engine at three times its load is at a third within five intervals.
static const double FEWER = 0.8;
static const double MORE = 0.02;
static const double LEAST = 0.05; // admitted, whatever happens: else nobody would notice that it is over
static const double SHED_PRICE = 4;

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

static bool is_pressed(const struct admission *admission)
{
    for (size_t i = 0; i < ADMISSION_QUEUES; i++) {
        if (admission->least_us[i] != UINT64_MAX && admission->least_us[i] > admission->settings.target_us) {
            return true;
        }
    }
    return false;
}

static void interval_ends(struct admission *admission)
{
    if (is_pressed(admission)) {
        admission->rung += admission->rung < ADMISSION_RUNGS;
        if (admission->rung >= ADMISSION_REFUSES_AT) {
            admission->refused = 1 - fmax(LEAST, (1 - admission->refused) * FEWER);
        }
    } else {
        admission->refused = fmax(0, admission->refused - MORE);
        admission->rung -= admission->rung > 0 && admission->refused <= 0;
    }
    interval_begins(admission);
}

/// Intervals in which nothing waited are none of pressure.
void admission_advance(struct admission *admission, uint64_t now_us)
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
        interval_ends(admission);
    }
}

void admission_note(struct admission *admission, enum admission_queue queue, uint64_t waited_us, uint64_t now_us)
{
    admission_advance(admission, now_us);
    if (waited_us < admission->least_us[queue]) {
        admission->least_us[queue] = waited_us;
    }
}

bool admission_admit(struct admission *admission, uint32_t dice, uint64_t now_us)
{
    admission_advance(admission, now_us);
    return (double)dice >= admission->refused * 4294967296.0;
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
