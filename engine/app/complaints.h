/// Complaints: which trouble with a supplier's script is worth a line in the log now.
///
/// A script that fails does so in every search: the first failure is told at once, then at most one a minute for each
/// supplier, which says how many were kept quiet.
///
/// Threads: any; one lock, held for a few instructions.
/// Memory:  owns a slot for each supplier.
/// Time:    always an argument.
#pragma once

#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct complaint {
    uint64_t told_us; // 0: never
    uint64_t kept_quiet;
};

struct complaints {
    pthread_mutex_t lock;
    struct complaint *items;
    size_t count;
};

/// Zeroed complaints may be given to complaints_fini.
MUST_CHECK enum status complaints_init(struct complaints *complaints, size_t supplier_count);
void complaints_fini(struct complaints *complaints);

/// Is it this one's turn? Then `*kept_quiet` is how many were not told since the last one that was.
MUST_CHECK bool complaints_admit(struct complaints *complaints, size_t supplier, uint64_t now_us, uint64_t *kept_quiet);
