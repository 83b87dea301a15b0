// The shelf: what is current is held by whoever took it, and a late loop does not put back what is older.

#include "app/knowledge_shelf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { LOOPS = 4, ROUNDS = 2000 };

static struct latency_curve curve;
static struct knowledge_shelf shelf;

static void put(uint32_t fits, double samples)
{
    curve.samples = samples;
    struct known *known = knowledge_shelf_make(&curve);
    assert_non_null(known);
    knowledge_shelf_put(&shelf, known, fits);
}

static void what_is_newer_is_current_and_what_was_taken_stays(void **state)
{
    (void)state;

    knowledge_shelf_init(&shelf);
    latency_curve_init(&curve);
    assert_null(knowledge_shelf_take(&shelf));
    put(2, 100);
    struct knowledge *second = knowledge_shelf_take(&shelf);
    put(1, 50); // a loop that was slow
    struct knowledge *still = knowledge_shelf_take(&shelf);
    assert_ptr_equal(second, still);
    put(3, 200);
    struct knowledge *third = knowledge_shelf_take(&shelf);
    assert_int_equal(second->latency.samples, 100);
    assert_int_equal(third->latency.samples, 200);
    knowledge_shelf_fini(&shelf);
    assert_int_equal(third->latency.samples, 200);
    knowledge_drop(&second);
    knowledge_drop(&still);
    knowledge_drop(&third);
    assert_null(third);
}

static void what_answers_were_worth_is_in_the_next_one(void **state)
{
    (void)state;
    double items = 0;

    knowledge_shelf_init(&shelf);
    latency_curve_init(&curve);
    for (int i = 0; i < 10; i++) {
        knowledge_shelf_note(&shelf, 3, 7, true, 1000);
    }
    put(1, 100);
    struct knowledge *taken = knowledge_shelf_take(&shelf);
    assert_true(taken->has_win_rate && taken->win_rate == 1);
    assert_true(worth_expect(&known_of(taken)->worth, 3, &items));
    assert_true(items == 7);
    knowledge_drop(&taken);
    knowledge_shelf_fini(&shelf);
}

static void *loop(void *number)
{
    struct latency_curve own;

    latency_curve_init(&own);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct knowledge *taken = knowledge_shelf_take(&shelf);
        uint64_t samples = taken != NULL ? taken->latency.samples : KNOWN_LEAST;
        require(samples >= KNOWN_LEAST);
        own.samples = KNOWN_LEAST + round;
        struct known *known = knowledge_shelf_make(&own);
        require(known != NULL);
        knowledge_shelf_put(&shelf, known, round * LOOPS + *(const uint32_t *)number);
        knowledge_shelf_note(&shelf, round % 20, 1, false, round);
        require(taken == NULL || taken->latency.samples == samples);
        knowledge_drop(&taken);
    }
    return NULL;
}

static void loops_take_and_put_at_once(void **state)
{
    (void)state;
    static const uint32_t numbers[LOOPS] = { 1, 2, 3, 4 };
    pthread_t threads[LOOPS];

    knowledge_shelf_init(&shelf);
    for (size_t i = 0; i < LOOPS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, loop, (void *)(uintptr_t)&numbers[i]), 0);
    }
    for (size_t i = 0; i < LOOPS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    struct knowledge *last = knowledge_shelf_take(&shelf);
    assert_int_equal(last->latency.samples, KNOWN_LEAST + ROUNDS - 1);
    knowledge_drop(&last);
    knowledge_shelf_fini(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_newer_is_current_and_what_was_taken_stays),
        cmocka_unit_test(what_answers_were_worth_is_in_the_next_one),
        cmocka_unit_test(loops_take_and_put_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
