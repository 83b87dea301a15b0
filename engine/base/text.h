/// Text: a view of bytes that someone else owns, and the small questions one asks of it.
///
/// A view may contain any byte and is not terminated. `{NULL, 0}` is the absent text.
///
/// Threads: any.
/// Memory:  owns nothing.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    const char *data;
    size_t length;
};

#define TEXT(literal) ((struct text){ "" literal, sizeof(literal) - 1 })
/// For printf's "%.*s".
#define TEXT_ARGS(t) (int)(t).length, (t).data

struct text text_of(const char *terminated); // NULL gives the absent text
static inline bool text_same_bytes(const char *a, const char *b, size_t length);
static inline bool text_equals(struct text a, struct text b);
/// Copies the text to `at`; the byte behind it.
static inline char *text_put(char *at, struct text text);
/// Up to seven bytes as a word, for hashes: different ones of the same length give different words.
static inline uint64_t text_short_word(const char *at, size_t length);
bool text_equals_c(struct text a, const char *terminated);
bool text_equals_nocase(struct text a, struct text b); // ASCII
bool text_starts_with(struct text text, struct text prefix);
int text_compare(struct text a, struct text b); // bytewise, as memcmp, shorter first

/// Without ASCII blanks at both ends.
struct text text_trim(struct text text);

/// Cuts `text` at the first `separator`: returns the head, leaves the rest in `*rest` (absent when there was none).
struct text text_split(struct text text, char separator, struct text *rest);

/// A decimal integer that fills the whole text. False: not one, or out of range.
MUST_CHECK bool text_to_u64(struct text text, uint64_t *value);

/// A whole decimal number of at most `most_digits` digits (18 at most), with a `-` before a negative one; no `+`, no
/// blanks. Up to TEXT_DOUBLE_DIGITS digits a double keeps it exactly.
enum { TEXT_DOUBLE_DIGITS = 15 };
MUST_CHECK bool text_to_whole(struct text text, size_t most_digits, int64_t *value);

/// Well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF)?
bool text_is_utf8(struct text text);

/// FNV-1a, 64 bits. Not for hostile keys.
uint64_t text_hash(struct text text);
/// Goes on with a hash over several texts, each with its end, eight bytes at a time. Not for hostile keys either.
uint64_t text_hash_on(uint64_t hash, struct text text);

/// The candidate nearest to `word` (Damerau-Levenshtein, at most a third of its length away), or NULL: "did you mean".
const char *text_nearest(struct text word, const char *const *candidates, size_t count);

// Most texts that are compared are short, and a call takes longer than they do.
static inline bool text_same_bytes(const char *a, const char *b, size_t length)
{
    uint64_t first_a = 0, first_b = 0, last_a = 0, last_b = 0;
    uint32_t short_a = 0, short_b = 0, end_a = 0, end_b = 0;

    if (length >= 4 && length < 8) {
        memcpy(&short_a, a, 4);
        memcpy(&short_b, b, 4);
        memcpy(&end_a, a + length - 4, 4);
        memcpy(&end_b, b + length - 4, 4);
        return ((short_a ^ short_b) | (end_a ^ end_b)) == 0;
    }
    if (length >= 8 && length <= 16) {
        memcpy(&first_a, a, 8);
        memcpy(&first_b, b, 8);
        memcpy(&last_a, a + length - 8, 8);
        memcpy(&last_b, b + length - 8, 8);
        return ((first_a ^ first_b) | (last_a ^ last_b)) == 0;
    }
    if (length < 4) {
        return length == 0 || (a[0] == b[0] && a[length / 2] == b[length / 2] && a[length - 1] == b[length - 1]);
    }
    return memcmp(a, b, length) == 0;
}

static inline bool text_equals(struct text a, struct text b)
{
    return a.length == b.length && text_same_bytes(a.data, b.data, a.length);
}

// By both ends, which may overlap.
static inline char *text_put(char *at, struct text text)
{
    size_t length = text.length;
    uint64_t first = 0, second = 0, last = 0, before_last = 0;
    uint32_t short_first = 0, short_last = 0;

    if (length > 32) {
        memcpy(at, text.data, length);
    } else if (length > 16) {
        memcpy(&first, text.data, 8);
        memcpy(&second, text.data + 8, 8);
        memcpy(&before_last, text.data + length - 16, 8);
        memcpy(&last, text.data + length - 8, 8);
        memcpy(at, &first, 8);
        memcpy(at + 8, &second, 8);
        memcpy(at + length - 16, &before_last, 8);
        memcpy(at + length - 8, &last, 8);
    } else if (length >= 8) {
        memcpy(&first, text.data, 8);
        memcpy(&last, text.data + length - 8, 8);
        memcpy(at, &first, 8);
        memcpy(at + length - 8, &last, 8);
    } else if (length >= 4) {
        memcpy(&short_first, text.data, 4);
        memcpy(&short_last, text.data + length - 4, 4);
        memcpy(at, &short_first, 4);
        memcpy(at + length - 4, &short_last, 4);
    } else if (length > 0) {
        char middle = text.data[length / 2], end = text.data[length - 1];
        at[0] = text.data[0];
        at[length / 2] = middle;
        at[length - 1] = end;
    }
    return at + length;
}

static inline uint64_t text_short_word(const char *at, size_t length)
{
    uint32_t low = 0, high = 0;

    if (length >= 4) {
        memcpy(&low, at, 4);
        memcpy(&high, at + length - 4, 4);
        return low | (uint64_t)high << 32;
    }
    if (length > 0) { // the first, the middle and the last
        low = (unsigned char)at[0] | (uint32_t)(unsigned char)at[length / 2] << 8 |
              (uint32_t)(unsigned char)at[length - 1] << 16;
    }
    return low;
}
