/// Part: one line of exchanges of an attempt: a request, its answer, and the steps that follow from it.
///
/// Most attempts have one part of one step. Polls and pages are further steps; a script that returns several requests
/// has several parts, which run side by side. Everything comes out of the attempt's allocation. A part ends once, good
/// or not, and tells its attempt, which may then be gone: every function here that can end a part does so as its last
/// move.
///
/// Threads: its world's.
/// Memory:  embedded in its attempt's array; owns request, call, pause and state until part_fini.
#pragma once

#include "model/request_call.h"
#include "search/extra.h"
#include "search/permit.h"
#include "search/ports.h"

struct attempt;

/// A part has only so many steps, and each costs some time, so that a script that always asks for one more ends.
enum { PART_MAX_STEPS = 100, PART_MIN_PAUSE_US = 10000 };

/// A signature older than this is made anew when the request is sent.
enum { PART_SIGNED_FRESH_US = 100000 };

enum part_state {
    PART_IDLE,
    PART_LOGGING_IN,
    PART_BUILDING, // its request anew, with another login
    PART_SIGNING,
    PART_QUEUED, // for a place among the requests of its account that are under way
    PART_FETCHING,
    PART_NORMALISING,
    PART_PAUSED,
    PART_ENDED
};

struct part {
    struct attempt *attempt;
    uint32_t index; // from 1 on
    uint32_t step;  // from 1 on
    enum part_state state;
    struct http_request *request;
    struct fetch fetch;
    bool is_out;                      // that fetch is under way
    struct permit permit;             // while it is
    struct normalise_call *normalise; // while NORMALISING
    struct timer pause;               // while PAUSED or QUEUED
    uint64_t queue_end_us;            // it waits for a place until then; 0: it has not had to
    struct next_step next;            // while PAUSED
    struct block *state_block;        // ctx.state of this step
    bool has_answered;                // a step of it was normalised
    bool is_incomplete;               // its last step said so
    struct part_end end;              // once ENDED
    struct failure *trouble;          // what a person is told of its script's error; owned; NULL: nothing
    uint32_t requests;                // that went out whole; of ended fetches

    struct extra *extra;     // its second call; NULL: none was thought of
    bool reads_extra;        // the answer that is read, or was last, is that call's
    bool is_retrying;        // its request is made or signed once more, and did not go out yet
    uint32_t attempt_number; // of its request: 2 once it is a retry; 0 reads as 1
    struct extra_told told;

    struct login login;           // that its request was made with
    bool is_redone;               // a login was refused to it already
    struct login_wait wait;       // while LOGGING_IN
    struct script_call *making;   // while BUILDING or SIGNING
    struct http_response *before; // what the step before answered: its request can be made anew of it
    struct block *before_state;   // ctx.state of that step
};

/// Takes the request; NULL: it is still to be built, when there is a login.
void part_init(struct part *part, struct attempt *attempt, uint32_t index, struct http_request *request);
void part_start(struct part *part);

/// Ends it as cut where it stands, without telling the attempt.
void part_cut(struct part *part);
void part_fini(struct part *part);

/// Where it stands now; PHASE_NONE when it is idle or ended.
enum phase part_phase(const struct part *part);
/// How long a fetch of it has been in the network, without an answer; 0: none is.
uint64_t part_pending_us(const struct part *part);
/// Requests that went out whole so far, the running one too.
uint32_t part_requests(const struct part *part);

static inline bool part_is_good(const struct part *part)
{
    return part->end.outcome == OUTCOME_ANSWERED || part->end.outcome == OUTCOME_EMPTY;
}
