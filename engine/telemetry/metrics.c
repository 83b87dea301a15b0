#include "telemetry/metrics.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// All cells lie in one array; a metric has `first` and as many cells as its labels have values. A histogram has, for
// each of them, a cell for each bucket, one for what is above all buckets, and one for the sum.

enum metric_type { METRIC_COUNTER, METRIC_HISTOGRAM, METRIC_SAMPLE_COUNTER, METRIC_SAMPLE_GAUGE };

enum metric_labels {
    LABELS_NONE,
    LABELS_CALLER_STATUS,
    LABELS_REFUSAL,
    LABELS_SUPPLIER,
    LABELS_SUPPLIER_OUTCOME,
    LABELS_SUPPLIER_BOUND_PHASE,
    LABELS_SUPPLIER_LIMIT,
    LABELS_THREAD,
    LABELS_TABLE,
    LABELS_VERSION,
    LABELS_RELOAD_OUTCOME,
};

static const struct metric_row {
    const char *name;
    enum metric_type type;
    enum metric_labels labels;
    const char *about;
} rows[] = {
#define X(symbol, name, type, labels, about) { name, METRIC_##type, LABELS_##labels, about },
#include "telemetry/metrics.def"
#undef X
};

/// Statuses that a search can end with; any other one counts as the last.
static const struct {
    uint16_t status;
    const char *label;
} statuses[] = {
    { 0, "cancelled" }, { 200, "200" }, { 422, "422" }, { 500, "500" }, { 503, "503" }, { 504, "504" }, { 1, "other" },
};

/// Statuses of requests that never become a search; any other one counts as the last.
static const struct {
    uint16_t status;
    const char *label;
} refusals[] = {
    { 400, "400" }, { 404, "404" }, { 405, "405" }, { 413, "413" }, { 415, "415" },
    { 422, "422" }, { 503, "503" }, { 504, "504" }, { 1, "other" },
};

/// What becomes of a reload, in the order of app/reload_answer.h.
static const char *const reload_outcomes[] = { "published", "unchanged", "refused" };

/// Upper edges in µs, as written in the text.
static const struct {
    uint64_t us;
    const char *label;
} buckets[] = {
    { 5000, "0.005" }, { 10000, "0.01" },  { 25000, "0.025" }, { 50000, "0.05" },  { 100000, "0.1" },
    { 200000, "0.2" }, { 300000, "0.3" },  { 400000, "0.4" },  { 500000, "0.5" },  { 750000, "0.75" },
    { 1000000, "1" },  { 1500000, "1.5" }, { 2000000, "2" },   { 2500000, "2.5" }, { 3000000, "3" },
    { 4000000, "4" },  { 5000000, "5" },   { 7500000, "7.5" }, { 10000000, "10" },
};

enum {
    BUCKET_COUNT = COUNT_OF(buckets),
    HISTOGRAM_ABOVE = BUCKET_COUNT, // the cell behind the buckets
    HISTOGRAM_SUM,
    HISTOGRAM_CELLS,
    BOUND_LABELS = 2, // ceiling, budget
    NAME_MAX_LENGTH = 64,
};

struct metrics {
    size_t supplier_count; // the last one is "other"
    size_t caller_count;   // besides the unnamed one
    size_t thread_count;
    const char *version;
    size_t first[METRIC_COUNT];
    atomic_uint_fast64_t *cells;
    char (*suppliers)[NAME_MAX_LENGTH];
    char (*callers)[NAME_MAX_LENGTH];
    size_t table_count;
    char (*tables)[NAME_MAX_LENGTH];
};

static size_t labels_count(const struct metrics *metrics, enum metric_labels labels)
{
    switch (labels) {
    case LABELS_NONE:
    case LABELS_VERSION:
        return 1;
    case LABELS_CALLER_STATUS: // the unnamed caller first
        return (metrics->caller_count + 1) * COUNT_OF(statuses);
    case LABELS_REFUSAL:
        return COUNT_OF(refusals);
    case LABELS_SUPPLIER:
        return metrics->supplier_count;
    case LABELS_SUPPLIER_OUTCOME:
        return metrics->supplier_count * OUTCOME_COUNT;
    case LABELS_SUPPLIER_BOUND_PHASE:
        return metrics->supplier_count * BOUND_LABELS * PHASE_COUNT;
    case LABELS_SUPPLIER_LIMIT:
        return metrics->supplier_count * SCRIPT_LIMIT_COUNT;
    case LABELS_THREAD:
        return metrics->thread_count;
    case LABELS_TABLE:
        return metrics->table_count;
    case LABELS_RELOAD_OUTCOME:
        return COUNT_OF(reload_outcomes);
    }
    return 0;
}

