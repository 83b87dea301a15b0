#include "cli/waterfall.h"

#include <stdio.h>
#include <string.h>

enum {
    BAR_MIN = 16,
    BAR_MAX = 200,
    NAME_MIN = 8,
    NAME_MAX = 16,
    TOOK_COLUMNS = 9, // "12,345 ms"
    OFFERS_COLUMNS = 7,
    PRICE_COLUMNS = 14,
    NOTE_MIN = TOOK_COLUMNS + OFFERS_COLUMNS + PRICE_COLUMNS,
};

enum mark {
    MARK_BLANK,
    MARK_FULL,
    MARK_EMPTY,
    MARK_VAIN,
    MARK_CEILING_CUT,
    MARK_BUDGET_CUT,
    MARK_FAILED,
    MARK_CEILING,
    MARK_RESERVE,
    MARK_DEADLINE,
    MARK_REPLY,
    MARK_COUNT,
};

static const struct mark_row {
    const char *utf8, *ascii;
    enum paint_colour colour;
    const char *legend; // NULL: speaks for itself
} mark_rows[MARK_COUNT] = {
    [MARK_BLANK] = { " ", " ", PAINT_PLAIN, NULL },
    [MARK_FULL] = { "\xE2\x96\x88", "#", PAINT_GREEN, "answered" },
    [MARK_EMPTY] = { "\xE2\x96\x92", "=", PAINT_CYAN, "had nothing" },
    [MARK_VAIN] = { "\xE2\x96\x91", ".", PAINT_YELLOW, "waited in vain" },
    [MARK_CEILING_CUT] = { "\xE2\x97\x86", "C", PAINT_YELLOW, "cut by its ceiling" },
    [MARK_BUDGET_CUT] = { "\xE2\x94\xAB", "]", PAINT_YELLOW, "cut by the budget" },
    [MARK_FAILED] = { "\xE2\x9C\x97", "x", PAINT_RED, "failed" },
    [MARK_CEILING] = { "\xE2\x97\x87", "c", PAINT_DIM, "ceiling" },
    [MARK_RESERVE] = { "\xE2\x94\x8A", ":", PAINT_DIM, "reserve" },
    [MARK_DEADLINE] = { "\xE2\x94\x82", "|", PAINT_DIM, "deadline" },
    [MARK_REPLY] = { "\xE2\x96\xBC", "v", PAINT_BOLD, "reply sent" },
};

/// The last cell of a bar in eighths, so that answers that are close together can be told apart.
static const char *const eighths[8] = {
    "", "\xE2\x96\x8F", "\xE2\x96\x8E", "\xE2\x96\x8D", "\xE2\x96\x8C", "\xE2\x96\x8B", "\xE2\x96\x8A", "\xE2\x96\x89"
};

struct chart {
    struct paint *paint;
    const struct reply_view *view;
    size_t name_columns, outcome_columns, bar_columns, note_columns;
    uint64_t span_ms; // of the axis
    bool is_used[MARK_COUNT];
};

static void chart_put(struct chart *chart, enum mark mark)
{
    const struct mark_row *row = &mark_rows[mark];

    chart->is_used[mark] = true;
    paint_on(chart->paint, row->colour);
    buffer_append_c(chart->paint->out, chart->paint->is_utf8 ? row->utf8 : row->ascii);
    paint_off(chart->paint, row->colour);
}

enum { OUTCOME_LABEL_SIZE = 64 };

/// "answered", or of one that is not live "dark answered".
static struct text outcome_label(const struct reply_supplier *supplier, char out[OUTCOME_LABEL_SIZE])
{
    if (supplier->mode.length == 0) {
        return supplier->outcome;
    }
    (void)snprintf(out, OUTCOME_LABEL_SIZE, "%.*s %.*s", TEXT_ARGS(supplier->mode), TEXT_ARGS(supplier->outcome));
    return text_of(out);
}

