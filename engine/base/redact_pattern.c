#include "base/redact_pattern.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static const char DIGITS[] = "0123456789abcdef";
static const char BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { JSON_GROWTH = 3 }; // two bytes of UTF-8 become six at most

// ------------------------------------------------------------------------------------------------------------- making

static size_t write_hex(struct text secret, char *out)
{
    for (size_t i = 0; i < secret.length; i++) {
        unsigned char byte = (unsigned char)secret.data[i];
        out[2 * i] = DIGITS[byte >> 4];
        out[2 * i + 1] = DIGITS[byte & 15];
    }
    return 2 * secret.length;
}

/// The characters that are the secret's alone when `before` bytes of its group of three stand before it.
static size_t write_base64(struct text secret, size_t before, char *out)
{
    size_t bits = 8 * secret.length;
    size_t first = (6 - 8 * before % 6) % 6; // the bit with which the first such character begins
    size_t length = 0;

    for (size_t bit = first; bit + 6 <= bits; bit += 6) {
        unsigned char high = (unsigned char)secret.data[bit / 8];
        unsigned char low = bit / 8 + 1 < secret.length ? (unsigned char)secret.data[bit / 8 + 1] : 0;
        unsigned both = (unsigned)high << 8 | low;
        out[length++] = BASE64[both >> (10 - bit % 8) & 63];
    }
    return length;
}

/// With what is not ASCII as JSON escapes it, by code units of UTF-16; the length. 0: nothing is, or it is no UTF-8.
static size_t write_json(struct text secret, const char *digits, char *out)
{
    size_t length = 0, escaped = 0, step;

    for (size_t i = 0; i < secret.length; i += step) {
        step = utf8_length(secret.data + i, secret.length - i);
        if (step == 0) {
            return 0;
        }
        if (step == 1) {
            out[length++] = secret.data[i];
            continue;
        }
        uint32_t code = (unsigned char)secret.data[i] & (0xFFU >> (step + 1));
        for (size_t j = 1; j < step; j++) {
            code = code << 6 | ((unsigned char)secret.data[i + j] & 0x3FU);
        }
        for (int part = code > 0xFFFF ? 0 : 1; part < 2; part++) {
            uint32_t value = code <= 0xFFFF ? code : part == 0 ? 0xD7C0 + (code >> 10) : 0xDC00 + (code & 0x3FF);
            out[length++] = '\\';
            out[length++] = 'u';
            for (int shift = 12; shift >= 0; shift -= 4) {
                out[length++] = digits[value >> shift & 15];
            }
        }
        escaped++;
    }
    return escaped > 0 ? length : 0;
}

struct redact_secret *redact_secret_create(struct text secret)
{
    size_t base64_most = secret.length * 4 / 3 + 1;
    struct redact_secret *made = calloc(1, sizeof(*made) + (3 + 2 * JSON_GROWTH) * secret.length + 3 * base64_most);

    if (made == NULL) {
        return NULL;
    }
    char *at = made->bytes;
    memcpy(at, secret.data, secret.length);
    made->patterns[0] = (struct redact_pattern){ REDACT_PLAIN, { at, secret.length } };
    at += secret.length;
    made->patterns[1] = (struct redact_pattern){ REDACT_HEX, { at, write_hex(secret, at) } };
    at += 2 * secret.length;
    for (size_t before = 0; before < 3; before++) {
        made->patterns[2 + before] = (struct redact_pattern){ REDACT_BASE64, { at, write_base64(secret, before, at) } };
        at += base64_most;
    }
    made->patterns[5] = (struct redact_pattern){ REDACT_PLAIN, { at, write_json(secret, DIGITS, at) } };
    at += JSON_GROWTH * secret.length;
    made->patterns[6] = (struct redact_pattern){ REDACT_PLAIN, { at, write_json(secret, "0123456789ABCDEF", at) } };
    return made;
}

// ----------------------------------------------------------------------------------------------------------- comparing

