#include "base/text.h"

#include "base/utf8.h"

#include <string.h>

struct text text_of(const char *terminated)
{
    if (terminated == NULL) {
        return (struct text){ NULL, 0 };
    }
    return (struct text){ terminated, strlen(terminated) };
}

bool text_equals_c(struct text a, const char *terminated)
{
    return text_equals(a, text_of(terminated));
}

static char text_lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
}

bool text_equals_nocase(struct text a, struct text b)
{
    if (a.length != b.length) {
        return false;
    }
    for (size_t i = 0; i < a.length; i++) {
        if (text_lower(a.data[i]) != text_lower(b.data[i])) {
            return false;
        }
    }
    return true;
}

bool text_starts_with(struct text text, struct text prefix)
{
    return text.length >= prefix.length && (prefix.length == 0 || memcmp(text.data, prefix.data, prefix.length) == 0);
}

int text_compare(struct text a, struct text b)
{
    size_t common = a.length < b.length ? a.length : b.length;
    int order = common != 0 ? memcmp(a.data, b.data, common) : 0;

    if (order != 0) {
        return order;
    }
    return (a.length > b.length) - (a.length < b.length);
}

static bool text_is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

struct text text_trim(struct text text)
{
    while (text.length != 0 && text_is_blank(text.data[0])) {
        text.data++;
        text.length--;
    }
    while (text.length != 0 && text_is_blank(text.data[text.length - 1])) {
        text.length--;
    }
    return text;
}

struct text text_split(struct text text, char separator, struct text *rest)
{
    const char *found = text.length != 0 ? memchr(text.data, separator, text.length) : NULL;

    if (found == NULL) {
        *rest = (struct text){ NULL, 0 };
        return text;
    }
    size_t head = (size_t)(found - text.data);
    *rest = (struct text){ found + 1, text.length - head - 1 };
    return (struct text){ text.data, head };
}

bool text_to_u64(struct text text, uint64_t *value)
{
    uint64_t sum = 0;

    if (text.length == 0) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
        if (digit > 9 || sum > (UINT64_MAX - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *value = sum;
    return true;
}

bool text_to_whole(struct text text, size_t most_digits, int64_t *value)
{
    size_t start = text.length > 0 && text.data[0] == '-' ? 1 : 0;
    int64_t sum = 0;

    if (text.length == start || text.length - start > most_digits) {
        return false;
    }
    for (size_t i = start; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        sum = sum * 10 + (text.data[i] - '0');
    }
    *value = start > 0 ? -sum : sum;
    return true;
}

bool text_is_utf8(struct text text)
{
    size_t i = 0;

    while (i < text.length) {
        while (text.length - i >= 8 && utf8_word_is_ascii(text.data + i)) {
            i += 8;
        }
        if (i == text.length) {
            break;
        }
        size_t length = utf8_length(text.data + i, text.length - i);
        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}

uint64_t text_hash(struct text text)
{
    uint64_t hash = 14695981039346656037ULL;

    for (size_t i = 0; i < text.length; i++) {
        hash = (hash ^ (unsigned char)text.data[i]) * 1099511628211ULL;
    }
    return hash;
}

// Both halves of a 128-bit product, folded: every bit of the input reaches every bit of the result.
static uint64_t text_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t text_hash_on(uint64_t hash, struct text text)
{
    const uint64_t odd = 0x9E3779B97F4A7C15ULL;
    size_t i = 0;

    for (; text.length - i >= 8; i += 8) {
        uint64_t word;
        memcpy(&word, text.data + i, 8);
        hash = text_fold(hash ^ word, odd);
    }
    uint64_t rest = i < text.length ? text_short_word(text.data + i, text.length - i) : 0;
    return text_fold(hash ^ rest, odd ^ ((uint64_t)text.length << 1)); // its length tells its end
}

enum { NEAREST_MAX = 64 };

static size_t text_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Optimal string alignment: edits and swaps of neighbours, over three rolling rows. Both sides at most NEAREST_MAX.
static size_t text_distance(struct text a, struct text b)
{
    size_t rows[3][NEAREST_MAX + 1];

    for (size_t j = 0; j <= b.length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.length; j++) {
            size_t change = above[j - 1] + (a.data[i - 1] != b.data[j - 1]);
            row[j] = text_least(change, text_least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1]) {
                row[j] = text_least(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[a.length % 3][b.length];
}

const char *text_nearest(struct text word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t best = word.length / 3;

    if (word.length == 0 || word.length > NEAREST_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        struct text candidate = text_of(candidates[i]);
        if (candidate.length == 0 || candidate.length > NEAREST_MAX) {
            continue;
        }
        size_t distance = text_distance(word, candidate);
        if (distance < best || (distance == best && nearest == NULL)) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}
