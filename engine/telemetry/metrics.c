#include "telemetry/metrics.h"

#include "model/last_known.h"
#include "telemetry/metric_cells.h"

#include <stdlib.h>

const struct metric_row metric_rows[METRIC_COUNT] = {
#define X(symbol, name, type, labels, about) { name, METRIC_##type, LABELS_##labels, about },
#include "telemetry/metrics.def"
#undef X
};

/// Statuses that a search can end with; any other one counts as the last.
const struct metric_status metric_statuses[METRIC_STATUSES] = {
    { 0, "cancelled" }, { 200, "200" }, { 422, "422" }, { 500, "500" }, { 503, "503" }, { 504, "504" }, { 1, "other" },
};

/// Statuses of requests that never become a search; any other one counts as the last.
const struct metric_status metric_refusals[METRIC_REFUSALS] = {
    { 400, "400" }, { 404, "404" }, { 405, "405" }, { 413, "413" }, { 415, "415" },
    { 422, "422" }, { 503, "503" }, { 504, "504" }, { 1, "other" },
};

/// In the order of app/reload_answer.h.
const char *const metric_reload_outcomes[METRIC_RELOAD_OUTCOMES] = { "published", "unchanged", "refused" };

const struct metric_bucket metric_buckets[METRIC_BUCKETS] = {
    { 5000, "0.005" }, { 10000, "0.01" },  { 25000, "0.025" }, { 50000, "0.05" },  { 100000, "0.1" },
    { 200000, "0.2" }, { 300000, "0.3" },  { 400000, "0.4" },  { 500000, "0.5" },  { 750000, "0.75" },
    { 1000000, "1" },  { 1500000, "1.5" }, { 2000000, "2" },   { 2500000, "2.5" }, { 3000000, "3" },
    { 4000000, "4" },  { 5000000, "5" },   { 7500000, "7.5" }, { 10000000, "10" },
};

size_t metric_kinds(enum metric_labels labels)
{
    switch (labels) {
    case LABELS_SUPPLIER:
        return 1;
    case LABELS_SUPPLIER_OUTCOME:
        return OUTCOME_COUNT;
    case LABELS_SUPPLIER_BOUND_PHASE:
        return (size_t)METRIC_BOUNDS * PHASE_COUNT;
    case LABELS_SUPPLIER_LIMIT:
        return SCRIPT_LIMIT_COUNT;
    case LABELS_NONE:
    case LABELS_CALLER_STATUS:
    case LABELS_REFUSAL:
    case LABELS_REVALIDATION_STATUS:
    case LABELS_THREAD:
    case LABELS_TABLE:
    case LABELS_VERSION:
    case LABELS_RELOAD_OUTCOME:
        break;
    }
    return 0;
}

size_t metric_lines(const struct metrics *metrics, enum metric metric)
{
    enum metric_labels labels = metric_rows[metric].labels;

    switch (labels) {
    case LABELS_NONE:
    case LABELS_VERSION:
        return 1;
    case LABELS_CALLER_STATUS:
        return (size_t)(METRICS_MAX_CALLERS + 1) * METRIC_STATUSES;
    case LABELS_REFUSAL:
        return METRIC_REFUSALS;
    case LABELS_REVALIDATION_STATUS:
        return REVALIDATION_STATUS_COUNT;
    case LABELS_SUPPLIER:
    case LABELS_SUPPLIER_OUTCOME:
    case LABELS_SUPPLIER_BOUND_PHASE:
    case LABELS_SUPPLIER_LIMIT:
        return METRIC_SUPPLIER_LINES * metric_kinds(labels);
    case LABELS_THREAD:
        return metrics->thread_count;
    case LABELS_TABLE:
        return METRICS_MAX_TABLES;
    case LABELS_RELOAD_OUTCOME:
        return METRIC_RELOAD_OUTCOMES;
    }
    return 0;
}

static size_t cells_of_line(enum metric metric)
{
    return metric_rows[metric].type == METRIC_HISTOGRAM ? HISTOGRAM_CELLS : 1;
}

static size_t cells_of(const struct metrics *metrics, enum metric metric)
{
    return metric_lines(metrics, metric) * cells_of_line(metric);
}

