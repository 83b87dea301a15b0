/// Redact pattern: the spellings of a secret, and where a text has one of them.
///
/// A secret is found as it is, in hexadecimal (both cases), in base64 and base64url at each of the three places where
/// it can begin within a longer text, and each of these with any of its characters escaped for URLs or JSON. JSON may
/// also have characters beyond ASCII as `\u00f6`, of either case. Of base64 the characters count that are of the secret
/// alone: those at its ends also hold bits of what stands beside it.
///
/// Threads: any; immutable once made.
/// Memory:  one allocation a secret.
#pragma once

#include "base/text.h"

enum redact_spelling { REDACT_PLAIN, REDACT_HEX, REDACT_BASE64 };

struct redact_pattern {
    enum redact_spelling spelling;
    struct text bytes; // unescaped; empty: the secret has no such spelling
};

enum { REDACT_PATTERNS = 7 };

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

/// The first two characters of a spelling, unescaped; by them patterns are found among many.
enum { REDACT_PAIRS = 4 };
/// Those of a pattern: letters of either case, signs that stand for each other. Returns how many.
size_t redact_pattern_pairs(const struct redact_pattern *pattern, uint16_t pairs[REDACT_PAIRS]);
/// Those that a text may begin with, each character as it stands and as an escape. `*is_cut`: the text ends within
/// them.
size_t redact_text_pairs(struct text text, uint16_t pairs[REDACT_PAIRS], bool *is_cut);
