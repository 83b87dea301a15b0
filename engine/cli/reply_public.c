#include "cli/reply_public.h"

#include <stdio.h>

enum { NAME_MIN = 8, NAME_MAX = 40, OUTCOME_COLUMNS = 11, OFFERS_COLUMNS = 9, PRICE_COLUMNS = 16 };

static enum paint_colour colour_of(struct text outcome)
{
    if (text_equals_c(outcome, seen_name(SEEN_ANSWERED))) {
        return PAINT_GREEN;
    }
    if (text_equals_c(outcome, seen_name(SEEN_NONE))) {
        return PAINT_CYAN;
    }
    return text_equals_c(outcome, seen_name(SEEN_LATE)) ? PAINT_YELLOW : PAINT_RED;
}

static size_t name_columns(const struct paint *paint, const struct reply_view *view)
{
    size_t rest = OUTCOME_COLUMNS + OFFERS_COLUMNS + PRICE_COLUMNS + 2;
    size_t most = paint->width > rest + NAME_MIN ? paint->width - rest : NAME_MIN;
    size_t columns = NAME_MIN;

    for (size_t i = 0; i < view->supplier_count; i++) {
        size_t name = paint_columns(view->suppliers[i].name);
        columns = name > columns ? name : columns;
    }
    most = most < NAME_MAX ? most : NAME_MAX;
    return columns < most ? columns : most;
}

static void draw_supplier(struct paint *paint, const struct reply_supplier *supplier, size_t columns)
{
    enum paint_colour colour = colour_of(supplier->outcome);
    struct buffer price;
    char number[32];

    paint_cell(paint, supplier->name, columns, PAINT_LEFT);
    paint_spaces(paint, 1);
    paint_on(paint, colour);
    if (supplier->returned == 0) {
        paint_text(paint, supplier->outcome, OUTCOME_COLUMNS);
        paint_off(paint, colour);
        buffer_append_byte(paint->out, '\n');
        return;
    }
    paint_cell(paint, supplier->outcome, OUTCOME_COLUMNS, PAINT_LEFT);
    paint_off(paint, colour);
    paint_cell(paint, text_of(paint_number(number, supplier->returned)), OFFERS_COLUMNS, PAINT_RIGHT);
    buffer_init(&price, 256);
    buffer_printf(&price, "%.*s %.*s", TEXT_ARGS(supplier->cheapest), TEXT_ARGS(supplier->currency));
    paint_cell(paint, buffer_text(&price), PRICE_COLUMNS, PAINT_RIGHT);
    buffer_fini(&price);
    buffer_append_byte(paint->out, '\n');
}

void reply_public_draw(struct paint *paint, const struct reply_view *view)
{
    size_t columns = name_columns(paint, view);

    paint_on(paint, PAINT_BOLD);
    paint_cell(paint, TEXT("supplier"), columns, PAINT_LEFT);
    paint_spaces(paint, 1);
    paint_cell(paint, TEXT("outcome"), OUTCOME_COLUMNS, PAINT_LEFT);
    paint_cell(paint, TEXT("returned"), OFFERS_COLUMNS, PAINT_RIGHT);
    paint_cell(paint, TEXT("cheapest"), PRICE_COLUMNS, PAINT_RIGHT);
    paint_off(paint, PAINT_BOLD);
    buffer_append_byte(paint->out, '\n');
    for (size_t i = 0; i < view->supplier_count; i++) {
        draw_supplier(paint, &view->suppliers[i], columns);
    }
}