uint64_t metric_cell(const struct metrics *metrics, enum metric metric, size_t cell)
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

    while (bucket < METRIC_BUCKETS && value_us > metric_buckets[bucket].us) {
        bucket++;
    }
    cell_add(metrics, metric, label * HISTOGRAM_CELLS + bucket, 1);
    cell_add(metrics, metric, label * HISTOGRAM_CELLS + HISTOGRAM_SUM, value_us);
}

// --------------------------------------------------------------------------------------------------- birth and death

static enum status names_init(struct metrics *metrics)
{
    static const size_t most[METRIC_NAMES_COUNT] = { METRICS_MAX_SUPPLIERS, METRICS_MAX_CALLERS, METRICS_MAX_TABLES };
    enum status status = STATUS_OK;

    for (size_t i = 0; i < METRIC_NAMES_COUNT && status == STATUS_OK; i++) {
        status = metric_names_init(&metrics->names[i], most[i]);
    }
    return status;
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
    require(pthread_mutex_init(&made->setting, NULL) == 0);
    enum status status = names_init(made);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        made->first[metric] = cells;
        cells += cells_of(made, metric);
    }
    made->cells = calloc(cells, sizeof(*made->cells));
    made->seen = calloc(cells, sizeof(*made->seen));
    if (status != STATUS_OK || made->cells == NULL || made->seen == NULL) {
        metrics_destroy(&made);
        return STATUS_NO_MEMORY;
    }
    metrics_name(made, METRIC_NAMES_SUPPLIERS, options->suppliers, options->supplier_count);
    metrics_name(made, METRIC_NAMES_CALLERS, options->callers, options->caller_count);
    metrics_name(made, METRIC_NAMES_TABLES, options->tables, options->table_count);
    metrics_set(made, METRIC_BUILD, 0, 1);
    *metrics = made;
    return STATUS_OK;
}

/// A line of a supplier changes hands: what it counted is of others from now on, so that no sum falls.
static void on_supplier_reuse(void *context, size_t line)
{
    struct metrics *metrics = context;

    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        size_t kinds = metric_kinds(metric_rows[metric].labels) * cells_of_line(metric);
        bool is_gauge = metric_rows[metric].type == METRIC_SAMPLE_GAUGE;
        for (size_t i = 0; i < kinds; i++) {
            size_t cell = metrics->first[metric] + line * kinds + i;
            uint64_t counted = atomic_exchange_explicit(&metrics->cells[cell], 0, memory_order_relaxed);
            metrics->seen[cell] = 0;
            cell_add(metrics, metric, METRIC_OTHER * kinds + i, is_gauge ? 0 : counted);
        }
    }
}

/// Callers and tables have no others: what they counted goes to the unnamed caller, or away.
static void on_caller_reuse(void *context, size_t line)
{
    struct metrics *metrics = context;
    size_t first = metrics->first[METRIC_SEARCHES];

    for (size_t i = 0; i < METRIC_STATUSES; i++) {
        size_t cell = first + (line + 1) * METRIC_STATUSES + i;
        cell_add(metrics, METRIC_SEARCHES, i, atomic_exchange_explicit(&metrics->cells[cell], 0, memory_order_relaxed));
    }
}

static void on_table_reuse(void *context, size_t line)
{
    struct metrics *metrics = context;
    size_t cell = metrics->first[METRIC_LOOKUP_MISSES] + line;

    atomic_store_explicit(&metrics->cells[cell], 0, memory_order_relaxed);
    metrics->seen[cell] = 0;
}

void metrics_name(struct metrics *metrics, enum metric_names_kind kind, const struct text *names, size_t count)
{
    static void (*const on_reuse[METRIC_NAMES_COUNT])(void *, size_t) = { on_supplier_reuse, on_caller_reuse,
                                                                          on_table_reuse };

    pthread_mutex_lock(&metrics->setting);
    metric_names_set(&metrics->names[kind], names, count, on_reuse[kind], metrics);
    pthread_mutex_unlock(&metrics->setting);
}

void metrics_destroy(struct metrics **metrics)
{
    if (*metrics != NULL) {
        for (size_t i = 0; i < METRIC_NAMES_COUNT; i++) {
            metric_names_fini(&(*metrics)->names[i]);
        }
        pthread_mutex_destroy(&(*metrics)->setting);
        free((*metrics)->cells);
        free((*metrics)->seen);
        free(*metrics);
        *metrics = NULL;
    }
}

// ---------------------------------------------------------------------------------------------------------- counting

