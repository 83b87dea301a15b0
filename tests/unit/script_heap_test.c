#include "script/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 400, ROUNDS = 40000, SIZE_MOST = 200000 };

struct block {
    unsigned char *bytes;
    size_t size;
    unsigned char mark;
};

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static size_t draw_size(uint32_t *seed)
{
    static const size_t around[] = { 1, 16, 17, 512, 513, 640, 641, 4096, 65536, 65537, 131072, SIZE_MOST - 20 };
    size_t size = draw(seed) % 8 == 0 ? around[draw(seed) % COUNT_OF(around)] + draw(seed) % 3 : draw(seed) % 300;

    return size == 0 ? 1 : size;
}

static void assert_whole(const struct block *block, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(block->bytes[i], block->mark);
    }
}

static void blocks_never_overlap_and_keep_their_bytes(void **state)
{
    static struct block blocks[BLOCKS];
    struct heap heap;
    uint32_t seed = 7;
    size_t sum = 0;
    (void)state;

    heap_init(&heap);
    for (int round = 0; round < ROUNDS; round++) {
        struct block *block = &blocks[draw(&seed) % BLOCKS];
        size_t size = draw(&seed) % 4 == 0 ? 0 : draw_size(&seed);
        assert_whole(block, block->size);
        sum = sum - block->size + size;
        unsigned char *bytes = heap_allocate(&heap, block->bytes, block->size, size);
        assert_true((bytes == NULL) == (size == 0));
        assert_int_equal((uintptr_t)bytes % 16, 0);
        block->bytes = bytes;
        assert_whole(block, block->size < size ? block->size : size);
        block->size = size;
        block->mark = (unsigned char)round;
        if (size > 0) {
            memset(bytes, block->mark, size);
        }
        assert_int_equal(heap.used, sum);
        assert_true(heap.reserved >= heap.used);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        assert_whole(&blocks[i], blocks[i].size);
        (void)heap_allocate(&heap, blocks[i].bytes, blocks[i].size, 0);
    }
    assert_int_equal(heap.used, 0);
    assert_false(heap.is_exhausted);
    heap_fini(&heap);
}

static void the_limit_refuses_growth_and_nothing_else(void **state)
{
    struct heap heap;
    (void)state;

    heap_init(&heap);
    heap.limit = 1000;
    char *block = heap_allocate(&heap, NULL, 5, 900); // Lua tells a kind as the old size of a new object
    assert_non_null(block);
    assert_int_equal(heap.used, 900);
    assert_null(heap_allocate(&heap, NULL, 0, 101));
    assert_true(heap.is_exhausted);
    assert_int_equal(heap.used, 900);
    heap.limit = 10;
    block = heap_allocate(&heap, block, 900, 800);
    assert_non_null(block);
    (void)heap_allocate(&heap, block, 800, 0);
    assert_int_equal(heap.used, 0);
    heap_fini(&heap);
}

static void what_was_freed_is_used_again(void **state)
{
    struct heap heap;
    (void)state;

    heap_init(&heap);
    for (int i = 0; i < 100000; i++) {
        void *block = heap_allocate(&heap, NULL, 0, 48);
        (void)heap_allocate(&heap, block, 48, 0);
    }
    assert_true(heap.reserved <= 1 << 20);
    heap_fini(&heap);
}

static void a_heap_is_worn_when_most_of_it_lies_idle(void **state)
{
    enum { COUNT = 48 << 10, SIZE = 1024 };
    static void *blocks[COUNT];
    struct heap heap;
    (void)state;

    heap_init(&heap);
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = heap_allocate(&heap, NULL, 0, SIZE);
        assert_non_null(blocks[i]);
    }
    assert_false(heap_is_worn(&heap));
    for (size_t i = 0; i < COUNT; i++) {
        (void)heap_allocate(&heap, blocks[i], SIZE, 0);
    }
    assert_true(heap_is_worn(&heap));
    heap_fini(&heap);
    assert_int_equal(heap.reserved, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_never_overlap_and_keep_their_bytes),
        cmocka_unit_test(the_limit_refuses_growth_and_nothing_else),
        cmocka_unit_test(what_was_freed_is_used_again),
        cmocka_unit_test(a_heap_is_worn_when_most_of_it_lies_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