static size_t cells_of(const struct metrics *metrics, enum metric metric)
{
    size_t each = rows[metric].type == METRIC_HISTOGRAM ? HISTOGRAM_CELLS : 1;
    return labels_count(metrics, rows[metric].labels) * each;
}

static uint64_t cell_read(const struct metrics *metrics, enum metric metric, size_t cell)
{
    return atomic_load_explicit(&metrics->cells[metrics->first[metric] + cell], memory_order_relaxed);
}

static void cell_add(struct metrics *metrics, enum metric metric, size_t cell, uint64_t value)
{
    if (value > 0) {
        atomic_fetch_add_explicit(&metrics->cells[metrics->first[metric] + cell], value, memory_order_relaxed);
    }
}

static void histogram_observe(struct metrics *metrics, enum metric metric, size_t label, uint64_t value_us)
{
    size_t bucket = 0;

    while (bucket < BUCKET_COUNT && value_us > buckets[bucket].us) {
        bucket++;
    }
    cell_add(metrics, metric, label * HISTOGRAM_CELLS + bucket, 1);
    cell_add(metrics, metric, label * HISTOGRAM_CELLS + HISTOGRAM_SUM, value_us);
}

// --------------------------------------------------------------------------------------------------- birth and death

/// Copies of the names, cut to what a label may have, with room for one more. NULL without memory.
static char (*copy_names(const struct text *names, size_t count))[NAME_MAX_LENGTH]
{
    char(*copies)[NAME_MAX_LENGTH] = calloc(count + 1, sizeof(*copies));

    for (size_t i = 0; copies != NULL && i < count; i++) {
        size_t length = names[i].length < NAME_MAX_LENGTH - 1 ? names[i].length : NAME_MAX_LENGTH - 1;
        memcpy(copies[i], names[i].data, length);
    }
    return copies;
}

static bool keep_names(struct metrics *metrics, const struct metrics_options *options)
{
    size_t named = options->supplier_count < METRICS_MAX_SUPPLIERS ? options->supplier_count : METRICS_MAX_SUPPLIERS;

    metrics->table_count = options->table_count < METRICS_MAX_TABLES ? options->table_count : METRICS_MAX_TABLES;
    metrics->tables = copy_names(options->tables, metrics->table_count);
    metrics->supplier_count = named + 1;
    metrics->suppliers = copy_names(options->suppliers, named);
    metrics->caller_count = options->caller_count < METRICS_MAX_CALLERS ? options->caller_count : METRICS_MAX_CALLERS;
    metrics->callers = copy_names(options->callers, metrics->caller_count);
    if (metrics->tables == NULL || metrics->suppliers == NULL || metrics->callers == NULL) {
        return false;
    }
    memcpy(metrics->suppliers[named], "other", sizeof("other"));
    return true;
}

enum status metrics_create(const struct metrics_options *options, struct metrics **metrics)
{
    struct metrics *made = calloc(1, sizeof(*made));
    size_t cells = 0;

    *metrics = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    made->version = options->version;
    made->thread_count = options->thread_count < METRICS_MAX_THREADS ? options->thread_count : METRICS_MAX_THREADS;
    if (!keep_names(made, options)) {
        metrics_destroy(&made);
        return STATUS_NO_MEMORY;
    }
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        made->first[metric] = cells;
        cells += cells_of(made, metric);
    }
    made->cells = calloc(cells, sizeof(*made->cells));
    if (made->cells == NULL) {
        metrics_destroy(&made);
        return STATUS_NO_MEMORY;
    }
    metrics_set(made, METRIC_BUILD, 0, 1);
    *metrics = made;
    return STATUS_OK;
}

void metrics_destroy(struct metrics **metrics)
{
    if (*metrics != NULL) {
        free((*metrics)->suppliers);
        free((*metrics)->callers);
        free((*metrics)->tables);
        free((*metrics)->cells);
        free(*metrics);
        *metrics = NULL;
    }
}

// ---------------------------------------------------------------------------------------------------------- counting

static size_t status_index(uint16_t status)
{
    size_t last = COUNT_OF(statuses) - 1;

    for (size_t i = 0; i < last; i++) {
        if (statuses[i].status == status) {
            return i;
        }
    }
    return last;
}

