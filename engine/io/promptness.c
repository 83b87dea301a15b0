#include "io/promptness.h"

#include <errno.h>
#include <linux/sched/types.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// A thread with a shorter slice than the one that runs is let in when it wakes (Linux since 6.12, sched_setattr(2),
// Documentation/scheduler/sched-eevdf.rst). It does not get more of the processor for it, only sooner and in smaller
// pieces. Older kernels accept the call and ignore the slice. 100 us is the least that the kernel grants.

enum { SLICE_NS = 100000, POLICY_NORMAL = 0 };

bool promptness_ask(void)
{
    struct sched_attr attributes = {
        .size = sizeof(attributes),
        .sched_policy = POLICY_NORMAL,
        .sched_runtime = SLICE_NS,
    };

    errno = 0;
    attributes.sched_nice = getpriority(PRIO_PROCESS, 0); // the call sets it anew
    return errno == 0 && syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}
