// The loop: timers that are never early, messages from other threads, watches.

#include "base/clock.h"
#include "io/loop.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { GUARD_US = 20 * 1000 * 1000 }; // a test that hangs fails instead

struct guard {
    struct timer timer;
    struct loop *loop;
    bool has_fired;
};

static void guard_on_due(struct timer *timer)
{
    struct guard *guard = CONTAINER_OF(timer, struct guard, timer);
    guard->has_fired = true;
    loop_stop(guard->loop);
}

static void run_guarded(struct loop *loop)
{
    struct guard guard = { .timer = { .on_due = guard_on_due }, .loop = loop };

    assert_int_equal(loop_timer_start(loop, &guard.timer, clock_now_us() + GUARD_US), STATUS_OK);
    loop_run(loop);
    loop_timer_cancel(loop, &guard.timer);
    assert_false(guard.has_fired);
}

static struct loop *make_loop(void)
{
    struct loop *loop;
    assert_int_equal(loop_create(&loop), STATUS_OK);
    return loop;
}

// ------------------------------------------------------------------------------------------------------------ timers

enum { MANY = 200 };

struct shot {
    struct timer timer;
    struct shooting *all;
    uint64_t fired_us;
    unsigned place; // in the order of firing, from 1
};

struct shooting {
    struct loop *loop;
    struct shot shots[MANY];
    unsigned expected;
    unsigned fired;
};

static void shot_on_due(struct timer *timer)
{
    struct shot *shot = CONTAINER_OF(timer, struct shot, timer);

    shot->fired_us = clock_now_us();
    shot->place = ++shot->all->fired;
    if (shot->all->fired == shot->all->expected) {
        loop_stop(shot->all->loop);
    }
}

static void timers_are_never_early_and_keep_their_order(void **state)
{
    struct shooting *all = calloc(1, sizeof(*all));
    uint64_t now_us = clock_now_us();
    (void)state;

    all->loop = make_loop();
    all->expected = MANY;
    for (unsigned i = 0; i < MANY; i++) {
        struct shot *shot = &all->shots[i];
        shot->all = all;
        shot->timer.on_due = shot_on_due;
        // Odd steps of microseconds; each time twice.
        uint64_t at_us = now_us + 2000 + (uint64_t)((i / 2 * 7919) % 100) * 7;
        assert_int_equal(loop_timer_start(all->loop, &shot->timer, at_us), STATUS_OK);
    }
    run_guarded(all->loop);
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(all->shots[i].fired_us >= all->shots[i].timer.at_us);
        for (unsigned k = 0; k < MANY; k++) {
            bool is_before = all->shots[i].timer.at_us < all->shots[k].timer.at_us;
            bool is_same_but_first = all->shots[i].timer.at_us == all->shots[k].timer.at_us && i < k;
            if (is_before || is_same_but_first) {
                assert_true(all->shots[i].place < all->shots[k].place);
            }
        }
    }
    loop_destroy(&all->loop);
    free(all);
}

struct canceller {
    struct timer timer;
    struct loop *loop;
    struct timer *victim;
};

static void canceller_on_due(struct timer *timer)
{
    struct canceller *canceller = CONTAINER_OF(timer, struct canceller, timer);
    loop_timer_cancel(canceller->loop, canceller->victim);
}

static void a_timer_cancelled_by_another_that_is_due_at_once_never_fires(void **state)
{
    struct shooting *all = calloc(1, sizeof(*all));
    uint64_t at_us = clock_now_us();
    (void)state;

    all->loop = make_loop();
    all->expected = 1;
    for (unsigned i = 0; i < 2; i++) {
        all->shots[i].all = all;
        all->shots[i].timer.on_due = shot_on_due;
    }
    struct canceller canceller = { .timer = { .on_due = canceller_on_due },
                                   .loop = all->loop,
                                   .victim = &all->shots[0].timer };
    assert_int_equal(loop_timer_start(all->loop, &canceller.timer, at_us), STATUS_OK);
    assert_int_equal(loop_timer_start(all->loop, &all->shots[0].timer, at_us), STATUS_OK);
    assert_int_equal(loop_timer_start(all->loop, &all->shots[1].timer, at_us + 1000), STATUS_OK);
    run_guarded(all->loop);
    assert_int_equal(all->shots[0].place, 0);
    assert_int_equal(all->shots[1].place, 1);
    loop_destroy(&all->loop);
    free(all);
}

