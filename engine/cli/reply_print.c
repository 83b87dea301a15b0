#include "cli/reply_print.h"

#include "cli/reply_public.h"
#include "cli/reply_rules.h"
#include "cli/waterfall.h"

#include <stdio.h>

enum { GAUGE_COLUMNS = 20, OFFER_PRICE_COLUMNS = 15, OFFER_SUPPLIER_MAX = 14 };

static const char *separator(const struct paint *paint)
{
    return paint->is_utf8 ? " \xC2\xB7 " : ", ";
}

/// The reserve is left out where the line has no room for it.
static void print_head(struct paint *paint, const struct reply_view *view)
{
    char took[32];
    char budget[32];
    char asked[32];
    struct buffer line;

    buffer_init(&line, 1024);
    buffer_printf(&line, "%sreply after %s of %s ms", separator(paint), paint_number(took, view->took_ms),
                  paint_number(budget, view->budget_ms));
    if (view->is_clamped) {
        buffer_printf(&line, " (%s were asked for)", paint_number(asked, view->requested_ms));
    }
    size_t taken = sizeof("Search ") - 1 + paint_columns(view->search_id);
    size_t room = paint->width > taken ? paint->width - taken : 0;
    size_t without_reserve = line.length;
    buffer_printf(&line, "%sreserve %llu ms", separator(paint), (unsigned long long)view->reserve_ms);
    if (paint_columns(buffer_text(&line)) > room) {
        line.length = without_reserve;
    }
    paint_on(paint, PAINT_BOLD);
    buffer_append_c(paint->out, "Search ");
    paint_text(paint, view->search_id, paint->width - sizeof("Search "));
    paint_off(paint, PAINT_BOLD);
    paint_text(paint, buffer_text(&line), room);
    buffer_append_byte(paint->out, '\n');
    buffer_fini(&line);
}

static void print_coverage(struct paint *paint, const struct reply_view *view)
{
    size_t columns = paint->width < 100 ? GAUGE_COLUMNS / 2 : GAUGE_COLUMNS;
    size_t filled = (size_t)(view->percent < 100 ? view->percent : 100) * columns / 100;
    enum paint_colour colour = view->is_complete ? PAINT_GREEN : PAINT_YELLOW;
    char found[32];
    char returned[32];
    char share[64];
    uint64_t answered = view->answered + view->empty + view->cached;
    struct buffer rest;

    paint_on(paint, colour);
    paint_repeat(paint, paint->is_utf8 ? "\xE2\x96\x88" : "#", filled);
    paint_repeat(paint, paint->is_utf8 ? "\xE2\x96\x91" : ".", columns - filled);
    int length = snprintf(share, sizeof(share), " %llu %% %s", (unsigned long long)view->percent,
                          view->is_complete ? "complete" : "not complete");
    buffer_append_c(paint->out, share);
    paint_off(paint, colour);
    buffer_init(&rest, 1024);
    buffer_printf(&rest, "%s%llu of %llu suppliers", separator(paint), (unsigned long long)answered,
                  (unsigned long long)view->eligible);
    if (view->indicative > 0) {
        buffer_printf(&rest, ", %llu by what they said last", (unsigned long long)view->indicative);
    }
    buffer_printf(&rest, "%s%s offers, %s returned", separator(paint), paint_number(found, view->offers_found),
                  paint_number(returned, view->offers_returned));
    paint_text(paint, buffer_text(&rest), paint->width - columns - (size_t)length);
    buffer_append_byte(paint->out, '\n');
    buffer_fini(&rest);
}

