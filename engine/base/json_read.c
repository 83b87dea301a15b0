#include "base/json_read.h"

#include "base/utf8.h"

#include <string.h>

//   VALUE <--------------- ',' in an array, ':' after a key
//   FIRST_ITEM             just after '[': a value or ']'
//   FIRST_KEY              just after '{': a key or '}'
//   AFTER                  a value is complete: ',' or the bracket that closes its level
//   DONE                   the value of depth 0 is complete: only white space may follow
//   FAILED                 for ever
enum json_state { JSON_AT_VALUE, JSON_AT_FIRST_ITEM, JSON_AT_FIRST_KEY, JSON_AT_AFTER, JSON_AT_DONE, JSON_AT_FAILED };

// What a byte is inside a string: 0 plain, else a reason to stop.
enum { STRING_PLAIN, STRING_QUOTE, STRING_ESCAPE, STRING_CONTROL, STRING_WIDE };

#define FOUR(kind) kind, kind, kind, kind
#define SIXTEEN(kind) FOUR(kind), FOUR(kind), FOUR(kind), FOUR(kind)

static const unsigned char json_string_class[256] = {
    SIXTEEN(STRING_CONTROL),       SIXTEEN(STRING_CONTROL), ['"'] = STRING_QUOTE, ['\\'] = STRING_ESCAPE,
    [0x80] = SIXTEEN(STRING_WIDE), SIXTEEN(STRING_WIDE),    SIXTEEN(STRING_WIDE), SIXTEEN(STRING_WIDE),
    SIXTEEN(STRING_WIDE),          SIXTEEN(STRING_WIDE),    SIXTEEN(STRING_WIDE), SIXTEEN(STRING_WIDE),
};

static const bool json_is_space[256] = { [' '] = true, ['\t'] = true, ['\n'] = true, ['\r'] = true };

