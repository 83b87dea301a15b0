// How texts and names of fields are written: the plain ones, which are almost all, eight bytes at a time.

#include "base/json_write.h"
#include "base/plain.h"
#include "script/offers_walk.h"

#include <string.h>

// Eight bytes at once, each either fine (0) or not (its top bit): control characters, the quote, the backslash, 0x7f
// and above. The borrow of a byte may mark its neighbour as well, which only costs the slow path.
static inline uint64_t marks_of(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101ULL, tops = 0x8080808080808080ULL;
    uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');

    return (word | (word - ones * 0x20) | (quote - ones) | (slash - ones) | (word + ones)) & tops;
}

// Up to seven bytes, padded with letters; they are copied too.
static inline uint64_t copy_short(char *out, const char *at, size_t length)
{
    uint64_t word = 0x6161616161616161ULL;
    uint32_t low32 = 0, high32 = 0;
    uint16_t low16 = 0, high16 = 0;

    if (length >= 4) {
        memcpy(&low32, at, sizeof low32);
        memcpy(&high32, at + length - sizeof high32, sizeof high32);
        memcpy(out, &low32, sizeof low32);
        memcpy(out + length - sizeof high32, &high32, sizeof high32);
        return low32 | (uint64_t)high32 << 32;
    }
    if (length >= 2) {
        memcpy(&low16, at, sizeof low16);
        memcpy(&high16, at + length - sizeof high16, sizeof high16);
        memcpy(out, &low16, sizeof low16);
        memcpy(out + length - sizeof high16, &high16, sizeof high16);
        return (word & ~0xffffffffULL) | low16 | (uint64_t)high16 << 16;
    }
    if (length == 1) {
        *out = *at;
        return (word & ~0xffULL) | (unsigned char)*at;
    }
    return word;
}

// Copies and looks in one go. True: all bytes stand for themselves inside a JSON string, which printable ASCII does but
// for the quote and the backslash. Else what was copied is of no use.
static inline bool copy_plain(char *out, const char *at, size_t length)
{
    uint64_t word = 0, marks = 0;

    if (length < sizeof word) {
        return marks_of(copy_short(out, at, length)) == 0;
    }
    for (size_t i = 0; i < length - sizeof word; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        memcpy(out + i, &word, sizeof word);
        marks |= marks_of(word);
    }
    memcpy(&word, at + length - sizeof word, sizeof word); // overlaps what was seen
    memcpy(out + length - sizeof word, &word, sizeof word);
    return (marks | marks_of(word)) == 0;
}

// Makes room, writes escapes. Apart from the short way, which then needs no registers saved.
static NEVER_INLINE void write_any_text(struct buffer *out, struct text text)
{
    struct json_writer writer;

    json_writer_init(&writer, out);
    json_text(&writer, text.data != NULL ? text : TEXT(""));
}

void walk_write_text(struct buffer *out, struct text text)
{
    bool has_room = out->capacity - out->length >= text.length + 2;

    if (!has_room || !copy_plain(out->data + out->length + 1, text.data, text.length)) {
        write_any_text(out, text);
        return;
    }
    char *at = out->data + out->length;
    *at = '"';
    at[text.length + 1] = '"';
    out->length += text.length + 2;
}

struct text walk_trimmed(const struct schema_field *field, struct text text)
{
    while (field->trims_zeros && text.length > 1 && text.data[0] == '0') {
        text.data++;
        text.length--;
    }
    return text;
}

// Printable ASCII, as nearly all texts are, has nothing to take out. Others are looked at in a copy.
struct text walk_stripped(struct walk *walk, struct text text)
{
    size_t plain = 0;

    while (plain < text.length && (unsigned char)(text.data[plain] - ' ') < 0x7F - ' ') {
        plain++;
    }
    if (plain == text.length) {
        return text;
    }
    struct text copy = arena_copy(walk->arena, text);
    if (copy.data != NULL) {
        copy.length = plain_strip((char *)(uintptr_t)copy.data, copy.length);
    }
    return copy;
}

// The field's name, colon and what stands before them, where SCHEMA_KEY_ROOM bytes are free: the same few pieces for
// each, whatever its length. The byte behind it.
static inline char *put_key(char *at, const struct schema_field *field, bool is_first)
{
    memcpy(at, field->key_json.data, SCHEMA_KEY_ROOM);
    *at = is_first ? '{' : ',';
    return at + field->key_json.length;
}

static NEVER_INLINE void write_key_with_room(struct buffer *out, const struct schema_field *field, bool is_first)
{
    buffer_append_byte(out, is_first ? '{' : ',');
    buffer_append(out, field->key_json.data + 1, field->key_json.length - 1);
}

void walk_write_key(struct buffer *out, const struct schema_field *field, bool is_first)
{
    if (out->capacity - out->length < SCHEMA_KEY_ROOM) {
        write_key_with_room(out, field, is_first);
        return;
    }
    (void)put_key(out->data + out->length, field, is_first);
    out->length += field->key_json.length;
}

bool walk_write_plain(struct buffer *out, const struct schema_field *field, struct text text, bool is_first)
{
    if (out->capacity - out->length < SCHEMA_KEY_ROOM + text.length + 2) {
        return false; // whoever writes it in pieces makes room
    }
    char *at = put_key(out->data + out->length, field, is_first);
    if (!copy_plain(at + 1, text.data, text.length)) {
        return false;
    }
    at[0] = '"';
    at[text.length + 1] = '"';
    out->length += field->key_json.length + text.length + 2;
    return true;
}

struct text walk_digits(uint64_t number, char room[DIGITS_MAX])
{
    size_t start = DIGITS_MAX;

    do {
        room[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return (struct text){ room + start, DIGITS_MAX - start };
}
