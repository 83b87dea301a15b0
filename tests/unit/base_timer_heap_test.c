#include "base/timer_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

struct probe {
    struct timer timer;
    size_t number;
};

static size_t fired[4096];
static size_t fired_count;
static struct timer_heap heap;

static void note(struct timer *timer)
{
    assert_false(timer_is_running(timer));
    fired[fired_count++] = CONTAINER_OF(timer, struct probe, timer)->number;
}

static int start_empty(void **state)
{
    (void)state;
    fired_count = 0;
    timer_heap_init(&heap);
    return 0;
}

static int end(void **state)
{
    (void)state;
    timer_heap_fini(&heap);
    return 0;
}

static void start(struct probe *probe, size_t number, uint64_t at_us)
{
    probe->timer.on_due = note;
    probe->number = number;
    assert_int_equal(timer_heap_start(&heap, &probe->timer, at_us), STATUS_OK);
    assert_true(timer_is_running(&probe->timer));
}

static void an_empty_heap_is_due_never(void **state)
{
    (void)state;
    assert_true(timer_heap_next_us(&heap) == UINT64_MAX);
    assert_false(timer_heap_fire(&heap, UINT64_MAX));
}

static void a_timer_fires_at_its_time_and_not_before(void **state)
{
    (void)state;
    struct probe probe = { 0 };
    start(&probe, 7, 100);
    assert_int_equal(timer_heap_next_us(&heap), 100);
    assert_false(timer_heap_fire(&heap, 99));
    assert_true(timer_heap_fire(&heap, 100));
    assert_false(timer_heap_fire(&heap, 1000));
    assert_int_equal(fired_count, 1);
    assert_int_equal(fired[0], 7);
}

static void equal_times_fire_in_the_order_they_were_started(void **state)
{
    (void)state;
    static struct probe probes[100];
    memset(probes, 0, sizeof(probes));
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        start(&probes[i], i, 50);
    }
    start(&probes[0], 0, 50); // started again: now the last
    while (timer_heap_fire(&heap, 50)) {
    }
    assert_int_equal(fired_count, 100);
    for (size_t i = 0; i < 99; i++) {
        assert_int_equal(fired[i], i + 1);
    }
    assert_int_equal(fired[99], 0);
}

static void a_running_timer_can_be_moved_both_ways(void **state)
{
    (void)state;
    struct probe a = { 0 };
    struct probe b = { 0 };
    start(&a, 1, 100);
    start(&b, 2, 200);
    start(&b, 2, 50);
    assert_int_equal(timer_heap_next_us(&heap), 50);
    start(&b, 2, 300);
    assert_int_equal(timer_heap_next_us(&heap), 100);
    assert_int_equal(heap.count, 2);
    timer_heap_cancel(&heap, &a.timer);
    timer_heap_cancel(&heap, &a.timer);
    assert_int_equal(timer_heap_next_us(&heap), 300);
    timer_heap_cancel(&heap, &b.timer);
    assert_int_equal(heap.count, 0);
}

static struct probe victim;

static void cancel_the_victim_and_start_again(struct timer *timer)
{
    fired[fired_count++] = 1;
    timer_heap_cancel(&heap, &victim.timer);
    assert_int_equal(timer_heap_start(&heap, timer, 500), STATUS_OK);
}

static void a_callback_may_cancel_and_start(void **state)
{
    (void)state;
    struct timer killer = { .on_due = cancel_the_victim_and_start_again };
    memset(&victim, 0, sizeof(victim));
    start(&victim, 2, 10);
    assert_int_equal(timer_heap_start(&heap, &killer, 9), STATUS_OK);
    assert_true(timer_heap_fire(&heap, 10));
    assert_false(timer_heap_fire(&heap, 10));
    assert_int_equal(fired_count, 1);
    assert_int_equal(timer_heap_next_us(&heap), 500);
    timer_heap_cancel(&heap, &killer);
}

// Seeded random starts, moves and cancels against a plain search for the least (time, order).
static void a_thousand_random_steps_agree_with_a_plain_list(void **state)
{
    (void)state;
    static struct probe probes[200];
    unsigned seed = 12345;
    memset(probes, 0, sizeof(probes));
    for (int step = 0; step < 20000; step++) {
        struct probe *probe = &probes[(unsigned)rand_r(&seed) % COUNT_OF(probes)];
        int what = rand_r(&seed) % 4;
        if (what < 2) {
            start(probe, (size_t)(probe - probes), (uint64_t)(rand_r(&seed) % 50));
        } else if (what == 2) {
            timer_heap_cancel(&heap, &probe->timer);
        } else {
            const struct probe *least = NULL;
            for (size_t i = 0; i < COUNT_OF(probes); i++) {
                const struct timer *timer = &probes[i].timer;
                if (timer_is_running(timer) &&
                    (least == NULL || timer->at_us < least->timer.at_us ||
                     (timer->at_us == least->timer.at_us && timer->order < least->timer.order))) {
                    least = &probes[i];
                }
            }
            fired_count = 0;
            assert_true(timer_heap_next_us(&heap) == (least != NULL ? least->timer.at_us : UINT64_MAX));
            assert_int_equal(timer_heap_fire(&heap, 50), least != NULL);
            if (least != NULL) {
                assert_int_equal(fired[0], least->number);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_empty_heap_is_due_never, start_empty, end),
        cmocka_unit_test_setup_teardown(a_timer_fires_at_its_time_and_not_before, start_empty, end),
        cmocka_unit_test_setup_teardown(equal_times_fire_in_the_order_they_were_started, start_empty, end),
        cmocka_unit_test_setup_teardown(a_running_timer_can_be_moved_both_ways, start_empty, end),
        cmocka_unit_test_setup_teardown(a_callback_may_cancel_and_start, start_empty, end),
        cmocka_unit_test_setup_teardown(a_thousand_random_steps_agree_with_a_plain_list, start_empty, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
