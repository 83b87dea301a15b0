#include "base/arena.h"
#include "base/block.h"
#include "base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void a_buffer_takes_all_up_to_its_ceiling(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_true(buffer_append_byte(&buffer, (char)('a' + i % 26)));
    }
    assert_false(buffer.is_full);
    assert_int_equal(buffer.length, 1000);
    assert_int_equal(buffer.data[999], 'a' + 999 % 26);
    assert_false(buffer_append_byte(&buffer, 'x'));
    assert_true(buffer.is_full);
    assert_int_equal(buffer.length, 1000);
    assert_true(buffer.capacity <= 1000);
    buffer_fini(&buffer);
}

static void an_append_that_does_not_fit_changes_nothing_and_sticks(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, 8);
    assert_true(buffer_append_c(&buffer, "12345"));
    assert_false(buffer_append_c(&buffer, "6789"));
    assert_true(buffer.is_full);
    assert_false(buffer_append_c(&buffer, "6")); // would fit, but a hole would be hidden
    assert_true(text_equals(buffer_text(&buffer), TEXT("12345")));
    buffer_clear(&buffer);
    assert_false(buffer.is_full);
    assert_true(buffer_append_c(&buffer, "12345678"));
    assert_true(text_equals(buffer_text(&buffer), TEXT("12345678")));
    buffer_fini(&buffer);
}

// The sanitizers' allocators answer an absurd size as malloc does instead of ending the program.
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void an_absurd_length_is_refused(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, SIZE_MAX);
    assert_true(buffer_append_c(&buffer, "x"));
    assert_false(buffer_reserve(&buffer, SIZE_MAX));
    assert_true(buffer.is_full);
    buffer_clear(&buffer);
    assert_false(buffer_reserve(&buffer, SIZE_MAX - 2)); // no such memory
    buffer_fini(&buffer);
}

static void printing_grows_the_buffer_and_fits_exactly(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, 300);
    assert_true(buffer_printf(&buffer, "%0299d", 7));
    assert_int_equal(buffer.length, 299);
    assert_true(buffer_printf(&buffer, "%c", 'x')); // the last byte; the terminator is not counted
    assert_int_equal(buffer.length, 300);
    assert_int_equal(buffer.data[299], 'x');
    assert_false(buffer_printf(&buffer, "%d", 1));
    assert_int_equal(buffer.length, 300);
    buffer_fini(&buffer);
}

static void taking_hands_out_terminated_bytes_and_empties(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, 3);
    assert_true(buffer_append_c(&buffer, "abc"));
    char *taken = buffer_take(&buffer);
    assert_string_equal(taken, "abc");
    assert_int_equal(buffer.length, 0);
    assert_int_equal(buffer.ceiling, 3);
    free(taken);
    taken = buffer_take(&buffer);
    assert_string_equal(taken, "");
    free(taken);
    buffer_fini(&buffer);
}

static void a_block_copies_and_dies_with_its_last_reference(void **state)
{
    (void)state;
    char bytes[] = "a\0b";
    struct block *block = block_create((struct text){ bytes, 3 });
    bytes[0] = 'x';
    struct block *second = block_acquire(block);
    assert_ptr_equal(second, block);
    block_release(&block);
    assert_null(block);
    assert_true(text_equals(block_text(second), TEXT("a\0b")));
    block_release(&second);
    block_release(&second); // NULL is nobody
    assert_null(block_acquire(NULL));
    assert_null(block_text(NULL).data);
}

static void a_block_takes_the_bytes_of_a_buffer(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, 100000);
    for (int i = 0; i < 5000; i++) {
        buffer_append_c(&buffer, "0123456789");
    }
    struct block *block = block_from_buffer(&buffer);
    assert_non_null(block);
    assert_int_equal(block_text(block).length, 50000);
    assert_int_equal(block_text(block).data[49999], '9');
    assert_null(buffer.data);
    block_release(&block);
    block = block_from_buffer(&buffer); // an empty one is a block too
    assert_non_null(block_text(block).data);
    assert_int_equal(block_text(block).length, 0);
    block_release(&block);
    buffer_fini(&buffer);
}