static void timers_before_the_first_microsecond_fire_too(void **state)
{
    struct shooting *all = calloc(1, sizeof(*all));
    (void)state;

    all->loop = make_loop();
    all->expected = 1;
    all->shots[0].all = all;
    all->shots[0].timer.on_due = shot_on_due;
    assert_int_equal(loop_timer_start(all->loop, &all->shots[0].timer, 0), STATUS_OK);
    run_guarded(all->loop);
    assert_int_equal(all->shots[0].place, 1);
    loop_destroy(&all->loop);
    free(all);
}

// A timer that always starts itself anew must not shut out messages.
struct restless {
    struct timer timer;
    struct loop *loop;
};

static void restless_on_due(struct timer *timer)
{
    struct restless *restless = CONTAINER_OF(timer, struct restless, timer);
    assert_int_equal(loop_timer_start(restless->loop, timer, 1), STATUS_OK);
}

struct stopper {
    struct message message;
    struct loop *loop;
    bool is_received;
};

static void stopper_on_receive(struct message *message)
{
    struct stopper *stopper = CONTAINER_OF(message, struct stopper, message);
    stopper->is_received = true;
    loop_stop(stopper->loop);
}

static void a_timer_that_restarts_itself_in_the_past_does_not_shut_out_messages(void **state)
{
    struct loop *loop = make_loop();
    struct restless restless = { .timer = { .on_due = restless_on_due }, .loop = loop };
    struct stopper stopper = { .message = { .on_receive = stopper_on_receive }, .loop = loop };
    (void)state;

    assert_int_equal(loop_timer_start(loop, &restless.timer, 1), STATUS_OK);
    loop_post(loop, &stopper.message);
    run_guarded(loop);
    assert_true(stopper.is_received);
    loop_timer_cancel(loop, &restless.timer);
    loop_destroy(&loop);
}

// ---------------------------------------------------------------------------------------------------------- messages

enum { SENDERS = 4, LETTERS = 5000 };

struct letter {
    struct message message;
    struct post *post;
    unsigned sender;
    unsigned number;
};

struct post {
    struct loop *loop;
    struct letter *letters[SENDERS];
    unsigned next[SENDERS]; // the number expected from each sender
    unsigned received;
    bool is_in_order;
};

static void letter_on_receive(struct message *message)
{
    struct letter *letter = CONTAINER_OF(message, struct letter, message);
    struct post *post = letter->post;

    post->is_in_order = post->is_in_order && letter->number == post->next[letter->sender];
    post->next[letter->sender]++;
    if (++post->received == SENDERS * LETTERS) {
        loop_stop(post->loop);
    }
}

static void *send_letters(void *context)
{
    struct letter *letters = context;

    for (unsigned i = 0; i < LETTERS; i++) {
        loop_post(letters[i].post->loop, &letters[i].message);
    }
    return NULL;
}

static void messages_of_four_threads_come_once_each_and_in_their_order(void **state)
{
    struct post post = { .loop = make_loop(), .is_in_order = true };
    pthread_t threads[SENDERS];
    (void)state;

    for (unsigned s = 0; s < SENDERS; s++) {
        post.letters[s] = calloc(LETTERS, sizeof(struct letter));
        for (unsigned i = 0; i < LETTERS; i++) {
            post.letters[s][i] = (struct letter){ { .on_receive = letter_on_receive }, &post, s, i };
        }
        assert_int_equal(pthread_create(&threads[s], NULL, send_letters, post.letters[s]), 0);
    }
    run_guarded(post.loop);
    for (unsigned s = 0; s < SENDERS; s++) {
        pthread_join(threads[s], NULL);
        assert_int_equal(post.next[s], LETTERS);
        free(post.letters[s]);
    }
    assert_true(post.is_in_order);
    struct loop_stats stats;
    loop_stats(post.loop, &stats);
    assert_int_equal(stats.messages, SENDERS * LETTERS);
    loop_destroy(&post.loop);
}

static void messages_posted_before_the_stop_are_still_received(void **state)
{
    struct loop *loop = make_loop();
    struct stopper stopper = { .message = { .on_receive = stopper_on_receive }, .loop = loop };
    (void)state;

    loop_stop(loop);
    loop_post(loop, &stopper.message);
    loop_run(loop);
    assert_true(stopper.is_received);
    loop_destroy(&loop);
}

