#include "farm/request.h"

#include <ctype.h>
#include <stdint.h>
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
        request->is_chunked = text_equals_nocase(value, TEXT("chunked"));
        return request->is_chunked;
    }
    if (text_equals_nocase(name, TEXT("expect"))) {
        request->waits = text_equals_nocase(value, TEXT("100-continue"));
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

/// The size of a chunk that begins at `at`, which moves behind its line. SIZE_MAX: it is none; `*is_there` false: its
/// line has no end yet.
static size_t read_chunk_size(const char **at, const char *end, bool *is_there)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    size_t size = 0, digits = 0;

    *is_there = stop != NULL;
    for (const char *byte = *at; byte < end && byte != stop && isxdigit((unsigned char)*byte) != 0; byte++, digits++) {
        size = size * 16 + (size_t)(*byte <= '9' ? *byte - '0' : (*byte | 0x20) - 'a' + 10);
        if (size > REQUEST_MAX) {
            return SIZE_MAX;
        }
    }
    *at = stop == NULL ? end : stop + 1;
    return digits == 0 && stop != NULL ? SIZE_MAX : size;
}

/// Behind the last chunk come trailers, which nobody reads, and an empty line.
static const char *skip_trailers(const char *at, const char *end)
{
    for (const char *stop = memchr(at, '\n', (size_t)(end - at)); stop != NULL;
         stop = memchr(at, '\n', (size_t)(end - at))) {
        bool is_empty = stop == at || (stop == at + 1 && *at == '\r');
        at = stop + 1;
        if (is_empty) {
            return at;
        }
        if (at == end) {
            break;
        }
    }
    return NULL;
}

/// Walks over the chunks that begin at `body`, and, when `out` is not NULL, puts them together there.
static enum request_verdict read_chunks(const char *body, const char *end, char *out, size_t *body_length,
                                        const char **behind)
{
    const char *at = body;
    bool is_there = true;

    *body_length = 0;
    while (at < end) {
        size_t size = read_chunk_size(&at, end, &is_there);
        if (size == SIZE_MAX) {
            return REQUEST_BROKEN;
        }
        if (!is_there) {
            break;
        }
        if (size == 0) {
            *behind = skip_trailers(at, end);
            return *behind != NULL ? REQUEST_WHOLE : REQUEST_INCOMPLETE;
        }
        if ((size_t)(end - at) < size + 2) {
            break;
        }
        if (at[size] != '\r' || at[size + 1] != '\n') {
            return REQUEST_BROKEN;
        }
        if (out != NULL) {
            memmove(out + *body_length, at, size);
        }
        *body_length += size;
        at += size + 2;
    }
    return REQUEST_INCOMPLETE;
}

static enum request_verdict take_chunks(struct request *request, char *bytes, size_t length, size_t head_length)
{
    const char *behind = NULL;
    size_t body_length;
    char *body = bytes + head_length;
    enum request_verdict verdict = read_chunks(body, bytes + length, NULL, &body_length, &behind);

    if (verdict == REQUEST_WHOLE) {
        (void)read_chunks(body, bytes + length, body, &body_length,
                          &behind); // what is read lies behind what is written
        request->length = (size_t)(behind - bytes);
        request->body = (struct text){ body, body_length };
    } else if (verdict == REQUEST_INCOMPLETE && length >= REQUEST_MAX) {
        return REQUEST_BROKEN;
    }
    return verdict;
}

enum request_verdict request_read(struct request *request, char *input, size_t length)
{
    struct text bytes = { input, length };
    const char *end = bytes.length >= 4 ? memmem(bytes.data, bytes.length, "\r\n\r\n", 4) : NULL;

    *request = (struct request){ 0 };
    if (end == NULL) {
        return bytes.length < REQUEST_MAX ? REQUEST_INCOMPLETE : REQUEST_BROKEN;
    }
    size_t head_length = (size_t)(end - bytes.data) + 4;
    struct text rest = { bytes.data, head_length - 2 };
    struct text target, version;
    struct text first = text_split(rest, '\n', &rest);
    uint64_t body_length = 0;

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
    if (request->is_chunked) {
        return take_chunks(request, input, length, head_length);
    }
    request->length = head_length + (size_t)body_length;
    request->body = (struct text){ bytes.data + head_length, (size_t)body_length };
    return bytes.length >= request->length ? REQUEST_WHOLE : REQUEST_INCOMPLETE;
}
