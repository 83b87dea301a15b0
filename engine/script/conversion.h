/// Conversion: one exact exchange of money between two currencies.
///
/// Rates are decimal literals of up to 12 significant digits, kept as whole numbers of exactly 12 digits and a power of
/// ten. An amount times one rate over another is a fraction of whole numbers, rounded once, to the decimals of the
/// target currency, halves away from zero. No float takes part.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include "base/text.h"

enum { RATE_DIGITS = 12, RATE_TOP = 9 };

/// digits × 10^exponent, with 10^11 <= digits < 10^12.
struct rate {
    uint64_t digits;
    int exponent;
};

/// Reads `1.0842`: digits with at most one point, at most 12 significant ones, from 10^-9 to 10^9. False: `*why` is a
/// constant sentence.
MUST_CHECK bool rate_parse(struct text text, struct rate *rate, const char **why);

struct conversion {
    unsigned __int128 numerator, denominator; // units of the target's last decimal for a millionth of the source
    int decimals;                             // of the target
};

/// `from` and `to` tell how much of each currency one unit of the base is worth; `decimals`: 0 to 4.
struct conversion conversion_make(struct rate from, struct rate to, int decimals);

/// Millionths in, millionths out, nothing below the target's decimals. False: the result is out of range.
MUST_CHECK bool conversion_apply(const struct conversion *conversion, int64_t micros, int64_t *converted);
