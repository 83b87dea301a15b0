/// Micros: an amount in millionths, written as the decimal text that people read.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include "base/text.h"

enum { MICROS_TEXT_MAX = 32, MICROS_DECIMALS = 6 };

/// Writes with exactly `decimals` (0 to 6) decimals, terminated; the length is returned. Digits below them must be
/// zero.
size_t micros_write(int64_t micros, int decimals, char out[MICROS_TEXT_MAX]);
