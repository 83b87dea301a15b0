#include "bench/summary.h"

#include "app/timing.h"
#include "base/json_write.h"
#include "bench/slow.h"
#include "bench/witness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/// A growing column of values to take quantiles of.
struct column {
    int64_t *values;
    size_t count;
};

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void column_init(struct column *column, size_t capacity)
{
    column->values = calloc(capacity + 1, sizeof *column->values);
    column->count = 0;
    require(column->values != NULL);
}

static void column_sort(struct column *column)
{
    qsort(column->values, column->count, sizeof *column->values, compare_values);
}

static int64_t column_quantile(const struct column *column, double quantile)
{
    if (column->count == 0) {
        return 0;
    }
    size_t index = (size_t)(quantile * (double)column->count);
    return column->values[index < column->count ? index : column->count - 1];
}

void summary_of_client(struct summary *summary, const struct client_result *result, uint64_t budget_us)
{
    struct column lateness, streams, start, refusals;
    double bytes = 0, covered = 0;
    size_t singles = 0;

    column_init(&lateness, result->count);
    column_init(&streams, result->count);
    column_init(&start, result->count);
    column_init(&refusals, result->count);
    for (size_t i = 0; i < result->count; i++) {
        const struct client_sample *sample = &result->samples[i];
        summary->searches++;
        start.values[start.count++] = (int64_t)(sample->sent_us - sample->intended_us);
        if (sample->done_us == 0) {
            summary->lost++;
            continue;
        }
        summary->status_200 += sample->status == 200;
        summary->status_504 += sample->status == 504;
        summary->status_other += sample->status != 200 && sample->status != 504;
        if (sample->status == 503) {
            summary->refused++;
            refusals.values[refusals.count++] = (int64_t)(sample->done_us - sample->intended_us);
            continue;
        }
        int64_t late_us = (int64_t)sample->done_us - (int64_t)sample->intended_us - (int64_t)budget_us;
        double share = sample->status == 200 && sample->percent >= 0 ? sample->percent / 100.0 : 0;
        summary->on_time += late_us <= 0;
        summary->goodput += late_us <= 0 ? share : 0;
        covered += share;
        lateness.values[lateness.count++] = late_us;
        if (sample->kind == CALLER_SINGLE) {
            bytes += sample->body_bytes;
            singles++;
        } else {
            streams.values[streams.count++] = late_us;
        }
    }
    column_sort(&lateness);
    column_sort(&streams);
    column_sort(&start);
    column_sort(&refusals);
    summary->coverage = summary->status_200 > 0 ? covered / (double)summary->status_200 : 0;
    summary->refusal_p50_us = (uint64_t)column_quantile(&refusals, 0.5);
    summary->refusal_p99_us = (uint64_t)column_quantile(&refusals, 0.99);
    summary->refusal_max_us = (uint64_t)column_quantile(&refusals, 1);
    summary->client_p50_us = column_quantile(&lateness, 0.5);
    summary->client_p99_us = column_quantile(&lateness, 0.99);
    summary->client_p999_us = column_quantile(&lateness, 0.999);
    summary->client_max_us = column_quantile(&lateness, 1);
    summary->start_late_p99_us = (uint64_t)column_quantile(&start, 0.99);
    summary->body_bytes = singles > 0 ? bytes / (double)singles : 0;
    summary->streams = streams.count;
    summary->stream_p999_us = column_quantile(&streams, 0.999);
    free(lateness.values);
    free(streams.values);
    free(start.values);
    free(refusals.values);
}

/// The columns over the engine's own records.
struct timing_columns {
    struct column lateness, timer, unused, reserve, assemble;
};

