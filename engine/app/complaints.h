/// Complaints: which trouble with a script is worth a line in the log now.
///
/// A script that fails does so in every search: the first failure is told at once, then at most one a minute for each
/// script, which says how many were kept quiet. A script is known by its label, so that the first failure of a changed
/// one is told at once, too. Of more than COMPLAINTS_MAX that fail at a time the one told longest ago is forgotten.
///
/// Threads: any; one lock, held for a few instructions.
/// Memory:  a plain value.
/// Time:    always an argument.
#pragma once

#include "base/text.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { COMPLAINTS_MAX = 256 };

struct complaint {
    uint64_t script;  // hash of its label
    uint64_t told_us; // 0: a free place
    uint64_t kept_quiet;
};

struct complaints {
    pthread_mutex_t lock;
    struct complaint items[COMPLAINTS_MAX];
    bool is_ready;
};

/// Zeroed complaints may be given to complaints_fini.
void complaints_init(struct complaints *complaints);
void complaints_fini(struct complaints *complaints);

/// Is it this one's turn? Then `*kept_quiet` is how many were not told since the last one that was. `script` is its
/// label, "acme@3f9a".
MUST_CHECK bool complaints_admit(struct complaints *complaints, struct text script, uint64_t now_us,
                                 uint64_t *kept_quiet);
