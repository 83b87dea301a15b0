/// Heap: the memory of one Lua state, with a limit.
///
/// Lua makes and drops thousands of small things in a call and always tells their size, so a small block costs a few
/// instructions and no header: a list of free blocks for each size, filled from chunks of mapped pages. It shares no
/// lock with malloc. Chunks go back when the heap ends; `heap_is_worn` tells when most of them hold nothing.
///
/// Threads: one owner at a time.
/// Memory:  maps its own pages; embedded in its sandbox.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stddef.h>

enum { HEAP_CLASSES = 60 };

struct heap {
    size_t used;       // bytes that the state holds
    size_t reserved;   // bytes that are mapped
    size_t limit;      // of `used`
    bool is_exhausted; // the limit or the machine's memory stood in the way
    struct heap_block *free[HEAP_CLASSES];
    char *next, *end; // what is left of the newest chunk
    struct heap_chunk *chunks;
};

void heap_init(struct heap *heap);
void heap_fini(struct heap *heap);

/// A lua_Alloc; the context is the heap.
void *heap_allocate(void *heap, void *block, size_t old_size, size_t new_size);

/// Most of what is mapped lies idle: a fresh state would need far less.
bool heap_is_worn(const struct heap *heap);
