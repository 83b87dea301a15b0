#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGNMENT = 16, ARENA_CHUNK = 16384, ARENA_OWN_CHUNK = 4096 };

// The first chunk of the list is the one being filled. What is handed out is made zero then, not before: the larger
// part are texts, which are written over at once.
struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
    size_t used;
    _Alignas(ARENA_ALIGNMENT) char bytes[];
};

void arena_init(struct arena *arena, size_t ceiling)
{
    *arena = (struct arena){ .ceiling = ceiling };
}

void arena_fini(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunks;

    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    arena_init(arena, arena->ceiling);
}

// A large request gets a chunk of its own behind the first, which goes on being filled.
static struct arena_chunk *arena_add_chunk(struct arena *arena, size_t rounded)
{
    bool is_own = rounded > ARENA_OWN_CHUNK;
    size_t size = is_own ? rounded : ARENA_CHUNK - sizeof(struct arena_chunk);
    struct arena_chunk *chunk = malloc(sizeof(*chunk) + size);

    if (chunk == NULL) {
        return NULL;
    }
    *chunk = (struct arena_chunk){ .size = size };
    if (is_own && arena->chunks != NULL) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    return chunk;
}

void *arena_alloc_raw(struct arena *arena, size_t size)
{
    if (arena->used > arena->ceiling || size > arena->ceiling - arena->used || size > SIZE_MAX / 2) {
        return NULL;
    }
    size_t wanted = size != 0 ? size : 1;
    size_t rounded = (wanted + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (rounded > arena->ceiling - arena->used) {
        return NULL;
    }
    struct arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->size - chunk->used < rounded) {
        chunk = arena_add_chunk(arena, rounded);
        if (chunk == NULL) {
            return NULL;
        }
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += rounded;
    arena->used += rounded;
    return memory;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    void *memory = arena_alloc_raw(arena, size);

    return memory != NULL ? memset(memory, 0, size) : NULL;
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    return arena_alloc(arena, count * size);
}

struct text arena_copy(struct arena *arena, struct text text)
{
    const struct text absent = { NULL, 0 };

    if (text.data == NULL || text.length == SIZE_MAX) {
        return absent;
    }
    char *bytes = arena_alloc_raw(arena, text.length + 1);
    if (bytes == NULL) {
        return absent;
    }
    if (text.length != 0) {
        memcpy(bytes, text.data, text.length);
    }
    bytes[text.length] = '\0';
    return (struct text){ bytes, text.length };
}
