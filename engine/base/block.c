#include "base/block.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct block {
    atomic_uint references;
    struct text text;
    char *taken; // bytes that came from a buffer; NULL: they follow the structure
};

struct block *block_create(struct text text)
{
    if (text.length > SIZE_MAX - sizeof(struct block) - 1) {
        return NULL;
    }
    struct block *block = malloc(sizeof(*block) + text.length + 1);
    if (block == NULL) {
        return NULL;
    }
    char *bytes = (char *)(block + 1);
    if (text.length != 0) {
        memcpy(bytes, text.data, text.length);
    }
    bytes[text.length] = '\0';
    atomic_init(&block->references, 1);
    block->text = (struct text){ bytes, text.length };
    block->taken = NULL;
    return block;
}

// Gives back what doubling left over, when it is worth a call.
static char *block_shrink(char *bytes, size_t length, size_t capacity)
{
    if (capacity - length <= length / 8 + 64) {
        return bytes;
    }
    char *smaller = realloc(bytes, length + 1);
    return smaller != NULL ? smaller : bytes;
}

struct block *block_from_buffer(struct buffer *buffer)
{
    if (buffer->is_full) {
        return NULL;
    }
    struct block *block = malloc(sizeof(*block));
    if (block == NULL) {
        return NULL;
    }
    size_t length = buffer->length;
    size_t capacity = buffer->data != NULL ? buffer->capacity : length;
    char *bytes = buffer_take(buffer);
    if (bytes == NULL) {
        free(block);
        return NULL;
    }
    block->taken = block_shrink(bytes, length, capacity);
    block->text = (struct text){ block->taken, length };
    atomic_init(&block->references, 1);
    return block;
}

struct block *block_acquire(struct block *block)
{
    if (block != NULL) {
        unsigned before = atomic_fetch_add_explicit(&block->references, 1, memory_order_relaxed);
        require(before != 0);
    }
    return block;
}

void block_release(struct block **block)
{
    struct block *gone = *block;

    *block = NULL;
    if (gone == NULL) {
        return;
    }
    unsigned before = atomic_fetch_sub_explicit(&gone->references, 1, memory_order_acq_rel);
    require(before != 0);
    if (before == 1) {
        free(gone->taken);
        free(gone);
    }
}

struct text block_text(const struct block *block)
{
    return block != NULL ? block->text : (struct text){ NULL, 0 };
}

bool block_is_shared(const struct block *block)
{
    return block != NULL && atomic_load_explicit(&block->references, memory_order_acquire) > 1;
}
