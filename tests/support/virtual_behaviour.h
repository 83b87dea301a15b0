/// Virtual behaviour: how a supplier of a virtual world behaves, as a test says it.
///
/// Threads: one.
/// Memory:  plain values; texts are the test's.
#pragma once

#include "model/ceiling_call.h"
#include "search/ports.h"
#include "support/virtual_extra.h"

/// How a second request of the same exchange fares.
struct virtual_second {
    bool is_given; // false: as the first
    enum fetch_result result;
    uint16_t status;
    enum phase phase;
    uint64_t after_us, connect_us;
    bool hangs;
    enum script_verdict normalise;
    uint32_t offers;
};

/// One exchange of a supplier that has several parts or steps.
struct virtual_step {
    uint32_t part, step; // from 1 on
    enum fetch_result result;
    uint16_t status;  // 0: the supplier's
    enum phase phase; // where it hangs or fails; PHASE_NONE: the supplier's
    uint64_t after_us;
    bool hangs;
    enum script_verdict normalise;
    uint64_t normalise_us;     // 0: the supplier's
    uint32_t first_id, offers; // ids first_id, first_id + 1 …
    enum merge_kind merge;
    bool is_incomplete;
    bool has_next;
    uint64_t next_after_us;
    uint32_t dropped, warnings;
    uint64_t retry_after_ms;
    bool is_told_empty;         // its script says so, whatever the status
    bool is_quota_used;         // the account's quota is used up, as the script reads it
    const char *code, *message; // NULL: none
    uint32_t refused_logins;    // requests that were made with the first so many logins are answered by fail.login
    uint64_t connect_us;        // of after_us: until it is connected
    bool says_wait;             // with a Retry-After header
    struct virtual_second second;
};

/// What a supplier's ceiling says once all conditions that are not 0 hold; of several the last one.
struct virtual_ceiling {
    uint64_t after_us; // since arrival
    uint32_t offers, answered;
    uint64_t ceiling_us; // 0: nothing
    bool fails;
};

/// What was seen of a supplier before the play: `calls` of which the share that arrives did so evenly between two
/// times, and the others were still out when we gave them up.
struct virtual_past {
    uint32_t calls; // 0: nothing is known of it
    uint32_t arrive_percent;
    uint64_t from_us, to_us, gave_up_us;
    double items; // that each answer added to a reply; negative: nobody knows
};

struct virtual_supplier {
    const char *name;
    const struct virtual_step *steps; // NULL: one part of one step, told by the fields below
    size_t step_count;
    uint32_t parts; // 0 reads as 1
    // of the start call
    enum script_verdict start;           // SCRIPT_OK by default
    const char *because;                 // its message; NULL reads as "because"
    uint64_t ceiling_us;                 // 0: none
    const struct virtual_ceiling *again; // what it says when it is asked again; NULL: it did not read the progress
    size_t again_count;
    // of the fetch
    enum fetch_result result;
    uint16_t status; // 0 reads as 200
    uint64_t after_us;
    bool hangs;
    enum phase phase; // where it hangs or fails
    // of the normalise call
    enum script_verdict normalise;
    uint64_t normalise_us;
    uint32_t offers;
    int64_t cheapest_micros; // offers cost this, and one unit more each
    const char *item_prefix; // items are PREFIX0, PREFIX1 …; NULL: the supplier's name
    uint32_t minutes;        // each offer takes so long; 0: nobody knows
    uint32_t flag;           // enum offer_flag of each offer
    bool is_odd;             // describes its items in words of its own
    struct text item_json;   // absent: {}; outlives the play
    // of its account
    struct request_limits limits;
    enum breaker_state breaker; // of its account, when the play begins: closed, open for long, half-open
    struct virtual_past past;
    bool lingers;           // each attempt of it that is cut goes on
    const char *off;        // an operator switches it off, and says so; NULL: none does
    uint64_t off_after_us;  // so long after the play begins
    uint32_t auth_refusals; // of its credentials, in a row, when the play begins; three park it
    bool is_tried_out;      // its park is over
    uint32_t worth;         // of its answers; 0 reads as 1
    uint32_t used;          // requests that count in its windows when the play begins
    uint64_t blocked_us;    // the supplier wants no requests for so long from then on; 0: it takes them
    // of its logins
    bool logs_in;
    bool has_login; // there is one when the search comes
    bool login_hangs;
    uint64_t login_after_us;
    uint64_t login_life_us;     // 0: it lasts
    enum outcome login_outcome; // OUTCOME_ANSWERED: it is granted
    uint32_t refused_logins;    // without steps: as there
    bool signs;                 // its requests are signed
    struct virtual_extra_given extra;
    struct extra_terms terms;
    enum script_verdict rebuilt; // how building or signing a request apart from the start call ends
    uint64_t rebuild_us;
};