static void chart_measure(struct chart *chart)
{
    const struct reply_view *view = chart->view;
    size_t width = chart->paint->width;

    chart->name_columns = NAME_MIN;
    chart->outcome_columns = sizeof("answered") - 1;
    for (size_t i = 0; i < view->supplier_count; i++) {
        size_t name = paint_columns(view->suppliers[i].name);
        char label[OUTCOME_LABEL_SIZE];
        size_t outcome = paint_columns(outcome_label(&view->suppliers[i], label));
        chart->name_columns = name > chart->name_columns ? name : chart->name_columns;
        chart->outcome_columns = outcome > chart->outcome_columns ? outcome : chart->outcome_columns;
    }
    size_t name_most = width < 100 ? NAME_MAX - 4 : NAME_MAX;
    chart->name_columns = chart->name_columns < name_most ? chart->name_columns : name_most;
    chart->outcome_columns = chart->outcome_columns < 14 ? chart->outcome_columns : 14;
    chart->note_columns = width < 100 ? NOTE_MIN : NOTE_MIN + (width - 100) / 3 + 6;

    size_t taken = chart->name_columns + 1 + chart->outcome_columns + 1 + 1 + 1 + chart->note_columns;
    chart->bar_columns = width > taken + BAR_MIN ? width - taken : BAR_MIN;
    chart->bar_columns = chart->bar_columns < BAR_MAX ? chart->bar_columns : BAR_MAX;
    chart->span_ms = view->budget_ms > 0 ? view->budget_ms : view->took_ms;
    chart->span_ms = chart->span_ms > 0 ? chart->span_ms : 1;
}

/// The cell of an instant; the last one when it is past the axis.
static size_t chart_cell(const struct chart *chart, uint64_t at_ms)
{
    return at_ms < chart->span_ms ? (size_t)(at_ms * chart->bar_columns / chart->span_ms) : chart->bar_columns - 1;
}

/// Milliseconds between two labels, so that they do not touch.
static uint64_t chart_step(const struct chart *chart)
{
    static const uint64_t steps[] = { 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000 };

    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (steps[i] * chart->bar_columns >= 8 * chart->span_ms) {
            return steps[i];
        }
    }
    return chart->span_ms;
}

static void draw_labels(struct chart *chart)
{
    char labels[BAR_MAX + 1];
    char end[32];
    uint64_t step = chart_step(chart);
    size_t columns = chart->bar_columns + 1; // the deadline has a column of its own

    memset(labels, ' ', columns);
    int end_length = snprintf(end, sizeof(end), "%llu ms", (unsigned long long)chart->span_ms);
    size_t end_at = columns - (size_t)end_length;
    memcpy(labels + end_at, end, (size_t)end_length);
    for (uint64_t at_ms = 0; at_ms < chart->span_ms; at_ms += step) {
        char label[32];
        int length = snprintf(label, sizeof(label), "%llu", (unsigned long long)at_ms);
        size_t cell = chart_cell(chart, at_ms);
        if (cell + (size_t)length < end_at) {
            memcpy(labels + cell, label, (size_t)length);
        }
    }
    paint_on(chart->paint, PAINT_BOLD);
    paint_cell(chart->paint, TEXT("supplier"), chart->name_columns, PAINT_LEFT);
    paint_spaces(chart->paint, 1);
    paint_cell(chart->paint, TEXT("outcome"), chart->outcome_columns, PAINT_LEFT);
    paint_off(chart->paint, PAINT_BOLD);
    paint_spaces(chart->paint, 1);
    paint_text(chart->paint, (struct text){ labels, columns }, columns);
    paint_on(chart->paint, PAINT_BOLD);
    paint_cell(chart->paint, TEXT("took"), TOOK_COLUMNS + 1, PAINT_RIGHT);
    paint_cell(chart->paint, TEXT("offers"), OFFERS_COLUMNS, PAINT_RIGHT);
    paint_cell(chart->paint, TEXT("cheapest"), PRICE_COLUMNS, PAINT_RIGHT);
    paint_off(chart->paint, PAINT_BOLD);
    buffer_append_byte(chart->paint->out, '\n');
}