static void a_full_buffer_makes_no_block(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, 2);
    assert_false(buffer_append_c(&buffer, "abc"));
    assert_null(block_from_buffer(&buffer));
    buffer_fini(&buffer);
}

static pthread_barrier_t everybody;

static void *hold_and_let_go(void *argument)
{
    struct block *shared = argument;
    pthread_barrier_wait(&everybody);
    for (int i = 0; i < 20000; i++) {
        struct block *mine = block_acquire(shared);
        assert_int_equal(block_text(mine).length, 5);
        block_release(&mine);
    }
    block_release(&shared);
    return NULL;
}

static void threads_share_a_block(void **state)
{
    (void)state;
    pthread_t threads[4];
    struct block *block = block_create(TEXT("bytes"));
    assert_int_equal(pthread_barrier_init(&everybody, NULL, COUNT_OF(threads)), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hold_and_let_go, block_acquire(block)), 0);
    }
    block_release(&block);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&everybody);
}

static void an_arena_gives_zeroed_aligned_memory_that_does_not_overlap(void **state)
{
    (void)state;
    struct arena arena;
    unsigned char *parts[300];
    arena_init(&arena, 10 * 1024 * 1024);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        size_t size = i % 7 == 0 ? 20000 + i : i;
        parts[i] = arena_alloc(&arena, size);
        assert_non_null(parts[i]);
        assert_int_equal((uintptr_t)parts[i] % 16, 0);
        for (size_t j = 0; j < size; j++) {
            assert_int_equal(parts[i][j], 0);
        }
        memset(parts[i], (int)(i % 255) + 1, size);
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        size_t size = i % 7 == 0 ? 20000 + i : i;
        for (size_t j = 0; j < size; j++) {
            assert_int_equal(parts[i][j], (unsigned char)(i % 255 + 1));
        }
    }
    arena_fini(&arena);
    assert_int_equal(arena.used, 0);
}

static void an_arena_stops_at_its_ceiling(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 100);
    assert_non_null(arena_alloc(&arena, 64));
    assert_null(arena_alloc(&arena, 33)); // rounded it is 48, and 112 is over
    assert_non_null(arena_alloc(&arena, 32));
    assert_null(arena_alloc(&arena, 5));
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc_array(&arena, SIZE_MAX / 2, 4));
    assert_true(arena.used <= 100);
    arena_fini(&arena);
}

static void an_arena_copy_is_terminated_and_absence_stays(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 64);
    struct text copy = arena_copy(&arena, TEXT("abc"));
    assert_string_equal(copy.data, "abc");
    assert_int_equal(copy.length, 3);
    assert_null(arena_copy(&arena, text_of(NULL)).data);
    assert_non_null(arena_copy(&arena, TEXT("")).data);
    assert_null(arena_copy(&arena, TEXT("0123456789012345678901234567890123456789")).data);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_takes_all_up_to_its_ceiling),
        cmocka_unit_test(an_append_that_does_not_fit_changes_nothing_and_sticks),
        cmocka_unit_test(an_absurd_length_is_refused),
        cmocka_unit_test(printing_grows_the_buffer_and_fits_exactly),
        cmocka_unit_test(taking_hands_out_terminated_bytes_and_empties),
        cmocka_unit_test(a_block_copies_and_dies_with_its_last_reference),
        cmocka_unit_test(a_block_takes_the_bytes_of_a_buffer),
        cmocka_unit_test(a_full_buffer_makes_no_block),
        cmocka_unit_test(threads_share_a_block),
        cmocka_unit_test(an_arena_gives_zeroed_aligned_memory_that_does_not_overlap),
        cmocka_unit_test(an_arena_stops_at_its_ceiling),
        cmocka_unit_test(an_arena_copy_is_terminated_and_absence_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
