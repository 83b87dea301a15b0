// A set `[…]` becomes 256 bits the first time it is met; classes are such bits from the beginning, and know ASCII only.

#include "script/pattern_item.h"

// ---- classes and sets

#define DIGITS 0x03ff000000000000
#define UPPERS 0x0000000007fffffe
#define LOWERS 0x07fffffe00000000

/// By letter; those without a bit are no classes.
static const uint64_t classes[26][4] = {
    ['a' - 'a'] = { 0, UPPERS | LOWERS },
    ['c' - 'a'] = { 0x00000000ffffffff, 0x8000000000000000 },
    ['d' - 'a'] = { DIGITS, 0 },
    ['g' - 'a'] = { 0xfffffffe00000000, 0x7fffffffffffffff },
    ['l' - 'a'] = { 0, LOWERS },
    ['p' - 'a'] = { 0xfc00fffe00000000, 0x78000001f8000001 },
    ['s' - 'a'] = { 0x0000000100003e00, 0 },
    ['u' - 'a'] = { 0, UPPERS },
    ['w' - 'a'] = { DIGITS, UPPERS | LOWERS },
    ['x' - 'a'] = { DIGITS, 0x0000007e0000007e },
    ['z' - 'a'] = { 1, 0 },
};

static void bits_add(uint64_t *bits, unsigned char byte)
{
    bits[byte >> 6] |= (uint64_t)1 << (byte & 63);
}

/// The class that `%letter` stands for, or NULL: the letter itself.
static inline const uint64_t *class_of(char letter)
{
    unsigned index = ((unsigned)(unsigned char)letter | 0x20) - 'a';

    if (index >= COUNT_OF(classes) || (classes[index][0] | classes[index][1]) == 0) {
        return NULL;
    }
    return classes[index];
}

static inline bool is_upper(char letter)
{
    return letter >= 'A' && letter <= 'Z';
}

static void bits_add_class(uint64_t *bits, char letter)
{
    const uint64_t *class = class_of(letter);

    if (class == NULL) {
        bits_add(bits, (unsigned char)letter);
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        bits[i] |= is_upper(letter) ? ~class[i] : class[i];
    }
}

/// Behind the set that begins at `p`, or NULL: it has no end.
static const char *set_end(const char *p)
{
    p += p[1] == '^' ? 2 : 1;
    do { // a `]` right at the beginning is a byte of the set
        if (*p == '\0') {
            return NULL;
        }
        if (*p++ == '%' && *p != '\0') {
            p++;
        }
    } while (*p != ']');
    return p + 1;
}

static void set_read(struct pattern_set *set, const char *p, const char *end)
{
    const char *last = end - 1;
    bool is_inverted = p[1] == '^';

    *set = (struct pattern_set){ .at = p, .end = end };
    for (p += is_inverted ? 2 : 1; p < last; p++) {
        if (*p == '%') {
            bits_add_class(set->bits, *++p);
        } else if (p[1] == '-' && p + 2 < last) {
            for (unsigned byte = (unsigned char)p[0]; byte <= (unsigned char)p[2]; byte++) {
                bits_add(set->bits, (unsigned char)byte);
            }
            p += 2;
        } else {
            bits_add(set->bits, (unsigned char)*p);
        }
    }
    for (size_t i = 0; i < 4 && is_inverted; i++) {
        set->bits[i] = ~set->bits[i];
    }
}

const struct pattern_set *pattern_set_at(struct pattern_items *items, const char *p)
{
    for (uint32_t i = 0; i < items->count; i++) {
        if (items->sets[i].at == p) {
            return &items->sets[i];
        }
    }
    const char *end = set_end(p);
    if (end == NULL) {
        items->trouble = "malformed pattern (missing ']')";
        return NULL;
    }
    items->allowance->left -= end - p;
    struct pattern_set *set = &items->sets[items->next];
    items->next = (items->next + 1) % PATTERN_SETS;
    items->count += items->count < PATTERN_SETS ? 1 : 0;
    set_read(set, p, end);
    return set;
}

// ---- single items

static bool item_read_escape(struct pattern_items *items, const char *p, struct pattern_item *item)
{
    if (p[1] == '\0') {
        items->trouble = "malformed pattern (ends with '%')";
        return false;
    }
    item->end = p + 2;
    item->bits = class_of(p[1]);
    item->kind = item->bits == NULL ? (unsigned char)PATTERN_ITEM_BYTE : (unsigned char)PATTERN_ITEM_BITS;
    item->byte = (unsigned char)p[1];
    item->is_inverted = is_upper(p[1]);
    return true;
}

bool pattern_item_read(struct pattern_items *items, const char *p, struct pattern_item *item)
{
    const struct pattern_set *set;

    switch (*p) {
    case '.':
        item->kind = PATTERN_ITEM_ANY;
        item->end = p + 1;
        return true;
    case '%':
        return item_read_escape(items, p, item);
    case '[':
        set = pattern_set_at(items, p);
        if (set == NULL) {
            return false;
        }
        item->kind = PATTERN_ITEM_BITS;
        item->is_inverted = 0;
        item->bits = set->bits;
        item->end = set->end;
        return true;
    default:
        item->kind = PATTERN_ITEM_BYTE;
        item->byte = (unsigned char)*p;
        item->end = p + 1;
        return true;
    }
}

// ---- the rest

bool pattern_is_special(char byte)
{
    static const uint64_t special[4] = { 0x80006d3000000001, 0x0000000048000000 };
    return pattern_bits_have(special, (unsigned char)byte);
}

bool pattern_spend(struct pattern_allowance *allowance, size_t steps)
{
    allowance->left -= (int64_t)steps;
    return allowance->left >= 0 || allowance->refill(allowance);
}
