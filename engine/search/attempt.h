/// Attempt: one supplier within one search, from its request to its one outcome.
///
/// It owns the request, the fetch and the normalise call, and everything it waits for comes out of one allocation. It
/// closes exactly once; closing cancels whatever is still running and tells the search, which may then be gone: every
/// function here that can close an attempt does so as its last move.
///
/// Threads: its world's.
/// Memory:  embedded in its search's arena; owns what it fetched and made until attempt_fini.
#pragma once

#include "model/catalogue.h"
#include "policy/budget.h"
#include "search/ports.h"

struct search;

enum attempt_state { ATTEMPT_WAITING, ATTEMPT_FETCHING, ATTEMPT_NORMALISING, ATTEMPT_CLOSED };

struct attempt {
    struct search                   *search;
    const struct catalogue_supplier *supplier;
    enum attempt_state               state;

    struct timer           ceiling_timer;    // runs only when the ceiling is the bound
    struct http_request   *request;
    struct fetch           fetch;
    struct normalise_call *normalise;        // while NORMALISING

    struct allocation allocation;
    uint64_t began_us;                       // 0: never asked
    uint64_t closed_us;
    uint64_t ceiling_us;                     // UINT64_MAX: none
    bool     ceiling_is_from_script;

    enum outcome        outcome;             // once CLOSED
    enum bound          bound;
    enum phase          phase;
    enum rejection      rejection;
    uint16_t            http_status;         // 0: no response
    uint64_t            retry_after_ms;
    struct offer_batch *offers;              // answered
    size_t              dropped;             // offers that were not valid
    char                detail[256];         // why, for people; may be empty
    char                code[64];            // the supplier's own
};

void attempt_init(struct attempt *attempt, struct search *search, const struct catalogue_supplier *supplier);

/// Takes what the start call made of this supplier and sends its request, or closes.
void attempt_start(struct attempt *attempt, struct start_candidate *candidate);

/// Closes without having been asked (disabled), or as the search's own verdict.
void attempt_close(struct attempt *attempt, enum outcome outcome);

/// Closes as cut by `bound`, with the phase it stands in. `phase_if_waiting` names the phase of one that was not sent yet.
void attempt_cut(struct attempt *attempt, enum bound bound, enum phase phase_if_waiting);

/// Releases everything; a running fetch or call is cancelled without a verdict.
void attempt_fini(struct attempt *attempt);
