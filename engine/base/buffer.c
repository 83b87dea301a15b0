#include "base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The allocation is always one byte longer than `capacity`, so that terminating never fails.

enum { BUFFER_FIRST = 240 };

void buffer_init(struct buffer *buffer, size_t ceiling)
{
    *buffer = (struct buffer){ .ceiling = ceiling < SIZE_MAX ? ceiling : SIZE_MAX - 1 };
}

void buffer_fini(struct buffer *buffer)
{
    free(buffer->data);
    buffer_init(buffer, buffer->ceiling);
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->is_full = false;
}

// Doubles, but never past the ceiling.
static size_t buffer_next_capacity(const struct buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity != 0 ? buffer->capacity : BUFFER_FIRST;

    while (capacity < needed) {
        capacity = capacity <= buffer->ceiling / 2 ? capacity * 2 : buffer->ceiling;
    }
    return capacity < buffer->ceiling ? capacity : buffer->ceiling;
}

static bool buffer_grow(struct buffer *buffer, size_t capacity)
{
    char *data = realloc(buffer->data, capacity + 1);

    if (data == NULL) {
        buffer->is_full = true;
        return false;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

static bool buffer_may_take(struct buffer *buffer, size_t more)
{
    if (buffer->is_full || buffer->length > buffer->ceiling || more > buffer->ceiling - buffer->length) {
        buffer->is_full = true;
        return false;
    }
    return true;
}

bool buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->data != NULL && !buffer->is_full && more <= buffer->capacity - buffer->length) {
        return true; // the capacity is never above the ceiling
    }
    return buffer_may_take(buffer, more) && buffer_grow(buffer, buffer_next_capacity(buffer, buffer->length + more));
}

bool buffer_reserve_exactly(struct buffer *buffer, size_t more)
{
    if (buffer->data != NULL && !buffer->is_full && more <= buffer->capacity - buffer->length) {
        return true;
    }
    return buffer_may_take(buffer, more) && buffer_grow(buffer, buffer->length + more);
}

bool buffer_append_c(struct buffer *buffer, const char *terminated)
{
    return buffer_append_text(buffer, text_of(terminated));
}

static int buffer_format(struct buffer *buffer, const char *format, va_list arguments) PRINTF_LIKE(2, 0);

// Prints into the free room; the length that the whole print has or would have had.
static int buffer_format(struct buffer *buffer, const char *format, va_list arguments)
{
    return vsnprintf(buffer->data + buffer->length, buffer->capacity - buffer->length + 1, format, arguments);
}

bool buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;

    if (!buffer_reserve(buffer, 0)) {
        return false;
    }
    va_start(arguments, format);
    int length = buffer_format(buffer, format, arguments);
    va_end(arguments);
    if (length < 0) {
        buffer->is_full = true;
        return false;
    }
    if ((size_t)length > buffer->capacity - buffer->length) {
        if (!buffer_reserve(buffer, (size_t)length)) {
            return false;
        }
        va_start(arguments, format);
        length = buffer_format(buffer, format, arguments);
        va_end(arguments);
    }
    buffer->length += (size_t)length;
    return true;
}

struct text buffer_text(const struct buffer *buffer)
{
    return (struct text){ buffer->data, buffer->length };
}

char *buffer_take(struct buffer *buffer)
{
    char *data = buffer->data;

    if (data == NULL) {
        return calloc(1, 1);
    }
    data[buffer->length] = '\0';
    buffer_init(buffer, buffer->ceiling);
    return data;
}
