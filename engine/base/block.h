/// Block: immutable bytes with a reference count, for what crosses threads or outlives its maker.
///
/// Threads: any; the count is atomic, the bytes never change after creation.
/// Memory:  one allocation; the last release frees it.
#pragma once

#include "base/buffer.h"

struct block;

/// A copy of `text` with one reference; NULL without memory.
MUST_CHECK struct block *block_create(struct text text);

/// Takes the bytes of `buffer` without a copy (the buffer is empty afterwards); NULL without memory or when it was
/// full.
MUST_CHECK struct block *block_from_buffer(struct buffer *buffer);

struct block *block_acquire(struct block *block);  // returns its argument; NULL stays NULL
void block_release(struct block **block);          // the caller's pointer becomes NULL
bool block_is_shared(const struct block *block);   // someone else holds it as well; NULL: no
struct text block_text(const struct block *block); // NULL gives the absent text