static void draw_rule(struct chart *chart)
{
    struct paint *paint = chart->paint;
    uint64_t step = chart_step(chart);
    size_t reply = chart_cell(chart, chart->view->took_ms);

    paint_spaces(paint, chart->name_columns + 1 + chart->outcome_columns + 1);
    for (size_t cell = 0; cell < chart->bar_columns; cell++) {
        bool is_tick = false;
        for (uint64_t at_ms = 0; at_ms < chart->span_ms && !is_tick; at_ms += step) {
            is_tick = chart_cell(chart, at_ms) == cell;
        }
        if (cell == reply) {
            chart_put(chart, MARK_REPLY);
            continue;
        }
        paint_on(paint, PAINT_DIM);
        buffer_append_c(paint->out, !paint->is_utf8 ? (is_tick ? "+" : "-")
                                    : is_tick       ? "\xE2\x94\xAC"
                                                    : "\xE2\x94\x80");
        paint_off(paint, PAINT_DIM);
    }
    chart_put(chart, MARK_DEADLINE);
    buffer_append_byte(paint->out, '\n');
}

static bool is_rank(const struct reply_supplier *supplier, enum outcome outcome)
{
    return supplier->rank == outcome;
}

static bool was_asked(const struct reply_supplier *supplier)
{
    return supplier->took_ms > 0 || supplier->began_ms > 0;
}

static enum mark bar_of(const struct reply_supplier *supplier)
{
    if (is_rank(supplier, OUTCOME_ANSWERED) || is_rank(supplier, OUTCOME_CACHED)) {
        return MARK_FULL;
    }
    return is_rank(supplier, OUTCOME_EMPTY) ? MARK_EMPTY : MARK_VAIN;
}

/// How a bar ends when it is no answer.
static enum mark end_of(const struct reply_supplier *supplier)
{
    if (is_rank(supplier, OUTCOME_CUT)) {
        return text_equals_c(supplier->bound, bound_name(BOUND_CEILING)) ? MARK_CEILING_CUT : MARK_BUDGET_CUT;
    }
    return is_rank(supplier, OUTCOME_FINISHED_EARLY) ? MARK_VAIN : MARK_FAILED;
}

static void bar_background(const struct chart *chart, const struct reply_supplier *supplier, enum mark *cells)
{
    uint64_t reserve_ms = chart->view->reserve_ms < chart->span_ms ? chart->view->reserve_ms : chart->span_ms;

    for (size_t i = 0; i < chart->bar_columns; i++) {
        cells[i] = MARK_BLANK;
    }
    if (reserve_ms * chart->bar_columns >= chart->span_ms) {
        for (size_t i = chart_cell(chart, chart->span_ms - reserve_ms); i < chart->bar_columns; i++) {
            cells[i] = MARK_RESERVE;
        }
    }
    if (supplier->ceiling_ms > 0 && supplier->ceiling_ms < chart->span_ms && was_asked(supplier) &&
        (bar_of(supplier) != MARK_VAIN || end_of(supplier) != MARK_CEILING_CUT)) {
        cells[chart_cell(chart, supplier->ceiling_ms)] = MARK_CEILING;
    }
}

/// The last cell of a bar that ends before the deadline and what is drawn there, so that a later end is never a shorter
/// bar; "": the whole cell.
static const char *bar_tip(const struct chart *chart, size_t begin, uint64_t end_ms, size_t *end)
{
    uint64_t end_eighth = end_ms * chart->bar_columns * 8 / chart->span_ms;

    if (end_eighth <= begin * 8) {
        *end = begin;
        return eighths[1]; // too short for an eighth, but there
    }
    *end = (size_t)((end_eighth - 1) / 8);
    return eighths[end_eighth % 8];
}

