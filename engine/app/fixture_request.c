#include "app/fixture_request.h"

#include "app/fixture_match.h"
#include "app/fixture_match_xml.h"
#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 256, REQUEST_MAX = 16 << 20 };

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

/// The fields of a form or of a query, as a document in the fixture's arena; NULL: it is none.
static const struct json_node *read_form(struct fixture *fixture, struct text form)
{
    struct json_writer json;
    struct buffer out;
    struct json_node *fields = NULL;
    size_t offset;
    const char *why;

    buffer_init(&out, REQUEST_MAX);
    json_writer_init(&json, &out);
    struct text kept = write_form(&json, form) ? arena_copy(&fixture->arena, buffer_text(&out)) : (struct text){ 0 };
    if (kept.data == NULL || json_tree_read(&fixture->arena, kept, &fields, &offset, &why) != STATUS_OK) {
        fields = NULL;
    }
    buffer_fini(&out);
    return fields;
}

static void match_form(struct fixture *fixture, const char *path, const struct json_node *expected,
                       const struct http_request *request)
{
    char below[PATH_SIZE];

    (void)snprintf(below, sizeof(below), "%s.form", path);
    const struct json_node *got = request->body.data == NULL ? NULL : read_form(fixture, request->body);
    fixture_match(fixture, below, expected, got, MATCH_WHOLE);
}

// ---- urls

/// Each parameter that one of them lacks or has otherwise. False: there is none, so they are only written otherwise.
static bool match_parameters(struct fixture *fixture, const struct json_node *at, const char *path,
                             const struct json_node *expected, const struct json_node *got)
{
    char below[2 * PATH_SIZE];
    bool is_different = false;

    for (const struct json_node *one = expected->first; one != NULL; one = one->next) {
        const struct json_node *other = json_tree_member_text(got, one->key);
        if (other == NULL || !json_tree_equals(one, other)) {
            (void)snprintf(below, sizeof(below), "%s ?%.*s", path, TEXT_ARGS(one->key));
            fixture_tell_difference(fixture, at, "", below, one->source,
                                    other == NULL ? TEXT("nothing") : other->source);
            is_different = true;
        }
    }
    for (const struct json_node *other = got->first; other != NULL; other = other->next) {
        if (json_tree_member_text(expected, other->key) == NULL) {
            (void)snprintf(below, sizeof(below), "%s ?%.*s", path, TEXT_ARGS(other->key));
            fixture_tell_difference(fixture, at, "", below, TEXT("nothing"), other->source);
            is_different = true;
        }
    }
    return is_different;
}

/// Two urls that differ.
static void match_url(struct fixture *fixture, const char *path, const struct json_node *expected,
                      const struct json_node *got)
{
    struct text expected_query, got_query;
    struct text expected_base = text_split(expected->text, '?', &expected_query);
    struct text got_base = text_split(got->text, '?', &got_query);
    const struct json_node *wanted = read_form(fixture, expected_query), *have = read_form(fixture, got_query);
    bool is_same_base = text_equals(expected_base, got_base);

    if (wanted == NULL || have == NULL || (wanted->count == 0 && have->count == 0)) {
        fixture_tell_difference(fixture, expected, "", path, expected->source, got->source);
        return;
    }
    if (!is_same_base) {
        fixture_tell_difference(fixture, expected, "", path, expected_base, got_base);
    }
    if (!match_parameters(fixture, expected, path, wanted, have) && is_same_base) {
        fixture_tell_difference(fixture, expected, "the same parameters, in another order or spelling", path,
                                expected->source, got->source);
    }
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

static void match_member(struct fixture *fixture, const char *path, const struct json_node *expected,
                         const struct json_node *got, const struct http_request *request)
{
    const struct json_node *other = json_tree_member_text(got, expected->key);
    char below[PATH_SIZE];

    (void)snprintf(below, sizeof(below), "%s.%.*s", path, TEXT_ARGS(expected->key));
    if (text_equals(expected->key, TEXT("headers"))) {
        match_headers(fixture, path, expected, request);
    } else if (text_equals(expected->key, TEXT("form"))) {
        match_form(fixture, path, expected, request);
    } else if (text_equals(expected->key, TEXT("url")) && expected->kind == JSON_STRING && other != NULL &&
               !fixture->is_updating && !json_tree_equals(expected, other)) {
        match_url(fixture, below, expected, other);
    } else if (text_equals(expected->key, TEXT("body")) && expected->kind == JSON_STRING && other != NULL &&
               !fixture->is_updating && !fixture->is_counting && !json_tree_equals(expected, other) &&
               fixture_match_xml(fixture, below, expected, expected->text, other->text)) {
        return; // element by element
    } else {
        fixture_match(fixture, below, expected, other, MATCH_WHOLE);
    }
}

void fixture_match_request(struct fixture *fixture, const char *path, const struct json_node *expected,
                           const struct http_request *request)
{
    struct buffer out;
    struct json_node *got = NULL;
    size_t offset;
    const char *why;

    fixture->differs = CODE_REQUEST_DIFFERS;
    buffer_init(&out, REQUEST_MAX);
    write_request(expected, request, &out);
    if (json_tree_read(&fixture->arena, buffer_text(&out), &got, &offset, &why) != STATUS_OK) {
        fixture_find(fixture, expected, CODE_REQUEST_TOO_LARGE, "", "%s: the request is too large to compare", path);
    }
    for (const struct json_node *member = expected->first; member != NULL && got != NULL; member = member->next) {
        match_member(fixture, path, member, got, request);
    }
    buffer_fini(&out);
}

// ---- which exchange it fits

/// Where findings go while differences are only counted.
struct difference_count {
    char *first;
    size_t size, count;
};

static void count_difference(void *context, const struct failure *failure)
{
    struct difference_count *counted = context;
    const char *words = failure->message[0] == '.' ? failure->message + 1 : failure->message;

    if (counted->count++ == 0) {
        (void)snprintf(counted->first, counted->size, "%s", words);
    }
}

size_t fixture_count_differences(struct fixture *fixture, const struct json_node *expected,
                                 const struct http_request *request, char *first, size_t size)
{
    struct difference_count counted = { first, size, 0 };
    settings_finding report = fixture->report;
    void *context = fixture->context;
    size_t findings = fixture->findings;
    bool is_updating = fixture->is_updating;

    fixture->report = count_difference;
    fixture->context = &counted;
    fixture->is_updating = false;
    fixture->is_counting = true;
    fixture_match_request(fixture, "", expected, request);
    fixture->is_counting = false;
    fixture->report = report;
    fixture->context = context;
    fixture->is_updating = is_updating;
    fixture->findings = findings;
    return counted.count;
}

size_t fixture_nearest_exchange(struct fixture *fixture, const struct fixture_exchanges *exchanges,
                                const struct http_request *request, size_t *differences, char *first, size_t size)
{
    char words[PATH_SIZE];
    size_t nearest = SIZE_MAX;

    for (size_t i = 0; i < exchanges->count; i++) {
        const struct json_node *expected = exchanges->items[i].expect;
        if (expected == NULL || expected->count == 0) {
            continue;
        }
        words[0] = '\0';
        size_t count = fixture_count_differences(fixture, expected, request, words, sizeof(words));
        if (nearest == SIZE_MAX || count < *differences) {
            nearest = i;
            *differences = count;
            (void)snprintf(first, size, "%s", words);
        }
    }
    return nearest;
}
