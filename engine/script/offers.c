#include "script/offers.h"

#include "script/amount.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/calendar.h"
#include "script/offers_scope.h"
#include "script/offers_state.h"
#include "script/offers_walk.h"
#include "script/plan_drop.h"
#include "script/plan_only.h"
#include "script/sandbox.h"

#include <stdio.h>
#include <string.h>

enum { SEEN_SLOTS = 2048, ITEM_ID_MAX = 400, FULL_ID_MAX = 1200 };

// What one call of offers_take carries around.
struct taking {
    struct walk walk;
    struct offer_batch *batch;
    struct text supplier;
    struct buffer *json;                 // of the offer in hand
    struct buffer *item_json;            // of its item
    struct buffer *hidden;               // what of it is not shown
    size_t price_at, price_length;       // in `json`
    size_t expires_at, expires_length;   // in `json`; 0: it does not say
    struct text currency;                // the search's; absent: unknown
    char observed_at[CALENDAR_TEXT_MAX]; // "": unknown
    char full_id[FULL_ID_MAX];
    size_t full_id_length;
    size_t head_length;
    size_t status_at;
    bool is_unmapped;          // the item is known by the supplier's own name for it only
    uint16_t seen[SEEN_SLOTS]; // open hash of ids to row + 1
};

// ---- one offer -----------------------------------------------------------------------------------------------------

static bool drop(struct taking *taking)
{
    struct offer_batch *batch = taking->batch;

    if (batch->dropped++ == 0) {
        walk_describe(&taking->walk, batch->dropped_first, sizeof batch->dropped_first);
        if (batch->count == 0 || batch->drops != NULL) { // else it is for nobody
            plan_drop_tell(&taking->walk);
        }
    }
    if (batch->drops != NULL) {
        char line[sizeof batch->dropped_first];
        walk_describe(&taking->walk, line, sizeof line);
        buffer_printf(batch->drops, "%s\n", line);
    }
    return true;
}

// The item's part: its fields, and with them the identity.
static bool write_item(struct taking *taking, const struct value *values)
{
    struct walk *walk = &taking->walk;
    const struct schema_object *root = &walk->schema->root;
    bool is_first = true;

    walk->out = taking->item_json;
    for (size_t i = 0; i < root->count; i++) {
        const struct schema_field *field = &root->fields[i];
        if (!field->is_item) {
            continue;
        }
        if (values[i].kind == VALUE_ABSENT) {
            if (!walk_absent(walk, field)) {
                return false;
            }
            continue;
        }
        walk_write_key(walk->out, field, is_first);
        is_first = false;
        walk->steps[walk->depth++] = (struct walk_step){ field->name, 0 };
        if (!walk_value(walk, field, &values[i], -1)) {
            return false;
        }
        walk->depth--;
    }
    if (!is_first) {
        buffer_append_byte(walk->out, '}');
    }
    return true;
}

// Checks and writes the id alone, to learn its text; what was written is taken back.
static bool read_id(struct taking *taking, const struct value *values)
{
    struct walk *walk = &taking->walk;
    const struct schema_field *field = walk->schema->id;
    const struct value *value = &values[field - walk->schema->root.fields];

    walk->out = taking->json;
    if (value->kind == VALUE_ABSENT) {
        return walk_absent(walk, field);
    }
    walk->steps[walk->depth++] = (struct walk_step){ field->name, 0 };
    bool is_ok = walk_value(walk, field, value, -1);
    walk->depth -= is_ok ? 1 : 0;
    buffer_clear(taking->json);
    return is_ok;
}

// `supplier:id` in taking->full_id. False: it does not fit.
static bool make_full_id(struct taking *taking)
{
    struct text id = taking->walk.id;
    size_t length = taking->supplier.length;

    if (length + 1 + id.length > sizeof taking->full_id) {
        return walk_failed(&taking->walk, "the id is longer than an id may be");
    }
    memcpy(taking->full_id, taking->supplier.data, length);
    taking->full_id[length++] = ':';
    memcpy(taking->full_id + length, id.data, id.length);
    taking->full_id_length = length + id.length;
    return true;
}

static void write_head(struct taking *taking, struct text item)
{
    struct buffer *out = taking->json;

    buffer_append_text(out, TEXT("{\"id\":"));
    walk_write_text(out, (struct text){ taking->full_id, taking->full_id_length });
    buffer_append_text(out, TEXT(",\"supplier\":"));
    walk_write_text(out, taking->supplier);
    buffer_append_text(out, TEXT(",\"item\":"));
    walk_write_text(out, item);
    taking->head_length = out->length;
}

