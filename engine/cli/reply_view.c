#include "cli/reply_view.h"

#include "base/json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Objects are read by tables: one row a field, with the place in the structure where it goes.

enum { VIEW_MEMORY = 64 * 1024 * 1024 };
#define VIEW_NUMBER_MAX UINT64_C(1000000000000)

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_FLAG, FIELD_READ };

struct cursor {
    struct json_reader json;
    struct reply_view *view;
    struct buffer scratch;
    struct text items; // the object of all items, as it stands in the reply
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    bool (*read)(struct cursor *cursor, enum json_token first, void *record);
};

#define TEXT_FIELD(type, key, member)                                                                                  \
    {                                                                                                                  \
        key, FIELD_TEXT, offsetof(struct type, member), NULL                                                           \
    }
#define NUMBER_FIELD(type, key, member)                                                                                \
    {                                                                                                                  \
        key, FIELD_NUMBER, offsetof(struct type, member), NULL                                                         \
    }
#define FLAG_FIELD(type, key, member)                                                                                  \
    {                                                                                                                  \
        key, FIELD_FLAG, offsetof(struct type, member), NULL                                                           \
    }
#define READ_FIELD(key, function)                                                                                      \
    {                                                                                                                  \
        key, FIELD_READ, 0, function                                                                                   \
    }

/// The current string without escapes, living as long as the view.
static struct text cursor_text(struct cursor *cursor)
{
    if (!cursor->json.has_escapes) {
        return cursor->json.value;
    }
    buffer_clear(&cursor->scratch);
    return arena_copy(&cursor->view->arena, json_unescape(&cursor->json, &cursor->scratch));
}

/// Whole numbers; a fraction is cut off, and so is what would overflow in sums.
static uint64_t cursor_number(const struct cursor *cursor)
{
    struct text rest;
    uint64_t number = 0;

    if (!text_to_u64(text_split(cursor->json.value, '.', &rest), &number)) {
        return 0;
    }
    return number < VIEW_NUMBER_MAX ? number : VIEW_NUMBER_MAX;
}

static bool read_field(struct cursor *cursor, enum json_token token, const struct field *field, void *record)
{
    char *place = (char *)record + field->offset;

    switch (field->kind) {
    case FIELD_TEXT:
        if (token == JSON_STRING) {
            *(struct text *)(void *)place = cursor_text(cursor);
            return true;
        }
        break;
    case FIELD_NUMBER:
        if (token == JSON_NUMBER) {
            *(uint64_t *)(void *)place = cursor_number(cursor);
            return true;
        }
        break;
    case FIELD_FLAG:
        *(bool *)(void *)place = token == JSON_TRUE;
        break;
    case FIELD_READ:
        return field->read(cursor, token, record);
    }
    return json_skip(&cursor->json, token);
}

/// Reads the object that `first` began. Something else than an object is passed over.
static bool read_object(struct cursor *cursor, enum json_token first, const struct field *fields, size_t count,
                        void *record)
{
    if (first != JSON_BEGIN_OBJECT) {
        return json_skip(&cursor->json, first);
    }
    for (enum json_token token = json_next(&cursor->json); token == JSON_KEY; token = json_next(&cursor->json)) {
        const struct field *field = NULL;
        for (size_t i = 0; i < count && field == NULL; i++) {
            field = text_equals_c(cursor->json.value, fields[i].key) ? &fields[i] : NULL;
        }
        token = json_next(&cursor->json);
        if (token == JSON_ERROR ||
            !(field != NULL ? read_field(cursor, token, field, record) : json_skip(&cursor->json, token))) {
            return false;
        }
    }
    return cursor->json.error == NULL;
}

/// How many elements the array has that `first` begins; the reader stays where it is.
static size_t count_elements(struct json_reader json, enum json_token first)
{
    size_t count = 0;

    if (first == JSON_BEGIN_ARRAY) {
        for (enum json_token token = json_next(&json); token != JSON_END_ARRAY; token = json_next(&json)) {
            if (token == JSON_ERROR || !json_skip(&json, token)) {
                return 0;
            }
            count++;
        }
    }
    return count;
}

