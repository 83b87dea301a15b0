#include "cli/try_columns.h"

#include <string.h>

enum { ID_WIDTH = 24, CELL_SIZE = 512 };

static void fill_id(const struct json_node *offer, struct buffer *out)
{
    buffer_append_text(out, json_tree_text(offer, "id"));
}

static void fill_taxes(const struct json_node *offer, struct buffer *out)
{
    buffer_append_text(out, json_tree_text(json_tree_member(offer, "price"), "taxes"));
}

/// The first charge that is paid later, and how many more there are.
static void fill_later(const struct json_node *offer, struct buffer *out)
{
    const struct json_node *later = json_tree_member(json_tree_member(offer, "price"), "due_later");

    if (later == NULL || later->count == 0) {
        return;
    }
    buffer_append_text(out, json_tree_text(later->first, "amount"));
    if (later->count > 1) {
        buffer_printf(out, " +%zu", later->count - 1);
    }
}

static void fill_seats(const struct json_node *offer, struct buffer *out)
{
    buffer_append_text(out, json_tree_text(offer, "seats_left"));
}

/// "1+2": bags in the cabin and checked ones.
static void fill_bags(const struct json_node *offer, struct buffer *out)
{
    const struct json_node *bags = json_tree_member(offer, "bags");
    struct text cabin = json_tree_text(bags, "cabin"), checked = json_tree_text(bags, "checked");

    if (cabin.length > 0 || checked.length > 0) {
        buffer_printf(out, "%.*s+%.*s", TEXT_ARGS(cabin.length > 0 ? cabin : TEXT("?")),
                      TEXT_ARGS(checked.length > 0 ? checked : TEXT("?")));
    }
}

static void fill_flag(const struct json_node *offer, const char *name, struct buffer *out)
{
    const struct json_node *flag = json_tree_member(offer, name);

    if (flag != NULL) {
        buffer_append_c(out, flag->kind == JSON_TRUE ? "yes" : "no");
    }
}

/// Of flights whether, of hotels until when: "to 2030-05-09 22:00Z".
static void fill_refund(const struct json_node *offer, struct buffer *out)
{
    const struct json_node *refund = json_tree_member(offer, "refund");
    struct text until = json_tree_text(refund, "free_until");

    fill_flag(offer, "refundable", out);
    if (refund != NULL && until.length >= 16) {
        buffer_printf(out, "to %.10s %.5sZ", until.data, until.data + 11);
    } else if (refund != NULL) {
        buffer_append_c(out, "always");
    }
}

static void fill_change(const struct json_node *offer, struct buffer *out)
{
    fill_flag(offer, "changeable", out);
}

static const struct {
    const char *name;
    void (*fill)(const struct json_node *offer, struct buffer *out); // nothing: the offer does not say it
    enum paint_align align;
} COLUMNS[TRY_COLUMNS] = {
    { "id", fill_id, PAINT_LEFT },         { "taxes", fill_taxes, PAINT_RIGHT }, { "later", fill_later, PAINT_RIGHT },
    { "seats", fill_seats, PAINT_RIGHT },  { "bags", fill_bags, PAINT_LEFT },    { "refund", fill_refund, PAINT_LEFT },
    { "change", fill_change, PAINT_LEFT },
};

void try_columns_measure(struct try_columns *columns, const struct json_node *offers, bool shows_all)
{
    *columns = (struct try_columns){ .widths = { 0 } };
    for (const struct json_node *at = offers->first; at != NULL; at = at->next) {
        for (size_t i = 0; i < TRY_COLUMNS; i++) {
            struct buffer cell;
            buffer_init(&cell, CELL_SIZE);
            COLUMNS[i].fill(at, &cell);
            size_t width = paint_columns(buffer_text(&cell)), least = strlen(COLUMNS[i].name);
            width = width == 0 ? 0 : width < least ? least : width;
            width = !shows_all && width > ID_WIDTH ? ID_WIDTH : width;
            columns->widths[i] = width > columns->widths[i] ? width : columns->widths[i];
            buffer_fini(&cell);
        }
    }
}

size_t try_columns_width(const struct try_columns *columns)
{
    size_t width = 0;

    for (size_t i = 0; i < TRY_COLUMNS; i++) {
        width += columns->widths[i] + (columns->widths[i] > 0 ? 1 : 0);
    }
    return width;
}

static void print_cell(const struct try_columns *columns, size_t column, struct text text, struct paint *paint)
{
    if (columns->widths[column] > 0) {
        paint_cell(paint, text, columns->widths[column], COLUMNS[column].align);
        buffer_append_byte(paint->out, ' ');
    }
}

void try_columns_print_head(const struct try_columns *columns, struct paint *paint)
{
    for (size_t i = 0; i < TRY_COLUMNS; i++) {
        print_cell(columns, i, text_of(COLUMNS[i].name), paint);
    }
}

void try_columns_print(const struct try_columns *columns, struct paint *paint, const struct json_node *offer)
{
    for (size_t i = 0; i < TRY_COLUMNS; i++) {
        struct buffer cell;
        buffer_init(&cell, CELL_SIZE);
        COLUMNS[i].fill(offer, &cell);
        print_cell(columns, i, cell.length > 0 ? buffer_text(&cell) : TEXT("-"), paint);
        buffer_fini(&cell);
    }
}
