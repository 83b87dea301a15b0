/// JSON writer: appends well-formed JSON to a buffer, commas and escapes included.
///
///     json_begin_object(&w);  json_key(&w, "took_ms");  json_u64(&w, 12);  json_end_object(&w);
///
/// Bytes that are not UTF-8 are written as U+FFFD. Depth at most 32; nesting errors are bugs.
///
/// Threads: one owner.
/// Memory:  writes into the caller's buffer; look at `buffer->is_full` at the end.
#pragma once

#include "base/buffer.h"

struct json_writer {
    struct buffer *out;
    uint32_t depth;
    uint32_t has_items; // one bit a level
    uint32_t is_object; // one bit a level
    bool after_key;
};

void json_writer_init(struct json_writer *writer, struct buffer *out);
void json_begin_object(struct json_writer *writer);
void json_end_object(struct json_writer *writer);
void json_begin_array(struct json_writer *writer);
void json_end_array(struct json_writer *writer);
void json_key(struct json_writer *writer, const char *key);
void json_key_text(struct json_writer *writer, struct text key);
void json_text(struct json_writer *writer, struct text value); // absent text: null
void json_c(struct json_writer *writer, const char *value);    // NULL: null
void json_u64(struct json_writer *writer, uint64_t value);
void json_i64(struct json_writer *writer, int64_t value);
void json_bool(struct json_writer *writer, bool value);
void json_null(struct json_writer *writer);
void json_raw(struct json_writer *writer, struct text json); // finished JSON, written as it is

/// Appends `/key` to a JSON pointer (RFC 6901).
void json_pointer_append(struct buffer *pointer, struct text key);

/// Shorthands: key and value.
void json_field_text(struct json_writer *writer, const char *key, struct text value);
void json_field_c(struct json_writer *writer, const char *key, const char *value);
void json_field_u64(struct json_writer *writer, const char *key, uint64_t value);
void json_field_bool(struct json_writer *writer, const char *key, bool value);
