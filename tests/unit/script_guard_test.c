// Guard: whose CPU time counts against a section, though the clock is not asked at each.

#include "base/clock.h"
#include "script/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

enum { LIMIT_US = 200 };

static void on_watch(void *context, uint64_t check_us)
{
    *(uint64_t *)context = check_us;
}

/// Time that passes, but not for this thread.
static void starve(uint64_t us)
{
    struct timespec pause = { .tv_nsec = (long)us * 1000 };
    (void)nanosleep(&pause, NULL);
}

static void burn(uint64_t cpu_us)
{
    uint64_t until_us = clock_thread_cpu_us() + cpu_us;
    while (clock_thread_cpu_us() < until_us) {
    }
}

static void a_section_that_got_no_processor_is_not_stopped(void **state)
{
    uint64_t check_us = 0, next_us = 0;
    struct guard guard;
    struct sandbox sandbox = { .is_stopped = false };
    struct guard_blame blame = { .candidate = 0 };
    (void)state;

    guard_init(&guard, on_watch, &check_us);
    guard_attach(&guard);
    for (int i = 0; i < 20; i++) {
        (void)guard_read_cpu_us(&guard);
        starve(300); // which the reading counts as used
        guard_enter(&guard, &sandbox, &blame, LIMIT_US);
        assert_false(guard_check(&guard, check_us, &next_us));
        assert_int_equal(guard.signalled_us, 0);
        assert_true(next_us > check_us);
        guard.is_inside = false; // it ends without the sandbox, of which there is none
        atomic_store(&guard.armed, 0);
    }
    guard_detach(&guard);
    guard_fini(&guard);
}

static void what_an_earlier_section_has_used_is_not_held_against_the_next(void **state)
{
    uint64_t check_us = 0, next_us = 0;
    struct guard guard;
    struct sandbox sandbox = { .is_stopped = false };
    struct guard_blame blame = { .candidate = 0 };
    (void)state;

    guard_init(&guard, on_watch, &check_us);
    guard_attach(&guard);
    (void)guard_read_cpu_us(&guard);
    burn(20000);
    guard_enter(&guard, &sandbox, &blame, 10000);
    assert_false(guard_check(&guard, check_us, &next_us));
    assert_int_equal(guard.signalled_us, 0);
    assert_true(next_us > check_us);
    guard.is_inside = false;
    atomic_store(&guard.armed, 0);
    guard_detach(&guard);
    guard_fini(&guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section_that_got_no_processor_is_not_stopped),
        cmocka_unit_test(what_an_earlier_section_has_used_is_not_held_against_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