static void print_best(struct paint *paint, struct reply_view *view)
{
    size_t supplier_columns = 0;

    if (view->offer_count == 0) {
        return;
    }
    for (size_t i = 0; i < view->offer_count; i++) {
        size_t columns = paint_columns(view->offers[i].supplier);
        supplier_columns = columns > supplier_columns ? columns : supplier_columns;
    }
    supplier_columns = supplier_columns < OFFER_SUPPLIER_MAX ? supplier_columns : OFFER_SUPPLIER_MAX;
    buffer_append_byte(paint->out, '\n');
    paint_on(paint, PAINT_BOLD);
    buffer_append_c(paint->out, "Best offers\n");
    paint_off(paint, PAINT_BOLD);
    for (size_t i = 0; i < view->offer_count; i++) {
        const struct reply_offer *offer = &view->offers[i];
        size_t taken = 2 + OFFER_PRICE_COLUMNS + 2 + supplier_columns + 2;
        struct buffer line;
        buffer_init(&line, 1024);
        buffer_printf(&line, "%.*s %.*s", TEXT_ARGS(offer->total), TEXT_ARGS(offer->currency));
        paint_spaces(paint, 2);
        paint_on(paint, PAINT_GREEN);
        paint_cell(paint, buffer_text(&line), OFFER_PRICE_COLUMNS, PAINT_RIGHT);
        paint_off(paint, PAINT_GREEN);
        paint_spaces(paint, 2);
        paint_cell(paint, offer->supplier, supplier_columns, PAINT_LEFT);
        paint_spaces(paint, 2);
        buffer_clear(&line);
        buffer_append_text(&line, reply_offer_describe(view, offer));
        if (offer->flag.data != NULL) {
            buffer_printf(&line, " (%.*s)", TEXT_ARGS(offer->flag));
        }
        paint_text(paint, buffer_text(&line), paint->width > taken ? paint->width - taken : 10);
        buffer_append_byte(paint->out, '\n');
        buffer_fini(&line);
    }
}

/// Kinds of endings that the closing sentence counts apart.
enum ending {
    ENDING_ANSWERED,
    ENDING_EMPTY,
    ENDING_BUDGET,
    ENDING_CEILING,
    ENDING_EARLY,
    ENDING_FAILED,
    ENDING_SCRIPT,
    ENDING_NOT_ASKED,
    ENDING_SKIPPED,
    ENDING_DISABLED,
    ENDING_CANCELLED,
    ENDING_COUNT,
};

static const struct {
    const char *one, *several; // after the number
} ending_words[ENDING_COUNT] = {
    [ENDING_ANSWERED] = { "supplier answered", "suppliers answered" },
    [ENDING_EMPTY] = { "had nothing to offer", "had nothing to offer" },
    [ENDING_BUDGET] = { "was cut by the budget", "were cut by the budget" },
    [ENDING_CEILING] = { "was cut by its ceiling", "were cut by their ceiling" },
    [ENDING_EARLY] = { "was not waited for", "were not waited for" },
    [ENDING_FAILED] = { "failed or refused", "failed or refused" },
    [ENDING_SCRIPT] = { "was lost to its script", "were lost to their scripts" },
    [ENDING_NOT_ASKED] = { "was not asked", "were not asked" },
    [ENDING_SKIPPED] = { "does not sell this", "do not sell this" },
    [ENDING_DISABLED] = { "is switched off", "are switched off" },
    [ENDING_CANCELLED] = { "was given up with the search", "were given up with the search" },
};

/// A reply without details knows four words only.
static enum ending ending_seen(struct text outcome)
{
    if (text_equals_c(outcome, seen_name(SEEN_NONE))) {
        return ENDING_EMPTY;
    }
    return text_equals_c(outcome, seen_name(SEEN_LATE)) ? ENDING_EARLY : ENDING_FAILED;
}

static enum ending ending_of(const struct reply_supplier *supplier)
{
    switch (supplier->rank) {
    case OUTCOME_ANSWERED:
    case OUTCOME_CACHED:
        return ENDING_ANSWERED;
    case OUTCOME_EMPTY:
        return ENDING_EMPTY;
    case OUTCOME_CUT:
        return text_equals_c(supplier->bound, bound_name(BOUND_CEILING)) ? ENDING_CEILING : ENDING_BUDGET;
    case OUTCOME_FINISHED_EARLY:
        return ENDING_EARLY;
    case OUTCOME_SCRIPT_ERROR:
    case OUTCOME_SCRIPT_TIMEOUT:
    case OUTCOME_SCRIPT_MEMORY:
        return ENDING_SCRIPT;
    case OUTCOME_BREAKER_OPEN:
    case OUTCOME_RATE_LIMITED:
    case OUTCOME_SATURATED:
    case OUTCOME_TOO_LATE:
    case OUTCOME_SHED:
        return ENDING_NOT_ASKED;
    case OUTCOME_SKIPPED:
        return ENDING_SKIPPED;
    case OUTCOME_DISABLED:
        return ENDING_DISABLED;
    case OUTCOME_CANCELLED:
        return ENDING_CANCELLED;
    case OUTCOME_COUNT:
        return ending_seen(supplier->outcome);
    default:
        return ENDING_FAILED;
    }
}

