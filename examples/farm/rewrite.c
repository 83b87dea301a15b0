#include "farm/rewrite.h"

#include "base/json_read.h"

#include <string.h>

static const char suffix[] = "_2"; // of the other name

static bool append_between(struct buffer *out, const char *from, const char *end)
{
    return buffer_append(out, from, (size_t)(end - from));
}

/// A member was left out: the comma before it goes too, or else the one behind it.
static const char *drop_comma(struct buffer *out, const char *from, const char *end)
{
    if (out->length > 0 && out->data[out->length - 1] == ',') {
        out->length--;
        return from;
    }
    return from < end && *from == ',' ? from + 1 : from;
}

static bool rewrite_json(struct buffer *out, struct text body, struct text field, bool is_dropped)
{
    struct json_reader reader;
    const char *from = body.data, *end = body.data + body.length;
    enum json_token token;

    json_reader_init(&reader, body);
    while ((token = json_next(&reader)) != JSON_END) {
        if (token == JSON_ERROR) {
            return false;
        }
        if (token != JSON_KEY || !text_equals(reader.value, field)) {
            continue;
        }
        const char *name_end = reader.value.data + reader.value.length;
        if (!is_dropped) {
            append_between(out, from, name_end);
            buffer_append_c(out, suffix);
            from = name_end;
            continue;
        }
        append_between(out, from, reader.value.data - 1);
        if (!json_skip(&reader, JSON_KEY)) {
            return false;
        }
        from = drop_comma(out, body.data + reader.offset, end);
    }
    return append_between(out, from, end);
}

/// Where the name of a tag ends that is this field's, behind `<`, `</` and a prefix; NULL: it is another one's.
static const char *find_name_end(const char *tag, const char *end, struct text field)
{
    const char *at = tag + 1 < end && tag[1] == '/' ? tag + 2 : tag + 1;
    const char *name = at;

    while (at < end && strchr(" \t\r\n/>", *at) == NULL) {
        name = *at == ':' ? at + 1 : name;
        at++;
    }
    return text_equals((struct text){ name, (size_t)(at - name) }, field) ? at : NULL;
}

/// Behind the element whose opening tag's name ends at `at`.
static const char *skip_element(const char *at, const char *end, struct text field)
{
    const char *close = memchr(at, '>', (size_t)(end - at));

    if (close == NULL || close[-1] == '/') {
        return close == NULL ? end : close + 1;
    }
    for (at = close; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
        const char *name_end = at[1] == '/' ? find_name_end(at, end, field) : NULL;
        close = name_end != NULL ? memchr(name_end, '>', (size_t)(end - name_end)) : NULL;
        if (close != NULL) {
            return close + 1;
        }
    }
    return end;
}

static bool rewrite_xml(struct buffer *out, struct text body, struct text field, bool is_dropped)
{
    const char *from = body.data, *end = body.data + body.length, *tag = from;

    while ((tag = memchr(tag, '<', (size_t)(end - tag))) != NULL) {
        const char *name_end = find_name_end(tag, end, field);
        if (name_end == NULL) {
            tag++;
        } else if (!is_dropped) {
            append_between(out, from, name_end);
            buffer_append_c(out, suffix);
            from = tag = name_end;
        } else {
            append_between(out, from, tag);
            from = tag = skip_element(name_end, end, field);
        }
    }
    return append_between(out, from, end);
}

bool rewrite_field(struct buffer *out, struct text body, struct text field, bool is_dropped)
{
    struct text trimmed = text_trim(body);
    bool is_xml = trimmed.length > 0 && trimmed.data[0] == '<';

    return (is_xml ? rewrite_xml(out, body, field, is_dropped) : rewrite_json(out, body, field, is_dropped)) &&
           !out->is_full;
}
