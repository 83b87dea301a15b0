/// Summary: the figures of one benchmark cell, as performance.md defines them.
///
/// Two columns of lateness: the engine's (sent - deadline, the target) and the client's (last byte - intended start -
/// budget). A late search is excused only when the witness was late by as much in the same interval; excused ones are
/// counted apart, never dropped.
///
/// Threads: its caller's.
#pragma once

#include "bench/client.h"

#include <stdio.h>

struct summary {
    // given
    double rate, farm_share;
    uint64_t engine_cpu_us, took_us;
    bool has_witness;
    // of the client
    size_t searches, lost, status_200, status_504, status_other;
    // of a load that may be too much: goodput is the sum of the shares of suppliers that answered within replies whose
    // last byte came in time: so many whole searches
    size_t refused, on_time;  // 503s; of the others, those that came in time, whatever they said
    double goodput, coverage; // coverage: mean of all 200s
    uint64_t refusal_p50_us, refusal_p99_us, refusal_max_us; // from the intended start, as the client saw it
    int64_t client_p50_us, client_p99_us, client_p999_us, client_max_us; // lateness; negative: early
    uint64_t start_late_p99_us;                                          // the load's own lateness in sending
    double body_bytes;                                                   // mean, of single replies
    size_t streams;                                                      // of the searches: their lateness is `done`'s
    int64_t stream_p999_us;                                              // client's lateness of those
    // of the slow readers, who are in no other figure
    size_t slow_asked, slow_answered, slow_cut; // as they saw it
    size_t slow_timed, slow_waited;             // as the engine did: searches told, replies that met a full socket
    // of the engine
    size_t timed, late, excused, client_slow, cut_by_budget, timer_early;
    int64_t engine_p50_us, engine_p99_us, engine_p999_us, engine_max_us; // sent - deadline, excused ones left out
    uint64_t timer_p99_us, timer_p999_us, timer_max_us;
    int64_t unused_median_us; // deadline - sent of those that the budget cut
    uint64_t reserve_median_us, assemble_p99_us;
};

void summary_of_client(struct summary *summary, const struct client_result *result, uint64_t budget_us);

/// Takes the records of searches that arrived from `since_us` on. False: not a timing file.
bool summary_of_timing(struct summary *summary, const char *path, uint64_t since_us);

/// One JSON object and a newline.
void summary_print(const struct summary *summary, FILE *out);
