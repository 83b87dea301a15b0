#include "telemetry/metric_cells.h"

#include <stdio.h>
#include <string.h>

static bool is_in_seconds(enum metric metric)
{
    static const char unit[] = "_seconds";
    const char *found = strstr(metric_rows[metric].name, unit);
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

static const char *name_of(const struct metrics *metrics, enum metric_names_kind kind, size_t line)
{
    return line == metrics->names[kind].most ? "other" : metric_names_at(&metrics->names[kind], line);
}

/// The labels of one line, without braces; nothing when there are none.
static void write_labels(const struct metrics *metrics, enum metric_labels labels, size_t label, struct buffer *out)
{
    char number[24];

    switch (labels) {
    case LABELS_NONE:
        break;
    case LABELS_CALLER_STATUS: {
        size_t caller = label / METRIC_STATUSES;
        if (caller > 0) {
            write_label("caller", name_of(metrics, METRIC_NAMES_CALLERS, caller - 1), true, out);
        }
        write_label("status", metric_statuses[label % METRIC_STATUSES].label, caller == 0, out);
        break;
    }
    case LABELS_REVALIDATION_STATUS:
        write_label("status", revalidation_status_name((enum revalidation_status)label), true, out);
        break;
    case LABELS_REFUSAL:
        write_label("status", metric_refusals[label].label, true, out);
        break;
    case LABELS_SUPPLIER:
        write_label("supplier", name_of(metrics, METRIC_NAMES_SUPPLIERS, label), true, out);
        break;
    case LABELS_SUPPLIER_OUTCOME:
        write_label("supplier", name_of(metrics, METRIC_NAMES_SUPPLIERS, label / OUTCOME_COUNT), true, out);
        write_label("outcome", outcome_name((enum outcome)(label % OUTCOME_COUNT)), false, out);
        break;
    case LABELS_SUPPLIER_BOUND_PHASE: {
        enum phase phase = (enum phase)(label % PHASE_COUNT);
        size_t bound = label / PHASE_COUNT % METRIC_BOUNDS;
        write_label("supplier", name_of(metrics, METRIC_NAMES_SUPPLIERS, label / PHASE_COUNT / METRIC_BOUNDS), true,
                    out);
        write_label("bound", bound_name(bound == 0 ? BOUND_CEILING : BOUND_BUDGET), false, out);
        write_label("phase", phase == PHASE_NONE ? "none" : phase_name(phase), false, out);
        break;
    }
    case LABELS_SUPPLIER_LIMIT:
        write_label("supplier", name_of(metrics, METRIC_NAMES_SUPPLIERS, label / SCRIPT_LIMIT_COUNT), true, out);
        write_label("limit", script_limit_name((enum script_limit)(label % SCRIPT_LIMIT_COUNT)), false, out);
        break;
    case LABELS_THREAD:
        (void)snprintf(number, sizeof(number), "%zu", label);
        write_label("thread", number, true, out);
        break;
    case LABELS_TABLE:
        write_label("table", name_of(metrics, METRIC_NAMES_TABLES, label), true, out);
        break;
    case LABELS_RELOAD_OUTCOME:
        write_label("outcome", metric_reload_outcomes[label], true, out);
        break;
    case LABELS_VERSION:
        write_label("version", metrics->version, true, out);
        break;
    }
}

static void write_line(const struct metrics *metrics, enum metric metric, size_t label, struct buffer *out)
{
    enum metric_labels labels = metric_rows[metric].labels;

    buffer_printf(out, "lastcall_%s", metric_rows[metric].name);
    if (labels != LABELS_NONE) {
        buffer_append_byte(out, '{');
        write_labels(metrics, labels, label, out);
        buffer_append_byte(out, '}');
    }
    buffer_append_byte(out, ' ');
    write_value(metric, metric_cell(metrics, metric, label), out);
    buffer_append_byte(out, '\n');
}

static void write_histogram_head(const struct metrics *metrics, enum metric metric, const char *suffix, size_t label,
                                 struct buffer *out)
{
    bool has_labels = metric_rows[metric].labels != LABELS_NONE;
    bool has_edge = suffix[1] == 'b';

    buffer_printf(out, "lastcall_%s%s", metric_rows[metric].name, suffix);
    if (has_labels || has_edge) {
        buffer_append_byte(out, '{');
        write_labels(metrics, metric_rows[metric].labels, label, out);
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

    for (size_t i = 0; i <= METRIC_BUCKETS; i++) {
        count += metric_cell(metrics, metric, first + i);
        write_histogram_head(metrics, metric, "_bucket", label, out);
        buffer_printf(out, "le=\"%s\"} %llu\n", i < METRIC_BUCKETS ? metric_buckets[i].label : "+Inf",
                      (unsigned long long)count);
    }
    write_histogram_head(metrics, metric, "_sum", label, out);
    write_value(metric, metric_cell(metrics, metric, first + HISTOGRAM_SUM), out);
    buffer_append_byte(out, '\n');
    write_histogram_head(metrics, metric, "_count", label, out);
    buffer_printf(out, "%llu\n", (unsigned long long)count);
}

/// Has the line an owner? "other" and the unnamed caller are always there.
static bool is_owned(const struct metrics *metrics, enum metric_labels labels, size_t label)
{
    size_t caller = label / METRIC_STATUSES;

    switch (labels) {
    case LABELS_CALLER_STATUS:
        return caller == 0 || name_of(metrics, METRIC_NAMES_CALLERS, caller - 1) != NULL;
    case LABELS_SUPPLIER:
    case LABELS_SUPPLIER_OUTCOME:
    case LABELS_SUPPLIER_BOUND_PHASE:
    case LABELS_SUPPLIER_LIMIT:
        return name_of(metrics, METRIC_NAMES_SUPPLIERS, label / metric_kinds(labels)) != NULL;
    case LABELS_TABLE:
        return name_of(metrics, METRIC_NAMES_TABLES, label) != NULL;
    case LABELS_NONE:
    case LABELS_REFUSAL:
    case LABELS_REVALIDATION_STATUS:
    case LABELS_THREAD:
    case LABELS_VERSION:
    case LABELS_RELOAD_OUTCOME:
        break;
    }
    return true;
}

/// Lines with several labels, and those of "other", wait until there is something to tell.
static bool is_shown(const struct metrics *metrics, enum metric metric, size_t label)
{
    enum metric_labels labels = metric_rows[metric].labels;
    bool is_always =
        labels != LABELS_SUPPLIER_OUTCOME && labels != LABELS_SUPPLIER_BOUND_PHASE && labels != LABELS_SUPPLIER_LIMIT;
    size_t each = metric_rows[metric].type == METRIC_HISTOGRAM ? HISTOGRAM_CELLS : 1;

    if (!is_owned(metrics, labels, label)) {
        return false;
    }
    if (labels == LABELS_SUPPLIER) {
        is_always = label != METRIC_OTHER;
    } else if (labels == LABELS_CALLER_STATUS) {
        is_always = label < METRIC_STATUSES;
    }
    for (size_t i = 0; i < each && !is_always; i++) {
        is_always = metric_cell(metrics, metric, label * each + i) > 0;
    }
    return is_always;
}

void metrics_write(struct metrics *metrics, struct buffer *out)
{
    static const char *const types[] = { "counter", "histogram", "counter", "gauge" };

    pthread_mutex_lock(&metrics->setting);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_row *row = &metric_rows[metric];
        size_t labels = metric_lines(metrics, metric);
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
    pthread_mutex_unlock(&metrics->setting);
}
