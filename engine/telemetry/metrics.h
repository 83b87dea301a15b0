/// Metrics: the numbers of a running engine, and their text for Prometheus.
///
/// metrics.def is the one table. A finished search is counted whole from its record, so that metrics, attribution and
/// replies agree. Labels come from configuration and from tables in the code, never from a request; suppliers beyond
/// METRICS_MAX_SUPPLIERS count as "other", callers beyond METRICS_MAX_CALLERS as unnamed. The names change while it
/// counts: one that is gone keeps its lines until a new one needs the room. No counter ever falls, also when what it is
/// taken from begins anew.
///
/// Threads: any; counting is relaxed atomics and waits for nothing. Who names, sets rows of suppliers and tables, or
///          writes the text holds a lock for as long.
/// Memory:  sized by the most names there can be (about 0.6 MiB, touched as far as used), and by threads.
#pragma once

#include "base/buffer.h"
#include "base/status.h"
#include "model/revalidation_status.h"
#include "model/script_limit.h"
#include "model/search_record.h"

struct metrics;

enum metric {
#define X(symbol, name, type, labels, about) METRIC_##symbol,
#include "telemetry/metrics.def"
#undef X
    METRIC_COUNT
};

enum { METRICS_MAX_SUPPLIERS = 512, METRICS_MAX_CALLERS = 256, METRICS_MAX_THREADS = 64, METRICS_MAX_TABLES = 64 };

enum metric_names_kind { METRIC_NAMES_SUPPLIERS, METRIC_NAMES_CALLERS, METRIC_NAMES_TABLES, METRIC_NAMES_COUNT };

struct metrics_options {
    const struct text *suppliers; // those of the beginning; copied, like all names
    size_t supplier_count;
    size_t thread_count;        // of loops
    const char *version;        // a constant
    const struct text *callers; // the known ones; copied
    size_t caller_count;
    const struct text *tables; // of look-ups; copied
    size_t table_count;
};

MUST_CHECK enum status metrics_create(const struct metrics_options *options, struct metrics **metrics);
void metrics_destroy(struct metrics **metrics);

/// From here on these are the names; new ones get lines, or count among the others without memory or room.
void metrics_name(struct metrics *metrics, enum metric_names_kind kind, const struct text *names, size_t count);

/// Counts a search that is over and sent, with all its attempts; or, by its record, what went on beside one.
void metrics_count_search(struct metrics *metrics, const struct search_record *record);

/// Counts a revalidation that is over, as its caller saw it.
void metrics_count_revalidation(struct metrics *metrics, enum revalidation_status status);
/// Requests to a supplier that were of no search.
void metrics_count_requests(struct metrics *metrics, struct text supplier, uint32_t requests);

/// Counts a request that was answered with this error and never became a search.
void metrics_count_refusal(struct metrics *metrics, uint16_t status);

/// Sets a row of type SAMPLE_*; `label` is the index of the thread, 0 for rows without such a label.
void metrics_set(struct metrics *metrics, enum metric metric, size_t label, uint64_t value);

/// Sets a row of type SAMPLE_* whose label is the supplier; names without a line of their own add up to "other". A
/// gauge of a supplier that is not named is 0; a counter that is less than it was last has begun anew.
void metrics_set_suppliers(struct metrics *metrics, enum metric metric, const struct text *names,
                           const uint64_t *values, size_t count);

/// The same for a row whose second label is the limit: `values` of this one.
void metrics_set_limits(struct metrics *metrics, enum metric metric, enum script_limit limit, const struct text *names,
                        const uint64_t *values, size_t count);

/// The same for the row of a table.
void metrics_set_table(struct metrics *metrics, enum metric metric, struct text name, uint64_t value);

/// What the values of these counters are taken from is another thing from now on, which stands at `values` already:
/// what it counts beyond them is added. Without this a value less than the last one is taken for a new beginning.
void metrics_begin_suppliers(struct metrics *metrics, enum metric metric, const struct text *names,
                             const uint64_t *values, size_t count);
void metrics_begin_limits(struct metrics *metrics, enum metric metric, enum script_limit limit,
                          const struct text *names, const uint64_t *values, size_t count);
void metrics_begin_table(struct metrics *metrics, enum metric metric, struct text name, uint64_t value);

/// The sum over all labels of a counter; of a histogram, how many values it has seen.
uint64_t metrics_sum(const struct metrics *metrics, enum metric metric);

/// Text exposition format 0.0.4.
void metrics_write(struct metrics *metrics, struct buffer *out);
#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"