static size_t status_index(uint16_t status)
{
    size_t last = METRIC_STATUSES - 1;

    for (size_t i = 0; i < last; i++) {
        if (metric_statuses[i].status == status) {
            return i;
        }
    }
    return last;
}

static size_t refusal_index(uint16_t status)
{
    size_t last = METRIC_REFUSALS - 1;

    for (size_t i = 0; i < last; i++) {
        if (metric_refusals[i].status == status) {
            return i;
        }
    }
    return last;
}

/// 0: nobody named himself, or nobody whom the settings know.
static size_t caller_index(const struct metrics *metrics, struct text name)
{
    size_t line =
        name.length == 0 ? METRICS_MAX_CALLERS : metric_names_find(&metrics->names[METRIC_NAMES_CALLERS], name);
    return line == METRICS_MAX_CALLERS ? 0 : line + 1;
}

static size_t supplier_index(const struct metrics *metrics, struct text name)
{
    return metric_names_find(&metrics->names[METRIC_NAMES_SUPPLIERS], name); // none is METRIC_OTHER
}

static void count_entry(struct metrics *metrics, size_t supplier, const struct search_record_entry *entry)
{
    bool is_answer = entry->outcome == OUTCOME_ANSWERED || entry->outcome == OUTCOME_EMPTY;

    cell_add(metrics, METRIC_ATTEMPTS, supplier * OUTCOME_COUNT + (size_t)entry->outcome, 1);
    if (entry->outcome == OUTCOME_CUT) {
        size_t bound = entry->bound == BOUND_CEILING ? 0 : 1;
        size_t cell = (supplier * METRIC_BOUNDS + bound) * PHASE_COUNT + (size_t)entry->phase;
        cell_add(metrics, METRIC_ATTEMPTS_CUT, cell, 1);
    }
    if (is_answer && entry->was_asked) {
        histogram_observe(metrics, METRIC_SUPPLIER_DURATION, supplier, entry->took_us);
    }
    if (entry->outcome == OUTCOME_ANSWERED) {
        cell_add(metrics, METRIC_OFFERS, supplier, entry->offers);
    }
    if (entry->has_last_known) {
        bool is_cached = entry->outcome == OUTCOME_CACHED;
        cell_add(metrics, METRIC_OFFERS_CACHED, supplier, is_cached ? entry->last_offers : 0);
        cell_add(metrics, METRIC_OFFERS_INDICATIVE, supplier, is_cached ? 0 : entry->last_offers);
        cell_add(metrics, METRIC_ATTEMPTS_INDICATIVE, supplier, is_cached ? 0 : 1);
    }
    cell_add(metrics, METRIC_PRICE_GUARD, supplier, text_equals_c(entry->code, PRICE_GUARD_CODE) ? 1 : 0);
    cell_add(metrics, METRIC_ATTEMPTS_PARTIAL, supplier, is_answer && entry->is_partial ? 1 : 0);
    cell_add(metrics, METRIC_SUPPLIER_REQUESTS, supplier, entry->requests);
    cell_add(metrics, METRIC_OFFERS_DROPPED, supplier, entry->dropped);
    cell_add(metrics, METRIC_OFFERS_UNMAPPED, supplier, entry->unmapped);
}

/// What went on beside a search: its requests are of the supplier, its outcome counts apart.
static void count_late(struct metrics *metrics, const struct search_record *record)
{
    const struct search_record_entry *entry = &record->entries[0];
    const struct search_record_late *late = &record->late;
    size_t supplier = supplier_index(metrics, entry->name);
    bool is_answer = entry->outcome == OUTCOME_ANSWERED || entry->outcome == OUTCOME_EMPTY;

    cell_add(metrics, METRIC_SUPPLIER_REQUESTS, supplier, entry->requests);
    if (record->kind == RECORD_PROBE) {
        cell_add(metrics, METRIC_PROBES, supplier * OUTCOME_COUNT + (size_t)entry->outcome, 1);
        return;
    }
    cell_add(metrics, METRIC_LINGERED, supplier * OUTCOME_COUNT + (size_t)entry->outcome, 1);
    if (is_answer) {
        histogram_observe(metrics, METRIC_LATE_BY, supplier, late->late_us);
    }
    cell_add(metrics, METRIC_LATE_OFFERS, supplier, entry->offers);
    cell_add(metrics, METRIC_LATE_NEW_ITEMS, supplier, late->is_compared ? late->new_items : 0);
    cell_add(metrics, METRIC_LATE_CHEAPEST, supplier, late->is_compared ? late->cheapest_items : 0);
}

