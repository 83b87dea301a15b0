/// Search: one user request from its arrival to its one reply, on one thread.
///
/// It takes the catalogue of a generation, has the product validate the query and the scripts build their requests in
/// one hop, starts an attempt for each supplier, and replies when all are closed or at deadline - reserve, whichever is
/// first. It waits for nobody: what is pending then is cut.
///
/// Threads: its world's.
/// Memory:  one arena, freed whole. It holds its generation by the catalogue's ground from search_start to its end, and
///          every script call of it does so for itself; whatever is published meanwhile, all its steps are of this one.
/// Time:    through its world.
#pragma once

#include "model/catalogue.h"
#include "model/search_record.h"
#include "policy/budget.h"
#include "search/event.h"
#include "search/indicative.h"
#include "search/ports.h"
#include "search/sort.h"

struct search;

/// How much a caller is told. Public: each supplier by its display name and as answered, none, late or unavailable;
/// nothing of bounds, ceilings, breakers, scripts, accounts, and no words of theirs.
enum reply_detail { REPLY_FULL, REPLY_PUBLIC };

/// The one answer: finished bytes and what the caller of search_start needs beside them.
struct search_reply {
    uint16_t status;        // 200, or a problem: 422, 500, 503 (out of memory), 504
    struct block *body;     // released after on_reply returns; NULL when out of memory
    bool is_complete;       // Search-Complete
    bool has_cached;        // some supplier's offers are of an earlier answer
    bool was_cut_by_budget; // the deadline timer ended it: feeds the reserve
    uint64_t deadline_us;
    uint64_t took_us, reserve_us, timer_late_us, assemble_us;
    bool is_refused; // the product refused or failed: nobody was asked
    uint64_t offers_found, offers_returned;
    struct search_record *record; // `wants_record`: whoever gets the reply owns it; NULL without memory
};

/// What a token is made of; all borrowed for the call.
struct search_seal {
    const struct catalogue_supplier *supplier;
    const struct script_account *account;
    struct text facts; // of the search, JSON
    const struct offer *offer;
};

struct search_options {
    struct world *world;
    const struct catalogue *catalogue; // its ground, if any, is held by the caller until search_start returns
    struct text search_id;             // at most 31 bytes; copied
    struct text product;               // copied
    struct text caller;                // for the record, like trace_id; absent: not named; copied
    struct text trace_id;              // copied
    struct block *body;                // the caller's whole body; acquired
    uint64_t arrival_us, arrival_wall_us;
    struct budget budget;
    uint64_t reserve_us;
    uint64_t reserve_wish_us; // before it was clamped to the budget, which a rule may change; 0: reserve_us
    const struct text *only;  // names to ask; NULL: everyone. Unknown names were refused by the caller
    size_t only_count;
    uint32_t max_items, max_offers_per_item;
    enum sort sort;
    enum indicative indicative;
    bool whole_or_nothing; // \"partial\": false
    bool is_test;          // \"mode\": \"test\": accounts of that mode are for it, too
    bool wants_record;     // its attribution
    enum reply_detail detail;
    /// NULL, or what a streaming caller is told; then the reply's body is the event `done`, unless no event came before
    /// it.
    search_on_event on_event;
    /// NULL, or told of each attempt that its own script spoiled, or a part of it (outcomes of BREAKER_SCRIPT), as it
    /// closes. `trouble` is what a person is told of an error that the script raised; NULL: it raised none.
    void (*on_script_trouble)(void *owner, const struct catalogue_supplier *supplier, enum outcome outcome,
                              const char *detail, const struct failure *trouble);
    /// Exactly once, never from inside search_start; the search is gone afterwards.
    void (*on_reply)(void *owner, const struct search_reply *reply);
    /// NULL, or makes the token of each offer that is returned: appends its letters. False: it has none.
    bool (*on_seal)(void *owner, const struct search_seal *seal, struct buffer *token);
    void *owner;
};

/// STATUS_NO_MEMORY: nothing was started.
MUST_CHECK enum status search_start(const struct search_options *options, struct search **search);
/// Before search_cancel: the record of a search whose caller has left; what is open is `cancelled`. NULL without
/// memory.
MUST_CHECK struct search_record *search_record_gone(const struct search *search);
/// The engine ends: so does the search, now, as if its deadline had come, which leaves `grace_us` for the way of its
/// reply (or what is left of it, if that is less). on_reply comes from inside, and the search is gone. From then on no
/// attempt begins to linger in its world.
void search_end(struct search **search, uint64_t grace_us);
/// The caller left: everything pending is cancelled, on_reply does not come, the search is gone.
void search_cancel(struct search **search);
