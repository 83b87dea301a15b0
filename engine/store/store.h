/// Store: the last known answers of suppliers, and notes that engines share, behind whichever backend keeps them.
///
/// It takes calls (model/store_call.h) and brings each home once it is done, in whatever order; a call that it cannot
/// serve comes home as a fault. Its owner never waits: who has no answer at `end_us` of his call does without. A store
/// that is full of work drops what is kept, counts it, and goes on.
///
/// Threads: store_submit from any; the backend has threads of its own, or lives on one that app/ gives it.
/// Memory:  owns the calls between submit and delivery.
/// Time:    `end_us` is of the monotonic clock, ages are of the wall clock that the call tells.
#pragma once

#include "model/store_call.h"

struct store;

/// What is told of it: metrics, `status`.
struct store_report {
    bool is_up;               // it serves
    char trouble[160];        // why it does not; "": it does
    uint64_t entries, bytes;  // kept; 0: not known
    uint64_t max_bytes;       // 0: not bounded by us
    uint64_t found, absent;   // entries that were looked for
    uint64_t faults, late;    // not served; served after their end
    uint64_t kept, dropped;   // answers stored; not stored, because there was no room for the work
    uint64_t evicted, purged; // answers
    uint64_t corrupt;         // entries that could not be read, which are gone
};

/// A backend.
struct store_ops {
    void (*submit)(struct store *store, struct store_call *call);
    void (*report)(struct store *store, struct store_report *report);
    /// Whatever is queued for keeping is kept, if that goes within `grace_us`; every call has come home then.
    void (*close)(struct store **store, uint64_t grace_us);
};

/// The first member of every backend.
struct store {
    const struct store_ops *ops;
    /// Brings a call home to its loop, from whichever thread: sets nothing of it. One without `on_done` is not brought
    /// home but destroyed.
    void (*deliver)(void *home, struct store_call *call);
};

static inline void store_submit(struct store *store, struct store_call *call)
{
    store->ops->submit(store, call);
}
static inline void store_report_fill(struct store *store, struct store_report *report)
{
    store->ops->report(store, report);
}

/// For backends: the call is done.
void store_deliver(struct store *store, struct store_call *call);

/// For backends: the name of an answer among all, the same on every engine: supplier, account, and a digest of product,
/// query and schema.
enum { STORE_DIGEST = 32, STORE_NAME_MAX = 400 };
void store_digest(const struct store_call *call, uint8_t digest[STORE_DIGEST]);

/// For backends: may what is known by this head be used for this entry now? What is older than `max_age_ms`, over, or
/// from a future that is no difference of two clocks, may not: nobody could say how old it is.
enum { STORE_CLOCKS_APART_MS = 60000 };
bool store_is_current(const struct store_call *call, const struct store_entry *entry,
                      const struct last_known_head *head);