void metrics_count_search(struct metrics *metrics, const struct search_record *record)
{
    if (record->kind != RECORD_SEARCH) {
        count_late(metrics, record);
        return;
    }
    size_t caller = caller_index(metrics, record->caller);
    cell_add(metrics, METRIC_SEARCHES, caller * METRIC_STATUSES + status_index(record->status), 1);
    cell_add(metrics, METRIC_SEARCHES_LATE, 0, search_record_is_late(record) ? 1 : 0);
    cell_add(metrics, METRIC_SEARCHES_CUT, 0, record->was_cut_by_budget ? 1 : 0);
    if (record->status != 0) {
        histogram_observe(metrics, METRIC_SEARCH_DURATION, 0, record->took_us);
        cell_add(metrics, METRIC_SEARCHES_EARLY, 0, record->saved_us > 0 ? 1 : 0);
        cell_add(metrics, METRIC_SEARCHES_SAVED, 0, record->saved_us);
        cell_add(metrics, METRIC_SEARCHES_COMPLETE, 0, record->is_complete ? 1 : 0);
        cell_add(metrics, METRIC_REPLIES_CLIENT_SLOW, 0, record->was_client_slow ? 1 : 0);
        cell_add(metrics, METRIC_REPLIES_LOST, 0, record->was_sent ? 0 : 1);
    }
    cell_add(metrics, METRIC_RECALL_FOUND, 0, record->store.found);
    cell_add(metrics, METRIC_RECALL_ABSENT, 0, record->store.absent);
    cell_add(metrics, METRIC_RECALL_FAULTS, 0, record->store.faults);
    cell_add(metrics, METRIC_RECALL_LATE, 0, record->store.late);
    for (size_t i = 0; i < record->entry_count; i++) {
        count_entry(metrics, supplier_index(metrics, record->entries[i].name), &record->entries[i]);
    }
}

void metrics_count_revalidation(struct metrics *metrics, enum revalidation_status status)
{
    cell_add(metrics, METRIC_REVALIDATIONS, (size_t)status, 1);
}

void metrics_count_requests(struct metrics *metrics, struct text supplier, uint32_t requests)
{
    cell_add(metrics, METRIC_SUPPLIER_REQUESTS, supplier_index(metrics, supplier), requests);
}

void metrics_count_refusal(struct metrics *metrics, uint16_t status)
{
    cell_add(metrics, METRIC_REQUESTS_REFUSED, refusal_index(status), 1);
}

void metrics_set(struct metrics *metrics, enum metric metric, size_t label, uint64_t value)
{
    require(metric_rows[metric].type == METRIC_SAMPLE_COUNTER || metric_rows[metric].type == METRIC_SAMPLE_GAUGE);
    if (label < metric_lines(metrics, metric)) {
        atomic_store_explicit(&metrics->cells[metrics->first[metric] + label], value, memory_order_relaxed);
    }
}

/// Sets a cell whose number comes from something that may begin anew: a counter then counts on from where it stood.
/// Under the lock.
static void cell_follow(struct metrics *metrics, enum metric metric, size_t cell, uint64_t value)
{
    uint64_t *seen = &metrics->seen[metrics->first[metric] + cell];

    if (metric_rows[metric].type == METRIC_SAMPLE_GAUGE) {
        metrics_set(metrics, metric, cell, value);
        return;
    }
    cell_add(metrics, metric, cell, value >= *seen ? value - *seen : value);
    *seen = value;
}

/// Others come and go, so their sum falls without anything having begun anew. Under the lock.
static void cell_follow_others(struct metrics *metrics, enum metric metric, size_t cell, uint64_t value)
{
    uint64_t *seen = &metrics->seen[metrics->first[metric] + cell];

    *seen = metric_rows[metric].type == METRIC_SAMPLE_COUNTER && value < *seen ? value : *seen;
    cell_follow(metrics, metric, cell, value);
}

/// Of suppliers that are gone there is nothing.
static void clear_gauges(struct metrics *metrics, enum metric metric, size_t kinds, size_t kind)
{
    for (size_t i = 0; i < METRIC_OTHER && metric_rows[metric].type == METRIC_SAMPLE_GAUGE; i++) {
        metrics_set(metrics, metric, i * kinds + kind, 0);
    }
}

