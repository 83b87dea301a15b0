#include "model/revalidation_status.h"

#include "base/check.h"

static const char *const NAMES[REVALIDATION_STATUS_COUNT] = {
    [REVALIDATION_CONFIRMED] = "confirmed", [REVALIDATION_PRICE_CHANGED] = "price_changed",
    [REVALIDATION_CHANGED] = "changed",     [REVALIDATION_SOLD_OUT] = "sold_out",
    [REVALIDATION_EXPIRED] = "expired",     [REVALIDATION_RETRY] = "retry",
    [REVALIDATION_CANCELLED] = "cancelled",
};

const char *revalidation_status_name(enum revalidation_status status)
{
    require((unsigned)status < REVALIDATION_STATUS_COUNT);
    return NAMES[status];
}

enum revalidation_status revalidation_status_of(struct text name)
{
    for (enum revalidation_status status = 0; status < REVALIDATION_CANCELLED; status++) {
        if (text_equals_c(name, NAMES[status])) {
            return status;
        }
    }
    return REVALIDATION_RETRY;
}
