#include "base/json_write.h"

#include "base/utf8.h"

#include <string.h>

enum { JSON_WRITE_DEPTH = 32 };

void json_writer_init(struct json_writer *writer, struct buffer *out)
{
    *writer = (struct json_writer){ .out = out };
}

static uint32_t json_level_bit(const struct json_writer *writer)
{
    return 1U << (writer->depth - 1);
}

// A comma before every item of a level but the first.
static void json_comma(struct json_writer *writer)
{
    uint32_t bit = json_level_bit(writer);

    if ((writer->has_items & bit) != 0) {
        buffer_append_byte(writer->out, ',');
    }
    writer->has_items |= bit;
}

// Called before every value: after a key nothing is due; in an array a comma may be.
static void json_before_value(struct json_writer *writer)
{
    if (writer->after_key) {
        writer->after_key = false;
    } else if (writer->depth != 0) {
        require((writer->is_object & json_level_bit(writer)) == 0);
        json_comma(writer);
    }
}

static void json_begin(struct json_writer *writer, char bracket, bool is_object)
{
    json_before_value(writer);
    require(writer->depth < JSON_WRITE_DEPTH);
    writer->depth++;
    uint32_t bit = json_level_bit(writer);
    writer->has_items &= ~bit;
    writer->is_object = is_object ? writer->is_object | bit : writer->is_object & ~bit;
    buffer_append_byte(writer->out, bracket);
}

static void json_end(struct json_writer *writer, char bracket, bool is_object)
{
    require(writer->depth != 0 && !writer->after_key);
    require(((writer->is_object & json_level_bit(writer)) != 0) == is_object);
    writer->depth--;
    buffer_append_byte(writer->out, bracket);
}

void json_begin_object(struct json_writer *writer)
{
    json_begin(writer, '{', true);
}

void json_end_object(struct json_writer *writer)
{
    json_end(writer, '}', true);
}

void json_begin_array(struct json_writer *writer)
{
    json_begin(writer, '[', false);
}

void json_end_array(struct json_writer *writer)
{
    json_end(writer, ']', false);
}

// 0: as it is; 'u': \u00XX; else the letter after the backslash. Bytes above 0x7F are looked at apart.
static const char json_escapes[128] = {
    'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'b', 't', 'n', 'u', 'f', 'r', 'u', 'u', //
    'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', //
    0,   0,   '"', 0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   //
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   //
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   //
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   '\\'                //
};

static void json_write_escape(struct buffer *out, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    char letter = json_escapes[byte];

    if (letter == 'u') {
        char escape[6] = { '\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15] };
        buffer_append(out, escape, sizeof(escape));
    } else {
        char escape[2] = { '\\', letter };
        buffer_append(out, escape, sizeof(escape));
    }
}

// How many bytes from `start` on may be written as they are.
static size_t json_plain_run(struct text value, size_t start)
{
    size_t i = start;

    while (i < value.length) {
        unsigned char byte = (unsigned char)value.data[i];
        size_t length = 1;
        if (byte >= 0x80) {
            length = utf8_length(value.data + i, value.length - i);
            if (length == 0) {
                break;
            }
        } else if (json_escapes[byte] != 0) {
            break;
        }
        i += length;
    }
    return i - start;
}

static void json_write_string(struct buffer *out, struct text value)
{
    size_t i = 0;

    buffer_append_byte(out, '"');
    while (i < value.length) {
        size_t run = json_plain_run(value, i);
        buffer_append(out, value.data + i, run);
        i += run;
        if (i == value.length) {
            break;
        }
        unsigned char byte = (unsigned char)value.data[i];
        if (byte >= 0x80) {
            buffer_append_text(out, TEXT("\xEF\xBF\xBD")); // U+FFFD
        } else {
            json_write_escape(out, byte);
        }
        i++;
    }
    buffer_append_byte(out, '"');
}

void json_key_text(struct json_writer *writer, struct text key)
{
    require(writer->depth != 0 && !writer->after_key && (writer->is_object & json_level_bit(writer)) != 0);
    json_comma(writer);
    json_write_string(writer->out, key);
    buffer_append_byte(writer->out, ':');
    writer->after_key = true;
}

void json_key(struct json_writer *writer, const char *key)
{
    json_key_text(writer, text_of(key));
}

void json_text(struct json_writer *writer, struct text value)
{
    if (value.data == NULL) {
        json_null(writer);
        return;
    }
    json_before_value(writer);
    json_write_string(writer->out, value);
}

void json_c(struct json_writer *writer, const char *value)
{
    json_text(writer, text_of(value));
}

static void json_write_number(struct json_writer *writer, uint64_t magnitude, bool is_negative)
{
    char digits[21];
    size_t start = sizeof(digits);

    json_before_value(writer);
    do {
        digits[--start] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude != 0);
    if (is_negative) {
        digits[--start] = '-';
    }
    buffer_append(writer->out, digits + start, sizeof(digits) - start);
}

void json_u64(struct json_writer *writer, uint64_t value)
{
    json_write_number(writer, value, false);
}

void json_i64(struct json_writer *writer, int64_t value)
{
    json_write_number(writer, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

void json_bool(struct json_writer *writer, bool value)
{
    json_raw(writer, value ? TEXT("true") : TEXT("false"));
}

void json_null(struct json_writer *writer)
{
    json_raw(writer, TEXT("null"));
}

void json_raw(struct json_writer *writer, struct text json)
{
    json_before_value(writer);
    buffer_append_text(writer->out, json);
}

void json_field_text(struct json_writer *writer, const char *key, struct text value)
{
    json_key(writer, key);
    json_text(writer, value);
}

void json_field_c(struct json_writer *writer, const char *key, const char *value)
{
    json_key(writer, key);
    json_c(writer, value);
}

void json_field_u64(struct json_writer *writer, const char *key, uint64_t value)
{
    json_key(writer, key);
    json_u64(writer, value);
}

void json_field_bool(struct json_writer *writer, const char *key, bool value)
{
    json_key(writer, key);
    json_bool(writer, value);
}

void json_pointer_append(struct buffer *pointer, struct text key)
{
    buffer_append_byte(pointer, '/');
    for (size_t i = 0; i < key.length; i++) {
        if (key.data[i] == '~' || key.data[i] == '/') {
            buffer_append_c(pointer, key.data[i] == '~' ? "~0" : "~1");
        } else {
            buffer_append_byte(pointer, key.data[i]);
        }
    }
}
