// The texts of a recorded fixture: what its requests look like, what came of it.

#include "app/try_record.h"

#include "base/json_write.h"

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

/// What somebody would look at: not what the engine adds to a local time.
static void write_value(const struct json_node *node, struct json_writer *json)
{
    static const char *const ADDED[] = { "zone", "utc" };

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
        if (is_object && is_among(at->key, ADDED, COUNT_OF(ADDED))) {
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

static void write_price(const struct json_node *price, struct json_writer *json)
{
    static const char *const MEMBERS[] = { "total", "currency" };

    json_key(json, "price");
    json_begin_object(json);
    for (size_t i = 0; i < COUNT_OF(MEMBERS); i++) {
        const struct json_node *member = json_tree_member(price, MEMBERS[i]);
        if (member != NULL) {
            json_key(json, MEMBERS[i]);
            json_raw(json, member->source);
        }
    }
    json_end_object(json);
}

/// All that the script said of it, and its item's fields in place of the item's id.
static void write_whole(const struct json_node *offer, const struct json_node *item, struct json_writer *json)
{
    static const char *const LEFT_OUT[] = { "supplier", "item", "price_status", "observed_at", "expires_at", "token" };

    for (const struct json_node *at = offer->first; at != NULL; at = at->next) {
        if (!is_among(at->key, LEFT_OUT, COUNT_OF(LEFT_OUT))) {
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
        struct text id = json_tree_text(offer, "item");
        write_whole(offer, id.data == NULL ? NULL : json_tree_member_text(json_tree_member(root, "items"), id), json);
    } else {
        write_price(json_tree_member(offer, "price"), json);
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