struct echo {
    struct message message;
    struct loop *loop;
    unsigned rounds;
    uint64_t turn_of_last;
    bool is_later_each_time;
    bool is_gone;
};

static void echo_on_receive(struct message *message)
{
    struct echo *echo = CONTAINER_OF(message, struct echo, message);
    struct loop_stats stats;

    loop_stats(echo->loop, &stats);
    echo->is_later_each_time = echo->is_later_each_time && stats.turns > echo->turn_of_last;
    echo->turn_of_last = stats.turns;
    if (++echo->rounds == 10) {
        loop_stop(echo->loop);
        return;
    }
    loop_defer(echo->loop, message);
    loop_defer(echo->loop, message); // once is enough
}

static void a_deferred_message_comes_in_the_next_turn_and_only_once(void **state)
{
    struct echo echo = { .message = { .on_receive = echo_on_receive }, .loop = make_loop() };
    struct echo taken_back = { .message = { .on_receive = echo_on_receive }, .loop = echo.loop };
    (void)state;

    echo.is_later_each_time = true;
    list_init(&echo.message.node);
    list_init(&taken_back.message.node);
    loop_defer(echo.loop, &echo.message);
    loop_defer(echo.loop, &taken_back.message);
    loop_defer_cancel(&taken_back.message);
    loop_defer_cancel(&taken_back.message);
    run_guarded(echo.loop);
    assert_int_equal(echo.rounds, 10);
    assert_true(echo.is_later_each_time);
    assert_int_equal(taken_back.rounds, 0);
    loop_destroy(&echo.loop);
}

// Twenty messages of 2 ms each; the timer is due half way. It must not wait for the whole batch.
struct slow_job {
    struct message message;
    struct slow_batch *batch;
};

struct slow_batch {
    struct loop *loop;
    struct timer timer;
    struct slow_job jobs[20];
    unsigned done;
    unsigned done_before_timer;
    bool has_fired;
};

static void slow_job_on_receive(struct message *message)
{
    struct slow_batch *batch = CONTAINER_OF(message, struct slow_job, message)->batch;
    uint64_t until_us = clock_now_us() + 2000;

    while (clock_now_us() < until_us) {
    }
    if (++batch->done == COUNT_OF(batch->jobs)) {
        loop_stop(batch->loop);
    }
}

static void slow_batch_on_due(struct timer *timer)
{
    struct slow_batch *batch = CONTAINER_OF(timer, struct slow_batch, timer);
    batch->has_fired = true;
    batch->done_before_timer = batch->done;
}

static void a_due_timer_fires_between_two_messages_of_one_batch(void **state)
{
    struct slow_batch batch = { .loop = make_loop(), .timer = { .on_due = slow_batch_on_due } };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(batch.jobs); i++) {
        batch.jobs[i] = (struct slow_job){ { .on_receive = slow_job_on_receive }, &batch };
        loop_post(batch.loop, &batch.jobs[i].message);
    }
    assert_int_equal(loop_timer_start(batch.loop, &batch.timer, clock_now_us() + 20000), STATUS_OK);
    run_guarded(batch.loop);
    assert_true(batch.has_fired);
    assert_true(batch.done_before_timer < COUNT_OF(batch.jobs));
    loop_destroy(&batch.loop);
}

struct looker {
    struct slow_batch batch;
    unsigned looks, looks_within, depth;
};

static void looker_look(void *context)
{
    struct looker *looker = context;

    assert_int_equal(looker->depth++, 0);
    loop_breathe(looker->batch.loop); // who looks may do something long
    looker->depth--;
    looker->looks++;
    looker->looks_within += looker->batch.done > 0 && looker->batch.done < COUNT_OF(looker->batch.jobs);
}

static void in_a_long_turn_somebody_may_look_whether_others_wait(void **state)
{
    struct looker looker = { .batch = { .loop = make_loop() } };
    struct slow_batch *batch = &looker.batch;
    (void)state;

    loop_on_long_turn(batch->loop, 4000, looker_look, &looker);
    for (size_t i = 0; i < COUNT_OF(batch->jobs); i++) {
        batch->jobs[i] = (struct slow_job){ { .on_receive = slow_job_on_receive }, batch };
        loop_post(batch->loop, &batch->jobs[i].message);
    }
    run_guarded(batch->loop);
    assert_true(looker.looks_within > 0);
    assert_true(looker.looks <= COUNT_OF(batch->jobs) / 2 + 1); // of jobs that take 2 ms each, not before every one
    loop_destroy(&batch->loop);
}