static size_t refusal_index(uint16_t status)
{
    size_t last = COUNT_OF(refusals) - 1;

    for (size_t i = 0; i < last; i++) {
        if (refusals[i].status == status) {
            return i;
        }
    }
    return last;
}

/// 0: nobody named himself, or nobody whom the settings know.
static size_t caller_index(const struct metrics *metrics, struct text name)
{
    for (size_t i = 0; i < metrics->caller_count && name.length > 0; i++) {
        if (text_equals_c(name, metrics->callers[i])) {
            return i + 1;
        }
    }
    return 0;
}

/// Entries come in the order of the names, so the next one is nearly always `guess`.
static size_t supplier_index(const struct metrics *metrics, struct text name, size_t guess)
{
    size_t other = metrics->supplier_count - 1;

    if (guess < other && text_equals_c(name, metrics->suppliers[guess])) {
        return guess;
    }
    for (size_t i = 0; i < other; i++) {
        if (text_equals_c(name, metrics->suppliers[i])) {
            return i;
        }
    }
    return other;
}

static void count_entry(struct metrics *metrics, size_t supplier, const struct search_record_entry *entry)
{
    bool is_answer = entry->outcome == OUTCOME_ANSWERED || entry->outcome == OUTCOME_EMPTY;

    cell_add(metrics, METRIC_ATTEMPTS, supplier * OUTCOME_COUNT + (size_t)entry->outcome, 1);
    if (entry->outcome == OUTCOME_CUT) {
        size_t bound = entry->bound == BOUND_CEILING ? 0 : 1;
        size_t cell = (supplier * BOUND_LABELS + bound) * PHASE_COUNT + (size_t)entry->phase;
        cell_add(metrics, METRIC_ATTEMPTS_CUT, cell, 1);
    }
    if (is_answer && entry->was_asked) {
        histogram_observe(metrics, METRIC_SUPPLIER_DURATION, supplier, entry->took_us);
    }
    if (entry->outcome == OUTCOME_ANSWERED) {
        cell_add(metrics, METRIC_OFFERS, supplier, entry->offers);
    }
    cell_add(metrics, METRIC_ATTEMPTS_PARTIAL, supplier, is_answer && entry->is_partial ? 1 : 0);
    cell_add(metrics, METRIC_SUPPLIER_REQUESTS, supplier, entry->requests);
    cell_add(metrics, METRIC_OFFERS_DROPPED, supplier, entry->dropped);
    cell_add(metrics, METRIC_OFFERS_UNMAPPED, supplier, entry->unmapped);
}

void metrics_count_search(struct metrics *metrics, const struct search_record *record)
{
    size_t supplier = 0;

    size_t caller = caller_index(metrics, record->caller);
    cell_add(metrics, METRIC_SEARCHES, caller * COUNT_OF(statuses) + status_index(record->status), 1);
    cell_add(metrics, METRIC_SEARCHES_LATE, 0, search_record_is_late(record) ? 1 : 0);
    cell_add(metrics, METRIC_SEARCHES_CUT, 0, record->was_cut_by_budget ? 1 : 0);
    if (record->status != 0) {
        histogram_observe(metrics, METRIC_SEARCH_DURATION, 0, record->took_us);
        cell_add(metrics, METRIC_SEARCHES_COMPLETE, 0, record->is_complete ? 1 : 0);
        cell_add(metrics, METRIC_REPLIES_CLIENT_SLOW, 0, record->was_client_slow ? 1 : 0);
        cell_add(metrics, METRIC_REPLIES_LOST, 0, record->was_sent ? 0 : 1);
    }
    for (size_t i = 0; i < record->entry_count; i++) {
        supplier = supplier_index(metrics, record->entries[i].name, supplier);
        count_entry(metrics, supplier, &record->entries[i]);
        supplier++;
    }
}

void metrics_count_refusal(struct metrics *metrics, uint16_t status)
{
    cell_add(metrics, METRIC_REQUESTS_REFUSED, refusal_index(status), 1);
}

void metrics_set(struct metrics *metrics, enum metric metric, size_t label, uint64_t value)
{
    require(rows[metric].type == METRIC_SAMPLE_COUNTER || rows[metric].type == METRIC_SAMPLE_GAUGE);
    if (label < labels_count(metrics, rows[metric].labels)) {
        atomic_store_explicit(&metrics->cells[metrics->first[metric] + label], value, memory_order_relaxed);
    }
}