static void draw_bar(struct chart *chart, const struct reply_supplier *supplier)
{
    enum mark cells[BAR_MAX];
    enum mark bar = bar_of(supplier);
    uint64_t end_ms = supplier->began_ms + supplier->took_ms;
    size_t begin = chart_cell(chart, supplier->began_ms);
    size_t end = chart_cell(chart, end_ms > supplier->began_ms ? end_ms - 1 : end_ms);
    const char *tip = "";

    bar_background(chart, supplier, cells);
    if (bar == MARK_FULL && chart->paint->is_utf8 && end_ms < chart->span_ms) {
        tip = bar_tip(chart, begin, end_ms, &end);
    }
    if (was_asked(supplier)) {
        for (size_t i = begin; i <= end; i++) {
            cells[i] = bar;
        }
        if (bar == MARK_VAIN) {
            cells[end] = end_of(supplier);
        }
    }
    for (size_t i = 0; i < chart->bar_columns; i++) {
        if (i == end && *tip != '\0' && was_asked(supplier)) {
            chart->is_used[bar] = true;
            paint_on(chart->paint, mark_rows[bar].colour);
            buffer_append_c(chart->paint->out, tip);
            paint_off(chart->paint, mark_rows[bar].colour);
        } else {
            chart_put(chart, cells[i]);
        }
    }
    chart_put(chart, MARK_DEADLINE);
}

/// Codes are shown as words: "first_byte" as "first byte".
static void put_words(struct buffer *line, struct text code)
{
    for (size_t i = 0; i < code.length; i++) {
        buffer_append_byte(line, code.data[i] == '_' ? ' ' : code.data[i]);
    }
}

static void put_part(struct buffer *line, struct text part)
{
    if (part.length > 0) {
        if (line->length > 0) {
            buffer_append_c(line, ": ");
        }
        put_words(line, part);
    }
}

/// "suppliers/acme.lua:18: sentence" without the folder, for there is little room in the chart.
static struct text without_folder(struct text detail)
{
    for (size_t i = 0; i < detail.length && detail.data[i] != ' '; i++) {
        struct text rest = { detail.data + i, detail.length - i };
        if (text_starts_with(rest, TEXT(".lua:"))) {
            size_t begin = i;
            while (begin > 0 && detail.data[begin - 1] != '/') {
                begin--;
            }
            return (struct text){ detail.data + begin, detail.length - begin };
        }
    }
    return detail;
}

static const char *age_text(uint64_t age_s, char *out, size_t size)
{
    bool is_short = age_s < 120, is_long = age_s >= 7200;
    uint64_t number = is_short ? age_s : is_long ? age_s / 3600 : age_s / 60;

    (void)snprintf(out, size, "%llu %s", (unsigned long long)number, is_short ? "s" : is_long ? "h" : "min");
    return out;
}

/// Why there are no offers, from the most telling field on; and which of an earlier answer stand in.
static void explain(const struct reply_supplier *supplier, bool is_short, struct buffer *line)
{
    put_part(line, supplier->bound);
    put_part(line, supplier->kind);
    put_part(line, supplier->phase);
    if (supplier->http_status > 0) {
        buffer_printf(line, "%sHTTP %llu", line->length > 0 ? ": " : "", (unsigned long long)supplier->http_status);
    }
    put_part(line, supplier->code);
    if (supplier->reason.length > 0) {
        buffer_append_text(line, supplier->reason);
    } else if (supplier->detail.length > 0 &&
               !(supplier->http_status > 0 && text_starts_with(supplier->detail, TEXT("HTTP status")))) {
        struct text detail = is_short ? without_folder(supplier->detail) : supplier->detail;
        buffer_printf(line, "%s%.*s", line->length > 0 ? ": " : "", TEXT_ARGS(detail));
    }
    if (supplier->retry_in_ms > 0) {
        buffer_printf(line, "%sretry in %llu ms", line->length > 0 ? ", " : "",
                      (unsigned long long)supplier->retry_in_ms);
    }
    if (line->length == 0 && supplier->rank < OUTCOME_COUNT) {
        buffer_append_c(line, outcome_row((enum outcome)supplier->rank)->meaning);
    }
    if (supplier->last_offers > 0) {
        char age[32];
        buffer_printf(line, "; %llu offers of %s ago", (unsigned long long)supplier->last_offers,
                      age_text(supplier->last_age_s, age, sizeof(age)));
    }
}