// Why the offer may not win; sum of enum offer_flag.
static uint32_t row_flag(const struct taking *taking)
{
    uint32_t flag = taking->walk.taxes_are_included ? OFFER_COMPARABLE : OFFER_TAXES_UNCLEAR;

    if (taking->currency.data != NULL && !taking->walk.is_converted &&
        !text_equals(taking->currency, walk_price_currency(&taking->walk))) {
        flag |= OFFER_NOT_CONVERTIBLE;
    }
    return flag;
}

static void write_flags(struct taking *taking)
{
    uint32_t flag = row_flag(taking);
    struct buffer *out = taking->json;

    if (flag == OFFER_COMPARABLE) {
        return;
    }
    buffer_append_text(out, TEXT(",\"flags\":["));
    if ((flag & OFFER_TAXES_UNCLEAR) != 0) {
        buffer_append_text(out,
                           taking->walk.taxes_are_excluded ? TEXT("\"taxes_excluded\"") : TEXT("\"taxes_unknown\""));
    }
    if ((flag & OFFER_NOT_CONVERTIBLE) != 0) {
        buffer_append_text(out, (flag & OFFER_TAXES_UNCLEAR) != 0 ? TEXT(",\"other_currency\"")
                                                                  : TEXT("\"other_currency\""));
    }
    buffer_append_byte(out, ']');
}

static void write_status(struct taking *taking)
{
    buffer_append_text(taking->json, TEXT(",\"price_status\":\""));
    taking->status_at = taking->json->length;
    buffer_append_text(taking->json, TEXT("live\""));
    if (taking->observed_at[0] != '\0') {
        buffer_append_text(taking->json, TEXT(",\"observed_at\":"));
        walk_write_text(taking->json, text_of(taking->observed_at));
    }
    write_flags(taking);
}

// Where that is which is wanted again, when somebody revalidates the offer; what is not shown is kept aside.
static void note_field(struct taking *taking, const struct schema_field *field, size_t start, size_t value_at)
{
    const struct buffer *out = taking->walk.out;

    if (field == taking->walk.schema->price) {
        taking->price_at = value_at;
        taking->price_length = out->length - value_at;
    } else if (field == taking->walk.schema->expires_at) {
        taking->expires_at = value_at + 1;
        taking->expires_length = out->length - value_at - 2;
    } else if (field->is_hidden) {
        buffer_append(taking->hidden, out->data + start, out->length - start);
    }
}

static bool write_fields(struct taking *taking, const struct value *values)
{
    struct walk *walk = &taking->walk;
    const struct schema_object *root = &walk->schema->root;

    walk->out = taking->json;
    for (size_t i = 0; i < root->count; i++) {
        const struct schema_field *field = &root->fields[i];
        if (field->is_item || field == walk->schema->id) {
            continue;
        }
        if (values[i].kind == VALUE_ABSENT) {
            if (!walk_absent(walk, field)) {
                return false;
            }
            continue;
        }
        size_t start = walk->out->length;
        walk_write_key(walk->out, field, false);
        size_t value_at = walk->out->length;
        walk->steps[walk->depth++] = (struct walk_step){ field->name, 0 };
        walk->is_in_price = field == walk->schema->price;
        walk->is_hidden = field->is_hidden;
        if (!walk_value(walk, field, &values[i], -1) || (field == walk->schema->price && !price_has_due(walk))) {
            return false;
        }
        walk->depth--;
        note_field(taking, field, start, value_at);
        (void)walk_take_back(walk, field, start);
        if (field == walk->schema->price) {
            write_status(taking);
        }
    }
    buffer_append_byte(walk->out, '}');
    return true;
}

// ---- rows ----------------------------------------------------------------------------------------------------------

// Prefix and hash of the item's key fields.
static struct text hashed_identity(const struct taking *taking, char out[ITEM_ID_MAX])
{
    static const char digits[] = "0123456789abcdef";
    struct text prefix = taking->walk.schema->item_prefix;
    size_t length = prefix.length < ITEM_ID_MAX - 17 ? prefix.length : ITEM_ID_MAX - 17;

    if (length > 0) {
        memcpy(out, prefix.data, length);
        out[length++] = '_';
    }
    for (int shift = 60; shift >= 0; shift -= 4) {
        out[length++] = digits[taking->walk.key_hash >> shift & 15];
    }
    return (struct text){ out, length };
}