/// `kinds` labels for each supplier, of which this is `kind`.
static void set_suppliers(struct metrics *metrics, enum metric metric, size_t kinds, size_t kind,
                          const struct text *names, const uint64_t *values, size_t count)
{
    size_t other = metrics->supplier_count - 1;
    uint64_t others = 0;

    for (size_t i = 0; i < count; i++) {
        size_t supplier = supplier_index(metrics, names[i], i);
        if (supplier == other) {
            others += values[i];
        } else {
            metrics_set(metrics, metric, supplier * kinds + kind, values[i]);
        }
    }
    metrics_set(metrics, metric, other * kinds + kind, others);
}

void metrics_set_suppliers(struct metrics *metrics, enum metric metric, const struct text *names,
                           const uint64_t *values, size_t count)
{
    require(rows[metric].labels == LABELS_SUPPLIER);
    set_suppliers(metrics, metric, 1, 0, names, values, count);
}

void metrics_set_limits(struct metrics *metrics, enum metric metric, enum script_limit limit, const struct text *names,
                        const uint64_t *values, size_t count)
{
    require(rows[metric].labels == LABELS_SUPPLIER_LIMIT);
    set_suppliers(metrics, metric, SCRIPT_LIMIT_COUNT, (size_t)limit, names, values, count);
}

uint64_t metrics_sum(const struct metrics *metrics, enum metric metric)
{
    size_t count = cells_of(metrics, metric);
    bool is_histogram = rows[metric].type == METRIC_HISTOGRAM;
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += is_histogram && i % HISTOGRAM_CELLS == HISTOGRAM_SUM ? 0 : cell_read(metrics, metric, i);
    }
    return sum;
}

// --------------------------------------------------------------------------------------------------------------- text

static bool is_in_seconds(enum metric metric)
{
    static const char unit[] = "_seconds";
    const char *found = strstr(rows[metric].name, unit);
    const char *rest = found == NULL ? NULL : found + sizeof(unit) - 1;

    return rest != NULL && (strcmp(rest, "") == 0 || strcmp(rest, "_total") == 0);
}

static void write_value(enum metric metric, uint64_t value, struct buffer *out)
{
    if (is_in_seconds(metric)) {
        buffer_printf(out, "%llu.%06llu", (unsigned long long)(value / 1000000), (unsigned long long)(value % 1000000));
    } else {
        buffer_printf(out, "%llu", (unsigned long long)value);
    }
}

/// `name="value"` behind what stands there already; the format's three characters are escaped.
static void write_label(const char *name, const char *value, bool is_first, struct buffer *out)
{
    buffer_printf(out, "%s%s=\"", is_first ? "" : ",", name);
    for (const char *byte = value; *byte != '\0'; byte++) {
        if (*byte == '\\' || *byte == '"') {
            buffer_append_byte(out, '\\');
        }
        if (*byte == '\n') {
            buffer_append_c(out, "\\n");
        } else {
            buffer_append_byte(out, *byte);
        }
    }
    buffer_append_byte(out, '"');
}

/// The labels of one line, without braces; nothing when there are none.
static void write_labels(const struct metrics *metrics, enum metric_labels labels, size_t label, struct buffer *out)
{
    char number[24];

    switch (labels) {
    case LABELS_NONE:
        break;
    case LABELS_CALLER_STATUS: {
        size_t caller = label / COUNT_OF(statuses);
        if (caller > 0) {
            write_label("caller", metrics->callers[caller - 1], true, out);
        }
        write_label("status", statuses[label % COUNT_OF(statuses)].label, caller == 0, out);
        break;
    }
    case LABELS_REFUSAL:
        write_label("status", refusals[label].label, true, out);
        break;
    case LABELS_SUPPLIER:
        write_label("supplier", metrics->suppliers[label], true, out);
        break;
    case LABELS_SUPPLIER_OUTCOME:
        write_label("supplier", metrics->suppliers[label / OUTCOME_COUNT], true, out);
        write_label("outcome", outcome_name((enum outcome)(label % OUTCOME_COUNT)), false, out);
        break;
    case LABELS_SUPPLIER_BOUND_PHASE: {
        enum phase phase = (enum phase)(label % PHASE_COUNT);
        size_t bound = label / PHASE_COUNT % BOUND_LABELS;
        write_label("supplier", metrics->suppliers[label / PHASE_COUNT / BOUND_LABELS], true, out);
        write_label("bound", bound_name(bound == 0 ? BOUND_CEILING : BOUND_BUDGET), false, out);
        write_label("phase", phase == PHASE_NONE ? "none" : phase_name(phase), false, out);
        break;
    }
    case LABELS_SUPPLIER_LIMIT:
        write_label("supplier", metrics->suppliers[label / SCRIPT_LIMIT_COUNT], true, out);
        write_label("limit", script_limit_name((enum script_limit)(label % SCRIPT_LIMIT_COUNT)), false, out);
        break;
    case LABELS_THREAD:
        (void)snprintf(number, sizeof(number), "%zu", label);
        write_label("thread", number, true, out);
        break;
    case LABELS_TABLE:
        write_label("table", metrics->tables[label], true, out);
        break;
    case LABELS_RELOAD_OUTCOME:
        write_label("outcome", reload_outcomes[label], true, out);
        break;
    case LABELS_VERSION:
        write_label("version", metrics->version, true, out);
        break;
    }
}

