#include "scenario/allocations.h"

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#endif

#ifdef HAS_SANITIZER

bool allocations_are_counted(void)
{
    return false;
}

long allocations_live(void)
{
    return 0;
}

#else

// The names under which the C library keeps its own when a program brings a malloc.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static long live;

bool allocations_are_counted(void)
{
    return true;
}

long allocations_live(void)
{
    return live;
}

void *malloc(size_t size)
{
    void *memory = __libc_malloc(size);
    live += memory != NULL;
    return memory;
}

void *calloc(size_t count, size_t size)
{
    void *memory = __libc_calloc(count, size);
    live += memory != NULL;
    return memory;
}

void *realloc(void *memory, size_t size)
{
    void *moved = __libc_realloc(memory, size);
    live += memory == NULL && moved != NULL;
    live -= memory != NULL && moved == NULL && size == 0;
    return moved;
}

void free(void *memory)
{
    live -= memory != NULL;
    __libc_free(memory);
}

#endif
