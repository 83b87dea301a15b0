/// Chance: plays made from a seed.
///
/// Threads: one.
/// Memory:  fills a play of the caller's.
#pragma once

#include "scenario/play.h"

/// The same seed makes the same play.
void chance_fill(struct play *play, uint64_t seed);

/// Plays it, as a single reply and as a stream. What does not hold goes to `violations`; empty: all is well.
void chance_play(struct play *play, uint64_t seed, struct buffer *violations);
