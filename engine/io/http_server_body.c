#include "io/http_server_body.h"

#include "base/json_write.h"

#include <stdio.h>

enum { BODY_DISCARD = 1024 * 1024, BODY_PROBLEM = 1024 };

void http_server_body_init(struct http_server_body *body, uint64_t cap)
{
    *body = (struct http_server_body){ .cap = cap };
    buffer_init(&body->buffer, (size_t)cap);
}

void http_server_body_fini(struct http_server_body *body)
{
    buffer_fini(&body->buffer);
}

static bool starts_with_nocase(struct text text, struct text start)
{
    return text.length >= start.length && text_equals_nocase((struct text){ text.data, start.length }, start);
}

static bool name_has_blank(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        if ((unsigned char)name.data[i] <= ' ') {
            return true;
        }
    }
    return false;
}

// libmicrohttpd leaves blanks in a name, and hangs the rest of a folded line to the name instead of the value.
void http_server_body_note_header(struct http_server_body *body, struct text name, struct text value)
{
    struct text length = TEXT("content-length");
    struct text encoding = TEXT("transfer-encoding");
    bool is_length = starts_with_nocase(name, length);
    bool is_encoding = starts_with_nocase(name, encoding);

    if (name_has_blank(name)) {
        body->is_ambiguous = true;
    }
    if (!is_length && !is_encoding) {
        return;
    }
    body->lengths++;
    if (body->lengths > 1 || name.length != (is_length ? length.length : encoding.length) ||
        (is_encoding && !text_equals_nocase(text_trim(value), TEXT("chunked")))) {
        body->is_ambiguous = true;
    }
}

void http_server_body_release(void *block)
{
    struct block *held = block;

    block_release(&held);
}

bool http_server_body_announce(struct http_server_body *body, struct text length, bool asks_first)
{
    uint64_t announced = 0;

    if (length.data == NULL || !text_to_u64(length, &announced) || announced <= body->cap) {
        return true;
    }
    body->is_too_large = true;
    return !asks_first && announced - body->cap <= BODY_DISCARD;
}

bool http_server_body_append(struct http_server_body *body, const char *bytes, size_t length)
{
    body->received += length;
    if (!body->is_too_large && !buffer_append(&body->buffer, bytes, length)) {
        body->is_too_large = true;
    }
    if (body->is_too_large) {
        buffer_fini(&body->buffer);
        buffer_init(&body->buffer, 0);
    }
    return body->received <= body->cap + BODY_DISCARD;
}

struct block *http_server_body_take(struct http_server_body *body)
{
    return body->buffer.length == 0 ? NULL : block_from_buffer(&body->buffer);
}

static void write_error(struct json_writer *writer, const char *code, const char *detail)
{
    json_key(writer, "errors");
    json_begin_array(writer);
    json_begin_object(writer);
    json_field_c(writer, "pointer", "");
    json_field_c(writer, "code", code);
    json_field_c(writer, "detail", detail);
    json_end_object(writer);
    json_end_array(writer);
}

struct block *http_server_body_problem(const struct http_server_body *body)
{
    struct buffer out;
    struct json_writer writer;
    char detail[96];

    buffer_init(&out, BODY_PROBLEM);
    json_writer_init(&writer, &out);
    json_begin_object(&writer);
    json_field_c(&writer, "type", "about:blank");
    if (body->is_ambiguous) {
        json_field_c(&writer, "title", "The end of the body is not told clearly");
        json_field_u64(&writer, "status", 400);
        json_field_c(&writer, "code", "ambiguous_length");
        write_error(&writer, "ambiguous_length",
                    "send one Content-Length, or one Transfer-Encoding: chunked; no blanks in names, no folded lines");
    } else {
        json_field_c(&writer, "title", "The body is too large");
        json_field_u64(&writer, "status", 413);
        json_field_c(&writer, "code", "body_too_large");
        json_field_u64(&writer, "limit_bytes", body->cap);
        snprintf(detail, sizeof detail, "the body may have at most %llu bytes", (unsigned long long)body->cap);
        write_error(&writer, "body_too_large", detail);
    }
    json_end_object(&writer);
    struct block *block = block_from_buffer(&out);
    buffer_fini(&out);
    return block;
}