// `supplier:own name`, for what nobody could map. The stand-in has not been checked yet; that comes with its field.
static bool own_identity(struct taking *taking, const struct value *values, char out[ITEM_ID_MAX],
                         struct text *identity)
{
    struct walk *walk = &taking->walk;
    const struct schema_field *field = walk->schema->stand_in;
    const struct value *value = &values[field - walk->schema->root.fields];
    struct text own = walk_stripped(walk, value_text(value));
    size_t length = taking->supplier.length;

    if (value->kind == VALUE_ABSENT) {
        walk->steps[walk->depth++] = (struct walk_step){ field->name, 0 };
        return walk_failed(walk, "required, because nothing else says which thing this is");
    }
    if (own.data == NULL && value->kind == VALUE_TEXT) {
        return walk_failed(walk, "there is no memory for the name of its thing");
    }
    if (length + 1 + own.length > ITEM_ID_MAX) {
        return walk_failed(walk, "the name of its thing is too long");
    }
    memcpy(out, taking->supplier.data, length);
    out[length++] = ':';
    if (own.data != NULL) {
        memcpy(out + length, own.data, own.length);
    }
    *identity = (struct text){ out, length + own.length };
    taking->is_unmapped = true;
    return true;
}

// An offer without any key is an item of its own.
static bool item_identity(struct taking *taking, const struct value *values, char out[ITEM_ID_MAX],
                          struct text *identity)
{
    taking->is_unmapped = false;
    if (taking->walk.has_key) {
        *identity = hashed_identity(taking, out);
        return true;
    }
    if (taking->walk.schema->stand_in != NULL) {
        return own_identity(taking, values, out, identity);
    }
    *identity = (struct text){ taking->full_id, taking->full_id_length };
    return true;
}

static struct text place(char **at, struct text text)
{
    struct text copy = { *at, text.length };

    *at = text_put(*at, text);
    return copy;
}

// The values that the offer has, counted. False: the batch is at its memory cap.
static bool add_marks(struct taking *taking, struct offer *row)
{
    const struct walk *walk = &taking->walk;
    uint16_t *marks = NULL;

    if (walk->mark_count == 0) {
        return true;
    }
    marks = arena_alloc_array(&taking->batch->arena, walk->mark_count, sizeof *marks);
    if (marks == NULL) {
        return false;
    }
    memcpy(marks, walk->marks, walk->mark_count * sizeof *marks);
    row->marks = marks;
    row->mark_count = (uint16_t)walk->mark_count;
    for (size_t i = 0; i < walk->mark_count; i++) {
        facet_value_count(&taking->batch->facets.values[marks[i]], offer_comparable_micros(row));
    }
    return true;
}

// False: the batch is at its memory cap.
static bool add_row(struct taking *taking, struct text item)
{
    struct walk *walk = &taking->walk;
    struct text id = walk->id;
    struct offer *row = &taking->batch->offers[taking->batch->count];
    char *at = arena_alloc_raw(&taking->batch->arena, id.length + item.length + taking->json->length +
                                                          taking->item_json->length + taking->hidden->length + 1);

    if (at == NULL) {
        return false;
    }
    row->id = place(&at, id);
    row->item = place(&at, item);
    row->json = place(&at, buffer_text(taking->json));
    row->head_length = (uint32_t)taking->head_length;
    row->status_at = (uint32_t)taking->status_at;
    if (taking->item_json->length > 0) {
        row->item_json = place(&at, buffer_text(taking->item_json));
    }
    row->price = (struct text){ row->json.data + taking->price_at, taking->price_length };
    if (taking->expires_at > 0) {
        row->expires_at = (struct text){ row->json.data + taking->expires_at, taking->expires_length };
    }
    if (taking->hidden->length > 0) {
        row->hidden = place(&at, buffer_text(taking->hidden));
    }
    *at = '\0';
    row->total_micros = walk->shown_micros;
    memcpy(row->currency, walk->is_converted ? walk->target.data : walk->currency, 3);
    row->flag = row_flag(taking);
    bool has_duration = walk->has_duration && !walk->lacks_duration && walk->duration_min < UINT32_MAX;
    row->duration_min = has_duration ? (uint32_t)walk->duration_min : UINT32_MAX;
    taking->batch->unmapped += taking->is_unmapped ? 1 : 0;
    taking->batch->count++;
    return add_marks(taking, row);
}

