/// Ground: a counted hold on the generation that something stands on.
///
/// A search, a script call, a login's errand, a transfer that is being given up: each carries pointers into its
/// generation (script set, tables, accounts, rules, routes), and each may be the last one that does. So each holds the
/// ground from its beginning to its end. Without a ground (NULL) nobody counts: all that it stands on stays anyway.
///
/// Threads: any. Whoever holds it may hold it once more; the first hold is its owner's.
/// Memory:  embedded in what it counts, which `on_end` takes away.
#pragma once

#include <stdatomic.h>

struct ground {
    atomic_uint holds;
    /// The last hold was dropped; on the thread that dropped it, so it neither waits nor frees much.
    void (*on_end)(struct ground *ground);
};

/// With one hold.
void ground_init(struct ground *ground, void (*on_end)(struct ground *ground));

/// NULL gives NULL.
struct ground *ground_hold(struct ground *ground);
/// The caller's pointer becomes NULL; what it stood on may be gone.
void ground_drop(struct ground **ground);
