/// Play: one search with its suppliers, its machine and its caller, played over the real search/ in virtual time.
///
/// `play_run` plays it and checks what holds for every search: one reply (or none when the caller left), never after
/// its deadline, one outcome a supplier, sums that add up, everything given back. What does not hold is written into
/// `violations`, one sentence a line.
///
/// Threads: one.
/// Memory:  names and texts are borrowed; a play must not move once it has suppliers; results are freed by
///          play_result_fini.
#pragma once

#include "model/search_record.h"
#include "search/search.h"
#include "support/virtual_world.h"

enum {
    PLAY_SUPPLIERS_MAX = 48,
    PLAY_STEPS_MAX = 512,
    PLAY_MOMENTS_MAX = 32,
    PLAY_RULES_MAX = 8,
    PLAY_CONDITIONS_MAX = 4,
    PLAY_VALUES_MAX = 4,
    PLAY_AGAIN_MAX = 4,
    PLAY_ARRIVAL_S = 1700000000, // since 1970
    PLAY_LINGER_US = 3000000,    // how long attempts linger, from their begin
};

struct play_supplier {
    struct virtual_supplier behaviour;
    bool is_disabled, is_left_out;      // by an operator; by the caller
    uint64_t weight;                    // millionths; 0: 1
    uint64_t rule_us;                   // a ceiling of the settings; 0: none
    const char *display;                // what strangers see; NULL: its name
    enum mode mode;                     // of all its accounts
    enum mode account_mode;             // of the one that is chosen, unlike those that are not
    uint64_t traffic;                   // millionths
    struct last_known_terms last_known; // of its settings
    struct virtual_stored stored;       // what it said before
    struct virtual_ceiling again[PLAY_AGAIN_MAX];
    size_t again_count;
    enum outcome expected; // when it is not cut by time; OUTCOME_COUNT: anything
    bool is_in_time;       // it must be `expected`
};

/// A rule of the settings; `rule` is completed by the stage.
struct play_rule {
    struct rule rule;
    struct rule_condition conditions[PLAY_CONDITIONS_MAX];
    struct rule_value values[PLAY_CONDITIONS_MAX][PLAY_VALUES_MAX];
    const char *suppliers[PLAY_VALUES_MAX];
    size_t supplier_count;
};

struct play {
    struct play_supplier suppliers[PLAY_SUPPLIERS_MAX]; // sorted by name
    size_t supplier_count;
    struct virtual_step steps[PLAY_STEPS_MAX];
    size_t step_count;

    struct text segments[RULE_SEGMENTS_MAX]; // what rules ask for
    struct rule_fact facts[RULE_SEGMENTS_MAX];
    size_t segment_count;
    struct play_rule rules[PLAY_RULES_MAX];
    size_t rule_count;

    struct last_known_settings last_known;
    struct virtual_store_given store;
    enum indicative indicative;

    struct extra_settings extra;
    bool is_overloaded; // no extra calls

    uint64_t budget_us, reserve_us;
    uint64_t reserve_wish_us; // 0: reserve_us
    bool has_default_budget;  // the caller names none
    uint32_t max_items, max_offers_per_item;
    enum sort sort;
    bool whole_or_nothing, has_choice; // has_choice: the caller names whom to ask
    bool is_public;                    // he is a stranger: no details
    bool is_test;                      // the search is one
    uint64_t leaves_us;                // after arrival; UINT64_MAX: the caller stays

    struct virtual_machine machine;
    uint64_t start_us, queue_us, reask_us;
    enum script_verdict product;
    struct patience_settings patience;

    uint64_t moments_us[PLAY_MOMENTS_MAX]; // after arrival, ascending: states to keep
    size_t moment_count;
};

struct play_event {
    enum search_event event;
    uint64_t at_us;
    char *json;
};

struct play_result {
    bool was_started; // search_start took it
    unsigned replies;
    uint16_t status;
    bool is_complete, was_cut_by_budget, is_refused;
    uint64_t replied_us, sent_us, deadline_us; // after arrival; replied: before merging and writing were charged
    char *body;
    struct search_record *record;                    // of the reply, or of the caller's leaving
    struct search_record *moments[PLAY_MOMENTS_MAX]; // NULL: the search was over

    bool is_stream;
    char *fold; // what the events fold to; NULL unless it is a 200 after events
    struct play_event *events;
    size_t event_count;

    size_t requests; // that were started
    size_t logins;   // that were asked for
    size_t waits;    // for logins, that were not given back
    size_t reasks;   // calls for ceilings
    size_t troubles; // of scripts, told to the log
    /// That were not given back; among the references are holds on the generation.
    size_t fetches, timers, calls, references, permits;
    size_t store_calls;
    struct play_kept {
        bool is_there;
        struct last_known_head head;
    } kept[PLAY_SUPPLIERS_MAX]; // what the store has of each supplier in the end
    size_t keeps, reads;        // answers that were kept, calls for offers
    size_t untold;              // attempts that asked, and of which health was not told
    struct virtual_health health[PLAY_SUPPLIERS_MAX];
    size_t extra_untold; // extra calls of which nothing was told
    struct play_extra {
        uint32_t granted[EXTRA_KINDS], told[EXTRA_KINDS][EXTRA_NOT_SENT + 1];
        uint64_t loser_us;
        enum extra_answer refused;
    } extra[PLAY_SUPPLIERS_MAX];
    struct buffer violations;
};

void play_init(struct play *play);
/// A supplier with nothing but its name; steps are added to the last one.
struct play_supplier *play_add_supplier(struct play *play, const char *name);
struct virtual_step *play_add_step(struct play *play, uint32_t part, uint32_t step);

void play_run(const struct play *play, bool is_stream, struct play_result *result);
void play_result_fini(struct play_result *result);

/// Notes in `stream` where it does not tell what the single reply tells: of offers, coverage and each supplier.
void play_compare(const struct play_result *single, struct play_result *stream);

void play_blame(struct play_result *result, const char *format, ...) PRINTF_LIKE(2, 3);
