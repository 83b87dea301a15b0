#include "policy/shed.h"

double shed_share(uint32_t rung)
{
    return rung < ADMISSION_SHEDS_AT ? 0 : 0.25;
}

static size_t least_of(const double *values, size_t count, size_t turn, const bool *is_shed)
{
    size_t least = count;

    for (size_t step = 0; step < count; step++) {
        size_t i = (turn + step) % count;
        if (!is_shed[i] && (least == count || values[i] < values[least])) {
            least = i;
        }
    }
    return least;
}

size_t shed_choose(const double *values, size_t count, double share, size_t turn, bool *is_shed)
{
    size_t most = (size_t)((double)count * share);
    size_t chosen = 0;
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        is_shed[i] = false;
        sum += values[i];
    }
    most = most < count ? most : count - (count > 0);
    for (; chosen < most; chosen++) {
        size_t least = least_of(values, count, turn, is_shed);
        if (values[least] >= sum / ((double)(count - chosen) + SHED_BESIDES)) {
            break;
        }
        is_shed[least] = true;
        sum -= values[least];
    }
    return chosen;
}
