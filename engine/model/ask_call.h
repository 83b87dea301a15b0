/// Ask call: one function of a supplier's script by itself, beside any search: its ceiling at some moment, the two
/// halves of a revalidation.
///
/// Threads: as any script call.
/// Memory:  one allocation with its parts.
#pragma once

#include "model/script_call.h"

enum ask_what {
    ASK_CEILING,            // ceiling(search, progress)
    ASK_REVALIDATE_REQUEST, // revalidate.build_request(offer, ctx)
    ASK_REVALIDATE_READ,    // revalidate.read(response, offer, ctx)
};

struct ask_call {
    struct script_call call;
    // in
    enum ask_what what;
    const struct script_account *account;
    struct block *facts; // of the search
    struct block *input; // JSON: the progress, or the offer
    struct login login;  // of the account; without a value: there is none
    struct script_times times;
    uint64_t allocation_end_us;
    uint32_t part, parts, step;     // of a revalidation: which of its requests it is of; all 1 unless set
    struct block *state;            // of READ: ctx.state, JSON; acquired; NULL: there is none
    struct http_response *response; // of READ; owned by the call
    // out
    enum script_verdict verdict;
    uint64_t ceiling_us;          // 0: the script says nothing
    struct http_request *request; // of REQUEST, parts chained; owned by the call until taken
    /// Of READ: JSON {status, offer?, now?, expires_at?, handoff?}, checked; NULL: it goes on, with `next`, whose
    /// request is the next step's, or is not there: the next part's.
    struct block *result;
    struct next_step next;
    struct block *hidden; // of the new offer: what is not shown of it, as in struct offer; NULL: nothing
    char message[256];
    char code[64];           // of fail.supplier
    uint64_t retry_after_ms; // how long the supplier wants to be left alone; 0: it did not say
};

/// Acquires facts and input, takes the response (which may be NULL). NULL without memory; the response is then still
/// the caller's.
MUST_CHECK struct ask_call *ask_call_create(enum ask_what what, struct block *facts, struct block *input,
                                            struct http_response *response);
/// By script_call_destroy only.
void ask_call_destroy(struct ask_call *ask);
