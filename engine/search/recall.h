/// Recall: what the store knows of a search's suppliers, and its place in the reply (policy.md section 7).
///
/// One call reads the heads of all suppliers when the start call is back. Offers are read when an attempt closes
/// without an answer, and for all that are still out a read slice before the end. Who is not asked while his last
/// answer is fresh waits for the store, at most that slice; nobody else does. Whatever does not come back in time is a
/// miss, and no search ends late or badly for it.
///
/// An attempt keeps its outcome; what stands in for it has a stock of its own, beside the one that it has itself.
/// attempt_shown (search/attempt.h) is the one that the reply shows, never both.
///
/// Threads: the search's.
/// Memory:  embedded in search and attempt; calls are the store's while they are out.
/// Time:    through the search's world; ages count to the search's arrival.
#pragma once

#include "base/timer_heap.h"
#include "model/last_known.h"
#include "search/stock.h"

struct attempt;
struct last_known_terms;
struct search;
struct start_call;
struct store_call;

enum recall_state {
    RECALL_UNASKED, // of whom the store was not asked
    RECALL_ASKED,   // the index is out
    RECALL_FAULT,   // the store could not say, or not in time
    RECALL_ABSENT,  // or too old
    RECALL_FOUND,
};

/// Of an attempt.
struct recalled {
    enum recall_state state;
    uint32_t entry; // its number in the index
    struct last_known_head head;
    uint64_t age_ms;
    bool is_held;       // it waits for the store before it asks
    bool is_reading;    // its offers are on their way
    bool is_shown;      // `stock` is in the reply, for it has nothing of its own
    bool is_told;       // a stream has told of it
    struct stock stock; // its last known offers, once they are here
};

struct recall_read;

/// Of a search.
struct recall {
    bool is_on;
    bool delays_cull;         // who is left out is decided once the index is there
    bool is_hold_over;        // the reply waits no longer
    struct store_call *index; // out
    struct recall_read *reads;
    struct start_call *start; // kept for those that wait; owned
    struct timer slice;       // they wait until then
    struct timer last;        // what is out then is read
    struct timer hold;        // the reply waits until then
    uint64_t asked_us, index_us;
    uint32_t found, absent, faults, late; // of suppliers
};

/// The attempts' accounts are known and none is started: asks for the heads. Some may be held from now on.
void recall_begin(struct search *search, struct start_call *start);
/// The held attempts are there to be started; true: the call is kept until they are, and destroyed then.
MUST_CHECK bool recall_keeps(struct search *search, struct start_call *start);

/// An attempt has closed. Its reply may be out, which is the search's matter; nothing is closed in here.
void recall_on_closed(struct search *search, struct attempt *attempt);
/// Reads the offers of all that have closed without an answer, unless they are here.
void recall_read_closed(struct search *search);
/// Live offers have come: what stood in for them goes, and a stream is told.
void recall_supersede(struct attempt *attempt);

/// All attempts are closed: is something on its way that the reply can still wait for? search_conclude comes again
/// then.
MUST_CHECK bool recall_is_awaited(struct search *search);
/// The reply is made now: whoever has closed without an answer shows what is here of him.
void recall_settle(struct search *search);

/// What counts as held of what an attempt could fill; 0: nothing.
double recall_share(const struct search *search, const struct attempt *attempt);
/// Is a last known answer of it here that is young, so that it is the first to be left out?
bool recall_is_young(const struct search *search, const struct attempt *attempt);

/// Nothing comes back any more.
void recall_fini(struct search *search);
