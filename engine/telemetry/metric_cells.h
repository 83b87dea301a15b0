/// Metric cells: how the numbers of metrics lie in memory. For metrics.c, which counts, and metrics_text.c, which
/// tells.
///
/// All cells lie in one array; a metric has `first` and as many cells as its labels have values. A histogram has, for
/// each of them, a cell for each bucket, one for what is above all buckets, and one for the sum.
///
/// Threads: cells any, as relaxed atomics; the rest as said.
/// Memory:  the metrics'.
#pragma once

#include "telemetry/metric_names.h"
#include "telemetry/metrics.h"

#include <pthread.h>
#include <stdatomic.h>

enum metric_type { METRIC_COUNTER, METRIC_HISTOGRAM, METRIC_SAMPLE_COUNTER, METRIC_SAMPLE_GAUGE };

enum metric_labels {
    LABELS_NONE,
    LABELS_CALLER_STATUS, // the unnamed caller first
    LABELS_REFUSAL,
    LABELS_REVALIDATION_STATUS,
    LABELS_SUPPLIER,
    LABELS_SUPPLIER_OUTCOME,
    LABELS_SUPPLIER_BOUND_PHASE,
    LABELS_SUPPLIER_LIMIT,
    LABELS_THREAD,
    LABELS_TABLE,
    LABELS_VERSION,
    LABELS_RELOAD_OUTCOME,
};

struct metric_row {
    const char *name;
    enum metric_type type;
    enum metric_labels labels;
    const char *about;
};
extern const struct metric_row metric_rows[METRIC_COUNT];

/// An HTTP status and its label.
struct metric_status {
    uint16_t status;
    const char *label;
};
/// Upper edge of a bucket in µs, and as it is written.
struct metric_bucket {
    uint64_t us;
    const char *label;
};

enum {
    METRIC_STATUSES = 7,
    METRIC_REFUSALS = 9,
    METRIC_RELOAD_OUTCOMES = 3,
    METRIC_BUCKETS = 19,
    HISTOGRAM_ABOVE = METRIC_BUCKETS, // the cell behind the buckets
    HISTOGRAM_SUM,
    HISTOGRAM_CELLS,
    METRIC_BOUNDS = 2,                    // ceiling, budget
    METRIC_OTHER = METRICS_MAX_SUPPLIERS, // the line of suppliers without one
    METRIC_SUPPLIER_LINES,
};

extern const struct metric_status metric_statuses[METRIC_STATUSES];
extern const struct metric_status metric_refusals[METRIC_REFUSALS];
extern const char *const metric_reload_outcomes[METRIC_RELOAD_OUTCOMES];
extern const struct metric_bucket metric_buckets[METRIC_BUCKETS];

struct metrics {
    size_t thread_count;
    const char *version;
    struct metric_names names[METRIC_NAMES_COUNT];
    size_t first[METRIC_COUNT];
    atomic_uint_fast64_t *cells;
    pthread_mutex_t setting; // while names or what belongs to names is set, and while all is written
    uint64_t *seen;          // under it, beside the cells: what a SAMPLE_COUNTER was last set to
};

/// How many lines a supplier has in a row with these labels; of rows without suppliers 0.
size_t metric_kinds(enum metric_labels labels);
/// How many values the labels of a row have, with and without an owner.
size_t metric_lines(const struct metrics *metrics, enum metric metric);
uint64_t metric_cell(const struct metrics *metrics, enum metric metric, size_t cell);
