#include "base/plain.h"

#include "base/utf8.h"

#include <string.h>

bool plain_is_hidden(const char *bytes, size_t length)
{
    const unsigned char *b = (const unsigned char *)bytes;

    if (length == 1) {
        return b[0] < 0x20 || b[0] == 0x7F;
    }
    if (length == 2) {
        return (b[0] == 0xC2 && b[1] < 0xA0) || (b[0] == 0xD8 && b[1] == 0x9C); // C1; U+061C
    }
    if (length != 3 || b[0] != 0xE2) {
        return false;
    }
    bool is_mark = b[1] == 0x80 && (b[2] == 0x8E || b[2] == 0x8F || (b[2] >= 0xA8 && b[2] <= 0xAE)); // U+200E to U+202E
    bool is_isolate = b[1] == 0x81 && b[2] >= 0xA6 && b[2] <= 0xA9;                                  // U+2066 to U+2069
    return is_mark || is_isolate;
}

size_t plain_strip(char *bytes, size_t length)
{
    size_t kept = 0;

    for (size_t i = 0, step; i < length; i += step) {
        bool is_layout = bytes[i] == '\t' || bytes[i] == '\n';
        step = utf8_length(bytes + i, length - i);
        step = step == 0 ? 1 : step;
        if (is_layout || !plain_is_hidden(bytes + i, step)) {
            memmove(bytes + kept, bytes + i, step);
            kept += step;
        }
    }
    return kept;
}

void plain_clean(char *bytes, size_t length)
{
    size_t i = 0;

    while (i < length) {
        size_t step = utf8_length(bytes + i, length - i);
        if (step == 0 || plain_is_hidden(bytes + i, step)) {
            step = step == 0 ? 1 : step;
            memset(bytes + i, '?', step);
        }
        i += step;
    }
}