static void summary_add_record(struct summary *summary, struct timing_columns *columns,
                               const struct timing_record *record)
{
    int64_t late_us = (int64_t)record->sent_us - (int64_t)record->deadline_us;

    summary->timed++;
    if ((record->flags & TIMING_CLIENT_SLOW) != 0) {
        summary->client_slow++;
        return; // counted apart: the kernel did not take it in one go
    }
    bool is_excused = late_us > 0 && summary->has_witness &&
                      witness_excuses(record->deadline_us - 1000, record->sent_us, (uint64_t)late_us);
    if (is_excused) {
        summary->excused++;
    } else {
        summary->late += late_us > 0;
        columns->lateness.values[columns->lateness.count++] = late_us;
    }
    if ((record->flags & TIMING_CUT_BY_BUDGET) != 0) {
        summary->cut_by_budget++;
        summary->timer_early += (int32_t)record->timer_late_us < 0;
        columns->timer.values[columns->timer.count++] = (int32_t)record->timer_late_us;
        columns->unused.values[columns->unused.count++] = -late_us;
    }
    columns->reserve.values[columns->reserve.count++] = record->reserve_us;
    columns->assemble.values[columns->assemble.count++] = record->assemble_us;
}

/// A search of a slow reader, told by its budget; its reply may have been given up.
static bool summary_add_slow(struct summary *summary, const struct timing_record *record)
{
    if (record->deadline_us - record->arrival_us != SLOW_BUDGET_MS * 1000) {
        return false;
    }
    summary->slow_timed++;
    summary->slow_waited += (record->flags & TIMING_CLIENT_SLOW) != 0 || (record->flags & TIMING_SENT) == 0;
    return true;
}

static void summary_add_records(struct summary *summary, const struct timing_file *file, uint64_t since_us)
{
    struct timing_columns columns;
    uint64_t count = file->count;
    uint64_t first = count > file->capacity ? count - file->capacity : 0;
    struct column *all[] = { &columns.lateness, &columns.timer, &columns.unused, &columns.reserve, &columns.assemble };

    for (size_t i = 0; i < COUNT_OF(all); i++) {
        column_init(all[i], file->capacity);
    }
    for (uint64_t i = first; i < count; i++) {
        const struct timing_record *record = &file->records[i % file->capacity];
        if (record->arrival_us < since_us || summary_add_slow(summary, record)) {
            continue;
        }
        if ((record->flags & TIMING_SENT) != 0) {
            summary_add_record(summary, &columns, record);
        }
    }
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        column_sort(all[i]);
    }
    summary->engine_p50_us = column_quantile(&columns.lateness, 0.5);
    summary->engine_p99_us = column_quantile(&columns.lateness, 0.99);
    summary->engine_p999_us = column_quantile(&columns.lateness, 0.999);
    summary->engine_max_us = column_quantile(&columns.lateness, 1);
    summary->timer_p99_us = (uint64_t)column_quantile(&columns.timer, 0.99);
    summary->timer_p999_us = (uint64_t)column_quantile(&columns.timer, 0.999);
    summary->timer_max_us = (uint64_t)column_quantile(&columns.timer, 1);
    summary->unused_median_us = column_quantile(&columns.unused, 0.5);
    summary->reserve_median_us = (uint64_t)column_quantile(&columns.reserve, 0.5);
    summary->assemble_p99_us = (uint64_t)column_quantile(&columns.assemble, 0.99);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        free(all[i]->values);
    }
}

