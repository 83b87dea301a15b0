/// Virtual store: the store of a virtual world, in memory, as quick and as faulty as a test says.
///
/// It keeps what searches hand it and what was there before them, by supplier, account, product and query. A call takes
/// its time, is a fault, or is never answered; each is told apart from a search that forgot one.
///
/// Threads: one.
/// Memory:  owned by its world; holds batches until virtual_store_forget.
#pragma once

#include "search/ports.h"

struct virtual_world;
struct virtual_stored_answer;

/// As a test says.
struct virtual_store_given {
    bool is_on;
    const char *key;     // of the search; NULL: it is private
    uint64_t after_us;   // that a call takes
    uint64_t spread_us;  // and up to so much more
    uint32_t faults_in;  // one call in so many cannot be served; 0: none
    bool hangs;          // none is answered
    uint64_t reading_us; // instead of after_us, of READ; 0: after_us
};

/// What a supplier said before the play.
struct virtual_stored {
    bool is_there;
    bool is_of_other; // it said so to another query
    uint64_t age_ms, life_ms;
    uint32_t first_id, offers; // offers 0: it was empty
    int64_t dearer_micros;     // than now, each offer
    bool has_expired;
};

struct virtual_store {
    struct virtual_store_given given;
    struct virtual_stored_answer *answers;
    size_t submitted, settled; // calls that come home
    size_t kept, reads, indexes, draws;
};

void virtual_store_init(struct virtual_world *virtual);
/// What `supplier` said, at this wall clock.
void virtual_store_fill(struct virtual_world *virtual, size_t supplier, const struct virtual_stored *stored,
                        uint64_t now_ms);
/// Lets go of the batches, so that those that are lost can be told.
void virtual_store_forget(struct virtual_world *virtual);

void virtual_store_submit(struct world *world, struct store_call *call);
void virtual_store_cancel(struct world *world, struct store_call *call);

/// Of the timers of a world that ends: is it one of these, and then it goes.
bool virtual_store_drop(struct timer *timer);
/// How often an answer of this supplier to the search's query was kept; its offers and what it says of its age.
bool virtual_store_find(const struct virtual_world *virtual, size_t supplier, struct last_known_head *head);
