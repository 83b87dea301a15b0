/// Attempt: one supplier within one search, from its requests to its one outcome.
///
/// It owns its parts and the offers they brought, and everything it waits for comes out of one allocation. It closes
/// exactly once; closing cancels whatever is still running and tells the search, which may then be gone: every function
/// here that can close an attempt does so as its last move.
///
/// Threads: its world's.
/// Memory:  embedded in its search's arena; owns what it fetched and made until attempt_fini.
#pragma once

#include "model/catalogue.h"
#include "policy/budget.h"
#include "search/part.h"
#include "search/ports.h"
#include "search/recall.h"
#include "search/stock.h"

struct search;

enum attempt_state { ATTEMPT_WAITING, ATTEMPT_ASKING, ATTEMPT_CLOSED };

enum { ATTEMPT_MAX_PARTS = 16 };

/// What one that lingers was in its search; all zero of a probe, but for the mode.
struct attempt_was {
    enum mode mode;
    enum bound bound;
    uint64_t cut_us;
    uint32_t requests; // that stand in the search's record
    bool had_offers;   // they are not among its own
};

struct attempt {
    struct search *search;
    const struct catalogue_supplier *supplier;
    const struct script_account *account; // NULL: none was chosen
    enum attempt_state state;
    enum mode mode;
    uint32_t candidate; // its number in the start call that asks for it

    struct timer ceiling_timer; // runs only when the ceiling is the bound
    struct part *parts;         // in the search's arena
    uint32_t part_count;
    uint32_t open_parts; // not ended, and one while they are being started
    struct stock stock;
    struct recalled recalled; // what the store knows of it

    struct breaker_pass pass; // of its account's breaker
    bool has_joined;          // a request of another attempt was its own, too: what it took says nothing
    bool has_pass;            // which it tells when it closes
    struct auth_pass auth;    // of its account's credentials
    bool has_auth;            // likewise
    bool is_lingering;        // its search does not know of it (search/linger.h)
    bool is_probe;
    uint32_t linger_parts; // how many were open when it was cut, and go on
    struct attempt_was was;
    struct attempt *next_lingering;

    struct allocation allocation;
    uint64_t began_us;   // 0: never asked
    uint64_t arrived_us; // the last body of it so far; 0: none
    uint64_t answer_us;  // when the call that answered was sent, if that was not its first; 0: it was
    uint64_t pending_us; // how long a fetch of it was out when it was cut, the longest; 0: none was in the network
    uint64_t closed_us;
    struct ceiling ceiling;
    struct ceiling_terms terms;
    struct knowledge *knowledge; // of its account, when it began; held; NULL: nothing is known
    uint32_t progress_reads;     // what its ceiling read of the progress; sum of enum progress_field

    enum outcome outcome; // once CLOSED
    enum bound bound;
    bool is_finished_early;  // its search did not wait for all of it
    bool is_partial;         // a part failed, was cut, or its script said that it is not all
    struct part_end end;     // of the part that decided, for people
    struct failure *trouble; // what they are told of its script's error; owned; NULL: nothing
    uint32_t parts_ok, parts_failed;

    uint32_t items_led; // of the reply: only it has them, or the cheapest offer of them
    size_t dropped;     // offers that were not valid
    size_t unmapped;    // offers taken whose thing is known by the supplier's own name only
    char dropped_first[256];
    uint32_t warning_count;
    char warning[256];
};

void attempt_init(struct attempt *attempt, struct search *search, const struct catalogue_supplier *supplier);
struct world *attempt_world(const struct attempt *attempt);

/// Takes what the start call made of this supplier and sends its requests, or closes.
void attempt_start(struct attempt *attempt, struct start_candidate *candidate);

/// For probes: takes the requests of a candidate and sends them, or closes.
void attempt_ask(struct attempt *attempt, struct start_candidate *candidate);

/// Has an operator switched its supplier off, or its account, as far as that is known? True: it has closed as disabled.
MUST_CHECK bool attempt_close_switched_off(struct attempt *attempt);

/// Closes without having been asked (disabled), saying why.
void attempt_close_unasked(struct attempt *attempt, enum outcome outcome, struct text why);

/// Closes as cut by `bound`, each part with the phase it stands in. `phase_if_waiting` names the phase of an attempt
/// that sent nothing yet. What its parts have brought stays.
void attempt_cut(struct attempt *attempt, enum bound bound, enum phase phase_if_waiting);

/// For what was recalled: closes with the offers of an earlier answer (NULL: it was empty), without having been asked.
void attempt_close_cached(struct attempt *attempt, const struct start_candidate *candidate, struct offer_batch *offers);

/// A new ceiling while it asks: its end moves, forwards or back; one that is over cuts it now.
void attempt_set_ceiling(struct attempt *attempt, struct ceiling ceiling);

/// Closes as one that nobody waits for any more. What its parts have brought stays.
void attempt_finish_early(struct attempt *attempt);

/// Never shown, and nobody waits for it.
static inline bool attempt_is_dark(const struct attempt *attempt)
{
    return attempt->mode == MODE_DARK;
}

/// What the reply shows of it: its own offers, or those that stand in for them.
static inline const struct stock *attempt_shown(const struct attempt *attempt)
{
    return attempt->recalled.is_shown ? &attempt->recalled.stock : &attempt->stock;
}

/// For parts: the most that a body may have.
uint64_t attempt_body_cap(const struct attempt *attempt);
/// For parts: offers of a step; false without memory. A part has ended; the attempt may be gone afterwards.
MUST_CHECK bool attempt_take_offers(struct attempt *attempt, uint32_t part, struct normalise_call *normalise);
/// For parts: one of them is stopped by a limit, and the words that people read tell which.
void attempt_warn(struct attempt *attempt, const char *warning);
/// For parts: the attempt is full; all parts but the one that noticed are over, and that one ends next.
bool attempt_is_full(const struct attempt *attempt);
void attempt_stop_others(struct attempt *attempt, const struct part *noticed);
void attempt_on_part_ended(struct attempt *attempt);
/// For parts: a fetch was out for so long when its end came.
void attempt_note_pending(struct attempt *attempt, uint64_t pending_us);
/// For the first part, when its attempt had no login to build requests with: takes the requests of the others, and
/// sends them all. The attempt may be gone afterwards.
void attempt_on_built(struct attempt *attempt, struct part *first, struct http_request **others);

/// The outcome by which its own script spoiled it, once closed, or a part of it; OUTCOME_COUNT: it did not.
enum outcome attempt_spoiled(const struct attempt *attempt);

/// Releases everything; what still runs is cancelled without a verdict.
void attempt_fini(struct attempt *attempt);
