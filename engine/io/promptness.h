/// Promptness: asks the kernel to let the calling thread run as soon as it wakes.
///
/// A loop sleeps until its timer is due and shares its processor with script workers. A kernel that lets a running
/// thread finish its slice first (Linux since 6.6; 3 ms as a rule) would add that slice to the timer's lateness.
///
/// Threads: acts on its caller's.
#pragma once

#include <stdbool.h>

/// False: the kernel has no such request, or refused it; nothing has changed then.
bool promptness_ask(void);
