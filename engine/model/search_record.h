/// Search record: all that is to be told of one search once it is over (its attribution), as plain data.
///
/// A search makes it beside its reply, the route adds how the reply was sent, telemetry counts it and writes it down.
/// Names in its JSON are those of the reply, so that what reads a reply reads a record.
///
/// What of a search goes on when nobody waits for it any more has records of its own, of one entry each: attempts that
/// were cut and linger, and probes. They bear the search's id, and come after its record or before.
///
/// Threads: one owner at a time; handed over whole.
/// Memory:  one allocation with its entries and texts; search_record_destroy frees it.
#pragma once

#include "base/json_write.h"
#include "base/status.h"
#include "model/mode.h"
#include "model/outcome.h"
#include "model/revalidation_status.h"
#include "model/rule.h"

enum { SEARCH_RECORD_LINE_MAX = 4 << 20 };

enum search_record_kind { RECORD_SEARCH, RECORD_LATE, RECORD_PROBE, RECORD_REVALIDATION };

/// Of RECORD_LATE and RECORD_PROBE. An item would have been the cheapest when others found it, too, and dearer.
struct search_record_late {
    uint64_t late_us; // from the cut to its end; of a probe 0
    bool is_compared; // the next two are known: the search replied, and not with too much to look through
    uint32_t new_items, cheapest_items;
};

/// Of RECORD_REVALIDATION, whose `search_id` is its own id.
struct search_record_revalidation {
    enum revalidation_status status;
    struct text because;  // an outcome, or a word of ours
    struct text was, now; // "120.00 EUR"; absent: not told
    uint64_t age_ms;      // of the offer that was asked for again
    bool has_joined;      // somebody else had begun it
};

/// What the store of last known answers said to a search.
struct search_record_store {
    bool was_asked;
    bool has_answered;
    uint64_t index_us;                    // how long its first answer took
    uint32_t found, absent, faults, late; // suppliers
};

/// One supplier within the search.
struct search_record_entry {
    struct text name, account, script; // account absent: none
    struct text code, detail;          // absent: none
    bool is_detail_cut;                // it was longer
    enum mode mode;                    // DARK: it was not shown and counts for nothing of the search
    enum outcome outcome;
    enum bound bound;
    enum phase phase;
    enum rejection rejection;
    uint16_t http_status; // of the answer that decided; 0: none
    bool was_asked;       // it began: the times below are set
    bool is_partial;
    uint64_t began_us, took_us; // began: since the search's arrival
    uint64_t allocated_us;      // 0: nothing was
    uint64_t ceiling_us;        // UINT64_MAX: none
    enum ceiling_from ceiling_from;
    struct text rules[CEILING_RULES_MAX]; // the places of those that made it what it is; absent: no more
    uint64_t retry_after_ms;              // 0: not said
    uint32_t offers, dropped;
    uint32_t unmapped; // offers whose item is the supplier's own name for it
    uint32_t parts_sent, parts_ok, parts_failed;
    uint32_t requests; // that went out whole over the wire
    uint32_t retries;  // of them, after one that failed at once
    uint64_t hedge_us; // when a second one was sent beside the first; since the search's arrival
    bool has_hedge, has_hedge_won;
    bool has_last_known;  // an earlier answer stood in for it, or spared asking it
    uint32_t last_offers; // of that
    uint64_t last_age_ms; // of that, at the search's arrival
};

struct search_record {
    enum search_record_kind kind; // of others, only what stands in their line is filled
    struct search_record_late late;
    struct search_record_revalidation revalidation;
    struct text search_id, product, caller, trace_id; // caller absent: not named
    uint32_t generation;
    bool is_test; // it asked suppliers of mode test, too
    uint64_t arrival_wall_us;
    uint64_t requested_us, effective_us, reserve_us; // the budget
    bool is_clamped;
    const char *budget_from; // a constant: who decided it
    struct text rule;        // the place of the rule that did; absent: none
    uint16_t status;         // of the reply; 0: the caller left before it
    uint64_t took_us;        // from arrival to the reply, or to the caller's leaving
    bool is_complete, was_cut_by_budget;
    uint64_t saved_us; // that it need not wait, for it ended early; 0: it did not
    uint32_t percent, eligible, answered, empty, cached, indicative, missing;
    struct search_record_store store;
    uint64_t offers_found, offers_returned;

    // how the reply went out; filled by whoever sent it
    bool was_sent, was_client_slow;
    uint64_t sent_us; // since arrival; 0: it was not sent

    struct search_record_entry *entries;
    size_t entry_count;
    char *room; // what is left for texts
    size_t room_left;
};

/// Everything zero but `entries`, with room for `text_bytes` of texts in all; NULL without memory.
MUST_CHECK struct search_record *search_record_create(size_t entry_count, size_t text_bytes);
void search_record_destroy(struct search_record **record);

/// A copy of the text in the record; cut to the room that is left. Absent and empty texts come back absent.
struct text search_record_keep(struct search_record *record, struct text text);

/// The sent reply came after the deadline, and not because its reader was slow.
bool search_record_is_late(const struct search_record *record);

/// One JSON object without line breaks.
void search_record_write(const struct search_record *record, struct json_writer *json);
/// The same of a search, with what is known of its attempts that went on.
void search_record_write_joined(const struct search_record *record, const struct search_record *const *afterwards,
                                size_t count, struct json_writer *json);