static const bool json_is_digit[256] = { ['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true, ['4'] = true,
                                         ['5'] = true, ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true };

// The value of a hexadecimal digit + 1; 0: none.
static const unsigned char json_hex[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

// The byte that a simple escape stands for; 0: not a simple escape.
static const char json_simple_escape[256] = {
    ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
};

void json_reader_init(struct json_reader *reader, struct text input)
{
    *reader = (struct json_reader){ .input = input.data != NULL ? input : TEXT(""), .state = JSON_AT_VALUE };
}

static enum json_token json_fail(struct json_reader *reader, size_t offset, const char *sentence)
{
    reader->state = JSON_AT_FAILED;
    reader->offset = offset;
    reader->error = sentence;
    reader->value = (struct text){ NULL, 0 };
    reader->has_escapes = false;
    return JSON_ERROR;
}

static unsigned char json_byte(const struct json_reader *reader, size_t offset)
{
    return (unsigned char)reader->input.data[offset];
}

static inline const char *json_space_end(const char *at, const char *end)
{
    if (at < end && (unsigned char)*at > ' ') {
        return at; // there is mostly none
    }
    while (at < end && json_is_space[(unsigned char)*at]) {
        at++;
    }
    return at;
}

static inline void json_skip_space(struct json_reader *reader)
{
    const char *data = reader->input.data;

    reader->offset = (size_t)(json_space_end(data + reader->offset, data + reader->input.length) - data);
}

// Four hexadecimal digits at `offset`, or -1.
static int32_t json_hex4(struct text input, size_t offset)
{
    int32_t code = 0;

    if (input.length - offset < 4) {
        return -1;
    }
    for (size_t i = 0; i < 4; i++) {
        int digit = json_hex[(unsigned char)input.data[offset + i]];
        if (digit == 0) {
            return -1;
        }
        code = code * 16 + (digit - 1);
    }
    return code;
}

static bool json_is_high_surrogate(int32_t code)
{
    return code >= 0xD800 && code <= 0xDBFF;
}

static bool json_is_low_surrogate(int32_t code)
{
    return code >= 0xDC00 && code <= 0xDFFF;
}

// The length of the escape at `offset` (of its backslash), or 0 with the reason in `*sentence`.
static size_t json_escape_length(struct text input, size_t offset, const char **sentence)
{
    if (offset + 1 >= input.length) {
        *sentence = "the string does not end";
        return 0;
    }
    unsigned char letter = (unsigned char)input.data[offset + 1];
    if (json_simple_escape[letter] != 0) {
        return 2;
    }
    if (letter != 'u') {
        *sentence = "unknown escape";
        return 0;
    }
    int32_t code = json_hex4(input, offset + 2);
    if (code < 0) {
        *sentence = "\\u needs four hexadecimal digits";
        return 0;
    }
    if (!json_is_high_surrogate(code) && !json_is_low_surrogate(code)) {
        return 6;
    }
    bool has_second = json_is_high_surrogate(code) && input.length - offset >= 12 && input.data[offset + 6] == '\\' &&
                      input.data[offset + 7] == 'u' && json_is_low_surrogate(json_hex4(input, offset + 8));
    if (!has_second) {
        *sentence = "half of a surrogate pair";
        return 0;
    }
    return 12;
}

#ifdef __SSE2__
enum { JSON_STEP = 16 };
typedef char json_step __attribute__((vector_size(JSON_STEP))); // char is signed where there is SSE

// The place of the first byte that may stop a string: a quote, a backslash, a control character, anything that is no
// ASCII, which as a signed number is below a space as well. JSON_STEP: none does.
static inline size_t json_step_stop(const char *bytes)
{
    json_step word;

    memcpy(&word, bytes, sizeof(word));
    json_step stops = (json_step)(word == '"') | (json_step)(word == '\\') | (json_step)(word < ' ');
    return (size_t)__builtin_ctz((unsigned)__builtin_ia32_pmovmskb128(stops) | 1U << JSON_STEP);
}
#else
enum { JSON_STEP = 8 };

// The same, as top bits. Each term sets the top bit of a byte that is above 0x7F, below 0x20, equal to '"', equal to
// '\'. A borrow may mark a byte behind a marked one as well; the first mark is always right.
static inline size_t json_step_stop(const char *bytes)
{
    const uint64_t ones = 0x0101010101010101ULL;
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    word = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
    uint64_t quote = word ^ (ones * '"');
    uint64_t slash = word ^ (ones * '\\');
    uint64_t stops = (word | (word - ones * 0x20) | (quote - ones) | (slash - ones)) & (ones * 0x80);
    return stops != 0 ? (size_t)__builtin_ctzll(stops) / 8 : JSON_STEP;
}
#endif

// The first byte from `i` on that may stop a string; the end when there is none.
static inline size_t json_plain_end(struct text input, size_t i)
{
    for (; input.length - i >= JSON_STEP; i += JSON_STEP) {
        size_t stop = json_step_stop(input.data + i);
        if (stop < JSON_STEP) {
            return i + stop;
        }
    }
    while (i < input.length && json_string_class[(unsigned char)input.data[i]] == STRING_PLAIN) {
        i++;
    }
    return i;
}

// The string whose opening quote stands at reader->offset; afterwards the offset is behind its closing quote.
static bool json_scan_string(struct json_reader *reader)
{
    struct text input = reader->input;
    size_t start = reader->offset + 1;
    size_t i = start;
    bool has_escapes = false;
    const char *sentence = NULL;

    for (;;) {
        i = json_plain_end(input, i);
        if (i == input.length) {
            json_fail(reader, reader->offset, "the string does not end");
            return false;
        }
        unsigned char class = json_string_class[(unsigned char)input.data[i]];
        if (class == STRING_QUOTE) {
            break;
        }
        size_t length = 0;
        if (class == STRING_WIDE) {
            length = utf8_length(input.data + i, input.length - i);
            sentence = "not UTF-8";
        } else if (class == STRING_ESCAPE) {
            length = json_escape_length(input, i, &sentence);
            has_escapes = true;
        } else {
            sentence = "control character in a string";
        }
        if (length == 0) {
            json_fail(reader, i, sentence);
            return false;
        }
        i += length;
    }
    reader->value = (struct text){ input.data + start, i - start };
    reader->has_escapes = has_escapes;
    reader->offset = i + 1;
    return true;
}

static inline size_t json_digits_end(struct text input, size_t i)
{
    while (i < input.length && json_is_digit[(unsigned char)input.data[i]]) {
        i++;
    }
    return i;
}

// [ minus ] int [ frac ] [ exp ], RFC 8259 section 6. The state behind a value has been set by the caller.
static enum json_token json_scan_number(struct json_reader *reader)
{
    struct text input = reader->input;
    size_t start = reader->offset;
    size_t i = start + (input.data[start] == '-');
    size_t end = json_digits_end(input, i);

    if (end == i) {
        return json_fail(reader, i, "a digit is missing");
    }
    if (input.data[i] == '0' && end - i > 1) {
        return json_fail(reader, i, "a number must not start with 0");
    }
    i = end;
    if (i < input.length && input.data[i] == '.') {
        end = json_digits_end(input, i + 1);
        if (end == i + 1) {
            return json_fail(reader, end, "a digit is missing after the point");
        }
        i = end;
    }
    if (i < input.length && (input.data[i] == 'e' || input.data[i] == 'E')) {
        i++;
        i += i < input.length && (input.data[i] == '+' || input.data[i] == '-');
        end = json_digits_end(input, i);
        if (end == i) {
            return json_fail(reader, i, "a digit is missing in the exponent");
        }
        i = end;
    }
    reader->value = (struct text){ input.data + start, i - start };
    reader->has_escapes = false;
    reader->offset = i;
    return JSON_NUMBER;
}

static enum json_token json_scan_word(struct json_reader *reader, struct text word, enum json_token token)
{
    struct text rest = { reader->input.data + reader->offset, reader->input.length - reader->offset };

    if (!text_starts_with(rest, word)) {
        return json_fail(reader, reader->offset, "unknown word");
    }
    reader->offset += word.length;
    return token;
}

static inline uint64_t json_bit(const struct json_reader *reader)
{
    return 1ULL << (reader->depth - 1);
}

static enum json_token json_open(struct json_reader *reader, bool is_object)
{
    if (reader->depth == JSON_MAX_DEPTH) {
        return json_fail(reader, reader->offset, "nested too deep");
    }
    reader->depth++;
    reader->offset++;
    reader->is_object = is_object ? reader->is_object | json_bit(reader) : reader->is_object & ~json_bit(reader);
    reader->state = is_object ? JSON_AT_FIRST_KEY : JSON_AT_FIRST_ITEM;
    return is_object ? JSON_BEGIN_OBJECT : JSON_BEGIN_ARRAY;
}

static enum json_token json_close(struct json_reader *reader)
{
    bool is_object = (reader->is_object & json_bit(reader)) != 0;

    reader->depth--;
    reader->offset++;
    reader->state = reader->depth == 0 ? JSON_AT_DONE : JSON_AT_AFTER;
    return is_object ? JSON_END_OBJECT : JSON_END_ARRAY;
}

// true, false, null, or nothing that is a value.
static enum json_token json_word(struct json_reader *reader, unsigned char first)
{
    switch (first) {
    case 't':
        return json_scan_word(reader, TEXT("true"), JSON_TRUE);
    case 'f':
        return json_scan_word(reader, TEXT("false"), JSON_FALSE);
    case 'n':
        return json_scan_word(reader, TEXT("null"), JSON_NULL);
    default:
        return json_fail(reader, reader->offset, "a value is missing");
    }
}

// The value that starts at the offset, which lies inside the input.
static enum json_token json_value(struct json_reader *reader)
{
    unsigned char first = json_byte(reader, reader->offset);

    if (first == '{' || first == '[') {
        return json_open(reader, first == '{');
    }
    reader->state = reader->depth == 0 ? JSON_AT_DONE : JSON_AT_AFTER;
    if (first == '"') {
        return json_scan_string(reader) ? JSON_STRING : JSON_ERROR;
    }
    if (first == '-' || json_is_digit[first]) {
        return json_scan_number(reader);
    }
    return json_word(reader, first);
}

// A key together with its colon.
static enum json_token json_key_token(struct json_reader *reader)
{
    if (json_byte(reader, reader->offset) != '"') {
        return json_fail(reader, reader->offset, "a key in quotes is expected");
    }
    if (!json_scan_string(reader)) {
        return JSON_ERROR;
    }
    json_skip_space(reader);
    if (reader->offset == reader->input.length || json_byte(reader, reader->offset) != ':') {
        return json_fail(reader, reader->offset, "a colon is missing");
    }
    reader->offset++;
    reader->state = JSON_AT_VALUE;
    return JSON_KEY;
}

// Behind a value of an object or array.
static enum json_token json_after(struct json_reader *reader)
{
    bool is_object = (reader->is_object & json_bit(reader)) != 0;
    unsigned char byte = json_byte(reader, reader->offset);

    if (byte == (is_object ? '}' : ']')) {
        return json_close(reader);
    }
    if (byte != ',') {
        return json_fail(reader, reader->offset, is_object ? "a comma or } is missing" : "a comma or ] is missing");
    }
    reader->offset++;
    json_skip_space(reader);
    if (reader->offset == reader->input.length) {
        return json_fail(reader, reader->offset, "the document ends too early");
    }
    return is_object ? json_key_token(reader) : json_value(reader);
}

enum json_token json_next(struct json_reader *reader)
{
    if (reader->state == JSON_AT_FAILED) {
        return JSON_ERROR;
    }
    json_skip_space(reader);
    if (reader->offset == reader->input.length) {
        if (reader->state == JSON_AT_DONE) {
            return JSON_END;
        }
        return json_fail(reader, reader->offset, "the document ends too early");
    }
    switch ((enum json_state)reader->state) {
    case JSON_AT_VALUE:
        return json_value(reader);
    case JSON_AT_FIRST_ITEM:
        return json_byte(reader, reader->offset) == ']' ? json_close(reader) : json_value(reader);
    case JSON_AT_FIRST_KEY:
        return json_byte(reader, reader->offset) == '}' ? json_close(reader) : json_key_token(reader);
    case JSON_AT_AFTER:
        return json_after(reader);
    case JSON_AT_DONE:
        return json_fail(reader, reader->offset, "something follows the document");
    case JSON_AT_FAILED:
        break;
    }
    return JSON_ERROR;
}

struct text json_spell_key(struct arena *arena, struct text name)
{
    char *spelt = arena_alloc_raw(arena, name.length + 4);

    if (spelt == NULL) {
        return (struct text){ NULL, 0 };
    }
    char *end = text_put(text_put(text_put(spelt, TEXT(",\"")), name), TEXT("\":"));
    return (struct text){ spelt, (size_t)(end - spelt) };
}

// Where the value begins when white space is allowed everywhere; NULL: the next token is not this key.
static const char *json_spaced_key_end(const char *at, const char *end, bool is_first, struct text spelt)
{
    struct text quoted = { spelt.data + 1, spelt.length - 2 };

    if (!is_first) {
        if (at == end || *at != ',') {
            return NULL;
        }
        at = json_space_end(at + 1, end);
    }
    if ((size_t)(end - at) < quoted.length || !text_same_bytes(at, quoted.data, quoted.length)) {
        return NULL;
    }
    at = json_space_end(at + quoted.length, end);
    return at != end && *at == ':' ? at + 1 : NULL;
}

// Most documents have no space within a comma, a key and its colon.
static inline const char *json_key_end(const struct json_run *run, struct text spelt)
{
    const char *at = json_space_end(run->at, run->end);
    size_t length = spelt.length - run->is_first;

    if ((size_t)(run->end - at) > length && text_same_bytes(at, spelt.data + run->is_first, length)) {
        return at + length;
    }
    bool is_over = at < run->end && *at == '}';
    return is_over ? NULL : json_spaced_key_end(at, run->end, run->is_first, spelt);
}

struct json_run json_run_begin(const struct json_reader *reader)
{
    bool is_first = reader->state == JSON_AT_FIRST_KEY;
    bool can = is_first || (reader->state == JSON_AT_AFTER && (reader->is_object & json_bit(reader)) != 0);

    return (struct json_run){ .at = can ? reader->input.data + reader->offset : NULL,
                              .end = reader->input.data + reader->input.length,
                              .is_first = is_first };
}

void json_run_end(const struct json_run *run, struct json_reader *reader)
{
    size_t offset = run->at != NULL ? (size_t)(run->at - reader->input.data) : reader->offset;

    if (offset != reader->offset) {
        reader->offset = offset;
        reader->state = JSON_AT_AFTER;
    }
}

bool json_take_key(struct json_reader *reader, struct text spelt)
{
    struct json_run run = json_run_begin(reader);
    const char *at = run.at != NULL ? json_key_end(&run, spelt) : NULL;

    if (at == NULL) {
        return false;
    }
    reader->offset = (size_t)(at - reader->input.data);
    reader->state = JSON_AT_VALUE;
    return true;
}

// The end of a whole number that begins at `at`; `at` itself: it is something else, or more than that.
static inline const char *json_whole_end(const char *at, const char *end)
{
    const char *first = at + (*at == '-');
    const char *behind = first;

    while (behind < end && json_is_digit[(unsigned char)*behind]) {
        behind++;
    }
    if (behind == first || (*first == '0' && behind - first > 1)) {
        return at;
    }
    bool goes_on = behind < end && (*behind == '.' || (*behind | 0x20) == 'e');
    return goes_on ? at : behind;
}

enum json_token json_run_take(struct json_run *run, struct text spelt, struct text *value)
{
    const char *at = run->at != NULL ? json_key_end(run, spelt) : NULL;
    enum json_token token = JSON_END;

    at = at != NULL ? json_space_end(at, run->end) : NULL;
    if (at == NULL || at == run->end) {
        return JSON_END;
    }
    const char *behind;
    if (*at == '"') {
        at++;
        struct text rest = { at, (size_t)(run->end - at) };
        behind = at + json_plain_end(rest, 0);
        token = behind < run->end && *behind == '"' ? JSON_STRING : JSON_END;
    } else {
        behind = json_whole_end(at, run->end);
        token = behind > at ? JSON_NUMBER : JSON_END;
    }
    if (token != JSON_END) {
        value->data = at;
        value->length = (size_t)(behind - at);
        run->at = behind + (token == JSON_STRING);
        run->is_first = false;
    }
    return token;
}

// One escape that json_next has already checked. Moves `*offset` behind it.
static size_t json_put_escape(char *out, struct text value, size_t *offset)
{
    unsigned char letter = (unsigned char)value.data[*offset + 1];

    if (letter != 'u') {
        out[0] = json_simple_escape[letter];
        *offset += 2;
        return 1;
    }
    uint32_t code = (uint32_t)json_hex4(value, *offset + 2);
    *offset += 6;
    if (json_is_high_surrogate((int32_t)code)) {
        uint32_t low = (uint32_t)json_hex4(value, *offset + 2);
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        *offset += 6;
    }
    return utf8_put(out, code);
}

struct text json_unescape(const struct json_reader *reader, struct buffer *scratch)
{
    struct text value = reader->value;

    if (!reader->has_escapes) {
        return value;
    }
    if (!buffer_reserve(scratch, value.length)) { // an escape is never shorter than what it stands for
        return (struct text){ NULL, 0 };
    }
    char *start = scratch->data + scratch->length;
    char *out = start;
    size_t i = 0;
    while (i < value.length) {
        const char *slash = memchr(value.data + i, '\\', value.length - i);
        size_t run = slash != NULL ? (size_t)(slash - value.data) - i : value.length - i;
        memcpy(out, value.data + i, run);
        out += run;
        i += run;
        if (i < value.length) {
            out += json_put_escape(out, value, &i);
        }
    }
    scratch->length += (size_t)(out - start);
    return (struct text){ start, (size_t)(out - start) };
}
