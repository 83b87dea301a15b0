#include "model/ground.h"

#include "base/check.h"

// Who holds it already keeps it alive, so one hold more needs no order. The last drop comes after all that the other
// holders have read: each drop is a release, and the last one acquires them all.

void ground_init(struct ground *ground, void (*on_end)(struct ground *ground))
{
    atomic_init(&ground->holds, 1);
    ground->on_end = on_end;
}

struct ground *ground_hold(struct ground *ground)
{
    if (ground != NULL) {
        unsigned before = atomic_fetch_add_explicit(&ground->holds, 1, memory_order_relaxed);
        require(before > 0);
    }
    return ground;
}

void ground_drop(struct ground **ground)
{
    struct ground *dropped = *ground;

    *ground = NULL;
    if (dropped == NULL) {
        return;
    }
    unsigned before = atomic_fetch_sub_explicit(&dropped->holds, 1, memory_order_acq_rel);
    require(before > 0);
    if (before == 1) {
        dropped->on_end(dropped);
    }
}