static void draw_took(struct chart *chart, const struct reply_supplier *supplier)
{
    char number[32];
    char took[40] = "";

    if (was_asked(supplier)) {
        (void)snprintf(took, sizeof(took), "%s ms", paint_number(number, supplier->took_ms));
    }
    paint_cell(chart->paint, text_of(took), TOOK_COLUMNS + 1, PAINT_RIGHT);
}

static size_t chart_note_room(const struct chart *chart)
{
    return chart->note_columns - TOOK_COLUMNS - 2;
}

static void draw_note(struct chart *chart, const struct reply_supplier *supplier)
{
    struct paint *paint = chart->paint;
    struct buffer line;
    char number[32];

    draw_took(chart, supplier);
    buffer_init(&line, 4096);
    if (bar_of(supplier) == MARK_VAIN) {
        explain(supplier, true, &line);
        paint_spaces(paint, 2);
        paint_text(paint, buffer_text(&line), chart_note_room(chart));
    } else {
        paint_cell(paint, text_of(paint_number(number, supplier->offers)), OFFERS_COLUMNS, PAINT_RIGHT);
        if (supplier->cheapest.length > 0) {
            buffer_printf(&line, "%.*s %.*s", TEXT_ARGS(supplier->cheapest), TEXT_ARGS(supplier->currency));
        }
        paint_cell(paint, buffer_text(&line), PRICE_COLUMNS, PAINT_RIGHT);
        buffer_clear(&line);
        if (is_rank(supplier, OUTCOME_CACHED)) {
            char age[32];
            buffer_printf(&line, " %s old", age_text(supplier->last_age_s, age, sizeof(age)));
        } else if (supplier->is_partial) {
            buffer_append_c(&line, " part");
        } else if (supplier->offers_dropped > 0) {
            buffer_printf(&line, " %llu bad", (unsigned long long)supplier->offers_dropped);
        }
        paint_text(paint, buffer_text(&line), chart->note_columns - NOTE_MIN);
    }
    buffer_fini(&line);
}

/// Who was not asked has no bar; the reason takes its place.
static void draw_reason(struct chart *chart, const struct reply_supplier *supplier)
{
    struct buffer line;

    buffer_init(&line, 4096);
    explain(supplier, false, &line);
    paint_on(chart->paint, PAINT_DIM);
    paint_text(chart->paint, buffer_text(&line), chart->bar_columns + 1 + chart->note_columns);
    paint_off(chart->paint, PAINT_DIM);
    buffer_fini(&line);
}

static void draw_supplier(struct chart *chart, const struct reply_supplier *supplier)
{
    struct paint *paint = chart->paint;
    enum mark bar = bar_of(supplier);
    char label[OUTCOME_LABEL_SIZE];
    bool is_failure = bar == MARK_VAIN && was_asked(supplier) && end_of(supplier) == MARK_FAILED;
    enum paint_colour colour = !was_asked(supplier) ? PAINT_DIM : mark_rows[is_failure ? MARK_FAILED : bar].colour;

    paint_cell(paint, supplier->name, chart->name_columns, PAINT_LEFT);
    paint_spaces(paint, 1);
    paint_on(paint, colour);
    paint_cell(paint, outcome_label(supplier, label), chart->outcome_columns, PAINT_LEFT);
    paint_off(paint, colour);
    paint_spaces(paint, 1);
    if (was_asked(supplier) || bar != MARK_VAIN) {
        draw_bar(chart, supplier);
        draw_note(chart, supplier);
    } else {
        draw_reason(chart, supplier);
    }
    while (paint->out->length > 0 && paint->out->data[paint->out->length - 1] == ' ') {
        paint->out->length--;
    }
    buffer_append_byte(paint->out, '\n');
}

