#include "io/loop.h"

#include "base/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

// One turn is: prepare (fire what is due, arm the timerfd) -> poll -> socket events and messages, each preceded by the
// timers that are due -> check (deferred messages).
//
// The timerfd is set before the poll, and only to an earlier time than it has: when the earliest timer was cancelled or
// moved away it fires once for nothing, which costs less than setting it each turn.
//
// The inbox is a stack that senders push with one compare-and-swap; the loop takes it whole and turns it round. There
// is no lock that a demoted worker could hold. Who pushes onto an empty stack wakes the loop.

enum { LOOP_FIRES_PER_BREATH = 1024 }; // timers that always start themselves anew must not shut out the sockets

struct loop_watch {
    uv_poll_t poll;
    struct loop *loop;
    loop_watch_fn on_event;
    void *owner;
    int fd;
};

struct loop {
    uv_loop_t uv;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle; // active while messages are deferred: the poll must not wait
    struct timer_heap timers;
    struct loop_watch *timer_watch;
    struct loop_watch *inbox_watch;
    int timer_fd;
    int inbox_fd;
    uint64_t armed_us; // what the timerfd is set to; UINT64_MAX: not set
    uint64_t polled_us;
    bool is_polled_fresh; // polled_us belongs to this turn
    struct list deferred;
    _Atomic(struct list *) inbox;
    atomic_bool is_stopping;
    struct loop_stats stats;
    void (*observe_lateness)(void *context, uint64_t late_us);
    void *observe_context;
    void (*look)(void *context); // in a long turn
    void *look_context;
    uint64_t look_every_us;
    uint64_t look_us; // the next one; UINT64_MAX: the poll comes first
    bool is_looking;
};

// ------------------------------------------------------------------------------------------------------------ timers

enum status loop_timer_start(struct loop *loop, struct timer *timer, uint64_t at_us)
{
    return timer_heap_start(&loop->timers, timer, at_us);
}

void loop_timer_cancel(struct loop *loop, struct timer *timer)
{
    timer_heap_cancel(&loop->timers, timer);
}

void loop_on_long_turn(struct loop *loop, uint64_t every_us, void (*look)(void *context), void *context)
{
    loop->look_every_us = every_us;
    loop->look = look;
    loop->look_context = context;
}

static void loop_look(struct loop *loop, uint64_t now_us)
{
    if (now_us < loop->look_us || loop->look == NULL || loop->is_looking) {
        return;
    }
    loop->is_looking = true;
    loop->look(loop->look_context);
    loop->is_looking = false;
    loop->look_us = loop->look_us == UINT64_MAX ? UINT64_MAX : clock_now_us() + loop->look_every_us;
}

void loop_breathe(struct loop *loop)
{
    for (int i = 0; i < LOOP_FIRES_PER_BREATH; i++) {
        uint64_t due_us = timer_heap_next_us(&loop->timers);
        uint64_t now_us = due_us != UINT64_MAX || loop->look != NULL ? clock_now_us() : 0;

        if (due_us > now_us) {
            loop_look(loop, now_us);
            return;
        }
        loop->stats.timers_fired++;
        if (now_us - due_us > loop->stats.timer_late_max_us) {
            loop->stats.timer_late_max_us = now_us - due_us;
        }
        if (loop->observe_lateness != NULL) {
            loop->observe_lateness(loop->observe_context, now_us - due_us);
        }
        timer_heap_fire(&loop->timers, now_us);
    }
}

static void loop_arm(struct loop *loop)
{
    uint64_t next_us = timer_heap_next_us(&loop->timers);

    if (next_us >= loop->armed_us) {
        return;
    }
    uint64_t at_us = next_us != 0 ? next_us : 1; // an all-zero value would disarm it
    struct itimerspec spec = { 0 };
    spec.it_value.tv_sec = (time_t)(at_us / 1000000);
    spec.it_value.tv_nsec = (long)(at_us % 1000000) * 1000;
    require(timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0);
    loop->armed_us = next_us;
}

// The timers themselves were fired before this event; here only its being readable is taken back.
static void loop_on_timer_fd(void *owner, int fd, unsigned events)
{
    struct loop *loop = owner;
    uint64_t expirations;
    ssize_t taken;
    (void)events;

    do {
        taken = read(fd, &expirations, sizeof(expirations));
    } while (taken < 0 && errno == EINTR);
    loop->armed_us = UINT64_MAX;
}

// ----------------------------------------------------------------------------------------------------------- watches

static void loop_note_poll(struct loop *loop)
{
    if (!loop->is_polled_fresh) {
        loop->polled_us = clock_now_us();
        loop->look_us = loop->polled_us + loop->look_every_us;
        loop->is_polled_fresh = true;
    }
}

