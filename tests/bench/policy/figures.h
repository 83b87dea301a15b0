/// Figures: the columns of the table, of one row over the searches of one trace after its warm-up.
///
/// Threads: any; pure.
/// Memory:  plain values.
#pragma once

#include "base/json_write.h"
#include "bench/policy/stage.h"

/// Times in ms, shares in percent.
struct figures {
    double value;      // of replies whose last byte left by the deadline, of all there was to be found
    double value_tail; // the same, mean of the worst 1 % of the searches
    double value_ever; // the same, whenever they left
    double completeness, completeness_p5, completeness_p1; // suppliers that answered, of all; p5, p1: of searches
    double complete_tail;                                  // mean of the worst 1 %
    double best; // searches whose cheapest offer of all was in the reply, by the deadline
    double took_mean, took_p50, took_p95, took_p99, took_p999;
    double late_p99, late_p999, late_max;                  // past the deadline; on time is 0
    double connection_s, requests, extra, retries, hedges; // a search
    double early, refused;                                 // suppliers a search: not waited for, not asked
    double recovery_s, watched_s;                          // watched: so long searches came after the dead one was back
    uint64_t searches;
};

/// What one search brought.
struct figure {
    uint64_t took_us, answered;
    double completeness;
};

/// `late_us` counts from ROW_BUDGET_US, whatever the row's own budget is: callers want their reply by then. False: no
/// memory.
MUST_CHECK bool figures_fill(const struct trace *trace, const struct figure *searches, struct figures *figures);
/// Of a row of the table. STATUS_NO_MEMORY.
MUST_CHECK enum status figures_of(const struct trace *trace, const struct row *row, const struct history *history,
                                  struct figures *figures);
void figures_write(const struct figures *figures, struct json_writer *json);
