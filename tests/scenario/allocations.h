/// Allocations: how many pieces of memory the process holds.
///
/// Threads: one.
/// Memory:  replaces malloc and its kin by counting ones.
#pragma once

#include <stdbool.h>

/// False under a sanitizer, which replaces malloc itself (and finds leaks on its own).
bool allocations_are_counted(void);
long allocations_live(void);