uint64_t loop_polled_us(const struct loop *loop)
{
    return loop->polled_us;
}

static void loop_on_poll(uv_poll_t *poll, int status, int uv_events)
{
    struct loop_watch *watch = poll->data;
    struct loop *loop = watch->loop;
    unsigned events = 0;

    loop_note_poll(loop);
    loop_breathe(loop);
    if (uv_is_closing((uv_handle_t *)poll)) {
        return; // a timer has just given this watch up
    }
    if (status < 0) {
        events |= LOOP_ERROR;
    }
    if ((uv_events & UV_READABLE) != 0) {
        events |= LOOP_READABLE;
    }
    if ((uv_events & UV_WRITABLE) != 0) {
        events |= LOOP_WRITABLE;
    }
    if ((uv_events & UV_DISCONNECT) != 0) {
        events |= LOOP_DISCONNECT;
    }
    watch->on_event(watch->owner, watch->fd, events);
}

static void loop_on_watch_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static int loop_watch_start(struct loop_watch *watch, unsigned events)
{
    int uv_events = 0;

    if ((events & LOOP_READABLE) != 0) {
        uv_events |= UV_READABLE;
    }
    if ((events & LOOP_WRITABLE) != 0) {
        uv_events |= UV_WRITABLE;
    }
    if ((events & LOOP_DISCONNECT) != 0) {
        uv_events |= UV_DISCONNECT;
    }
    return uv_events != 0 ? uv_poll_start(&watch->poll, uv_events, loop_on_poll) : uv_poll_stop(&watch->poll);
}

struct loop_watch *loop_watch(struct loop *loop, int fd, unsigned events, loop_watch_fn on_event, void *owner)
{
    struct loop_watch *watch = calloc(1, sizeof(*watch));

    if (watch == NULL) {
        return NULL;
    }
    watch->loop = loop;
    watch->on_event = on_event;
    watch->owner = owner;
    watch->fd = fd;
    watch->poll.data = watch;
    if (uv_poll_init(&loop->uv, &watch->poll, fd) != 0) {
        free(watch);
        return NULL;
    }
    if (loop_watch_start(watch, events) != 0) {
        loop_unwatch(&watch);
    }
    return watch;
}

void loop_watch_change(struct loop_watch *watch, unsigned events)
{
    // uv_poll_start fails only for a handle that is closing, which a caller cannot hold.
    require(loop_watch_start(watch, events) == 0);
}

void loop_unwatch(struct loop_watch **watch)
{
    struct loop_watch *gone = *watch;

    *watch = NULL;
    if (gone != NULL) {
        uv_close((uv_handle_t *)&gone->poll, loop_on_watch_closed);
    }
}

// ---------------------------------------------------------------------------------------------------------- messages

static void loop_wake(struct loop *loop)
{
    uint64_t one = 1;
    ssize_t written;

    do {
        written = write(loop->inbox_fd, &one, sizeof(one));
    } while (written < 0 && errno == EINTR);
    // EAGAIN would mean 2^64 - 1 unread wake-ups: it is readable all the same.
}

void loop_post(struct loop *loop, struct message *message)
{
    struct list *top = atomic_load_explicit(&loop->inbox, memory_order_relaxed);

    do {
        message->node.next = top;
    } while (!atomic_compare_exchange_weak_explicit(&loop->inbox, &top, &message->node, memory_order_acq_rel,
                                                    memory_order_relaxed));
    if (top == NULL) {
        loop_wake(loop);
    }
}

static void loop_receive(struct loop *loop, struct message *message)
{
    list_init(&message->node);
    loop->stats.messages++;
    message->on_receive(message);
}

// Takes the stack whole and serves it in the order in which it was pushed.
static void loop_drain_inbox(struct loop *loop)
{
    struct list *top = atomic_exchange_explicit(&loop->inbox, NULL, memory_order_acquire);
    struct list *first = NULL;

    while (top != NULL) {
        struct list *below = top->next;
        top->next = first;
        first = top;
        top = below;
    }
    while (first != NULL) {
        struct message *message = CONTAINER_OF(first, struct message, node);
        first = first->next;
        loop_breathe(loop);
        loop_receive(loop, message);
    }
}

static void loop_on_inbox(void *owner, int fd, unsigned events)
{
    struct loop *loop = owner;
    uint64_t count;
    ssize_t taken;
    (void)events;

    do {
        taken = read(fd, &count, sizeof(count)); // before the drain: later senders wake us again
    } while (taken < 0 && errno == EINTR);
    loop_drain_inbox(loop);
    if (atomic_load(&loop->is_stopping)) {
        uv_stop(&loop->uv);
    }
}

void loop_defer(struct loop *loop, struct message *message)
{
    if (list_is_empty(&message->node)) {
        list_append(&loop->deferred, &message->node);
    }
}

