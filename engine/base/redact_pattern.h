/// Redact pattern: the spellings of a secret, and where a text has one of them.
///
/// A secret is found as it is, in hexadecimal (both cases), in base64 and base64url at each of the three places where
/// it can begin within a longer text, and each of these with any of its characters escaped for URLs or JSON. Of base64
/// the characters count that are of the secret alone: those at its ends also hold bits of what stands beside it.
///
/// Threads: any; immutable once made.
/// Memory:  one allocation a secret.
#pragma once

#include "base/text.h"

enum redact_spelling { REDACT_PLAIN, REDACT_HEX, REDACT_BASE64 };

struct redact_pattern {
    enum redact_spelling spelling;
    struct text bytes; // unescaped
};

enum { REDACT_PATTERNS = 5 };

struct redact_secret {
    struct redact_pattern patterns[REDACT_PATTERNS]; // the first is the secret itself
    bool is_passing;
    char bytes[];
};

/// NULL without memory. To be freed with free().
MUST_CHECK struct redact_secret *redact_secret_create(struct text secret);

/// How many bytes at the start of `text` are the pattern; 0: they are not. `*is_cut`: they are its beginning, and the
/// text ends there.
size_t redact_pattern_match(const struct redact_pattern *pattern, struct text text, bool *is_cut);

/// Notes which two bytes may begin a match: `pairs` has a bit for each of 256 × 256. A match may also begin with an
/// escaped character, that is with % or \.
void redact_pattern_begin(const struct redact_pattern *pattern, uint64_t pairs[1024]);
static inline bool redact_pair_is_set(const uint64_t pairs[1024], unsigned char first, unsigned char second)
{
    unsigned bit = first * 256u + second;
    return (pairs[bit / 64] >> (bit % 64) & 1) != 0;
}
