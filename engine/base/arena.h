/// Arena: memory that is freed all at once, for things that die together.
///
/// Chunks of 16 KiB (larger requests get their own). A cap bounds the whole.
///
/// Threads: one owner.
/// Memory:  owns all it returned; `arena_fini` frees everything.
#pragma once

#include "base/text.h"

struct arena {
    struct arena_chunk *chunks;
    size_t used; // bytes handed out, for accounting
    size_t ceiling;
};

void arena_init(struct arena *arena, size_t ceiling);
void arena_fini(struct arena *arena);

/// Zeroed memory, aligned to 16; NULL past the ceiling or without memory.
MUST_CHECK void *arena_alloc(struct arena *arena, size_t size);
MUST_CHECK void *arena_alloc_array(struct arena *arena, size_t count, size_t size);
/// Not zeroed, for what is written over at once.
MUST_CHECK void *arena_alloc_raw(struct arena *arena, size_t size);

/// A terminated copy; the absent text on failure (and for an absent text).
struct text arena_copy(struct arena *arena, struct text text);
