/// Hidden shelf: what scripts left in `ref` and `handoff` of offers and is too large for a token, kept by a name.
///
/// Bounded: the oldest go first when it is full, and all when their time is over. Whoever comes with the name of one
/// that is gone searches again.
///
/// Threads: any; one lock, held for a copy at most.
/// Memory:  owns copies.
#pragma once

#include "base/block.h"
#include "base/check.h"

enum { HIDDEN_SHELF_BYTES = 64 << 20, HIDDEN_SHELF_COUNT = 1 << 16, HIDDEN_NAME = 16 };

/// What one reply may put here: it is copied on a loop, and must not drive out what all others have put here.
enum { HIDDEN_SHELF_OF_REPLY = HIDDEN_SHELF_BYTES / 8 };

struct hidden_shelf;

/// NULL without memory.
MUST_CHECK struct hidden_shelf *hidden_shelf_create(void);
void hidden_shelf_destroy(struct hidden_shelf **shelf);

/// Keeps a copy until `end_ms` (since 1970); `name` is filled with random bytes. STATUS_IO: no randomness;
/// STATUS_NO_MEMORY; STATUS_INVALID: larger than the whole shelf.
MUST_CHECK enum status hidden_shelf_keep(struct hidden_shelf *shelf, struct text bytes, uint64_t end_ms,
                                         char name[HIDDEN_NAME]);
/// A hold on what is kept; NULL: nothing of that name, or its time is over.
struct block *hidden_shelf_find(struct hidden_shelf *shelf, struct text name, uint64_t now_ms);
