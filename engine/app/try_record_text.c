// The texts of a recorded fixture: what its requests look like, what came of it.

#include "app/try_record.h"

#include "base/json_write.h"
#include "model/offer.h"

enum { TIED_MAX = OFFER_MAX_PER_ANSWER }; // offers at one price that are compared

static struct text type_of(const struct http_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (text_equals_nocase(request->headers[i].name, TEXT("content-type"))) {
            return request->headers[i].value;
        }
    }
    return TEXT("");
}

/// Each name once: those that come again are joined, as fixtures are compared.
static void write_headers(const struct http_request *request, struct json_writer *json)
{
    if (request->header_count == 0) {
        return;
    }
    json_key(json, "headers");
    json_begin_object(json);
    for (size_t i = 0; i < request->header_count; i++) {
        struct buffer value;
        bool is_known = false;
        for (size_t j = 0; j < i; j++) {
            is_known = is_known || text_equals_nocase(request->headers[j].name, request->headers[i].name);
        }
        if (is_known) {
            continue;
        }
        buffer_init(&value, 1 << 20);
        for (size_t j = i; j < request->header_count; j++) {
            if (text_equals_nocase(request->headers[j].name, request->headers[i].name)) {
                buffer_printf(&value, "%s%.*s", j == i ? "" : ", ", TEXT_ARGS(request->headers[j].value));
            }
        }
        json_key_text(json, request->headers[i].name);
        json_text(json, value.length > 0 ? buffer_text(&value) : TEXT(""));
        buffer_fini(&value);
    }
    json_end_object(json);
}

void try_record_request(const struct http_request *request, struct buffer *out, bool *has_form)
{
    struct json_writer json;
    const char *why;
    size_t offset;

    *has_form =
        request->body.length > 0 && text_starts_with(type_of(request), TEXT("application/x-www-form-urlencoded"));
    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_text(&json, "method", request->method);
    json_field_text(&json, "url", request->url);
    write_headers(request, &json);
    if (*has_form) {
        json_key(&json, "form");
        json_begin_object(&json);
        json_end_object(&json);
    } else if (request->body.length > 0 && json_is_valid(request->body, &offset, &why)) {
        json_key(&json, "json");
        json_raw(&json, request->body);
    } else if (request->body.length > 0) {
        json_field_text(&json, "body", request->body);
    }
    json_end_object(&json);
}

/// Of offers at one price the first is any of them: a facet more, and it is another.
static bool is_alone(const struct json_node *offer)
{
    struct text total = json_tree_text(json_tree_member(offer, "price"), "total");
    struct text next = json_tree_text(json_tree_member(offer->next, "price"), "total");

    return next.data == NULL || !text_equals(total, next);
}

static bool is_among(struct text name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equals_c(name, names[i])) {
            return true;
        }
    }
    return false;
}

/// What the engine adds to a local time.
static bool is_added(struct text key)
{
    static const char *const ADDED[] = { "zone", "utc" };

    return is_among(key, ADDED, COUNT_OF(ADDED));
}

/// What the engine adds to an offer, and the item's id: its fields stand there.
static bool is_left_out(struct text key)
{
    static const char *const LEFT_OUT[] = { "supplier", "item", "price_status", "observed_at", "expires_at", "token" };

    return is_among(key, LEFT_OUT, COUNT_OF(LEFT_OUT));
}

/// What somebody would look at: not what the engine adds to a local time.
static void write_value(const struct json_node *node, struct json_writer *json)
{
    if (node->kind != JSON_BEGIN_OBJECT && node->kind != JSON_BEGIN_ARRAY) {
        json_raw(json, node->source);
        return;
    }
    bool is_object = node->kind == JSON_BEGIN_OBJECT;
    if (is_object) {
        json_begin_object(json);
    } else {
        json_begin_array(json);
    }
    for (const struct json_node *at = node->first; at != NULL; at = at->next) {
        if (is_object && is_added(at->key)) {
            continue;
        }
        if (is_object) {
            json_key_text(json, at->key);
        }
        write_value(at, json);
    }
    if (is_object) {
        json_end_object(json);
    } else {
        json_end_array(json);
    }
}

/// The same place in each of the offers at one price.
struct tied {
    const struct json_node *nodes[TIED_MAX];
    size_t count;
};

static bool are_all(const struct tied *tied, bool (*is_like)(const struct json_node *, const struct json_node *))
{
    for (size_t i = 1; i < tied->count; i++) {
        if (!is_like(tied->nodes[0], tied->nodes[i])) {
            return false;
        }
    }
    return true;
}

static bool are_objects(const struct json_node *a, const struct json_node *b)
{
    return a->kind == JSON_BEGIN_OBJECT && b->kind == JSON_BEGIN_OBJECT;
}

static bool are_lists(const struct json_node *a, const struct json_node *b)
{
    return a->kind == JSON_BEGIN_ARRAY && b->kind == JSON_BEGIN_ARRAY && a->count == b->count;
}

