/// Pattern item: one byte's worth of a pattern, and the sets that patterns of a match are made of.
///
/// Use: by pattern.c.
///
/// Threads: one owner at a time.
/// Memory:  none; what is read points into the pattern, or into `struct pattern_items`.
#pragma once

#include "base/text.h"

enum { PATTERN_SETS = 4 }; // `[sets]` that are kept as bits; more of them in one pattern are read again and again

struct pattern_allowance {
    int64_t left; // steps
    /// Adds to `left`. False: the match must stop.
    bool (*refill)(struct pattern_allowance *allowance);
};

enum pattern_item_kind { PATTERN_ITEM_ANY, PATTERN_ITEM_BYTE, PATTERN_ITEM_BITS };

/// One byte's worth of a pattern: `.`, a byte, a class, a set.
struct pattern_item {
    unsigned char kind; // enum pattern_item_kind
    unsigned char byte;
    unsigned char is_inverted;
    const uint64_t *bits;
    const char *end;
};

struct pattern_set {
    const char *at;
    const char *end;
    uint64_t bits[4];
};

/// What is known of a pattern's items.
struct pattern_items {
    struct pattern_allowance *allowance;
    const char *trouble; // NULL, or what is malformed
    uint32_t count, next;
    struct pattern_set sets[PATTERN_SETS];
};

/// The item that begins at `p`. False: it is malformed, `trouble` says how.
MUST_CHECK bool pattern_item_read(struct pattern_items *items, const char *p, struct pattern_item *item);

/// The set that begins at `p`, or NULL with `trouble`.
const struct pattern_set *pattern_set_at(struct pattern_items *items, const char *p);

/// True: the byte does not stand for itself (^$*+?.([%-), or ends a pattern.
bool pattern_is_special(char byte);

/// Takes steps off. False: stop.
MUST_CHECK bool pattern_spend(struct pattern_allowance *allowance, size_t steps);

static inline bool pattern_is_repeated(char behind)
{
    return behind == '*' || behind == '+' || behind == '?' || behind == '-';
}

static inline bool pattern_bits_have(const uint64_t *bits, unsigned char byte)
{
    return (bits[byte >> 6] >> (byte & 63) & 1) != 0;
}

static inline bool pattern_item_fits(const struct pattern_item *item, unsigned char byte)
{
    switch ((enum pattern_item_kind)item->kind) {
    case PATTERN_ITEM_ANY:
        return true;
    case PATTERN_ITEM_BYTE:
        return byte == item->byte;
    case PATTERN_ITEM_BITS:
        break;
    }
    return pattern_bits_have(item->bits, byte) != (item->is_inverted != 0);
}

/// From `s` on, but not beyond `end`: the first byte that does not fit.
static inline const char *pattern_item_scan(const struct pattern_item *item, const char *s, const char *end)
{
    switch ((enum pattern_item_kind)item->kind) {
    case PATTERN_ITEM_ANY:
        return end;
    case PATTERN_ITEM_BYTE:
        while (s < end && (unsigned char)*s == item->byte) {
            s++;
        }
        return s;
    case PATTERN_ITEM_BITS:
        break;
    }
    const uint64_t *bits = item->bits;
    bool is_wanted = item->is_inverted == 0;
    while (s < end && pattern_bits_have(bits, (unsigned char)*s) == is_wanted) {
        s++;
    }
    return s;
}
