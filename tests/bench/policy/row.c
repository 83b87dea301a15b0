#include "bench/policy/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_SEED = 1, LINE_MAX_BYTES = 512 };

// Kappa, of which the design gives no figure: a connection held for a second must bring a twentieth of an answer.
static const struct row OURS_WHOLE = {
    .name = "ours",
    .budget_us = ROW_BUDGET_US,
    .has_breaker = true,
    .has_linger = true,
    .has_early = true,
    .has_retry = true,
    .has_hedge = true,
    .held_cost = 0.05,
};

static const struct row RIVALS[] = {
    { .name = "no timeout", .budget_us = ROW_NO_BUDGET_US },
    { .name = "slowest p99", .budget_us = ROW_NO_BUDGET_US, .ceilings = ROW_SLOWEST_P99 },
    { .name = "own p99", .budget_us = ROW_NO_BUDGET_US, .ceilings = ROW_OWN_P99 },
    { .name = "cut at 2 s", .budget_us = ROW_BUDGET_US },
    { .name = "90 % answered", .budget_us = ROW_BUDGET_US, .answered_share = 0.9 },
    { .name = "min(p99, 2 s)", .budget_us = ROW_BUDGET_US, .ceilings = ROW_OWN_P99 },
    { .name = "clairvoyant", .kind = ROW_CLAIRVOYANT, .budget_us = ROW_BUDGET_US },
};

enum feature { CEILINGS, EARLY_FINISH, RETRIES, HEDGES, BREAKERS, LINGERING, FEATURES };
static const char *const FEATURE_NAMES[] = {
    "ours - ceilings", "ours - early finish", "ours - retries", "ours - hedges", "ours - breakers", "ours - lingering",
};

static struct row without(enum feature feature)
{
    struct row row = OURS_WHOLE;

    row.held_cost = feature == CEILINGS ? 0 : row.held_cost;
    row.has_early = feature != EARLY_FINISH;
    row.has_retry = feature != RETRIES;
    row.has_hedge = feature != HEDGES;
    row.has_breaker = feature != BREAKERS;
    row.has_linger = feature != LINGERING;
    snprintf(row.name, sizeof(row.name), "%s", FEATURE_NAMES[feature]);
    return row;
}

static size_t make_table(struct row *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(RIVALS); i++) {
        rows[count++] = RIVALS[i];
    }
    rows[count++] = OURS_WHOLE;
    for (enum feature feature = CEILINGS; feature < FEATURES; feature++) {
        rows[count++] = without(feature);
    }
    for (size_t i = 0; i < count; i++) {
        rows[i].group = "table";
    }
    return count;
}

/// False: this knob turns something that is not there.
static bool turn(struct row *row, const char *line, double knob)
{
    if (strcmp(line, "cut") == 0) {
        *row = (struct row){ .group = "cut", .budget_us = (uint64_t)(knob * 1000) };
        snprintf(row->name, sizeof(row->name), "cut at %g ms", knob);
        return true;
    }
    if (strcmp(line, "answered") == 0) {
        *row = (struct row){ .group = "answered", .budget_us = ROW_BUDGET_US, .answered_share = knob / 100 };
        snprintf(row->name, sizeof(row->name), "answered %g %%", knob);
        return true;
    }
    if (strcmp(line, "delay") == 0) {
        *row = OURS_WHOLE;
        row->group = "delay";
        row->delay = knob / 1000;
        snprintf(row->name, sizeof(row->name), "ours, delay %g", knob);
        return true;
    }
    if (strcmp(line, "delay_without_ceilings") == 0) {
        *row = without(CEILINGS);
        row->group = "delay_without_ceilings";
        row->delay = knob / 1000;
        snprintf(row->name, sizeof(row->name), "- ceilings, delay %g", knob);
        return true;
    }
    if (strcmp(line, "held") == 0) {
        *row = OURS_WHOLE;
        row->group = "held";
        row->held_cost = knob / 1000;
        snprintf(row->name, sizeof(row->name), "ours, held %g", knob);
        return true;
    }
    return false;
}

bool rows_make(const char *grid, struct row *rows, size_t *count)
{
    char line[LINE_MAX_BYTES];
    FILE *file = fopen(grid, "r");

    if (file == NULL) {
        return false;
    }
    *count = make_table(rows);
    while (fgets(line, sizeof(line), file) != NULL) {
        char *kept = NULL;
        line[strcspn(line, "#\n")] = '\0';
        const char *name = strtok_r(line, " ", &kept);
        for (const char *word; name != NULL && (word = strtok_r(NULL, " ", &kept)) != NULL;) {
            double knob = strtod(word, NULL);
            if (*count < ROWS_MAX && turn(&rows[*count], name, knob)) {
                rows[(*count)++].knob = knob;
            }
        }
    }
    fclose(file);
    return true;
}

// ------------------------------------------------------------------------------------------------------------- history

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

enum status history_read(const struct population *ordinary, struct history *history)
{
    struct trace *trace;
    enum status status = trace_create(ordinary, HISTORY_SEED, 0, &trace);
    uint64_t *took_us;

    *history = (struct history){ 0 };
    if (status != STATUS_OK) {
        return status;
    }
    took_us = calloc(trace->count, sizeof(*took_us));
    if (took_us == NULL) {
        trace_destroy(&trace);
        return STATUS_NO_MEMORY;
    }
    for (size_t supplier = 0; supplier < ordinary->count; supplier++) {
        size_t count = 0;
        for (size_t search = 0; search < trace->count; search++) {
            struct trace_draw draw = trace_draw(trace, search, supplier, 0, 0);
            if (draw.fate == TRACE_ANSWERS) {
                took_us[count++] = draw.after_us;
            }
        }
        qsort(took_us, count, sizeof(*took_us), compare_times);
        uint64_t p99_us = count > 0 ? took_us[count * 99 / 100] : ROW_NO_BUDGET_US;
        history->p99_us[supplier] = p99_us;
        history->slowest_us = p99_us > history->slowest_us ? p99_us : history->slowest_us;
    }
    free(took_us);
    trace_destroy(&trace);
    return STATUS_OK;
}