/// The member of that name of each, false: one has none.
static bool tied_member(const struct tied *tied, struct text key, struct tied *members)
{
    members->count = tied->count;
    for (size_t i = 0; i < tied->count; i++) {
        members->nodes[i] = json_tree_member_text(tied->nodes[i], key);
        if (members->nodes[i] == NULL) {
            return false;
        }
    }
    return true;
}

static void tied_element(const struct tied *tied, size_t index, struct tied *elements)
{
    elements->count = tied->count;
    for (size_t i = 0; i < tied->count; i++) {
        elements->nodes[i] = json_tree_element(tied->nodes[i], index);
    }
}

/// Whether there is something to say of all: a list is said with all its elements or not at all.
static bool is_shared(const struct tied *tied)
{
    if (are_all(tied, json_tree_equals) || are_all(tied, are_objects)) {
        return true;
    }
    if (!are_all(tied, are_lists)) {
        return false;
    }
    for (size_t i = 0; i < tied->nodes[0]->count; i++) {
        struct tied elements;
        tied_element(tied, i, &elements);
        if (!is_shared(&elements)) {
            return false;
        }
    }
    return true;
}

/// What is_shared has been asked of: what all of them say.
static void write_shared(const struct tied *tied, struct json_writer *json)
{
    struct tied below;

    if (are_all(tied, json_tree_equals)) {
        write_value(tied->nodes[0], json);
    } else if (are_all(tied, are_objects)) {
        json_begin_object(json);
        for (const struct json_node *at = tied->nodes[0]->first; at != NULL; at = at->next) {
            if (!is_added(at->key) && tied_member(tied, at->key, &below) && is_shared(&below)) {
                json_key_text(json, at->key);
                write_shared(&below, json);
            }
        }
        json_end_object(json);
    } else {
        json_begin_array(json);
        for (size_t i = 0; i < tied->nodes[0]->count; i++) {
            tied_element(tied, i, &below);
            write_shared(&below, json);
        }
        json_end_array(json);
    }
}

static const struct json_node *item_of(const struct json_node *root, const struct json_node *offer)
{
    struct text id = json_tree_text(offer, "item");

    return id.data == NULL ? NULL : json_tree_member_text(json_tree_member(root, "items"), id);
}

/// What the offers at the price of the first have in common, their items' fields too.
static void write_tied(const struct json_node *root, const struct json_node *offer, struct json_writer *json)
{
    struct tied tied = { .count = 0 }, below;
    bool has_items = true;

    for (const struct json_node *at = offer; at != NULL && tied.count < TIED_MAX; at = at->next) {
        tied.nodes[tied.count++] = at;
        if (is_alone(at)) {
            break;
        }
    }
    for (const struct json_node *at = offer->first; at != NULL; at = at->next) {
        if (!is_left_out(at->key) && tied_member(&tied, at->key, &below) && is_shared(&below)) {
            json_key_text(json, at->key);
            write_shared(&below, json);
        }
    }
    for (size_t i = 0; i < tied.count; i++) {
        tied.nodes[i] = item_of(root, tied.nodes[i]);
        has_items = has_items && tied.nodes[i] != NULL;
    }
    if (has_items) {
        json_key(json, "item");
        write_shared(&tied, json);
    }
}

/// All that the script said of it, and its item's fields in place of the item's id.
static void write_whole(const struct json_node *offer, const struct json_node *item, struct json_writer *json)
{
    for (const struct json_node *at = offer->first; at != NULL; at = at->next) {
        if (!is_left_out(at->key)) {
            json_key_text(json, at->key);
            write_value(at, json);
        }
    }
    if (item != NULL) {
        json_key(json, "item");
        write_value(item, json);
    }
}

static void write_first(const struct json_node *root, struct json_writer *json)
{
    const struct json_node *offer = json_tree_element(json_tree_member(root, "offers"), 0);

    if (offer == NULL) {
        return;
    }
    json_key(json, "first");
    json_begin_object(json);
    if (is_alone(offer)) {
        write_whole(offer, item_of(root, offer), json);
    } else {
        write_tied(root, offer, json);
    }
    json_end_object(json);
}

void try_record_expect(const struct try_run *run, struct buffer *out)
{
    static const char *const MEMBERS[] = { "outcome", "partial", "bound",    "phase",          "kind",  "http_status",
                                           "code",    "reason",  "warnings", "offers_dropped", "offers" };
    const struct json_node *report = try_report(run);
    struct json_writer json;

    json_writer_init(&json, out);
    json_begin_object(&json);
    for (size_t i = 0; i < COUNT_OF(MEMBERS); i++) {
        const struct json_node *member = json_tree_member(report, MEMBERS[i]);
        if (member != NULL) {
            json_key(&json, MEMBERS[i]);
            json_raw(&json, member->source);
        }
    }
    write_first(run->root, &json);
    json_end_object(&json);
}
