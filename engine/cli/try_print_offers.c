#include "app/pretty.h"
#include "cli/try_columns.h"
#include "cli/try_print.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 20, TOTAL = 12, CURRENCY = 4, WHAT = 60, WHAT_LEAST = 20, WHOLE_MAX = 1 << 20 };

static struct text member(const struct json_node *node, const char *key)
{
    struct text text = json_tree_text(node, key);
    return text.data == NULL ? TEXT("") : text;
}

/// "2030-05-01T08:30:00" -> "05-01 08:30".
static void put_time(struct buffer *out, struct text local)
{
    if (local.length >= 16 && local.data[10] == 'T') {
        buffer_printf(out, "%.5s %.5s", local.data + 5, local.data + 11);
    } else {
        buffer_append_text(out, local);
    }
}

/// "LHR 05-14 08:30 - JFK 05-14 11:40 BA117+BA9", and so on.
static void describe_slices(const struct json_node *slices, struct buffer *out)
{
    for (const struct json_node *slice = slices->first; slice != NULL; slice = slice->next) {
        const struct json_node *segments = json_tree_member(slice, "segments");
        const struct json_node *first = json_tree_element(segments, 0), *last = NULL;
        buffer_append_c(out, slice == slices->first ? "" : "; ");
        for (const struct json_node *at = segments == NULL ? NULL : segments->first; at != NULL; at = at->next) {
            last = at;
        }
        buffer_printf(out, "%.*s ", TEXT_ARGS(member(first, "origin")));
        put_time(out, member(json_tree_member(first, "departs"), "local"));
        buffer_printf(out, " - %.*s ", TEXT_ARGS(member(last, "destination")));
        put_time(out, member(json_tree_member(last, "arrives"), "local"));
        for (const struct json_node *at = segments == NULL ? NULL : segments->first; at != NULL; at = at->next) {
            buffer_printf(out, "%s%.*s%.*s", at == segments->first ? " " : "+", TEXT_ARGS(member(at, "carrier")),
                          TEXT_ARGS(member(at, "number")));
        }
    }
}

/// Of any other product: its first texts.
static void describe_fields(const struct json_node *node, struct buffer *out)
{
    static const char *const PASSED_OVER[] = { "id", "item", "supplier", "price_status" };

    for (const struct json_node *at = node == NULL ? NULL : node->first; at != NULL && out->length < WHAT;
         at = at->next) {
        static const struct text ENDS[] = { { "_id", 3 }, { "_at", 3 }, { "token", 5 } }; // for machines
        bool is_shown = at->kind == JSON_STRING;
        for (size_t i = 0; i < COUNT_OF(ENDS); i++) {
            size_t length = ENDS[i].length;
            is_shown = is_shown && !(at->key.length >= length &&
                                     memcmp(at->key.data + at->key.length - length, ENDS[i].data, length) == 0);
        }
        for (size_t i = 0; i < COUNT_OF(PASSED_OVER); i++) {
            is_shown = is_shown && !text_equals_c(at->key, PASSED_OVER[i]);
        }
        const struct json_node *inner = at->kind == JSON_BEGIN_OBJECT ? json_tree_member(at, "name") : NULL;
        if (is_shown || inner != NULL) {
            buffer_printf(out, "%s%.*s", out->length == 0 ? "" : ", ",
                          TEXT_ARGS(inner != NULL ? inner->text : at->text));
        }
    }
}

static void describe(const struct json_node *root, const struct json_node *offer, struct buffer *out)
{
    const struct json_node *items = json_tree_member(root, "items");
    const struct json_node *item = json_tree_member_text(items, member(offer, "item"));
    const struct json_node *slices = json_tree_member(item != NULL ? item : offer, "slices");

    if (slices != NULL) {
        describe_slices(slices, out);
        return;
    }
    describe_fields(item, out);
    describe_fields(offer, out);
}

static void print_row(struct paint *paint, const struct try_columns *columns, const struct json_node *root,
                      const struct json_node *offer, bool shows_all)
{
    const struct json_node *price = json_tree_member(offer, "price");
    size_t taken = TOTAL + CURRENCY + 1 + try_columns_width(columns);
    size_t room = paint->width > taken + WHAT_LEAST ? paint->width - taken : WHAT_LEAST;
    struct buffer what;

    buffer_init(&what, 4096);
    describe(root, offer, &what);
    paint_cell(paint, member(price, "total"), TOTAL, PAINT_RIGHT);
    buffer_append_byte(paint->out, ' ');
    paint_cell(paint, member(price, "currency"), CURRENCY, PAINT_LEFT);
    try_columns_print(columns, paint, offer);
    paint_text(paint, buffer_text(&what), shows_all ? SIZE_MAX : room);
    buffer_append_byte(paint->out, '\n');
    buffer_fini(&what);
}

