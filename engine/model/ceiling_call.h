/// Ceiling call: the ceilings of suppliers that are still awaited, asked again in one batch, as plain data.
///
/// A script's `ceiling` that read fields of its search's progress is asked again when one of them has changed.
///
/// Threads: handed over whole: search -> worker -> search.
/// Memory:  one allocation with its questions; never in a search's arena, as for every script call.
#pragma once

#include "model/script_call.h"

/// How far a search has come, as its ceilings see it.
struct search_progress {
    uint64_t elapsed_us, remaining_us; // since arrival, until deadline - reserve; told by the worker's clock
    uint64_t offers;                   // held now
    uint32_t answered, eligible;       // as coverage counts them
    int64_t cheapest_micros;           // the lowest total of an offer that may win; INT64_MAX: there is none
    int decimals;                      // of the currency that it is in
    // of the supplier that is asked, from its knowledge
    struct knowledge_latency latency;
    bool has_win_rate;
    double win_rate;
    // said by fixtures, which have no knowledge
    bool has_chance;
    double chance;
    uint64_t worth_us; // of worth_waiting; 0: not said
};

/// What a function read of it; a sum of these.
enum progress_field {
    PROGRESS_TIME = 1, // elapsed_ms, remaining_ms
    PROGRESS_OFFERS = 2,
    PROGRESS_ANSWERED = 4,
    PROGRESS_ELIGIBLE = 8,
    PROGRESS_CHEAPEST = 16,
    PROGRESS_STATISTICS = 32, // latency, chance, win_rate, worth_waiting: as they were when the attempt began
};

/// The fields that differ; time always does.
uint32_t search_progress_changes(const struct search_progress *before, const struct search_progress *after);

/// One supplier's question.
struct ceiling_ask {
    // in
    uint32_t attempt;            // the owner's number for it
    uint32_t supplier;           // within the script set
    struct knowledge *knowledge; // of its account; held; NULL: nothing is known
    uint64_t began_us;           // when its attempt began
    // out
    enum script_verdict verdict; // SCRIPT_DROPPED: not asked; others than SCRIPT_OK: the old ceiling holds
    uint64_t script_us;          // 0: the function says nothing
    uint32_t reads;              // sum of enum progress_field
    uint64_t script_cpu_us;
    char message[256];       // of an error
    struct failure *trouble; // as in struct script_call
};

struct ceiling_call {
    struct script_call call;
    struct block *facts;
    struct block *client_facts; // NULL: nobody said who asks
    struct script_times times;
    struct search_progress progress;
    size_t ask_count;
    struct ceiling_ask asks[];
};

/// Acquires the facts. NULL without memory.
MUST_CHECK struct ceiling_call *ceiling_call_create(struct block *facts, struct block *client_facts, size_t ask_count);
/// For script_call_destroy.
void ceiling_call_destroy(struct ceiling_call *call);