// True: the id is new in this answer and is remembered for the row to come.
static bool id_is_new(struct taking *taking)
{
    uint32_t slot = (uint32_t)text_hash_on(0, taking->walk.id) & (SEEN_SLOTS - 1);

    while (taking->seen[slot] != 0) {
        if (text_equals(taking->batch->offers[taking->seen[slot] - 1].id, taking->walk.id)) {
            return false;
        }
        slot = (slot + 1) & (SEEN_SLOTS - 1);
    }
    taking->seen[slot] = (uint16_t)(taking->batch->count + 1);
    return true;
}

// False: the batch is at its memory cap.
static bool take_offer(struct taking *taking, const struct value *source, int number)
{
    struct walk *walk = &taking->walk;
    char item[ITEM_ID_MAX];
    struct value values[SCHEMA_FIELDS_MAX];

    walk_begin(walk);
    walk->depth = 0;
    walk->steps[walk->depth++] = (struct walk_step){ NULL, number };
    buffer_clear(taking->json);
    buffer_clear(taking->item_json);
    buffer_clear(taking->hidden);
    taking->expires_at = 0;
    if (source->kind != VALUE_TABLE && source->kind != VALUE_PLANNED) {
        walk_failed(walk, "an offer expected, got %s", value_what(source));
        return drop(taking);
    }
    if (!walk_spread(walk, &walk->schema->root, source, values) || !read_id(taking, values) || !make_full_id(taking) ||
        !write_item(taking, values)) {
        return drop(taking);
    }
    struct text identity = { NULL, 0 };
    if (!item_identity(taking, values, item, &identity)) {
        return drop(taking);
    }
    write_head(taking, identity);
    if (!write_fields(taking, values) || !walk_mark_lists(walk)) {
        return drop(taking);
    }
    if (taking->json->is_full || taking->item_json->is_full || taking->hidden->is_full) {
        walk_failed(walk, "the offer is larger than 64 KiB");
        return drop(taking);
    }
    if (!id_is_new(taking)) {
        walk_failed(walk, "its id \"%s\" stands earlier in this answer", walk_quote(walk->id).text);
        return drop(taking);
    }
    return add_row(taking, identity);
}

// A failure in place of an offer says why it is none, with a path of the supplier's own.
static bool is_refused(struct taking *taking, int index)
{
    struct walk *walk = &taking->walk;
    struct script_fail fail;

    if (!bind_fail_read(walk->L, index, &fail)) {
        return false;
    }
    walk_begin(walk);
    walk->depth = 0;
    (void)walk_failed(walk, "%s", fail.message != NULL ? fail.message : fail.kind);
    return drop(taking);
}

// ---- the answer ----------------------------------------------------------------------------------------------------

static void open_world(lua_State *L, struct taking *taking)
{
    struct walk *walk = &taking->walk;

    walk->rates = price_rates(L);
    walk->places = bind_time_places(L);
    walk->target = taking->currency;
    walk->target_decimals = taking->currency.data != NULL ? amount_exponent(taking->currency) : -1;
    if (walk->target_decimals < 0) {
        walk->rates = NULL;
    }
}

static bool open_facets(struct taking *taking)
{
    struct walk *walk = &taking->walk;
    struct offer_batch *batch = taking->batch;
    int decimals = taking->currency.data != NULL ? amount_exponent(taking->currency) : -1;

    walk->facets = &batch->facets;
    walk->arena = &batch->arena;
    for (size_t i = 0; i < FACETS_MAX; i++) {
        walk->recent[i] = -1;
    }
    batch->decimals = decimals >= 0 ? decimals : 0;
    return facet_table_open(&batch->facets, &batch->arena, walk->schema->facets, walk->schema->facet_count);
}

static bool open_batch(struct taking *taking, size_t most)
{
    struct offer_batch *batch = taking->batch;

    batch->offers = arena_alloc_array(&batch->arena, most + 1, sizeof(struct offer));
    return batch->offers != NULL && open_facets(taking);
}

static void close_batch(struct taking *taking, size_t count)
{
    struct offer_batch *batch = taking->batch;

    if (count > OFFER_MAX_PER_ANSWER) {
        sandbox_note_limit(taking->walk.L, SCRIPT_LIMIT_OFFERS);
        taking->walk.depth = 0;
        walk_failed(&taking->walk, "%zu offers, of which %d are read", count, OFFER_MAX_PER_ANSWER);
        (void)drop(taking);
        batch->dropped += count - OFFER_MAX_PER_ANSWER - 1;
    }
    facet_table_close(&batch->facets);
    batch->corrected = taking->walk.corrected;
    memcpy(batch->corrected_first, taking->walk.corrected_first, sizeof taking->walk.corrected_first);
    batch->ended = taking->walk.ended;
    memcpy(batch->ended_first, taking->walk.ended_first, sizeof taking->walk.ended_first);
    offer_batch_sort(batch);
}

