/// Virtual world: the ports of search/ with a clock of its own, for tests.
///
/// Suppliers behave as their `struct virtual_supplier` says; time jumps from event to event. It counts what a search
/// must give back: timers, fetches, script calls.
///
/// Threads: one.
/// Memory:  owns its events; behaviours are the test's.
#pragma once

#include "base/list.h"
#include "search/ports.h"

/// One exchange of a supplier that has several parts or steps.
struct virtual_step {
    uint32_t part, step; // from 1 on
    enum fetch_result result;
    uint64_t after_us;
    bool hangs;
    enum script_verdict normalise;
    uint32_t first_id, offers; // ids first_id, first_id + 1 …
    enum merge_kind merge;
    bool is_incomplete;
    bool has_next;
    uint64_t next_after_us;
};

struct virtual_supplier {
    const char *name;
    const struct virtual_step *steps; // NULL: one part of one step, told by the fields below
    size_t step_count;
    uint32_t parts; // 0 reads as 1
    // of the start call
    enum script_verdict start; // SCRIPT_OK by default
    uint64_t ceiling_us;       // 0: none
    // of the fetch
    enum fetch_result result;
    uint16_t status; // 0 reads as 200
    uint64_t after_us;
    bool hangs;
    enum phase phase; // where it hangs or fails
    // of the normalise call
    enum script_verdict normalise;
    uint64_t normalise_us;
    uint32_t offers;
    int64_t cheapest_micros; // offers cost this, and one unit more each
    const char *item_prefix; // items are PREFIX0, PREFIX1 …; NULL: the supplier's name
    bool is_odd;             // describes its items in words of its own
    struct text item_json;   // absent: {}; outlives the play
};

struct virtual_world {
    struct world world;
    uint64_t now_us;
    struct timer_heap timers;
    const struct virtual_supplier *suppliers;
    size_t supplier_count;
    enum script_verdict product; // of the start call
    uint64_t start_us;           // what the start call takes
    uint64_t begins_after_us;    // a script call waits this long in the queue
    size_t fetches_running, calls_out, fetches_started;
    bool is_start_refused;
};

void virtual_world_init(struct virtual_world *virtual, const struct virtual_supplier *suppliers, size_t count);
void virtual_world_fini(struct virtual_world *virtual);

/// Fires one event and moves the clock to it. False: nothing is left to happen.
bool virtual_world_step(struct virtual_world *virtual);
/// Steps through everything up to and including `until_us`, then sets the clock to it.
void virtual_world_run(struct virtual_world *virtual, uint64_t until_us);