/// Reads up to `most` objects of an array into `*records`; the rest is passed over.
static bool read_list(struct cursor *cursor, enum json_token first, const struct field *fields, size_t field_count,
                      size_t size, size_t most, void **records, size_t *count)
{
    size_t wanted = count_elements(cursor->json, first);

    if (first != JSON_BEGIN_ARRAY) {
        return json_skip(&cursor->json, first);
    }
    wanted = wanted < most ? wanted : most;
    *records = wanted > 0 ? arena_alloc_array(&cursor->view->arena, wanted, size) : NULL;
    *count = *records != NULL ? wanted : 0;
    size_t at = 0;
    for (enum json_token token = json_next(&cursor->json); token != JSON_END_ARRAY; token = json_next(&cursor->json)) {
        if (token == JSON_ERROR) {
            return false;
        }
        bool is_read = at < *count ? read_object(cursor, token, fields, field_count, (char *)*records + at * size)
                                   : json_skip(&cursor->json, token);
        if (!is_read) {
            return false;
        }
        at++;
    }
    return true;
}

static bool read_errors(struct cursor *cursor, enum json_token first, void *record)
{
    static const struct field fields[] = {
        TEXT_FIELD(reply_error, "pointer", pointer),
        TEXT_FIELD(reply_error, "code", code),
        TEXT_FIELD(reply_error, "detail", detail),
    };
    struct reply_view *view = record;

    return read_list(cursor, first, fields, COUNT_OF(fields), sizeof(*view->errors), 100, (void **)&view->errors,
                     &view->error_count);
}

static bool read_budget(struct cursor *cursor, enum json_token first, void *record)
{
    static const struct field fields[] = {
        NUMBER_FIELD(reply_view, "requested_ms", requested_ms),
        NUMBER_FIELD(reply_view, "effective_ms", budget_ms),
        NUMBER_FIELD(reply_view, "reserve_ms", reserve_ms),
        FLAG_FIELD(reply_view, "clamped", is_clamped),
        TEXT_FIELD(reply_view, "rule", budget_rule),
    };
    return read_object(cursor, first, fields, COUNT_OF(fields), record);
}

static bool read_coverage(struct cursor *cursor, enum json_token first, void *record)
{
    static const struct field fields[] = {
        FLAG_FIELD(reply_view, "complete", is_complete),
        NUMBER_FIELD(reply_view, "percent", percent),
        NUMBER_FIELD(reply_view, "eligible", eligible),
        NUMBER_FIELD(reply_view, "answered", answered),
        NUMBER_FIELD(reply_view, "empty", empty),
        NUMBER_FIELD(reply_view, "cached", cached),
        NUMBER_FIELD(reply_view, "indicative", indicative),
        NUMBER_FIELD(reply_view, "missing", missing),
        NUMBER_FIELD(reply_view, "offers_found", offers_found),
        NUMBER_FIELD(reply_view, "offers_returned", offers_returned),
    };
    return read_object(cursor, first, fields, COUNT_OF(fields), record);
}

static bool read_last_known(struct cursor *cursor, enum json_token first, void *record)
{
    static const struct field fields[] = {
        NUMBER_FIELD(reply_supplier, "offers", last_offers),
        NUMBER_FIELD(reply_supplier, "age_s", last_age_s),
    };
    return read_object(cursor, first, fields, COUNT_OF(fields), record);
}

static bool read_rules(struct cursor *cursor, enum json_token first, void *record)
{
    struct reply_supplier *supplier = record;
    size_t count = 0;

    if (first != JSON_BEGIN_ARRAY) {
        return json_skip(&cursor->json, first);
    }
    for (enum json_token token = json_next(&cursor->json); token != JSON_END_ARRAY; token = json_next(&cursor->json)) {
        if (token == JSON_STRING && count < CEILING_RULES_MAX) {
            supplier->rules[count++] = cursor_text(cursor);
        } else if (token == JSON_ERROR || !json_skip(&cursor->json, token)) {
            return false;
        }
    }
    return true;
}

static bool read_suppliers(struct cursor *cursor, enum json_token first, void *record)
{
    static const struct field fields[] = {
        TEXT_FIELD(reply_supplier, "name", name),
        TEXT_FIELD(reply_supplier, "account", account),
        TEXT_FIELD(reply_supplier, "outcome", outcome),
        TEXT_FIELD(reply_supplier, "mode", mode),
        TEXT_FIELD(reply_supplier, "bound", bound),
        TEXT_FIELD(reply_supplier, "phase", phase),
        TEXT_FIELD(reply_supplier, "kind", kind),
        TEXT_FIELD(reply_supplier, "code", code),
        TEXT_FIELD(reply_supplier, "reason", reason),
        TEXT_FIELD(reply_supplier, "detail", detail),
        FLAG_FIELD(reply_supplier, "partial", is_partial),
        NUMBER_FIELD(reply_supplier, "began_ms", began_ms),
        NUMBER_FIELD(reply_supplier, "took_ms", took_ms),
        NUMBER_FIELD(reply_supplier, "ceiling_ms", ceiling_ms),
        NUMBER_FIELD(reply_supplier, "http_status", http_status),
        NUMBER_FIELD(reply_supplier, "offers", offers),
        NUMBER_FIELD(reply_supplier, "offers_dropped", offers_dropped),
        TEXT_FIELD(reply_supplier, "first_dropped", first_dropped),
        NUMBER_FIELD(reply_supplier, "retry_in_ms", retry_in_ms),
        READ_FIELD("last_known", read_last_known),
        READ_FIELD("rules", read_rules),
    };
    struct reply_view *view = record;

    return read_list(cursor, first, fields, COUNT_OF(fields), sizeof(*view->suppliers), REPLY_MAX_SUPPLIERS,
                     (void **)&view->suppliers, &view->supplier_count);
}

