#include "app/fixture_match.h"

#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 256, SHOWN = 160, REQUEST_MAX = 16 << 20 };

/// The beginning of a value, for a sentence.
static const char *show(const struct json_node *node, char out[SHOWN + 8])
{
    struct text source = node == NULL ? TEXT("nothing") : node->source;
    bool is_cut = source.length > SHOWN;
    size_t length = is_cut ? SHOWN : source.length;

    while (is_cut && length > 0 && ((unsigned char)source.data[length] & 0xc0) == 0x80) {
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        out[i] = (unsigned char)source.data[i] < ' ' ? ' ' : source.data[i];
    }
    (void)snprintf(out + length, 8, "%s", is_cut ? "…" : "");
    return out;
}

static void differ(struct fixture *fixture, const char *path, const struct json_node *expected,
                   const struct json_node *got)
{
    char wanted[SHOWN + 8], have[SHOWN + 8];

    if (fixture->is_updating) {
        if (got != NULL) {
            fixture_edit(fixture, expected, got->source);
        } else {
            fixture_remove(fixture, expected);
        }
        return;
    }
    fixture_find(fixture, expected, "", "%s: expected %s, got %s", path, show(expected, wanted), show(got, have));
}

static void match_object(struct fixture *fixture, const char *path, const struct json_node *expected,
                         const struct json_node *got, enum fixture_match how)
{
    char below[PATH_SIZE];

    for (const struct json_node *member = expected->first; member != NULL; member = member->next) {
        (void)snprintf(below, sizeof(below), "%s.%.*s", path, TEXT_ARGS(member->key));
        fixture_match(fixture, below, member, json_tree_member_text(got, member->key), how);
    }
    for (const struct json_node *member = got->first; member != NULL && how == MATCH_WHOLE; member = member->next) {
        if (json_tree_member_text(expected, member->key) != NULL) {
            continue;
        }
        char have[SHOWN + 8];
        if (fixture->is_updating) {
            fixture_edit(fixture, expected, got->source);
            return;
        }
        fixture_find(fixture, expected, "", "%s.%.*s: expected nothing, got %s", path, TEXT_ARGS(member->key),
                     show(member, have));
    }
}

static void match_list(struct fixture *fixture, const char *path, const struct json_node *expected,
                       const struct json_node *got, enum fixture_match how)
{
    char below[PATH_SIZE];
    const struct json_node *other = got->first;
    size_t index = 0;

    if (expected->count != got->count) {
        if (fixture->is_updating) {
            fixture_edit(fixture, expected, got->source);
        } else {
            fixture_find(fixture, expected, "", "%s: expected a list of %zu, got one of %zu", path, expected->count,
                         got->count);
        }
        return;
    }
    for (const struct json_node *item = expected->first; item != NULL; item = item->next, other = other->next) {
        (void)snprintf(below, sizeof(below), "%s[%zu]", path, index++);
        fixture_match(fixture, below, item, other, how);
    }
}

void fixture_match(struct fixture *fixture, const char *path, const struct json_node *expected,
                   const struct json_node *got, enum fixture_match how)
{
    if (got == NULL || expected->kind != got->kind) {
        if (got != NULL || expected->kind != JSON_NULL) {
            differ(fixture, path, expected, got);
        }
    } else if (expected->kind == JSON_BEGIN_OBJECT) {
        match_object(fixture, path, expected, got, how);
    } else if (expected->kind == JSON_BEGIN_ARRAY) {
        match_list(fixture, path, expected, got, how);
    } else if (!json_tree_equals(expected, got)) {
        differ(fixture, path, expected, got);
    }
}

// ---- requests

/// Bytes of a query string or form, decoded: `+` is a blank. False: not one.
static bool decode_part(struct text part, struct buffer *out)
{
    static const char digits[] = "0123456789abcdef";

    buffer_clear(out);
    for (size_t i = 0; i < part.length; i++) {
        char byte = part.data[i];
        if (byte == '%') {
            const char *high = i + 2 < part.length ? strchr(digits, part.data[i + 1] | 0x20) : NULL;
            const char *low = high != NULL ? strchr(digits, part.data[i + 2] | 0x20) : NULL;
            if (low == NULL) {
                return false;
            }
            byte = (char)(unsigned char)((high - digits) * 16 + (low - digits));
            i += 2;
        }
        buffer_append_byte(out, part.data[i] == '+' && byte == '+' ? ' ' : byte);
    }
    return !out->is_full;
}

static bool is_key(struct text pair, struct text key, struct buffer *scratch, struct text *value)
{
    return decode_part(text_split(pair, '=', value), scratch) && text_equals(buffer_text(scratch), key);
}

/// The values of one key, a text or a list of them; `from` begins with its first pair.
static bool write_values(struct json_writer *json, struct text from, struct text key, struct buffer *scratch)
{
    size_t count = 0;
    struct text value;

    for (struct text rest = from; rest.data != NULL;) {
        count += is_key(text_split(rest, '&', &rest), key, scratch, &value);
    }
    if (count > 1) {
        json_begin_array(json);
    }
    for (struct text rest = from; rest.data != NULL;) {
        if (!is_key(text_split(rest, '&', &rest), key, scratch, &value)) {
            continue;
        }
        if (value.data != NULL && !decode_part(value, scratch)) {
            return false;
        }
        json_text(json, value.data == NULL || value.length == 0 ? TEXT("") : buffer_text(scratch));
    }
    if (count > 1) {
        json_end_array(json);
    }
    return true;
}

