#include "cli/reply_rules.h"

enum { PLACE_COLUMNS = 60 };

static bool has_rule(const struct reply_supplier *supplier, struct text place)
{
    for (size_t i = 0; i < CEILING_RULES_MAX; i++) {
        if (supplier->rules[i].length > 0 && text_equals(supplier->rules[i], place)) {
            return true;
        }
    }
    return false;
}

static void begin_line(struct paint *paint, struct text place)
{
    paint_spaces(paint, 2);
    paint_on(paint, PAINT_CYAN);
    paint_text(paint, place, PLACE_COLUMNS);
    paint_off(paint, PAINT_CYAN);
    paint_spaces(paint, 2);
}

/// "deadline 1,500 ms"
static void print_deadline(struct paint *paint, const struct reply_view *view)
{
    char number[32];

    begin_line(paint, view->budget_rule);
    buffer_printf(paint->out, "deadline %s ms\n", paint_number(number, view->budget_ms));
}

/// "ceiling of delta (900 ms), omni (720 ms)", as far as the line goes.
static void print_ceilings(struct paint *paint, const struct reply_view *view, struct text place, size_t from)
{
    size_t taken = 2 + paint_columns(place) + 2;
    struct buffer line;

    buffer_init(&line, 64 * 1024);
    begin_line(paint, place);
    buffer_append_c(&line, "ceiling of ");
    for (size_t i = from; i < view->supplier_count; i++) {
        const struct reply_supplier *supplier = &view->suppliers[i];
        char number[32];
        if (has_rule(supplier, place)) {
            buffer_printf(&line, "%s%.*s (%s ms)", i > from ? ", " : "", TEXT_ARGS(supplier->name),
                          paint_number(number, supplier->ceiling_ms));
        }
    }
    paint_text(paint, buffer_text(&line), paint->width > taken + 20 ? paint->width - taken : 20);
    buffer_append_byte(paint->out, '\n');
    buffer_fini(&line);
}

/// Has an earlier supplier, or an earlier rule of this one, told that rule?
static bool was_told(const struct reply_view *view, size_t supplier, size_t rule)
{
    struct text place = view->suppliers[supplier].rules[rule];
    for (size_t i = 0; i < supplier; i++) {
        if (has_rule(&view->suppliers[i], place)) {
            return true;
        }
    }
    return rule > 0 && text_equals(view->suppliers[supplier].rules[0], place);
}

void reply_rules_print(struct paint *paint, const struct reply_view *view)
{
    bool has_any = view->budget_rule.length > 0;

    for (size_t i = 0; i < view->supplier_count && !has_any; i++) {
        has_any = view->suppliers[i].rules[0].length > 0;
    }
    if (!has_any) {
        return;
    }
    paint_on(paint, PAINT_BOLD);
    buffer_append_c(paint->out, "\nRules\n");
    paint_off(paint, PAINT_BOLD);
    if (view->budget_rule.length > 0) {
        print_deadline(paint, view);
    }
    for (size_t i = 0; i < view->supplier_count; i++) {
        for (size_t j = 0; j < CEILING_RULES_MAX && view->suppliers[i].rules[j].length > 0; j++) {
            if (!was_told(view, i, j)) {
                print_ceilings(paint, view, view->suppliers[i].rules[j], i);
            }
        }
    }
}
