/// Store call: one job for the store of last known answers, its inputs and its results, as plain data.
///
/// INDEX reads the heads of all suppliers of a search in one go, READ some of them with their offers, KEEP stores an
/// answer, PURGE forgets those of a supplier. NOTES are small values under a name, shared by all engines of one store.
///
/// Threads: handed over whole: loop -> store -> loop. Nobody waits for it: at `end_us` its owner does without.
/// Memory:  one allocation with its parts; never in a search's arena, because a slow store may hold it for long.
#pragma once

#include "base/block.h"
#include "base/message.h"
#include "model/last_known.h"
#include "model/offer.h"

#include <stdatomic.h>

enum store_job {
    STORE_INDEX,
    STORE_READ,
    STORE_KEEP,
    STORE_PURGE,
    STORE_NOTE_GET, // `value` out; NULL: there is none
    STORE_NOTE_PUT, // `value` in, for `life_ms`
    STORE_NOTE_DELETE,
};

enum store_state {
    STORE_FAULT,  // not asked, not in time, not readable: as good as absent, but counted apart
    STORE_ABSENT, // or too old
    STORE_FOUND,
};

struct store_entry {
    // in
    struct text supplier, account; // in the call's memory
    uint64_t max_age_ms;           // older is absent; 0: nothing is too old
    enum price_status status;      // of READ: what its offers shall say of their price
    // out; of KEEP: in
    enum store_state state;
    struct last_known_head head;
    struct offer_batch *offers; // of READ, FOUND and not empty; owned by the call until taken
};

/// What KEEP stores, which may have come in several batches, of which some offers are gone.
struct store_part {
    struct offer_batch *batch; // held
    uint8_t *is_gone;          // one mark an offer, in the call's memory; NULL: none is gone
};

struct store_call {
    struct message message; // delivers the call back to its loop
    enum store_job job;
    void *home;                               // the loop to deliver to; set by the world
    atomic_bool is_cancelled;                 // the owner has left: skip the work if not begun
    void (*on_done)(struct store_call *call); // on the loop; the call is the owner's again. NULL, of KEEP, PURGE and
                                              // NOTE_PUT: it is destroyed when done
    void *owner;
    uint64_t end_us; // µs of the monotonic clock: nobody wants it later; 0: it has time
    uint64_t now_ms; // since 1970, as its search sees the time
    struct arena memory;

    struct text product, query; // what was asked, canonically; copied
    struct store_entry *entries;
    size_t entry_count;
    struct store_part *parts; // of KEEP: of entries[0]
    size_t part_count;

    struct text name; // of notes; copied
    struct block *value;
    uint64_t life_ms;       // of NOTE_PUT
    bool wants_absent;      // of NOTE_PUT: only if there is none of that name
    enum store_state state; // out, of PURGE and notes: FAULT; ABSENT: nothing was done, or there is none; FOUND: done
    uint64_t count;         // out, of PURGE: answers that were forgotten
    uint64_t queued_us, done_us;
};

/// Room for `entry_count` entries and `part_count` parts; the texts are copied. NULL without memory.
MUST_CHECK struct store_call *store_call_create(enum store_job job, struct text product, struct text query,
                                                size_t entry_count, size_t part_count);
/// A call for a note; the name is copied, the value acquired, and may be NULL.
MUST_CHECK struct store_call *store_call_create_note(enum store_job job, struct text name, struct block *value);
/// The names of an entry, copied. False: no memory.
MUST_CHECK bool store_call_name(struct store_call *call, size_t entry, struct text supplier, struct text account);
/// Part number `part` of a KEEP: acquires the batch, copies the marks. False: no memory.
MUST_CHECK bool store_call_fill(struct store_call *call, size_t part, struct offer_batch *batch,
                                const uint8_t *is_gone);
void store_call_destroy(struct store_call **call);
