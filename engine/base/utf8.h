/// UTF-8: the length of one well-formed sequence, inline for the scanners of text, json_read and json_write.
///
/// Threads: any.
/// Memory:  owns nothing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Length of the sequence that starts at `bytes` (RFC 3629, table 3-7 of Unicode), or 0 when it is none.
/// `available` is at least 1.
static inline size_t utf8_length(const char *bytes, size_t available)
{
    const unsigned char *b = (const unsigned char *)bytes;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;

    if (b[0] < 0x80) {
        return 1;
    }
    if (b[0] < 0xC2 || b[0] > 0xF4) {
        return 0;
    }
    size_t length = b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : 4;
    if (available < length) {
        return 0;
    }
    switch (b[0]) {
    case 0xE0:
        low = 0xA0; // shorter forms exist
        break;
    case 0xED:
        high = 0x9F; // surrogates
        break;
    case 0xF0:
        low = 0x90;
        break;
    case 0xF4:
        high = 0x8F; // above U+10FFFF
        break;
    default:
        break;
    }
    if (b[1] < low || b[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((b[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/// Writes a code point (at most U+10FFFF, no surrogate) and returns its length.
static inline size_t utf8_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | (code >> 6));
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | (code >> 12));
        out[1] = (char)(0x80 | ((code >> 6) & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (code >> 18));
    out[1] = (char)(0x80 | ((code >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((code >> 6) & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/// True when none of the eight bytes is above 0x7F.
static inline bool utf8_word_is_ascii(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return (word & 0x8080808080808080ULL) == 0;
}
