#include "search/shown.h"

enum { NAME_TIMES = 4, ESCAPED = 6 }; // a name stands in id, supplier, item and the item's key

static bool is_shown_as_it_is(const struct catalogue_supplier *supplier, enum reply_detail detail)
{
    return detail == REPLY_FULL || supplier->display_name.length == 0 ||
           text_equals(supplier->display_name, supplier->name);
}

struct text shown_name(const struct catalogue_supplier *supplier, enum reply_detail detail)
{
    return is_shown_as_it_is(supplier, detail) ? supplier->name : supplier->display_name;
}

/// "name:rest", valid until the buffer is let go.
static struct text join(struct buffer *out, struct text name, struct text rest)
{
    buffer_append_text(out, name);
    buffer_append_byte(out, ':');
    buffer_append_text(out, rest);
    return buffer_text(out);
}

/// What follows "supplier:" in an item of nobody else's; absent: it is one that others may have, too.
static struct text own_item(const struct catalogue_supplier *supplier, struct text item)
{
    struct text rest = { item.data + supplier->name.length + 1, item.length - supplier->name.length - 1 };
    bool is_own = item.length > supplier->name.length && text_starts_with(item, supplier->name) &&
                  item.data[supplier->name.length] == ':';

    return is_own ? rest : (struct text){ 0 };
}

static struct text shown_item(struct buffer *out, const struct catalogue_supplier *supplier, struct text item,
                              enum reply_detail detail)
{
    bool is_plain = is_shown_as_it_is(supplier, detail) || item.length <= supplier->name.length;
    struct text own = is_plain ? (struct text){ 0 } : own_item(supplier, item);

    return own.data == NULL ? item : join(out, shown_name(supplier, detail), own);
}

static void begin(struct buffer *scratch, const struct catalogue_supplier *supplier, struct text text)
{
    buffer_init(scratch, supplier->name.length + supplier->display_name.length + text.length + 64);
}

void shown_write_id(struct json_writer *json, const struct catalogue_supplier *supplier, const struct offer *offer,
                    enum reply_detail detail)
{
    struct buffer scratch;

    begin(&scratch, supplier, offer->id);
    json_text(json, join(&scratch, shown_name(supplier, detail), offer->id));
    json->out->is_full = json->out->is_full || scratch.is_full;
    buffer_fini(&scratch);
}

void shown_write_id_key(struct json_writer *json, const struct catalogue_supplier *supplier, const struct offer *offer,
                        enum reply_detail detail)
{
    struct buffer scratch;

    begin(&scratch, supplier, offer->id);
    json_key_text(json, join(&scratch, shown_name(supplier, detail), offer->id));
    json->out->is_full = json->out->is_full || scratch.is_full;
    buffer_fini(&scratch);
}

void shown_write_item_key(struct json_writer *json, const struct catalogue_supplier *supplier,
                          const struct offer *offer, enum reply_detail detail)
{
    struct buffer scratch;

    begin(&scratch, supplier, offer->item);
    json_key_text(json, shown_item(&scratch, supplier, offer->item, detail));
    json->out->is_full = json->out->is_full || scratch.is_full;
    buffer_fini(&scratch);
}

void shown_write_offer(struct json_writer *json, const struct catalogue_supplier *supplier, const struct offer *offer,
                       struct text token, enum reply_detail detail)
{
    struct buffer scratch;

    if (is_shown_as_it_is(supplier, detail) || offer->head_length == 0) { // without a head nobody is named
        json_raw(json, token.data == NULL ? offer->json : (struct text){ offer->json.data, offer->json.length - 1 });
        if (token.data != NULL) {
            buffer_append_text(json->out, TEXT(",\"token\":\"")); // of letters that need no escapes
            buffer_append_text(json->out, token);
            buffer_append_text(json->out, TEXT("\"}"));
        }
        return;
    }
    json_begin_object(json);
    json_key(json, "id");
    shown_write_id(json, supplier, offer, detail);
    json_field_text(json, "supplier", shown_name(supplier, detail));
    json_key(json, "item");
    begin(&scratch, supplier, offer->item);
    json_text(json, shown_item(&scratch, supplier, offer->item, detail));
    json->out->is_full = json->out->is_full || scratch.is_full;
    buffer_fini(&scratch);
    // The rest begins with its comma, and its brace is the object's.
    buffer_append(json->out, offer->json.data + offer->head_length, offer->json.length - offer->head_length - 1);
    if (token.data != NULL) {
        json_field_text(json, "token", token);
    }
    json_end_object(json);
}

size_t shown_room(const struct catalogue_supplier *supplier, enum reply_detail detail)
{
    return is_shown_as_it_is(supplier, detail) ? 0 : NAME_TIMES * ESCAPED * (supplier->display_name.length + 1);
}
