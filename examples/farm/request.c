#include "farm/request.h"

#include <string.h>

static bool read_head_line(struct request *request, struct text line, uint64_t *body_length)
{
    struct text value;
    struct text name = text_split(line, ':', &value);

    value = text_trim(value);
    if (text_equals_nocase(name, TEXT("content-length"))) {
        return text_to_u64(value, body_length);
    }
    if (text_equals_nocase(name, TEXT("transfer-encoding"))) {
        return false;
    }
    if (text_equals_nocase(name, TEXT("connection"))) {
        request->closes = text_equals_nocase(value, TEXT("close"));
    }
    return true;
}

struct text request_header(const struct request *request, const char *name)
{
    struct text rest = request->head;

    while (rest.length > 0) {
        struct text value;
        struct text key = text_split(text_split(rest, '\n', &rest), ':', &value);
        if (text_equals_nocase(key, text_of(name))) {
            return text_trim(value);
        }
    }
    return (struct text){ NULL, 0 };
}

enum request_verdict request_read(struct request *request, struct text bytes)
{
    const char *end = bytes.length >= 4 ? memmem(bytes.data, bytes.length, "\r\n\r\n", 4) : NULL;

    if (end == NULL) {
        return bytes.length < REQUEST_MAX ? REQUEST_INCOMPLETE : REQUEST_BROKEN;
    }
    size_t head_length = (size_t)(end - bytes.data) + 4;
    struct text rest = { bytes.data, head_length - 2 };
    struct text target, version;
    struct text first = text_split(rest, '\n', &rest);
    uint64_t body_length = 0;

    *request = (struct request){ 0 };
    request->method = text_split(first, ' ', &target);
    target = text_split(target, ' ', &version);
    if (!text_starts_with(version, TEXT("HTTP/1.")) || !text_starts_with(target, TEXT("/"))) {
        return REQUEST_BROKEN;
    }
    request->target = target;
    request->head = rest;
    request->path = text_split(target, '?', &request->query_string);
    request->closes = text_starts_with(version, TEXT("HTTP/1.0"));
    while (rest.length > 0) {
        struct text line = text_split(rest, '\n', &rest);
        if (!read_head_line(request, line, &body_length)) {
            return REQUEST_BROKEN;
        }
    }
    if (body_length > REQUEST_MAX - head_length || head_length > REQUEST_MAX) {
        return REQUEST_BROKEN;
    }
    request->length = head_length + (size_t)body_length;
    request->body = (struct text){ bytes.data + head_length, (size_t)body_length };
    return bytes.length >= request->length ? REQUEST_WHOLE : REQUEST_INCOMPLETE;
}