// ----------------------------------------------------------------------------------------------------------- watches

struct wire_end {
    struct loop *loop;
    struct loop_watch *watch;
    struct loop_watch **other; // given up from inside the event
    unsigned events;
    unsigned calls;
};

static void wire_end_on_event(void *owner, int fd, unsigned events)
{
    struct wire_end *end = owner;
    (void)fd;

    end->events |= events;
    end->calls++;
    if (end->other != NULL) {
        loop_unwatch(end->other);
    }
    loop_unwatch(&end->watch);
    loop_stop(end->loop);
}

static void a_peer_that_leaves_is_told_as_a_disconnect(void **state)
{
    struct wire_end end = { .loop = make_loop() };
    int pair[2];
    (void)state;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    end.watch = loop_watch(end.loop, pair[0], LOOP_DISCONNECT, wire_end_on_event, &end);
    assert_non_null(end.watch);
    uint64_t before_us = clock_now_us();
    shutdown(pair[1], SHUT_WR);
    run_guarded(end.loop);
    assert_true((end.events & LOOP_DISCONNECT) != 0);
    assert_true(loop_polled_us(end.loop) >= before_us);
    close(pair[0]);
    close(pair[1]);
    loop_destroy(&end.loop);
}

static void no_event_comes_after_unwatch_even_within_one_poll(void **state)
{
    struct loop *loop = make_loop();
    struct wire_end ends[2] = { { .loop = loop }, { .loop = loop } };
    int pairs[2][2];
    (void)state;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pairs[i]), 0);
        ends[i].watch = loop_watch(loop, pairs[i][0], LOOP_READABLE, wire_end_on_event, &ends[i]);
        assert_non_null(ends[i].watch);
        assert_int_equal(write(pairs[i][1], "x", 1), 1);
    }
    // Both are ready in the same poll; whoever comes first gives the other one up.
    ends[0].other = &ends[1].watch;
    ends[1].other = &ends[0].watch;
    run_guarded(loop);
    assert_int_equal(ends[0].calls + ends[1].calls, 1);
    for (int i = 0; i < 2; i++) {
        close(pairs[i][0]);
        close(pairs[i][1]);
    }
    loop_destroy(&loop);
}

static void a_watch_can_change_what_it_waits_for(void **state)
{
    struct wire_end end = { .loop = make_loop() };
    int pair[2];
    (void)state;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    end.watch = loop_watch(end.loop, pair[0], LOOP_READABLE, wire_end_on_event, &end);
    assert_non_null(end.watch);
    loop_watch_change(end.watch, LOOP_WRITABLE);
    run_guarded(end.loop);
    assert_int_equal(end.events, LOOP_WRITABLE);
    close(pair[0]);
    close(pair[1]);
    loop_destroy(&end.loop);
}

static void a_descriptor_that_cannot_be_watched_gives_no_watch(void **state)
{
    struct loop *loop = make_loop();
    (void)state;

    assert_null(loop_watch(loop, -1, LOOP_READABLE, wire_end_on_event, NULL));
    loop_destroy(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_are_never_early_and_keep_their_order),
        cmocka_unit_test(a_timer_cancelled_by_another_that_is_due_at_once_never_fires),
        cmocka_unit_test(timers_before_the_first_microsecond_fire_too),
        cmocka_unit_test(a_timer_that_restarts_itself_in_the_past_does_not_shut_out_messages),
        cmocka_unit_test(messages_of_four_threads_come_once_each_and_in_their_order),
        cmocka_unit_test(messages_posted_before_the_stop_are_still_received),
        cmocka_unit_test(a_deferred_message_comes_in_the_next_turn_and_only_once),
        cmocka_unit_test(in_a_long_turn_somebody_may_look_whether_others_wait),
        cmocka_unit_test(a_due_timer_fires_between_two_messages_of_one_batch),
        cmocka_unit_test(a_peer_that_leaves_is_told_as_a_disconnect),
        cmocka_unit_test(no_event_comes_after_unwatch_even_within_one_poll),
        cmocka_unit_test(a_watch_can_change_what_it_waits_for),
        cmocka_unit_test(a_descriptor_that_cannot_be_watched_gives_no_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
