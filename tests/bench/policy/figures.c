#include "bench/policy/figures.h"

#include "bench/policy/clairvoyant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLAIRVOYANT_START_US = 1000 }; // as the start call of a stage takes

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/// Of sorted numbers; the one below which the share lies.
static double quantile(const double *sorted, size_t count, double share)
{
    size_t place = (size_t)ceil(share * (double)count);
    return sorted[place > 0 ? place - 1 : 0];
}

static double mean_of(const double *numbers, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += numbers[i];
    }
    return count > 0 ? sum / (double)count : 0;
}

static size_t hundredth(size_t count)
{
    return (count + 99) / 100;
}

static void fill_value(const struct trace *trace, const struct figure *searches, double *room, struct figures *figures)
{
    size_t count = trace->count - trace->first;
    double ever = 0, best = 0;

    for (size_t i = 0; i < count; i++) {
        const struct figure *search = &searches[i];
        double worth = trace_worth(trace, trace->first + i, search->answered);
        bool is_on_time = search->took_us <= ROW_BUDGET_US;
        room[i] = is_on_time ? 100 * worth : 0;
        ever += 100 * worth;
        best += is_on_time && trace_has_best(trace, trace->first + i, search->answered) ? 100 : 0;
    }
    qsort(room, count, sizeof(*room), compare_numbers);
    figures->value = mean_of(room, count);
    figures->value_tail = mean_of(room, hundredth(count));
    figures->value_ever = ever / (double)count;
    figures->best = best / (double)count;
}

static void fill_times(const struct figure *searches, size_t count, double *room, struct figures *figures)
{
    for (size_t i = 0; i < count; i++) {
        room[i] = (double)searches[i].took_us / 1000;
    }
    qsort(room, count, sizeof(*room), compare_numbers);
    figures->took_mean = mean_of(room, count);
    figures->took_p50 = quantile(room, count, 0.5);
    figures->took_p95 = quantile(room, count, 0.95);
    figures->took_p99 = quantile(room, count, 0.99);
    figures->took_p999 = quantile(room, count, 0.999);
    figures->late_p99 = fmax(figures->took_p99 - ROW_BUDGET_US / 1000.0, 0);
    figures->late_p999 = fmax(figures->took_p999 - ROW_BUDGET_US / 1000.0, 0);
    figures->late_max = fmax(room[count - 1] - ROW_BUDGET_US / 1000.0, 0);
}

bool figures_fill(const struct trace *trace, const struct figure *searches, struct figures *figures)
{
    size_t count = trace->count - trace->first;
    double *room = calloc(count, sizeof(*room));

    if (room == NULL) {
        return false;
    }
    figures->searches = count;
    fill_value(trace, searches, room, figures);
    fill_times(searches, count, room, figures);
    for (size_t i = 0; i < count; i++) {
        room[i] = 100 * searches[i].completeness;
    }
    qsort(room, count, sizeof(*room), compare_numbers);
    figures->completeness = mean_of(room, count);
    figures->completeness_p5 = quantile(room, count, 0.05);
    figures->completeness_p1 = quantile(room, count, 0.01);
    figures->complete_tail = mean_of(room, hundredth(count));
    free(room);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- rows

static void play_clairvoyant(const struct trace *trace, uint64_t budget_us, struct figure *searches,
                             struct figures *figures)
{
    size_t count = trace->count - trace->first;

    for (size_t i = 0; i < count; i++) {
        struct clairvoyant_reply reply = clairvoyant_play(trace, trace->first + i, budget_us, CLAIRVOYANT_START_US);
        searches[i] = (struct figure){ reply.took_us, reply.answered, reply.completeness };
        figures->connection_s += reply.connection_us / 1e6 / (double)count;
        figures->requests += (double)reply.requests / (double)count;
    }
}

static enum status play_search(const struct trace *trace, const struct row *row, const struct history *history,
                               struct figure *searches, struct figures *figures)
{
    struct stage *stage;
    size_t count = trace->count - trace->first;
    enum status status = stage_play(trace, row, history, &stage);

    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        const struct stage_search *search = &stage->searches[trace->first + i];
        searches[i] = (struct figure){ search->took_us, search->answered, search->completeness };
        figures->early += (double)search->early / (double)count;
    }
    stage_end(stage); // what goes on for nobody holds connections, too
    figures->connection_s = stage->sums.connection_us / 1e6 / (double)count;
    figures->requests = (double)stage->sums.requests / (double)count;
    figures->extra = (double)stage->sums.extra / (double)count;
    figures->retries = (double)stage->sums.retries / (double)count;
    figures->hedges = (double)stage->sums.hedges / (double)count;
    figures->refused = (double)stage->sums.refused / (double)count;
    figures->recovery_s = (double)stage_recovery_us(stage) / 1e6;
    figures->watched_s = (double)stage_watched_us(stage) / 1e6;
    stage_destroy(&stage);
    return STATUS_OK;
}

enum status figures_of(const struct trace *trace, const struct row *row, const struct history *history,
                       struct figures *figures)
{
    struct figure *searches = calloc(trace->count - trace->first, sizeof(*searches));
    enum status status = STATUS_OK;

    *figures = (struct figures){ 0 };
    if (searches == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (row->kind == ROW_CLAIRVOYANT) {
        play_clairvoyant(trace, row->budget_us, searches, figures);
    } else {
        status = play_search(trace, row, history, searches, figures);
    }
    if (status == STATUS_OK && !figures_fill(trace, searches, figures)) {
        status = STATUS_NO_MEMORY;
    }
    free(searches);
    return status;
}

void figures_write(const struct figures *figures, struct json_writer *json)
{
    const struct {
        const char *name;
        double value;
    } columns[] = {
        { "value", figures->value },
        { "value_tail", figures->value_tail },
        { "value_ever", figures->value_ever },
        { "completeness", figures->completeness },
        { "completeness_p5", figures->completeness_p5 },
        { "completeness_p1", figures->completeness_p1 },
        { "complete_tail", figures->complete_tail },
        { "best", figures->best },
        { "took_mean", figures->took_mean },
        { "took_p50", figures->took_p50 },
        { "took_p95", figures->took_p95 },
        { "took_p99", figures->took_p99 },
        { "took_p999", figures->took_p999 },
        { "late_p99", figures->late_p99 },
        { "late_p999", figures->late_p999 },
        { "late_max", figures->late_max },
        { "connection_s", figures->connection_s },
        { "requests", figures->requests },
        { "extra", figures->extra },
        { "retries", figures->retries },
        { "hedges", figures->hedges },
        { "early", figures->early },
        { "refused", figures->refused },
        { "recovery_s", figures->recovery_s },
        { "watched_s", figures->watched_s },
    };

    for (size_t i = 0; i < COUNT_OF(columns); i++) {
        char number[32];
        json_key(json, columns[i].name);
        snprintf(number, sizeof(number), "%.4f", columns[i].value);
        json_raw(json, text_of(number));
    }
    json_field_u64(json, "searches", figures->searches);
}
