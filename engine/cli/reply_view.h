/// Reply view: what the engine answered to a search, read for showing.
///
/// Fields that this version does not know are passed over; a field that is absent is empty or 0. A problem (RFC 9457)
/// is read by the same function: `status` is then not 0.
///
/// Threads: one.
/// Memory:  an arena of its own and a reference to the reply, into which most texts point.
#pragma once

#include "base/arena.h"
#include "base/block.h"
#include "base/status.h"
#include "model/outcome.h"
#include "model/rule.h"

struct reply_supplier {
    struct text name, account, outcome, bound, phase, kind, code, reason, detail;
    struct text mode;          // absent: live
    struct text first_dropped; // why the first of `offers_dropped` was left out
    bool is_partial;
    uint64_t began_ms, took_ms, ceiling_ms; // ceiling 0: none
    uint64_t http_status, offers, offers_dropped, retry_in_ms;
    uint64_t last_offers, last_age_s;     // of its last known answer, if that is in the reply
    struct text rules[CEILING_RULES_MAX]; // where those stand that made its ceiling; absent: no more
    uint32_t rank;                        // the row of its outcome; OUTCOME_COUNT: one that we do not know
    struct text cheapest, currency;       // of its first offer: the reply is sorted
    uint64_t returned;                    // so many offers of it are in the reply
};

struct reply_offer {
    struct text supplier, item, total, currency;
    struct text flag;      // the first reason why it does not count as cheapest; absent: none
    struct text item_json; // absent: the reply says nothing about the item
};

struct reply_error {
    struct text pointer, code, detail;
};

struct reply_view {
    struct arena arena;
    struct block *bytes;
    uint64_t status; // of a problem; 0: none
    struct text title, code, detail;
    struct reply_error *errors;
    size_t error_count;
    struct text search_id;
    struct text caller, trace_id; // of a record; absent: not told
    uint64_t took_ms, generation;
    uint64_t requested_ms, budget_ms, reserve_ms;
    bool is_clamped;
    struct text budget_rule; // where the rule stands that decided the budget; absent: none did
    bool is_complete;
    bool is_public; // nothing is told of suppliers but names and four words
    uint64_t percent, eligible, answered, empty, cached, indicative, missing, offers_found, offers_returned;
    struct reply_supplier *suppliers; // sorted: answers, failures, cuts, not eligible; then (outcome, end, name)
    size_t supplier_count;
    struct reply_offer *offers; // the first ones
    size_t offer_count;
};

enum { REPLY_BEST_OFFERS = 5, REPLY_MAX_SUPPLIERS = 4096 };

/// Acquires `bytes`. STATUS_INVALID: no JSON object of that shape, with a sentence.
MUST_CHECK enum status reply_view_read(struct block *bytes, struct reply_view *view, struct failure *why);
void reply_view_fini(struct reply_view *view);

/// What an item is, in a line: "LHR-JFK 08:30 BA117 | JFK-LHR 20:10 BA178"; its id when the reply tells no more.
struct text reply_offer_describe(struct reply_view *view, const struct reply_offer *offer);
