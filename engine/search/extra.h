/// Extra: the second call of a part: a retry of one that failed fast, a race of connects, a hedge (policy.md section
/// 4).
///
/// A part has at most one. A retry is the part's own request, sent once more; the other two run beside it, as a copy of
/// the request with a fetch and a permit of its own. Of two answers the first good one wins, and the loser is cancelled
/// on the wire; an answer that is not good waits for the other. Whether one may go out is the world's to say; each that
/// it granted is told of once.
///
/// Nobody waits for dark attempts and those that linger: they have none.
///
/// Threads: its world's.
/// Memory:  in the search's arena, made when a part first needs it; owns its request until extra_stop.
#pragma once

#include "policy/extra_book.h"
#include "search/permit.h"
#include "search/ports.h"

struct part;

struct extra {
    struct part *part;
    struct timer timer;       // when to ask for one
    struct extra_times times; // since the start of the part's own fetch
    enum extra_kind kind;     // once it is used
    bool is_used;             // there will be no other one
    bool is_granted;          // its end is still to be told
    bool is_out;              // its fetch is under way
    struct http_request *request;
    struct script_call *signing; // its request
    struct fetch fetch;
    struct permit permit;
    struct fetch_race race;
    bool has_held; // the part's own call has ended badly, as `held` says, and waits for this one
    struct part_end held;
};

/// For replies and records.
struct extra_told {
    uint32_t retries;
    bool has_hedge, has_won;
    uint64_t hedge_us; // when it was sent
};

/// The part's own fetch has started.
void extra_watch(struct part *part);
/// The part's own fetch is over; what it took to connect is learned.
void extra_note_connect(struct part *part);

/// The part's own call has failed fast, without an answer or with a status. True: it is made once more; the part may be
/// gone.
MUST_CHECK bool extra_retry_failed(struct part *part);
MUST_CHECK bool extra_retry_status(struct part *part);
/// The retry could not go out: how the part ended before it.
MUST_CHECK bool extra_take_held(struct part *part);

/// Is a second call under way, or has it an answer that nobody has looked at?
bool extra_is_pending(const struct part *part);
/// The part's own call has ended without an answer, as `part->end` says. True: the second one goes on, and decides.
MUST_CHECK bool extra_hold(struct part *part);
/// What was read last is not good. True: the part waits for the other call, or reads its answer; it may be gone. False:
/// `part->end` says how it ends.
MUST_CHECK bool extra_waits(struct part *part, enum outcome outcome);

/// It is settled: `is_good`, the answer that was read last counts; else none does. Whatever runs is cancelled.
void extra_settle(struct part *part, bool is_good);
/// Likewise, for a part that ends without an answer.
void extra_stop(struct part *part);

/// Of all parts of an attempt.
struct attempt;
struct extra_told extra_told_of(const struct attempt *attempt);