static bool read_price(struct cursor *cursor, enum json_token first, void *record)
{
    static const struct field fields[] = {
        TEXT_FIELD(reply_offer, "total", total),
        TEXT_FIELD(reply_offer, "currency", currency),
    };
    return read_object(cursor, first, fields, COUNT_OF(fields), record);
}

static bool read_flags(struct cursor *cursor, enum json_token first, void *record)
{
    struct reply_offer *offer = record;
    enum json_token token = JSON_END_ARRAY;

    if (first != JSON_BEGIN_ARRAY) {
        return json_skip(&cursor->json, first);
    }
    for (token = json_next(&cursor->json); token != JSON_END_ARRAY; token = json_next(&cursor->json)) {
        if (token == JSON_STRING && offer->flag.data == NULL) {
            offer->flag = cursor->json.value;
        } else if (token == JSON_ERROR || !json_skip(&cursor->json, token)) {
            return false;
        }
    }
    return true;
}

/// All offers are read, for the cheapest one of each supplier; the view keeps the first ones.
static bool read_offers(struct cursor *cursor, enum json_token first, void *record)
{
    static const struct field fields[] = {
        TEXT_FIELD(reply_offer, "supplier", supplier),
        TEXT_FIELD(reply_offer, "item", item),
        READ_FIELD("price", read_price),
        READ_FIELD("flags", read_flags),
    };
    struct reply_view *view = record;

    return read_list(cursor, first, fields, COUNT_OF(fields), sizeof(*view->offers), SIZE_MAX, (void **)&view->offers,
                     &view->offer_count);
}

/// Remembers where the items are; they are looked up once the offers are known.
static bool read_items(struct cursor *cursor, enum json_token first, void *record)
{
    size_t start = cursor->json.offset - 1;

    (void)record;
    if (!json_skip(&cursor->json, first)) {
        return false;
    }
    if (first == JSON_BEGIN_OBJECT) {
        cursor->items = (struct text){ cursor->json.input.data + start, cursor->json.offset - start };
    }
    return true;
}

static bool read_reply(struct cursor *cursor)
{
    static const struct field fields[] = {
        NUMBER_FIELD(reply_view, "status", status),
        TEXT_FIELD(reply_view, "title", title),
        TEXT_FIELD(reply_view, "code", code),
        TEXT_FIELD(reply_view, "detail", detail),
        READ_FIELD("errors", read_errors),
        TEXT_FIELD(reply_view, "search_id", search_id),
        TEXT_FIELD(reply_view, "caller", caller),
        TEXT_FIELD(reply_view, "trace_id", trace_id),
        NUMBER_FIELD(reply_view, "took_ms", took_ms),
        NUMBER_FIELD(reply_view, "generation", generation),
        READ_FIELD("budget", read_budget),
        READ_FIELD("coverage", read_coverage),
        READ_FIELD("suppliers", read_suppliers),
        READ_FIELD("items", read_items),
        READ_FIELD("offers", read_offers),
    };
    enum json_token first = json_next(&cursor->json);

    return first == JSON_BEGIN_OBJECT && read_object(cursor, first, fields, COUNT_OF(fields), cursor->view) &&
           json_next(&cursor->json) == JSON_END;
}

/// The raw value of a key of the object `json`; absent when there is none.
static struct text find_member(struct text json, struct text key)
{
    struct json_reader reader;

    json_reader_init(&reader, json);
    (void)json_next(&reader); // the object begins
    for (enum json_token token = json_next(&reader); token == JSON_KEY; token = json_next(&reader)) {
        bool is_it = text_equals(reader.value, key);
        token = json_next(&reader);
        size_t start = reader.offset - 1;
        if (!json_skip(&reader, token)) {
            break;
        }
        if (is_it && token == JSON_BEGIN_OBJECT) {
            return (struct text){ json.data + start, reader.offset - start };
        }
    }
    return (struct text){ NULL, 0 };
}

