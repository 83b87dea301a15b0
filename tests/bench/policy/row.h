/// Row: one policy of the table, as what is set of it.
///
/// All rows but the clairvoyant run through the real search/: a rival is a budget, ceilings, and what is switched off.
///
/// Threads: any; plain values.
/// Memory:  nothing to free.
#pragma once

#include "bench/policy/trace.h"

enum { ROW_BUDGET_US = 2000000, ROW_NO_BUDGET_US = 60000000, ROWS_MAX = 64 };

enum row_kind { ROW_SEARCH, ROW_CLAIRVOYANT };
enum row_ceilings { ROW_NO_CEILINGS, ROW_SLOWEST_P99, ROW_OWN_P99 };

struct row {
    char name[48];
    const char *group; // "table", or the line of the grid that it is of
    double knob;       // of the grid: as its line says
    enum row_kind kind;
    uint64_t budget_us;
    enum row_ceilings ceilings;
    double answered_share; // ends when so many of all have answered; 0: it does not
    bool has_breaker, has_linger, has_early, has_retry, has_hedge;
    double held_cost; // the share of an answer that a second of a held connection costs: built-in ceilings; 0: none
    double delay;     // the share of a search's full value that a second of its waiting costs
};

/// The rows of the table, in its order, then those of the grid (a file as tests/bench/policy/grid.txt); false: the
/// file cannot be read.
MUST_CHECK bool rows_make(const char *grid, struct row *rows, size_t *count);

/// Time-outs as an operator would set them: what 99 % of a supplier's answers took on an ordinary day.
struct history {
    uint64_t p99_us[POPULATION_SUPPLIERS_MAX];
    uint64_t slowest_us; // the longest of them
};
/// Of one trace of its own; STATUS_NO_MEMORY.
MUST_CHECK enum status history_read(const struct population *ordinary, struct history *history);
