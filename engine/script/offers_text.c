// How texts and names of fields are written: the plain ones, which are almost all, eight bytes at a time.

#include "base/json_write.h"
#include "script/offers_walk.h"

#include <string.h>

// Eight bytes at once, each either fine (0) or not (its top bit): control characters, the quote, the backslash, 0x7f
// and above. The borrow of a byte may mark its neighbour as well, which only costs the slow path.
static uint64_t marks_of(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101ULL, tops = 0x8080808080808080ULL;
    uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');

    return (word | (word - ones * 0x20) | (quote - ones) | (slash - ones) | (word + ones)) & tops;
}

static uint64_t load_up_to_8(const char *at, size_t length)
{
    uint64_t word = 0x6161616161616161ULL; // letters where there is no byte
    uint32_t low32 = 0, high32 = 0;
    uint16_t low16 = 0, high16 = 0;

    if (length >= 4) {
        memcpy(&low32, at, sizeof low32);
        memcpy(&high32, at + length - sizeof high32, sizeof high32);
        return low32 | (uint64_t)high32 << 32;
    }
    if (length >= 2) {
        memcpy(&low16, at, sizeof low16);
        memcpy(&high16, at + length - sizeof high16, sizeof high16);
        return (word & ~0xffffffffULL) | low16 | (uint64_t)high16 << 16;
    }
    return length == 0 ? word : (word & ~0xffULL) | (unsigned char)*at;
}

// Bytes that stand for themselves inside a JSON string: printable ASCII but the quote and the backslash.
static bool is_plain(const char *at, size_t length)
{
    uint64_t word = 0, marks = 0;

    if (length < sizeof word) {
        return marks_of(load_up_to_8(at, length)) == 0;
    }
    const char *last = at + length - sizeof word;
    for (; at < last; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        marks |= marks_of(word);
    }
    memcpy(&word, last, sizeof word); // overlaps what was seen
    return (marks | marks_of(word)) == 0;
}

void walk_write_text(struct buffer *out, struct text text)
{
    if (!is_plain(text.data, text.length)) {
        struct json_writer writer;
        json_writer_init(&writer, out);
        json_text(&writer, text);
        return;
    }
    if (out->capacity - out->length < text.length + 2 && !buffer_reserve(out, text.length + 2)) {
        return;
    }
    char *at = out->data + out->length;
    *at++ = '"';
    memcpy(at, text.data, text.length);
    at[text.length] = '"';
    out->length += text.length + 2;
}

void walk_write_key(struct buffer *out, const struct schema_field *field, bool is_first)
{
    size_t length = field->key_json.length;

    if (out->capacity - out->length < length && !buffer_reserve(out, length)) {
        return;
    }
    char *at = out->data + out->length;
    memcpy(at, field->key_json.data, length);
    *at = is_first ? '{' : ',';
    out->length += length;
}
