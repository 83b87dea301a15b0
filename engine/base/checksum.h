/// Checksum: tells whether bytes that were kept are still what was written.
///
/// Part of what is stored: it stays as it is, or what was stored counts as damaged. Any change within one word of eight
/// bytes is found for certain, others with 1 in 2^64 missed by chance. It keeps nobody out: who can write, can sum.
///
/// Threads: any.
#pragma once

#include "base/text.h"

uint64_t checksum_of(struct text bytes);
