/// Run start: what the two halves of a START call share; inside of run_start*.c.
///
/// Threads: a worker's.
/// Memory:  a work is on the stack of its worker; what it holds is released by run_start.
#pragma once

#include "script/run.h"

enum { START_FACTS_MAX = 1 << 20, START_ERRORS_MAX = 256 << 10, START_KEY_MAX = 256 << 10 };

/// Context of every section of a START call: copies and references, nothing of the call's own memory.
struct start_work {
    struct run_work work;
    struct start_call *call; // only outside of sections
    struct script_times times;
    struct block *body;
    struct block *facts;
    struct block *client_facts; // NULL: nobody said who asks
    char search_id[64];
    size_t product;
    struct text product_name; // the set's
    uint32_t eligible;        // of the search's suppliers
    uint64_t prepared;        // the renewal of the state that knows the search and the accounts; 0: none
    // what the product said
    struct buffer out;        // facts, or errors
    struct buffer client_out; // facts with `client`; empty: none
    struct buffer key_out;    // empty: none
    bool is_refused;
    char currency[4];
    char market[16]; // of the search; empty: none
    // what rules ask for: names, and the facts of the search beside them; empty: absent
    size_t segment_count;
    char segments[RULE_SEGMENTS_MAX][RULE_SEGMENT_SIZE];
    char segment_facts[RULE_SEGMENTS_MAX][RULE_FACT_SIZE];
    // the candidate in hand
    size_t supplier;
    uint64_t serial;
    uint64_t now_us;
    uint64_t script_ceiling_us; // 0: the script has none, or was not asked
    uint32_t progress_reads;    // by its ceiling
    uint64_t ceiling_us;        // in force, as far as it is known; UINT64_MAX: none
    bool is_skipped;
    char reason[256];
    struct http_request *request;
    struct block *login;         // NULL: none
    struct knowledge *knowledge; // held; NULL: nothing is known
};

static inline struct run *start_run(struct start_work *work)
{
    return work->work.run;
}

/// The product makes facts of the query, and the rules that fit them are found. RUN_FAILED: the call says why there is
/// no search. RUN_LOST: the lease is gone.
MUST_CHECK enum run_end start_product(struct start_work *work);
