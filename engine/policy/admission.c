#include "policy/admission.h"

#include <math.h>

// The refused share: what is admitted is multiplied under pressure, and grows by addition when it is over, as all who
// share a bottleneck do well to. An engine at three times its load is at a third within five intervals.
static const double FEWER = 0.8;
static const double MORE = 0.02;
static const double LEAST = 0.05; // admitted, whatever happens: else nobody would notice that it is over
static const double SHED_PRICE = 4;

void admission_init(struct admission *admission)
{
    *admission = (struct admission){ .least_us = UINT64_MAX };
}

static void interval_ends(struct admission *admission)
{
    bool is_pressed = admission->least_us != UINT64_MAX && admission->least_us > ADMISSION_TARGET_US;

    if (is_pressed) {
        admission->rung += admission->rung < ADMISSION_RUNGS;
        if (admission->rung >= ADMISSION_REFUSES_AT) {
            admission->refused = 1 - fmax(LEAST, (1 - admission->refused) * FEWER);
        }
    } else {
        admission->refused = fmax(0, admission->refused - MORE);
        admission->rung -= admission->rung > 0 && admission->refused <= 0;
    }
    admission->least_us = UINT64_MAX;
}

/// Intervals in which nothing waited are none of pressure.
static void admission_advance(struct admission *admission, uint64_t now_us)
{
    static const uint64_t FORGOTTEN = 100; // intervals after which nothing is left of anything

    if (admission->interval_us == 0) {
        admission->interval_us = now_us + ADMISSION_INTERVAL_US;
    }
    if (now_us >= admission->interval_us + FORGOTTEN * ADMISSION_INTERVAL_US) {
        admission_init(admission);
        admission->interval_us = now_us + ADMISSION_INTERVAL_US;
    }
    for (; now_us >= admission->interval_us; admission->interval_us += ADMISSION_INTERVAL_US) {
        interval_ends(admission);
    }
}

void admission_note(struct admission *admission, uint64_t waited_us, uint64_t now_us)
{
    admission_advance(admission, now_us);
    if (waited_us < admission->least_us) {
        admission->least_us = waited_us;
    }
}

bool admission_admit(struct admission *admission, uint32_t dice, uint64_t now_us)
{
    admission_advance(admission, now_us);
    return (double)dice >= admission->refused * 4294967296.0;
}

bool admission_allows_extra_calls(const struct admission *admission)
{
    return admission->rung == 0;
}

double admission_price(const struct admission *admission)
{
    return admission->rung >= ADMISSION_SHEDS_AT ? SHED_PRICE * (admission->rung - ADMISSION_SHEDS_AT + 1) : 1;
}