/// Where nobody was asked at all, what to look at.
static void print_nobody(struct paint *paint, const struct reply_view *view, const size_t counts[ENDING_COUNT])
{
    size_t off = counts[ENDING_DISABLED], apart = counts[ENDING_SKIPPED] + counts[ENDING_NOT_ASKED];
    struct buffer help;

    if (off + apart < view->supplier_count) {
        return;
    }
    buffer_init(&help, 1024);
    if (view->supplier_count == 0) {
        buffer_append_c(&help, "help: there is nobody to ask: `lastcall new NAME` drafts a supplier, `lastcall check` "
                               "tells which there are.");
    } else if (off > 0) {
        buffer_append_c(&help, "help: nobody was asked: `lastcall status` says why suppliers are off, `lastcall check "
                               "--secrets` which secrets they lack.");
    } else {
        buffer_printf(&help, "help: nobody was asked: `lastcall explain %.*s` says why not.",
                      TEXT_ARGS(view->search_id));
    }
    paint_wrapped(paint, buffer_text(&help));
    buffer_fini(&help);
}

static void print_sentence(struct paint *paint, const struct reply_view *view)
{
    size_t counts[ENDING_COUNT] = { 0 };
    struct buffer sentence;

    for (size_t i = 0; i < view->supplier_count; i++) {
        counts[ending_of(&view->suppliers[i])]++;
    }
    buffer_init(&sentence, 1024);
    if (counts[ENDING_ANSWERED] == 0) {
        buffer_append_c(&sentence, "No supplier answered");
    }
    for (enum ending ending = 0; ending < ENDING_COUNT; ending++) {
        if (counts[ending] > 0) {
            buffer_printf(&sentence, "%s%zu %s", sentence.length > 0 ? ", " : "", counts[ending],
                          counts[ending] == 1 ? ending_words[ending].one : ending_words[ending].several);
        }
    }
    buffer_append_byte(&sentence, '.');
    buffer_append_byte(paint->out, '\n');
    paint_wrapped(paint, buffer_text(&sentence));
    buffer_fini(&sentence);
    print_nobody(paint, view, counts);
}

static void print_problem(struct paint *paint, const struct reply_view *view)
{
    paint_on(paint, PAINT_RED);
    buffer_printf(paint->out, "error: ");
    paint_off(paint, PAINT_RED);
    paint_text(paint, view->title.length > 0 ? view->title : TEXT("the engine refused"), 200);
    buffer_printf(paint->out, " (HTTP %llu", (unsigned long long)view->status);
    if (view->code.length > 0) {
        buffer_append_c(paint->out, ", ");
        paint_text(paint, view->code, 60);
    }
    buffer_append_c(paint->out, ")\n");
    if (view->detail.length > 0) {
        buffer_append_c(paint->out, "  ");
        paint_text(paint, view->detail, 1000);
        buffer_append_byte(paint->out, '\n');
    }
    for (size_t i = 0; i < view->error_count; i++) {
        const struct reply_error *error = &view->errors[i];
        buffer_append_c(paint->out, "  ");
        paint_on(paint, PAINT_BOLD);
        paint_text(paint, error->pointer.length > 0 ? error->pointer : TEXT("(the whole document)"), 200);
        paint_off(paint, PAINT_BOLD);
        buffer_append_c(paint->out, ": ");
        paint_text(paint, error->detail.length > 0 ? error->detail : error->code, 1000);
        buffer_append_byte(paint->out, '\n');
    }
}

void reply_print(struct paint *paint, struct reply_view *view)
{
    if (view->status != 0) {
        print_problem(paint, view);
        if (view->supplier_count == 0) {
            return;
        }
        buffer_append_byte(paint->out, '\n');
    }
    print_head(paint, view);
    print_coverage(paint, view);
    buffer_append_byte(paint->out, '\n');
    if (view->is_public) {
        reply_public_draw(paint, view);
    } else if (view->supplier_count > 0) {
        waterfall_draw(paint, view);
    }
    reply_rules_print(paint, view);
    print_best(paint, view);
    print_sentence(paint, view);
}
