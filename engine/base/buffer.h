/// Buffer: bytes that grow up to a ceiling given at birth.
///
/// Every append either succeeds whole or sets `is_full` and changes nothing more; one look at `is_full` at the end
/// tells whether all of them landed. What a stranger can grow always goes through one of these.
///
/// Threads: one owner at a time.
/// Memory:  owns its bytes (malloc); `buffer_fini` frees them, `buffer_take` hands them out.
#pragma once

#include "base/text.h"

#include <stdarg.h>

struct buffer {
    char *data;
    size_t length;
    size_t capacity;
    size_t ceiling;
    bool is_full; // an append did not fit (or memory ran out)
};

void buffer_init(struct buffer *buffer, size_t ceiling); // allocates nothing yet
void buffer_fini(struct buffer *buffer);
void buffer_clear(struct buffer *buffer);                        // keeps the memory
bool buffer_reserve(struct buffer *buffer, size_t more);         // room for `more` bytes; false sets is_full
bool buffer_reserve_exactly(struct buffer *buffer, size_t more); // the same, and none to spare
static inline bool buffer_append(struct buffer *buffer, const void *bytes, size_t length);
static inline bool buffer_append_text(struct buffer *buffer, struct text text);
bool buffer_append_c(struct buffer *buffer, const char *terminated);
static inline bool buffer_append_byte(struct buffer *buffer, char byte);
bool buffer_printf(struct buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
struct text buffer_text(const struct buffer *buffer);

/// Terminates and hands the bytes to the caller (free with free()); the buffer is empty afterwards. NULL without
/// memory.
MUST_CHECK char *buffer_take(struct buffer *buffer);

static inline bool buffer_append(struct buffer *buffer, const void *bytes, size_t length)
{
    bool is_ready = buffer->data != NULL && !buffer->is_full && length <= buffer->capacity - buffer->length;

    if (!is_ready && !buffer_reserve(buffer, length)) {
        return false;
    }
    if (length != 0) {
        memcpy(buffer->data + buffer->length, bytes, length);
        buffer->length += length;
    }
    return true;
}

static inline bool buffer_append_text(struct buffer *buffer, struct text text)
{
    return buffer_append(buffer, text.data, text.length);
}

static inline bool buffer_append_byte(struct buffer *buffer, char byte)
{
    if (buffer->length == buffer->capacity || buffer->is_full) {
        return buffer_append(buffer, &byte, 1);
    }
    buffer->data[buffer->length++] = byte;
    return true;
}
