// Sizes up to 512 bytes have classes of 16 bytes each; above there are four classes for each doubling, up to 64 KiB;
// larger blocks are mapped one by one. A block never moves to another class but by being copied, and free blocks are
// not joined: what a state needs is much the same in every call.

#include "script/heap.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define HEAP_HAS_LEAK_CHECKER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEAP_HAS_LEAK_CHECKER
#endif
#endif
#ifdef HEAP_HAS_LEAK_CHECKER
#include <sanitizer/lsan_interface.h>
#endif

enum {
    HEAP_STEP = 16,
    HEAP_SMALL = 512,       // the largest size with a class of its own step
    HEAP_MEDIUM = 64 << 10, // the largest size with a class
    HEAP_CHUNK = 512 << 10,
    HEAP_PAGE = 4096,
    HEAP_IDLE_MAX = 32 << 20, // bytes that may lie idle in any case
    HEAP_SMALL_CLASSES = HEAP_SMALL / HEAP_STEP,
};

struct heap_block {
    struct heap_block *next;
};

struct heap_chunk {
    struct heap_chunk *next;
    size_t unused; // keeps what follows aligned
};

static inline uint32_t heap_class(size_t size)
{
    if (size <= HEAP_SMALL) {
        return (uint32_t)((size - 1) / HEAP_STEP);
    }
    uint32_t bits = 63 - (uint32_t)__builtin_clzll(size - 1); // at least 9
    uint32_t quarter = (uint32_t)((size - 1) >> (bits - 2)) & 3;
    return HEAP_SMALL_CLASSES + (bits - 9) * 4 + quarter;
}

static inline size_t heap_class_size(uint32_t class)
{
    if (class < HEAP_SMALL_CLASSES) {
        return (size_t)(class + 1) * HEAP_STEP;
    }
    uint32_t above = class - HEAP_SMALL_CLASSES;
    return (size_t)(5 + above % 4) << ((above / 4 + 7) & 63);
}

static size_t heap_pages(size_t size)
{
    return (size + HEAP_PAGE - 1) & ~(size_t)(HEAP_PAGE - 1);
}

/// Lua objects in these pages hold malloc'd memory, which a leak checker would not find there by itself: a lost
/// worker's state is held by nothing else when the process ends.
static void heap_tell_leak_checker(void *pages, size_t size, bool is_mapped)
{
#ifdef HEAP_HAS_LEAK_CHECKER
    if (is_mapped) {
        __lsan_register_root_region(pages, size);
    } else {
        __lsan_unregister_root_region(pages, size);
    }
#else
    (void)pages;
    (void)size;
    (void)is_mapped;
#endif
}

static void *heap_map(struct heap *heap, size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED) {
        return NULL;
    }
    heap_tell_leak_checker(pages, size, true);
    heap->reserved += size;
    return pages;
}

static void heap_unmap(struct heap *heap, void *pages, size_t size)
{
    heap_tell_leak_checker(pages, size, false);
    munmap(pages, size);
    heap->reserved -= size;
}

/// A new chunk; what was left of the one before becomes free blocks.
static bool heap_grow(struct heap *heap)
{
    struct heap_chunk *chunk = heap_map(heap, HEAP_CHUNK);

    if (chunk == NULL) {
        return false;
    }
    while (heap->end - heap->next >= HEAP_STEP) {
        size_t left = (size_t)(heap->end - heap->next);
        uint32_t class = heap_class(left);
        while (heap_class_size(class) > left) {
            class --;
        }
        struct heap_block *block = (void *)heap->next;
        block->next = heap->free[class];
        heap->free[class] = block;
        heap->next += heap_class_size(class);
    }
    chunk->next = heap->chunks;
    heap->chunks = chunk;
    heap->next = (char *)(chunk + 1);
    heap->end = (char *)chunk + HEAP_CHUNK;
    return true;
}

static void *heap_carve(struct heap *heap, uint32_t class)
{
    size_t size = heap_class_size(class);

    if ((size_t)(heap->end - heap->next) < size && !heap_grow(heap)) {
        return NULL;
    }
    void *block = heap->next;
    heap->next += size;
    return block;
}

static inline void *heap_take(struct heap *heap, size_t size)
{
    if (size > HEAP_MEDIUM) {
        return heap_map(heap, heap_pages(size));
    }
    uint32_t class = heap_class(size);
    struct heap_block *block = heap->free[class];
    if (block == NULL) {
        return heap_carve(heap, class);
    }
    heap->free[class] = block->next;
    __builtin_prefetch(block->next); // the next one of this size is wanted soon, and has been idle for long
    return block;
}

static inline void heap_give(struct heap *heap, void *pointer, size_t size)
{
    if (size > HEAP_MEDIUM) {
        heap_unmap(heap, pointer, heap_pages(size));
        return;
    }
    struct heap_block *block = pointer;
    uint32_t class = heap_class(size);
    block->next = heap->free[class];
    heap->free[class] = block;
}

static void *heap_resize(struct heap *heap, void *block, size_t old_size, size_t new_size)
{
    if (old_size <= HEAP_MEDIUM && new_size <= HEAP_MEDIUM && heap_class(old_size) == heap_class(new_size)) {
        return block;
    }
    if (old_size > HEAP_MEDIUM && new_size > HEAP_MEDIUM) {
        void *moved = mremap(block, heap_pages(old_size), heap_pages(new_size), MREMAP_MAYMOVE);
        if (moved != MAP_FAILED) {
            heap_tell_leak_checker(block, heap_pages(old_size), false);
            heap_tell_leak_checker(moved, heap_pages(new_size), true);
        }
        if (moved == MAP_FAILED) {
            return NULL;
        }
        heap->reserved += heap_pages(new_size) - heap_pages(old_size);
        return moved;
    }
    void *copy = heap_take(heap, new_size);
    if (copy != NULL) {
        memcpy(copy, block, old_size < new_size ? old_size : new_size);
        heap_give(heap, block, old_size);
    }
    return copy;
}

void *heap_allocate(void *context, void *block, size_t old_size, size_t new_size)
{
    struct heap *heap = context;
    void *result;

    if (new_size == 0) {
        if (block != NULL) {
            heap->used -= old_size;
            heap_give(heap, block, old_size);
        }
        return NULL;
    }
    if (block == NULL) {
        old_size = 0;
    }
    size_t used = heap->used - old_size + new_size;
    if (used > heap->limit && new_size > old_size) {
        heap->is_exhausted = true;
        return NULL;
    }
    result = block == NULL ? heap_take(heap, new_size) : heap_resize(heap, block, old_size, new_size);
    if (result == NULL) {
        heap->is_exhausted = true;
        return NULL;
    }
    heap->used = used;
    return result;
}

void heap_init(struct heap *heap)
{
    *heap = (struct heap){ .limit = SIZE_MAX };
}

void heap_fini(struct heap *heap)
{
    while (heap->chunks != NULL) {
        struct heap_chunk *chunk = heap->chunks;
        heap->chunks = chunk->next;
        heap_tell_leak_checker(chunk, HEAP_CHUNK, false);
        munmap(chunk, HEAP_CHUNK);
    }
    heap_init(heap);
}

bool heap_is_worn(const struct heap *heap)
{
    return heap->reserved > heap->used + HEAP_IDLE_MAX && heap->reserved / 4 > heap->used;
}
