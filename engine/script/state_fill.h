/// State fill: loads all that a script set has into a state before anybody calls it.
///
/// Runs untrusted files, so it belongs on a side thread; each file has a limit of CPU time. A file that fails is left
/// out, of this state and of those that are filled after it: whoever calls it first loads it then, and tells.
///
/// Threads: the side thread's; `in_hand` may be read by others.
/// Memory:  embedded; the flags are its own.
/// Time:    reads the monotonic clock and the thread's CPU time.
#pragma once

#include "script/state.h"

#include <stdatomic.h>

#define STATE_FILL_NOTHING SIZE_MAX

struct state_fill {
    uint64_t file_limit_us;            // CPU time for each file
    uint64_t end_us;                   // no further file is begun after this
    void (*on_file)(void *context);    // before each file
    bool (*is_hurried)(void *context); // must it end?
    void *context;
    bool *is_left_out;      // products, then suppliers
    _Atomic size_t in_hand; // of these; STATE_FILL_NOTHING
    uint64_t file_count;    // that were run so far, in CPU time `files_us`
    uint64_t files_us;
    size_t slowest;
    uint64_t slowest_us;
};

/// For states of that set. False: no memory.
MUST_CHECK bool state_fill_init(struct state_fill *fill, const struct script_set *set);
void state_fill_fini(struct state_fill *fill);

/// Loads what fits into the time and memory. False: there is no memory for the state itself, which cannot be used.
MUST_CHECK bool state_fill_run(struct state_fill *fill, struct state *state);

/// Which script `index` is.
struct script_id state_fill_script(const struct script_set *set, size_t index);
