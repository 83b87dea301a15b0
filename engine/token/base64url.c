#include "token/base64url.h"

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64url_append(struct buffer *out, struct text bytes)
{
    if (!buffer_reserve(out, (bytes.length + 2) / 3 * 4)) {
        return;
    }
    for (size_t i = 0; i < bytes.length; i += 3) {
        size_t count = bytes.length - i < 3 ? bytes.length - i : 3;
        uint32_t word = 0;
        for (size_t k = 0; k < 3; k++) {
            word = word << 8 | (k < count ? (unsigned char)bytes.data[i + k] : 0);
        }
        for (size_t k = 0; k <= count; k++) {
            buffer_append_byte(out, LETTERS[word >> (18 - 6 * k) & 63]);
        }
    }
}

// 64: it is none.
static uint32_t value_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z') {
        return (uint32_t)(letter - 'A');
    }
    if (letter >= 'a' && letter <= 'z') {
        return (uint32_t)(letter - 'a') + 26;
    }
    if (letter >= '0' && letter <= '9') {
        return (uint32_t)(letter - '0') + 52;
    }
    return letter == '-' ? 62 : letter == '_' ? 63 : 64;
}

bool base64url_read(struct text spelt, struct buffer *out)
{
    uint32_t word = 0, bits = 0;

    if (spelt.length % 4 == 1 || !buffer_reserve(out, spelt.length / 4 * 3 + 2)) {
        return false;
    }
    for (size_t i = 0; i < spelt.length; i++) {
        uint32_t value = value_of(spelt.data[i]);
        if (value > 63) {
            return false;
        }
        word = word << 6 | value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            buffer_append_byte(out, (char)(word >> bits & 255));
        }
    }
    return (word & ((1U << bits) - 1)) == 0;
}
