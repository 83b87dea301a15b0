// When libcurl is entered again: at a time, at once, never; and sockets are not kept waiting by "at once".

#include "base/clock.h"
#include "io/fetch_wake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_US = 10 * 1000 * 1000, ENOUGH = 50 };

struct wake_world {
    struct loop *loop;
    struct wake wake;
    struct timer timer;
    unsigned due;
    unsigned due_at_event;
    bool is_restless; // it always wants to go on at once
};

static void on_due(void *context)
{
    struct wake_world *world = context;

    world->due++;
    if (world->is_restless && world->due < 100 * ENOUGH) {
        wake_set(&world->wake, 0);
    } else {
        loop_stop(world->loop);
    }
}

static void on_event(void *owner, int fd, unsigned events)
{
    struct wake_world *world = owner;
    (void)fd;
    (void)events;

    world->due_at_event = world->due;
    loop_stop(world->loop);
}

static void on_timer(struct timer *timer)
{
    loop_stop(CONTAINER_OF(timer, struct wake_world, timer)->loop);
}

static void run(struct wake_world *world, uint64_t us)
{
    world->timer.on_due = on_timer;
    assert_int_equal(loop_timer_start(world->loop, &world->timer, clock_now_us() + us), STATUS_OK);
    loop_run(world->loop);
    loop_timer_cancel(world->loop, &world->timer);
}

static void open_world(struct wake_world *world)
{
    *world = (struct wake_world){ .due_at_event = 100 * ENOUGH };
    assert_int_equal(loop_create(&world->loop), STATUS_OK);
    assert_true(wake_init(&world->wake, world->loop, on_due, world));
}

static void close_world(struct wake_world *world)
{
    wake_fini(&world->wake);
    loop_destroy(&world->loop);
}

static void it_comes_at_its_time_or_at_once_and_only_once(void **state)
{
    struct wake_world world;
    (void)state;

    open_world(&world);
    for (long timeout_ms = 0; timeout_ms < 3; timeout_ms++) {
        uint64_t at_us = clock_now_us() + (uint64_t)timeout_ms * 1000;
        world.due = 0;
        wake_set(&world.wake, timeout_ms);
        run(&world, PATIENCE_US);
        assert_int_equal(world.due, 1);
        assert_true(clock_now_us() >= at_us);
        run(&world, 5000);
        assert_int_equal(world.due, 1);
    }
    close_world(&world);
}

static void what_is_set_later_counts(void **state)
{
    struct wake_world world;
    (void)state;

    open_world(&world);
    wake_set(&world.wake, 0);
    wake_set(&world.wake, -1);
    run(&world, 5000);
    assert_int_equal(world.due, 0);
    wake_set(&world.wake, 1);
    wake_set(&world.wake, -1);
    run(&world, 5000);
    assert_int_equal(world.due, 0);
    wake_set(&world.wake, 60 * 1000);
    wake_set(&world.wake, 0);
    run(&world, PATIENCE_US);
    assert_int_equal(world.due, 1);
    close_world(&world);
}

static void sockets_come_before_the_next_at_once(void **state)
{
    struct wake_world world;
    int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    (void)state;

    assert_true(fd >= 0);
    open_world(&world);
    world.is_restless = true;
    struct loop_watch *watch = loop_watch(world.loop, fd, LOOP_READABLE, on_event, &world);
    assert_non_null(watch);
    wake_set(&world.wake, 0);
    run(&world, PATIENCE_US);
    assert_true(world.due_at_event < ENOUGH);
    loop_unwatch(&watch);
    close(fd);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_at_its_time_or_at_once_and_only_once),
        cmocka_unit_test(what_is_set_later_counts),
        cmocka_unit_test(sockets_come_before_the_next_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