static uint32_t outcome_rank(struct text name)
{
    uint32_t rank = 0;

    while (rank < OUTCOME_COUNT && !text_equals_c(name, outcome_name((enum outcome)rank))) {
        rank++;
    }
    return rank;
}

/// What went wrong stands above what was cut, for it can be mended; who took no part stands last.
static int outcome_tier(uint32_t rank)
{
    enum { TIER_ANSWERED, TIER_FAILED, TIER_LATE, TIER_OUTSIDE };

    if (rank >= OUTCOME_COUNT) {
        return TIER_LATE;
    }
    if (outcome_row((enum outcome)rank)->group == GROUP_NOT_ELIGIBLE) {
        return TIER_OUTSIDE;
    }
    if (outcome_row((enum outcome)rank)->group != GROUP_MISSING) {
        return TIER_ANSWERED;
    }
    return rank >= OUTCOME_FAILED && rank <= OUTCOME_SCRIPT_MEMORY ? TIER_FAILED : TIER_LATE;
}

static int compare_suppliers(const void *left, const void *right)
{
    const struct reply_supplier *a = left;
    const struct reply_supplier *b = right;

    int a_tier = outcome_tier(a->rank);
    int b_tier = outcome_tier(b->rank);
    if (a_tier != b_tier) {
        return a_tier < b_tier ? -1 : 1;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    uint64_t a_end = a->began_ms + a->took_ms;
    uint64_t b_end = b->began_ms + b->took_ms;
    if (a_end != b_end) {
        return a_end < b_end ? -1 : 1;
    }
    return text_compare(a->name, b->name);
}

/// One of the four words, and nothing else.
static bool is_seen_only(const struct reply_supplier *supplier)
{
    bool is_seen = false;

    for (enum outcome_seen seen = SEEN_ANSWERED; seen <= SEEN_UNAVAILABLE; seen++) {
        is_seen = is_seen || text_equals_c(supplier->outcome, seen_name(seen));
    }
    return is_seen && supplier->account.length == 0 && supplier->reason.length + supplier->detail.length == 0 &&
           supplier->began_ms + supplier->took_ms + supplier->ceiling_ms + supplier->offers == 0;
}

static void view_finish(struct cursor *cursor)
{
    struct reply_view *view = cursor->view;

    for (size_t i = 0; i < view->supplier_count; i++) {
        struct reply_supplier *supplier = &view->suppliers[i];
        supplier->rank = outcome_rank(supplier->outcome);
        for (size_t j = 0; j < view->offer_count; j++) {
            if (!text_equals(view->offers[j].supplier, supplier->name)) {
                continue;
            }
            if (supplier->returned++ == 0) {
                supplier->cheapest = view->offers[j].total;
                supplier->currency = view->offers[j].currency;
            }
        }
    }
    view->is_public = view->supplier_count > 0;
    for (size_t i = 0; i < view->supplier_count; i++) {
        view->is_public = view->is_public && is_seen_only(&view->suppliers[i]);
    }
    if (view->supplier_count > 0) {
        qsort(view->suppliers, view->supplier_count, sizeof(*view->suppliers), compare_suppliers);
    }
    view->offer_count = view->offer_count < REPLY_BEST_OFFERS ? view->offer_count : REPLY_BEST_OFFERS;
    for (size_t i = 0; i < view->offer_count; i++) {
        view->offers[i].item_json = find_member(cursor->items, view->offers[i].item);
    }
}

enum status reply_view_read(struct block *bytes, struct reply_view *view, struct failure *why)
{
    struct cursor cursor = { .view = view };

    memset(view, 0, sizeof(*view));
    arena_init(&view->arena, VIEW_MEMORY);
    view->bytes = block_acquire(bytes);
    json_reader_init(&cursor.json, block_text(bytes));
    buffer_init(&cursor.scratch, VIEW_MEMORY);
    bool is_read = read_reply(&cursor);
    buffer_fini(&cursor.scratch);
    if (!is_read) {
        failure_set(why, "the reply is not what lastcall sends: %s at byte %zu",
                    cursor.json.error != NULL ? cursor.json.error : "no object", cursor.json.offset);
        reply_view_fini(view);
        return STATUS_INVALID;
    }
    view_finish(&cursor);
    return STATUS_OK;
}

void reply_view_fini(struct reply_view *view)
{
    arena_fini(&view->arena);
    block_release(&view->bytes);
}