static bool stands_before(struct text body, struct text from, struct text key, struct buffer *scratch)
{
    struct text value;

    for (struct text rest = { body.data, (size_t)(from.data - body.data) }; rest.data != NULL && rest.length > 0;) {
        if (is_key(text_split(rest, '&', &rest), key, scratch, &value)) {
            return true;
        }
    }
    return false;
}

/// {"key": "value", "repeated": ["a", "b"]}; false: the body is no form.
static bool write_form(struct json_writer *json, struct text body)
{
    struct buffer key, scratch;
    bool is_form = true;
    struct text rest = body.length == 0 ? (struct text){ 0 } : body;

    buffer_init(&key, REQUEST_MAX);
    buffer_init(&scratch, REQUEST_MAX);
    json_begin_object(json);
    while (rest.data != NULL && is_form) {
        struct text from = rest, value;
        is_form = decode_part(text_split(text_split(rest, '&', &rest), '=', &value), &key);
        if (is_form && !stands_before(body, from, buffer_text(&key), &scratch)) {
            json_key_text(json, buffer_text(&key));
            is_form = write_values(json, from, buffer_text(&key), &scratch);
        }
    }
    json_end_object(json);
    buffer_fini(&key);
    buffer_fini(&scratch);
    return is_form;
}

/// The request as a document like `expect_request`; of the forms of a body the one that is expected.
static void write_request(const struct json_node *expected, const struct http_request *request, struct buffer *out)
{
    struct json_writer json;
    size_t offset;
    const char *why;

    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_text(&json, "method", request->method);
    json_field_text(&json, "url", request->url);
    if (json_tree_member(expected, "json") != NULL && json_is_valid(request->body, &offset, &why)) {
        json_key(&json, "json");
        json_raw(&json, request->body);
    }
    if (json_tree_member(expected, "body") != NULL && request->body.data != NULL) {
        json_field_text(&json, "body", request->body);
    }
    json_end_object(&json);
}

static void match_form(struct fixture *fixture, const char *path, const struct json_node *expected,
                       const struct http_request *request)
{
    struct json_writer json;
    struct buffer out;
    struct json_node *got = NULL;
    size_t offset;
    const char *why;
    char below[PATH_SIZE];

    (void)snprintf(below, sizeof(below), "%s.form", path);
    buffer_init(&out, REQUEST_MAX);
    json_writer_init(&json, &out);
    if (request->body.data == NULL || !write_form(&json, request->body) ||
        json_tree_read(&fixture->arena, buffer_text(&out), &got, &offset, &why) != STATUS_OK) {
        got = NULL;
    }
    fixture_match(fixture, below, expected, got, MATCH_WHOLE);
    buffer_fini(&out);
}

/// The header's value; several of that name are joined.
static struct text header_of(struct fixture *fixture, const struct http_request *request, struct text name)
{
    struct buffer joined;
    struct text value = { 0 };
    size_t count = 0;

    buffer_init(&joined, REQUEST_MAX);
    for (size_t i = 0; i < request->header_count; i++) {
        if (text_equals_nocase(request->headers[i].name, name)) {
            buffer_printf(&joined, "%s%.*s", count++ == 0 ? "" : ", ", TEXT_ARGS(request->headers[i].value));
        }
    }
    if (count > 0) {
        value = joined.length == 0 ? TEXT("") : arena_copy(&fixture->arena, buffer_text(&joined));
    }
    buffer_fini(&joined);
    return value;
}

static void match_headers(struct fixture *fixture, const char *path, const struct json_node *expected,
                          const struct http_request *request)
{
    char below[PATH_SIZE];

    for (const struct json_node *header = expected->first; header != NULL; header = header->next) {
        struct buffer written;
        struct json_writer json;
        struct text value = header_of(fixture, request, header->key);
        struct json_node got = { .kind = JSON_STRING, .text = value };
        (void)snprintf(below, sizeof(below), "%s.headers.%.*s", path, TEXT_ARGS(header->key));
        buffer_init(&written, REQUEST_MAX);
        json_writer_init(&json, &written);
        json_text(&json, value);
        got.source = buffer_text(&written);
        fixture_match(fixture, below, header, value.data == NULL ? NULL : &got, MATCH_WHOLE);
        buffer_fini(&written);
    }
}

void fixture_match_request(struct fixture *fixture, const char *path, const struct json_node *expected,
                           const struct http_request *request)
{
    struct buffer out;
    struct json_node *got = NULL;
    size_t offset;
    const char *why;
    char below[PATH_SIZE];

    buffer_init(&out, REQUEST_MAX);
    write_request(expected, request, &out);
    if (json_tree_read(&fixture->arena, buffer_text(&out), &got, &offset, &why) != STATUS_OK) {
        fixture_find(fixture, expected, "", "%s: the request is too large to compare", path);
    }
    for (const struct json_node *member = expected->first; member != NULL && got != NULL; member = member->next) {
        if (text_equals(member->key, TEXT("headers"))) {
            match_headers(fixture, path, member, request);
        } else if (text_equals(member->key, TEXT("form"))) {
            match_form(fixture, path, member, request);
        } else {
            (void)snprintf(below, sizeof(below), "%s.%.*s", path, TEXT_ARGS(member->key));
            fixture_match(fixture, below, member, json_tree_member_text(got, member->key), MATCH_WHOLE);
        }
    }
    buffer_fini(&out);
}