bool summary_of_timing(struct summary *summary, const char *path, uint64_t since_us)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *map = MAP_FAILED;

    if (fd >= 0) {
        map = mmap(NULL, sizeof(struct timing_file), PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (map == MAP_FAILED) {
        return false;
    }
    const struct timing_file *file = map;
    bool is_ours = file->magic == TIMING_MAGIC && file->capacity == TIMING_RECORDS;
    if (is_ours) {
        summary_add_records(summary, file, since_us);
    }
    munmap(map, sizeof(struct timing_file));
    return is_ours;
}

static void field_i64(struct json_writer *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_i64(json, value);
}

static void field_share(struct json_writer *json, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.5f", value);
    json_key(json, key);
    json_raw(json, text_of(text));
}

static void print_client(const struct summary *summary, struct json_writer *json)
{
    json_field_u64(json, "searches", summary->searches);
    json_field_u64(json, "lost", summary->lost);
    json_field_u64(json, "status_200", summary->status_200);
    json_field_u64(json, "status_504", summary->status_504);
    json_field_u64(json, "status_other", summary->status_other);
    json_field_u64(json, "refused", summary->refused);
    json_field_u64(json, "on_time", summary->on_time);
    field_share(json, "goodput", summary->goodput);
    field_share(json, "coverage", summary->coverage);
    json_field_u64(json, "refusal_p50_us", summary->refusal_p50_us);
    json_field_u64(json, "refusal_p99_us", summary->refusal_p99_us);
    json_field_u64(json, "refusal_max_us", summary->refusal_max_us);
    field_i64(json, "client_p50_us", summary->client_p50_us);
    field_i64(json, "client_p99_us", summary->client_p99_us);
    field_i64(json, "client_p999_us", summary->client_p999_us);
    field_i64(json, "client_max_us", summary->client_max_us);
    json_field_u64(json, "start_late_p99_us", summary->start_late_p99_us);
    json_field_u64(json, "body_bytes", (uint64_t)summary->body_bytes);
    json_field_u64(json, "streams", summary->streams);
    field_i64(json, "stream_p999_us", summary->stream_p999_us);
    json_field_u64(json, "slow_asked", summary->slow_asked);
    json_field_u64(json, "slow_answered", summary->slow_answered);
    json_field_u64(json, "slow_cut", summary->slow_cut);
    json_field_u64(json, "slow_timed", summary->slow_timed);
    json_field_u64(json, "slow_waited", summary->slow_waited);
}

static void print_engine(const struct summary *summary, struct json_writer *json)
{
    double timed = summary->timed > 0 ? (double)summary->timed : 1;

    json_field_u64(json, "timed", summary->timed);
    json_field_u64(json, "late", summary->late);
    field_share(json, "late_share", (double)summary->late / timed);
    json_field_u64(json, "excused", summary->excused);
    field_share(json, "excused_share", (double)summary->excused / timed);
    json_field_u64(json, "client_slow", summary->client_slow);
    field_share(json, "client_slow_share", (double)summary->client_slow / timed);
    field_i64(json, "engine_p50_us", summary->engine_p50_us);
    field_i64(json, "engine_p99_us", summary->engine_p99_us);
    field_i64(json, "engine_p999_us", summary->engine_p999_us);
    field_i64(json, "engine_max_us", summary->engine_max_us);
    json_field_u64(json, "cut_by_budget", summary->cut_by_budget);
    json_field_u64(json, "timer_early", summary->timer_early);
    json_field_u64(json, "timer_p99_us", summary->timer_p99_us);
    json_field_u64(json, "timer_p999_us", summary->timer_p999_us);
    json_field_u64(json, "timer_max_us", summary->timer_max_us);
    field_i64(json, "unused_median_us", summary->unused_median_us);
    json_field_u64(json, "reserve_median_us", summary->reserve_median_us);
    json_field_u64(json, "assemble_p99_us", summary->assemble_p99_us);
}

void summary_print(const struct summary *summary, FILE *out)
{
    struct buffer buffer;
    struct json_writer json;

    buffer_init(&buffer, 16 << 10);
    json_writer_init(&json, &buffer);
    json_begin_object(&json);
    field_share(&json, "rate", summary->rate);
    print_client(summary, &json);
    print_engine(summary, &json);
    json_field_u64(&json, "engine_cpu_us_per_search",
                   summary->searches > 0 ? summary->engine_cpu_us / summary->searches : 0);
    field_share(&json, "engine_share", (double)summary->engine_cpu_us / (double)summary->took_us);
    field_share(&json, "farm_share", summary->farm_share);
    json_field_c(&json, "witness", summary->has_witness ? "fifo" : "none");
    json_field_u64(&json, "witness_stalls", witness_stall_count());
    json_field_u64(&json, "witness_worst_us", witness_worst_us());
    json_end_object(&json);
    fprintf(out, "%.*s\n", TEXT_ARGS(buffer_text(&buffer)));
    buffer_fini(&buffer);
}