/// `kinds` labels for each supplier, of which this is `kind`.
static void set_suppliers(struct metrics *metrics, enum metric metric, size_t kinds, size_t kind,
                          const struct text *names, const uint64_t *values, size_t count)
{
    uint64_t others = 0;

    pthread_mutex_lock(&metrics->setting);
    clear_gauges(metrics, metric, kinds, kind);
    for (size_t i = 0; i < count; i++) {
        size_t supplier = supplier_index(metrics, names[i]);
        if (supplier == METRIC_OTHER) {
            others += values[i];
        } else {
            cell_follow(metrics, metric, supplier * kinds + kind, values[i]);
        }
    }
    cell_follow_others(metrics, metric, METRIC_OTHER * kinds + kind, others);
    pthread_mutex_unlock(&metrics->setting);
}

static void begin_suppliers(struct metrics *metrics, enum metric metric, size_t kinds, size_t kind,
                            const struct text *names, const uint64_t *values, size_t count)
{
    require(metric_rows[metric].type == METRIC_SAMPLE_COUNTER);
    pthread_mutex_lock(&metrics->setting);
    for (size_t i = 0; i < count; i++) {
        size_t supplier = supplier_index(metrics, names[i]);
        if (supplier != METRIC_OTHER) {
            metrics->seen[metrics->first[metric] + supplier * kinds + kind] = values[i];
        }
    }
    pthread_mutex_unlock(&metrics->setting);
}

void metrics_set_suppliers(struct metrics *metrics, enum metric metric, const struct text *names,
                           const uint64_t *values, size_t count)
{
    require(metric_rows[metric].labels == LABELS_SUPPLIER);
    set_suppliers(metrics, metric, 1, 0, names, values, count);
}

void metrics_begin_suppliers(struct metrics *metrics, enum metric metric, const struct text *names,
                             const uint64_t *values, size_t count)
{
    require(metric_rows[metric].labels == LABELS_SUPPLIER);
    begin_suppliers(metrics, metric, 1, 0, names, values, count);
}

void metrics_set_limits(struct metrics *metrics, enum metric metric, enum script_limit limit, const struct text *names,
                        const uint64_t *values, size_t count)
{
    require(metric_rows[metric].labels == LABELS_SUPPLIER_LIMIT);
    set_suppliers(metrics, metric, SCRIPT_LIMIT_COUNT, (size_t)limit, names, values, count);
}

void metrics_begin_limits(struct metrics *metrics, enum metric metric, enum script_limit limit,
                          const struct text *names, const uint64_t *values, size_t count)
{
    require(metric_rows[metric].labels == LABELS_SUPPLIER_LIMIT);
    begin_suppliers(metrics, metric, SCRIPT_LIMIT_COUNT, (size_t)limit, names, values, count);
}

void metrics_set_table(struct metrics *metrics, enum metric metric, struct text name, uint64_t value)
{
    size_t table = metric_names_find(&metrics->names[METRIC_NAMES_TABLES], name);

    require(metric_rows[metric].labels == LABELS_TABLE);
    if (table < METRICS_MAX_TABLES) {
        pthread_mutex_lock(&metrics->setting);
        cell_follow(metrics, metric, table, value);
        pthread_mutex_unlock(&metrics->setting);
    }
}

void metrics_begin_table(struct metrics *metrics, enum metric metric, struct text name, uint64_t value)
{
    size_t table = metric_names_find(&metrics->names[METRIC_NAMES_TABLES], name);

    require(metric_rows[metric].labels == LABELS_TABLE);
    if (table < METRICS_MAX_TABLES) {
        pthread_mutex_lock(&metrics->setting);
        metrics->seen[metrics->first[metric] + table] = value;
        pthread_mutex_unlock(&metrics->setting);
    }
}

uint64_t metrics_sum(const struct metrics *metrics, enum metric metric)
{
    size_t count = cells_of(metrics, metric);
    bool is_histogram = metric_rows[metric].type == METRIC_HISTOGRAM;
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += is_histogram && i % HISTOGRAM_CELLS == HISTOGRAM_SUM ? 0 : metric_cell(metrics, metric, i);
    }
    return sum;
}
