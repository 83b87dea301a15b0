#include "model/last_known.h"

const char *price_status_name(enum price_status status)
{
    static const char *const NAMES[] = { "live", "cached", "indicative" };
    return NAMES[status];
}
