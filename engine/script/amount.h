/// Amount: exact decimal money in millionths, with the number of decimals that ISO 4217 gives each currency.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include "base/micros.h"

enum { AMOUNT_TEXT_MAX = MICROS_TEXT_MAX, AMOUNT_MAX_DECIMALS = MICROS_DECIMALS };

/// Decimals of a currency (0, 2, 3 or 4), or -1: ISO 4217 has no such currency in use.
int amount_exponent(struct text currency);

/// Reads `-12.5`: digits, at most one point with digits on both sides, more decimals than `decimals` only when they are
/// zero. False: `*why` is a constant sentence.
MUST_CHECK bool amount_parse(struct text text, int decimals, int64_t *micros, const char **why);

/// Is the text of an amount that amount_parse took what amount_write would write, too? False says nothing.
bool amount_is_as_written(struct text amount, int decimals);

/// Writes with exactly `decimals` decimals, terminated; the length is returned. Digits below them must be zero.
static inline size_t amount_write(int64_t micros, int decimals, char out[AMOUNT_TEXT_MAX])
{
    return micros_write(micros, decimals, out);
}

/// To the nearest representable amount, halves away from zero. False: out of range.
MUST_CHECK bool amount_round(int64_t micros, int decimals, int64_t *rounded);