static void write_line(const struct metrics *metrics, enum metric metric, size_t label, struct buffer *out)
{
    enum metric_labels labels = rows[metric].labels;

    buffer_printf(out, "lastcall_%s", rows[metric].name);
    if (labels != LABELS_NONE) {
        buffer_append_byte(out, '{');
        write_labels(metrics, labels, label, out);
        buffer_append_byte(out, '}');
    }
    buffer_append_byte(out, ' ');
    write_value(metric, cell_read(metrics, metric, label), out);
    buffer_append_byte(out, '\n');
}

static void write_histogram_head(const struct metrics *metrics, enum metric metric, const char *suffix, size_t label,
                                 struct buffer *out)
{
    bool has_labels = rows[metric].labels != LABELS_NONE;
    bool has_edge = suffix[1] == 'b';

    buffer_printf(out, "lastcall_%s%s", rows[metric].name, suffix);
    if (has_labels || has_edge) {
        buffer_append_byte(out, '{');
        write_labels(metrics, rows[metric].labels, label, out);
        buffer_append_c(out, has_labels && has_edge ? "," : "");
        buffer_append_c(out, has_edge ? "" : "} ");
    } else {
        buffer_append_byte(out, ' ');
    }
}

/// Buckets are cumulative, and the last one is the count: read once, so that they agree.
static void write_histogram(const struct metrics *metrics, enum metric metric, size_t label, struct buffer *out)
{
    size_t first = label * HISTOGRAM_CELLS;
    uint64_t count = 0;

    for (size_t i = 0; i <= BUCKET_COUNT; i++) {
        count += cell_read(metrics, metric, first + i);
        write_histogram_head(metrics, metric, "_bucket", label, out);
        buffer_printf(out, "le=\"%s\"} %llu\n", i < BUCKET_COUNT ? buckets[i].label : "+Inf",
                      (unsigned long long)count);
    }
    write_histogram_head(metrics, metric, "_sum", label, out);
    write_value(metric, cell_read(metrics, metric, first + HISTOGRAM_SUM), out);
    buffer_append_byte(out, '\n');
    write_histogram_head(metrics, metric, "_count", label, out);
    buffer_printf(out, "%llu\n", (unsigned long long)count);
}

/// Lines with several labels, and those of "other", wait until there is something to tell.
static bool is_shown(const struct metrics *metrics, enum metric metric, size_t label)
{
    enum metric_labels labels = rows[metric].labels;
    bool is_always =
        labels != LABELS_SUPPLIER_OUTCOME && labels != LABELS_SUPPLIER_BOUND_PHASE && labels != LABELS_SUPPLIER_LIMIT;
    size_t each = rows[metric].type == METRIC_HISTOGRAM ? HISTOGRAM_CELLS : 1;

    if (labels == LABELS_SUPPLIER) {
        is_always = label + 1 < metrics->supplier_count;
    } else if (labels == LABELS_CALLER_STATUS) {
        is_always = label < COUNT_OF(statuses);
    }
    for (size_t i = 0; i < each && !is_always; i++) {
        is_always = cell_read(metrics, metric, label * each + i) > 0;
    }
    return is_always;
}

void metrics_write(const struct metrics *metrics, struct buffer *out)
{
    static const char *const types[] = { "counter", "histogram", "counter", "gauge" };

    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_row *row = &rows[metric];
        size_t labels = labels_count(metrics, row->labels);
        buffer_printf(out, "# HELP lastcall_%s %s\n# TYPE lastcall_%s %s\n", row->name, row->about, row->name,
                      types[row->type]);
        for (size_t label = 0; label < labels; label++) {
            if (!is_shown(metrics, metric, label)) {
                continue;
            }
            if (row->type == METRIC_HISTOGRAM) {
                write_histogram(metrics, metric, label, out);
            } else {
                write_line(metrics, metric, label, out);
            }
        }
    }
}