static void draw_legend(struct chart *chart)
{
    struct paint *paint = chart->paint;
    size_t column = 0;

    for (enum mark mark = MARK_FULL; mark < MARK_COUNT; mark++) {
        const struct mark_row *row = &mark_rows[mark];
        size_t columns = 2 + strlen(row->legend);
        if (!chart->is_used[mark]) {
            continue;
        }
        if (column > 0 && column + 3 + columns > paint->width) {
            buffer_append_byte(paint->out, '\n');
            column = 0;
        } else if (column > 0) {
            paint_spaces(paint, 3);
            column += 3;
        }
        chart_put(chart, mark);
        paint_spaces(paint, 1);
        buffer_append_c(paint->out, row->legend);
        column += columns;
    }
    buffer_append_byte(paint->out, '\n');
}

/// Has the chart less than the whole of why there are no offers?
static bool is_note_cut(const struct chart *chart, struct text shown, struct text whole)
{
    return shown.length < whole.length || paint_columns(shown) > chart_note_room(chart);
}

/// Offers that were left out of an answer are a number in its line; why stands below. False: there is nothing to say.
static bool explain_bad(const struct reply_supplier *supplier, struct buffer *line)
{
    if (supplier->offers_dropped == 0 || supplier->first_dropped.length == 0 || bar_of(supplier) == MARK_VAIN) {
        return false;
    }
    buffer_printf(line, "%.*s %llu bad, the first: %.*s", TEXT_ARGS(supplier->name),
                  (unsigned long long)supplier->offers_dropped, TEXT_ARGS(supplier->first_dropped));
    return true;
}

/// The note of its bar in full, where the bar's line has less than that. False: it has all.
static bool explain_cut(const struct chart *chart, const struct reply_supplier *supplier, struct buffer *line)
{
    struct buffer shown, whole;

    buffer_init(&shown, 4096);
    buffer_init(&whole, 4096);
    explain(supplier, true, &shown);
    explain(supplier, false, &whole);
    bool is_cut = bar_of(supplier) == MARK_VAIN && was_asked(supplier) &&
                  is_note_cut(chart, buffer_text(&shown), buffer_text(&whole));
    if (is_cut) {
        buffer_printf(line, "%.*s %.*s: %.*s", TEXT_ARGS(supplier->name), TEXT_ARGS(supplier->outcome),
                      TEXT_ARGS(buffer_text(&whole)));
    }
    buffer_fini(&whole);
    buffer_fini(&shown);
    return is_cut;
}

/// What had no room beside its bar, in full, a line each.
static void draw_cut_notes(struct chart *chart)
{
    struct buffer line;
    bool is_first = true;

    buffer_init(&line, 8192);
    for (size_t i = 0; i < chart->view->supplier_count; i++) {
        const struct reply_supplier *supplier = &chart->view->suppliers[i];
        buffer_clear(&line);
        if (!explain_bad(supplier, &line) && !explain_cut(chart, supplier, &line)) {
            continue;
        }
        if (is_first) {
            buffer_append_byte(chart->paint->out, '\n');
        }
        paint_wrapped(chart->paint, buffer_text(&line));
        is_first = false;
    }
    buffer_fini(&line);
}

/// Skipped, disabled: they are no part of the search.
static bool is_outside(const struct reply_supplier *supplier)
{
    return supplier->rank < OUTCOME_COUNT && outcome_row((enum outcome)supplier->rank)->group == GROUP_NOT_ELIGIBLE;
}

void waterfall_draw(struct paint *paint, const struct reply_view *view)
{
    struct chart chart = { .paint = paint, .view = view };

    chart_measure(&chart);
    draw_labels(&chart);
    draw_rule(&chart);
    for (size_t i = 0; i < view->supplier_count; i++) {
        const struct reply_supplier *supplier = &view->suppliers[i];
        if (i > 0 && is_outside(supplier) && !is_outside(supplier - 1)) {
            buffer_append_byte(paint->out, '\n');
        }
        draw_supplier(&chart, supplier);
    }
    buffer_append_byte(paint->out, '\n');
    draw_legend(&chart);
    draw_cut_notes(&chart);
}
