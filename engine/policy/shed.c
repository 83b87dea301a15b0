#include "policy/shed.h"

double shed_share(uint32_t rung)
{
    return rung < ADMISSION_SHEDS_AT ? 0 : 0.25;
}

size_t shed_choose(const double *values, size_t count, double share, size_t turn, bool *is_shed)
{
    size_t wanted = (size_t)((double)count * share);

    for (size_t i = 0; i < count; i++) {
        is_shed[i] = false;
    }
    wanted = wanted < count ? wanted : count - (count > 0);
    for (size_t chosen = 0; chosen < wanted; chosen++) {
        size_t least = count;
        for (size_t step = 0; step < count; step++) {
            size_t i = (turn + step) % count;
            if (!is_shed[i] && (least == count || values[i] < values[least])) {
                least = i;
            }
        }
        is_shed[least] = true;
    }
    return wanted;
}