static bool has_flag(const struct json_node *offer, const char *flag)
{
    const struct json_node *flags = json_tree_member(offer, "flags");

    for (const struct json_node *at = flags == NULL ? NULL : flags->first; at != NULL; at = at->next) {
        if (text_equals_c(at->text, flag)) {
            return true;
        }
    }
    return false;
}

/// Offers that are good and yet last: nothing else tells their author.
static void print_flags(struct paint *paint, const struct json_node *offers)
{
    static const struct {
        const char *flag, *says;
    } FLAGS[] = {
        { "taxes_unknown", "price.taxes_included is not \"yes\"; const \"yes\" where the total has all taxes" },
        { "taxes_excluded", "price.taxes_included is \"no\"; give the total with all taxes where it can be known" },
        { "other_currency", "there is no rate for their currency" },
    };

    for (size_t i = 0; i < COUNT_OF(FLAGS); i++) {
        size_t count = 0;
        for (const struct json_node *at = offers->first; at != NULL; at = at->next) {
            count += has_flag(at, FLAGS[i].flag) ? 1 : 0;
        }
        if (count > 0) {
            buffer_printf(paint->out, "%zu of %zu offers flagged %s: they come last and never win;\n  %s\n", count,
                          offers->count, FLAGS[i].flag, FLAGS[i].says);
        }
    }
}

static void print_rows(struct paint *paint, const struct try_columns *columns, const struct json_node *root,
                       const struct json_node *offers, bool shows_all)
{
    size_t rows = 0;

    for (const struct json_node *at = offers->first; at != NULL; at = at->next) {
        if (!shows_all && rows++ == ROWS) {
            buffer_printf(paint->out, "%*s and %zu more (--all)\n", TOTAL, "", offers->count - ROWS);
            return;
        }
        print_row(paint, columns, root, at, shows_all);
    }
}

static void print_whole(struct paint *paint, const char *title, const struct json_node *node)
{
    struct buffer pretty;

    if (node == NULL) {
        return;
    }
    buffer_init(&pretty, WHOLE_MAX);
    pretty_json(node->source, &pretty);
    paint_on(paint, PAINT_BOLD);
    buffer_printf(paint->out, "\n%s\n", title);
    paint_off(paint, PAINT_BOLD);
    for (struct text rest = buffer_text(&pretty); rest.data != NULL;) {
        struct text line = text_split(rest, '\n', &rest);
        buffer_append_c(paint->out, "  ");
        paint_text(paint, line, SIZE_MAX);
        buffer_append_byte(paint->out, '\n');
    }
    buffer_fini(&pretty);
}

/// All that an engine would say of it.
static void print_first(struct paint *paint, const struct json_node *root, const struct json_node *offer)
{
    const struct json_node *items = json_tree_member(root, "items");

    print_whole(paint, "the first offer", offer);
    print_whole(paint, "its item", json_tree_member_text(items, member(offer, "item")));
}

void try_print_offers(struct paint *paint, const struct json_node *root, bool shows_all)
{
    const struct json_node *offers = json_tree_member(root, "offers");
    struct try_columns columns;

    if (offers == NULL || offers->count == 0) {
        return;
    }
    try_columns_measure(&columns, offers, shows_all);
    buffer_append_byte(paint->out, '\n');
    paint_on(paint, PAINT_BOLD);
    paint_cell(paint, TEXT("total"), TOTAL, PAINT_RIGHT);
    buffer_append_byte(paint->out, ' ');
    paint_cell(paint, TEXT(""), CURRENCY, PAINT_LEFT);
    try_columns_print_head(&columns, paint);
    buffer_append_c(paint->out, "what\n");
    paint_off(paint, PAINT_BOLD);
    print_rows(paint, &columns, root, offers, shows_all);
    print_flags(paint, offers);
    if (shows_all) {
        print_first(paint, root, offers->first);
    }
}