void loop_defer_cancel(struct message *message)
{
    list_remove(&message->node);
}

// Those deferred by a message of this turn wait for the next one.
static void loop_drain_deferred(struct loop *loop)
{
    struct list due;

    list_init(&due);
    while (!list_is_empty(&loop->deferred)) {
        list_append(&due, list_take_first(&loop->deferred));
    }
    while (!list_is_empty(&due)) {
        loop_breathe(loop);
        // Looked at again: a timer may have taken the last one back.
        struct list *node = list_take_first(&due);
        if (node != NULL) {
            loop_receive(loop, CONTAINER_OF(node, struct message, node));
        }
    }
}

// ------------------------------------------------------------------------------------------------------------- turns

static void loop_on_idle(uv_idle_t *idle)
{
    (void)idle;
}

static void loop_on_prepare(uv_prepare_t *prepare)
{
    struct loop *loop = prepare->data;

    loop->stats.turns++;
    loop->look_us = UINT64_MAX; // the poll is next
    loop_breathe(loop);
    if (list_is_empty(&loop->deferred)) {
        uv_idle_stop(&loop->idle);
    } else {
        uv_idle_start(&loop->idle, loop_on_idle);
    }
    loop_arm(loop);
    loop->is_polled_fresh = false;
}

static void loop_on_check(uv_check_t *check)
{
    struct loop *loop = check->data;

    loop_note_poll(loop);
    loop_drain_deferred(loop);
}

void loop_run(struct loop *loop)
{
    while (!atomic_load(&loop->is_stopping)) {
        uv_run(&loop->uv, UV_RUN_DEFAULT);
    }
    loop_drain_inbox(loop);
    atomic_store(&loop->is_stopping, false);
}

void loop_stop(struct loop *loop)
{
    atomic_store(&loop->is_stopping, true);
    loop_wake(loop);
}

void loop_stats(const struct loop *loop, struct loop_stats *stats)
{
    *stats = loop->stats;
}

void loop_on_timer_lateness(struct loop *loop, void (*observe)(void *context, uint64_t late_us), void *context)
{
    loop->observe_lateness = observe;
    loop->observe_context = context;
}

// --------------------------------------------------------------------------------------------------- birth and death

static bool loop_open(struct loop *loop)
{
    loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    loop->inbox_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->timer_fd < 0 || loop->inbox_fd < 0) {
        return false;
    }
    loop->timer_watch = loop_watch(loop, loop->timer_fd, LOOP_READABLE, loop_on_timer_fd, loop);
    loop->inbox_watch = loop_watch(loop, loop->inbox_fd, LOOP_READABLE, loop_on_inbox, loop);
    return loop->timer_watch != NULL && loop->inbox_watch != NULL;
}

enum status loop_create(struct loop **loop)
{
    struct loop *made = calloc(1, sizeof(*made));

    *loop = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (uv_loop_init(&made->uv) != 0) {
        free(made);
        return STATUS_IO;
    }
    timer_heap_init(&made->timers);
    list_init(&made->deferred);
    made->timer_fd = made->inbox_fd = -1;
    made->armed_us = made->look_us = UINT64_MAX;
    made->polled_us = clock_now_us();
    uv_prepare_init(&made->uv, &made->prepare);
    uv_check_init(&made->uv, &made->check);
    uv_idle_init(&made->uv, &made->idle);
    made->prepare.data = made->check.data = made->idle.data = made;
    uv_prepare_start(&made->prepare, loop_on_prepare);
    uv_check_start(&made->check, loop_on_check);
    if (!loop_open(made)) {
        loop_destroy(&made);
        return STATUS_IO;
    }
    *loop = made;
    return STATUS_OK;
}

void loop_destroy(struct loop **loop)
{
    struct loop *gone = *loop;

    *loop = NULL;
    if (gone == NULL) {
        return;
    }
    loop_drain_inbox(gone); // what was posted after the loop had stopped is received as well
    require(list_is_empty(&gone->deferred));
    require(timer_heap_next_us(&gone->timers) == UINT64_MAX);
    loop_unwatch(&gone->timer_watch);
    loop_unwatch(&gone->inbox_watch);
    uv_close((uv_handle_t *)&gone->prepare, NULL);
    uv_close((uv_handle_t *)&gone->check, NULL);
    uv_close((uv_handle_t *)&gone->idle, NULL);
    uv_run(&gone->uv, UV_RUN_DEFAULT);      // close callbacks
    require(uv_loop_close(&gone->uv) == 0); // a watch that is still there is a bug of its owner
    if (gone->timer_fd >= 0) {
        close(gone->timer_fd);
    }
    if (gone->inbox_fd >= 0) {
        close(gone->inbox_fd);
    }
    timer_heap_fini(&gone->timers);
    free(gone);
}