static enum status take_all(struct taking *taking, int list)
{
    lua_State *L = taking->walk.L;
    int top = lua_gettop(L);
    size_t count = lua_objlen(L, list);
    size_t most = count < OFFER_MAX_PER_ANSWER ? count : OFFER_MAX_PER_ANSWER;

    if (!open_batch(taking, most)) {
        return STATUS_FULL;
    }
    for (size_t i = 1; i <= most; i++) {
        sandbox_stop_here(L);
        lua_rawgeti(L, list, (int)i);
        struct value source = walk_lua_value(L, top + 1, lua_type(L, top + 1));
        bool has_room = is_refused(taking, top + 1) || take_offer(taking, &source, (int)i);
        lua_settop(L, top);
        if (!has_room) {
            return STATUS_FULL;
        }
    }
    close_batch(taking, count);
    return STATUS_OK;
}

// Each element of the plan's level that `only` means is an offer; without `each` the document is one.
static enum status take_planned(struct taking *taking, struct plan_row *row)
{
    const struct plan *plan = row->plan;
    const struct value source = { .kind = VALUE_PLANNED, .node = plan->offer };
    lua_State *L = taking->walk.L;
    int top = lua_gettop(L);
    size_t count = 0;

    taking->walk.row = row;
    for (; plan->offer_level != 0 && plan_row_next(row, plan->offer_level, 0); count++) {
    }
    count = plan->offer_level == 0 ? 1 : count;
    size_t most = count < OFFER_MAX_PER_ANSWER ? count : OFFER_MAX_PER_ANSWER;
    if (!open_batch(taking, most)) {
        return STATUS_FULL;
    }
    size_t meant = 0;
    int number = 0;
    struct value bad = { .kind = VALUE_ABSENT };
    for (; meant < most && plan_only_next_offer(row, &number, &bad); meant++) {
        bool has_room = take_offer(taking, bad.kind == VALUE_ABSENT ? &source : &bad, number);
        lua_settop(L, top);
        if (!has_room) {
            return STATUS_FULL;
        }
    }
    for (; plan->only != NULL && meant >= most && plan_only_next_offer(row, &number, &bad); meant++) {
    }
    close_batch(taking, plan->only != NULL ? meant : count);
    return STATUS_OK;
}

// From here on the stack holds, above `top`: the search's currency, the readers.
static void taking_begin(lua_State *L, struct taking *taking, int search_index, const char *product)
{
    luaL_checkstack(L, 12, "offers");
    lua_getfield(L, search_index, "currency");
    taking->currency = bind_to_text(L, lua_gettop(L));
    taking->walk.L = L;
    taking->walk.schema = offers_state_schema(L, product);
    taking->walk.readers = lua_gettop(L);
    taking->json = offers_state_scratch(L, 1);
    taking->item_json = offers_state_scratch(L, 2);
    taking->hidden = offers_state_scratch(L, 3);
    offers_state_observed(L, taking->observed_at);
    memcpy(taking->walk.now, taking->observed_at, sizeof taking->walk.now);
    open_world(L, taking);
}

enum status offers_take(lua_State *L, int list_index, int search_index, const char *product, struct text supplier,
                        struct offer_batch *batch)
{
    int top = lua_gettop(L);
    struct taking taking = { .batch = batch, .supplier = supplier };
    enum status status = STATUS_INVALID;

    lua_pushvalue(L, list_index);
    taking_begin(L, &taking, search_index < 0 && search_index > LUA_REGISTRYINDEX ? search_index - 1 : search_index,
                 product);
    if (taking.walk.schema != NULL && bind_unwrap(L, top + 1)) {
        status = take_all(&taking, top + 1);
    }
    lua_settop(L, top);
    return status;
}

enum status offers_take_planned(lua_State *L, struct plan_row *row, int search_index, const char *product,
                                struct text supplier, struct offer_batch *batch)
{
    int top = lua_gettop(L);
    struct taking taking = { .batch = batch, .supplier = supplier };

    taking_begin(L, &taking, search_index, product);
    enum status status = taking.walk.schema != NULL ? take_planned(&taking, row) : STATUS_INVALID;
    lua_settop(L, top);
    return status;
}
