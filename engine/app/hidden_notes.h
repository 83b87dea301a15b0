/// Hidden notes: what is too large for an offer's token, in the store, where every engine that shares it finds it.
///
/// It lies there sealed, for it is the supplier's, and may be what a booking takes. Its name stands in the token, and
/// is known before it is stored: nobody waits for that.
///
/// Threads: one loop's.
/// Memory:  a read is embedded in whoever waits for it.
/// Time:    through the world.
#pragma once

#include "app/hidden_shelf.h"
#include "search/ports.h"
#include "token/token_ring.h"

/// How long somebody waits for a note: what the store has not said by then is lost to him.
enum { HIDDEN_NOTES_WAIT_US = 500000 };

/// Hands a note to the store, for `life_ms`. False: it could not be made.
MUST_CHECK bool hidden_notes_put(struct world *world, const struct token_ring *ring, const char name[HIDDEN_NAME],
                                 struct text hidden, uint64_t life_ms);

struct hidden_read {
    struct world *world;
    const struct token_ring *ring;
    struct store_call *call; // NULL: nothing is waited for
    struct timer timer;
    char name[HIDDEN_NAME];
    /// Exactly once, unless it is cancelled; never from inside hidden_notes_read. `hidden` NULL: it is not there, or,
    /// if `is_fault`, nobody could tell. Lent.
    void (*on_done)(struct hidden_read *read, struct block *hidden, bool is_fault);
};

/// False: there was no memory, and on_done does not come.
MUST_CHECK bool hidden_notes_read(struct hidden_read *read, struct world *world, const struct token_ring *ring,
                                  const char name[HIDDEN_NAME], uint64_t end_us);
void hidden_notes_cancel(struct hidden_read *read);