/// Are they the same character in this spelling?
static bool is_same(enum redact_spelling spelling, char wanted, char found)
{
    if (wanted == found) {
        return true;
    }
    switch (spelling) {
    case REDACT_PLAIN:
        return wanted == ' ' && found == '+'; // of a form
    case REDACT_HEX:
        return wanted >= 'a' && found == wanted - 'a' + 'A';
    case REDACT_BASE64:
        return (wanted == '+' && found == '-') || (wanted == '/' && found == '_');
    }
    return false;
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    char lower = (char)(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The byte of `count` hexadecimal digits; -1: they are none, or more than a byte; -2: the text ends before.
static int read_hex(struct text text, size_t from, size_t count)
{
    int value = 0;

    for (size_t i = from; i < from + count; i++) {
        if (i == text.length) {
            return -2;
        }
        int digit = hex_value(text.data[i]);
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value < 256 ? value : -1;
}

/// What an escape at the start of the text stands for, and its length; -1: it is none; -2: it is cut.
static int read_escape(struct text text, size_t *length)
{
    static const char letters[] = "n\nt\tr\rb\bf\f\"\"\\\\//";

    if (text.data[0] == '%') {
        *length = 3;
        return read_hex(text, 1, 2);
    }
    if (text.data[0] != '\\') {
        return -1;
    }
    if (text.length == 1) {
        return -2;
    }
    if (text.data[1] == 'u') {
        *length = 6;
        return read_hex(text, 2, 4);
    }
    *length = 2;
    for (size_t i = 0; i + 1 < sizeof(letters) - 1; i += 2) {
        if (letters[i] == text.data[1]) {
            return (unsigned char)letters[i + 1];
        }
    }
    return -1;
}

/// Matches the pattern from its byte `from` on. An escape and the plain character can both fit only where the secret
/// has a % or \ itself: then the escape is tried first.
static size_t match_from(const struct redact_pattern *pattern, size_t from, struct text text, bool *is_cut)
{
    size_t start = text.length;

    for (size_t i = from; i < pattern->bytes.length; i++) {
        size_t escape_length = 0;
        if (text.length == 0) {
            *is_cut = true;
            return 0;
        }
        int escaped = read_escape(text, &escape_length);
        bool fits_plain = is_same(pattern->spelling, pattern->bytes.data[i], text.data[0]);
        bool fits_escaped = escaped >= 0 && is_same(pattern->spelling, pattern->bytes.data[i], (char)escaped);
        if (escaped == -2) {
            *is_cut = true; // it may have been
        }
        if (fits_escaped && fits_plain) {
            struct text rest = { text.data + escape_length, text.length - escape_length };
            size_t matched = match_from(pattern, i + 1, rest, is_cut);
            if (matched > 0 || i + 1 == pattern->bytes.length) {
                return start - rest.length + matched;
            }
        }
        if (!fits_plain && !fits_escaped) {
            return 0;
        }
        size_t step = fits_plain ? 1 : escape_length;
        text = (struct text){ text.data + step, text.length - step };
    }
    return start - text.length;
}

size_t redact_pattern_match(const struct redact_pattern *pattern, struct text text, bool *is_cut)
{
    *is_cut = false;
    return match_from(pattern, 0, text, is_cut);
}

// -------------------------------------------------------------------------------------------------------------- pairs

static uint16_t pair_of(char first, char second)
{
    return (uint16_t)((unsigned)(unsigned char)first << 8 | (unsigned char)second);
}

/// The characters that are `wanted` in this spelling; one or two.
static size_t same_as(enum redact_spelling spelling, char wanted, char same[2])
{
    char other = spelling == REDACT_PLAIN                  ? '+'
                 : spelling == REDACT_HEX && wanted >= 'a' ? (char)(wanted - 'a' + 'A')
                 : wanted == '+'                           ? '-'
                                                           : '_';
    same[0] = wanted;
    same[1] = other;
    return other != wanted && is_same(spelling, wanted, other) ? 2 : 1;
}

size_t redact_pattern_pairs(const struct redact_pattern *pattern, uint16_t pairs[REDACT_PAIRS])
{
    char firsts[2], seconds[2];
    if (pattern->bytes.length == 0) {
        return 0;
    }
    size_t first_count = same_as(pattern->spelling, pattern->bytes.data[0], firsts);
    size_t second_count = same_as(pattern->spelling, pattern->bytes.data[1], seconds);
    size_t count = 0;

    for (size_t i = 0; i < first_count; i++) {
        for (size_t j = 0; j < second_count; j++) {
            pairs[count++] = pair_of(firsts[i], seconds[j]);
        }
    }
    return count;
}

/// What the first character of a text may be, and what is left behind each; none or one, and one more if it is escaped.
static size_t characters_of(struct text text, char characters[2], struct text rests[2], bool *is_cut)
{
    size_t length = 0;

    if (text.length == 0) {
        *is_cut = true;
        return 0;
    }
    characters[0] = text.data[0];
    rests[0] = (struct text){ text.data + 1, text.length - 1 };
    int escaped = read_escape(text, &length);
    *is_cut = *is_cut || escaped == -2;
    if (escaped < 0) {
        return 1;
    }
    characters[1] = (char)escaped;
    rests[1] = (struct text){ text.data + length, text.length - length };
    return 2;
}

size_t redact_text_pairs(struct text text, uint16_t pairs[REDACT_PAIRS], bool *is_cut)
{
    char firsts[2], seconds[2];
    struct text rests[2], ignored[2];
    size_t count = 0;

    *is_cut = false;
    size_t first_count = characters_of(text, firsts, rests, is_cut);
    for (size_t i = 0; i < first_count; i++) {
        size_t second_count = characters_of(rests[i], seconds, ignored, is_cut);
        for (size_t j = 0; j < second_count; j++) {
            pairs[count++] = pair_of(firsts[i], seconds[j]);
        }
    }
    return count;
}
