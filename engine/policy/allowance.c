#include "policy/allowance.h"

#include <math.h>

static const uint64_t SECOND_US = 1000000;

void allowance_init(struct allowance *allowance, double share)
{
    *allowance = (struct allowance){ .share = share };
}

/// Permits are spent oldest first, so what is left of a second is what is left of it to the end.
static void allowance_advance(struct allowance *allowance, uint64_t now_us)
{
    uint64_t second = now_us / SECOND_US, next = allowance->newest_second + 1;

    if (second >= next + ALLOWANCE_SECONDS) {
        next = second + 1 - ALLOWANCE_SECONDS;
    }
    for (; next <= second; next++) {
        allowance->permits[next % ALLOWANCE_SECONDS] = 0;
        allowance->newest_second = next;
    }
}

static double *permits_of(struct allowance *allowance, uint64_t seconds_ago)
{
    return &allowance->permits[(allowance->newest_second - seconds_ago) % ALLOWANCE_SECONDS];
}

void allowance_earn(struct allowance *allowance, uint64_t now_us)
{
    allowance_advance(allowance, now_us);
    *permits_of(allowance, 0) += allowance->share;
}

double allowance_left(struct allowance *allowance, uint64_t now_us)
{
    double left = 0;

    allowance_advance(allowance, now_us);
    for (uint64_t ago = 0; ago < ALLOWANCE_SECONDS && ago <= allowance->newest_second; ago++) {
        left += *permits_of(allowance, ago);
    }
    return left;
}

bool allowance_spend(struct allowance *allowance, uint64_t now_us)
{
    double wanted = 1;

    if (allowance_left(allowance, now_us) < 1 - 1e-9) { // a hundred hundredths are one
        return false;
    }
    for (uint64_t ago = ALLOWANCE_SECONDS; ago-- > 0 && wanted > 0;) {
        if (ago <= allowance->newest_second) {
            double *permits = permits_of(allowance, ago);
            double taken = fmin(*permits, wanted);
            *permits -= taken;
            wanted -= taken;
        }
    }
    return true;
}

void allowance_give_back(struct allowance *allowance, uint64_t now_us)
{
    allowance_advance(allowance, now_us);
    *permits_of(allowance, 0) += 1;
}
