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

static void write_first(const struct json_node *offer, struct json_writer *json)
{
    const struct json_node *price = json_tree_member(offer, "price");
    static const char *const MEMBERS[] = { "total", "currency" };

    if (offer == NULL) {
        return;
    }
    json_key(json, "first");
    json_begin_object(json);
    if (is_alone(offer)) {
        json_field_text(json, "id", json_tree_text(offer, "id"));
    }
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
    write_first(json_tree_element(json_tree_member(run->root, "offers"), 0), &json);
    json_end_object(&json);
}
