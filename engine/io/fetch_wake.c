#include "io/fetch_wake.h"

#include "base/clock.h"

// The timer always runs, at a far time when there is no other: moving it needs no memory. What is to come at once is a
// message, for a timer that is due goes before the sockets.

static const uint64_t FAR_US = UINT64_MAX - 1;

static void wake_on_timer(struct timer *timer)
{
    struct wake *wake = CONTAINER_OF(timer, struct wake, timer);

    require(loop_timer_start(wake->loop, timer, FAR_US) == STATUS_OK); // takes the place it has just left
    wake->on_due(wake->context);
}

static void wake_on_message(struct message *message)
{
    struct wake *wake = CONTAINER_OF(message, struct wake, again);

    wake->on_due(wake->context);
}

bool wake_init(struct wake *wake, struct loop *loop, void (*on_due)(void *context), void *context)
{
    *wake = (struct wake){ .loop = loop, .on_due = on_due, .context = context };
    wake->timer.on_due = wake_on_timer;
    wake->again.on_receive = wake_on_message;
    list_init(&wake->again.node);
    return loop_timer_start(loop, &wake->timer, FAR_US) == STATUS_OK;
}

void wake_fini(struct wake *wake)
{
    loop_timer_cancel(wake->loop, &wake->timer);
    loop_defer_cancel(&wake->again);
}

void wake_set(struct wake *wake, long timeout_ms)
{
    uint64_t at_us = timeout_ms > 0 ? clock_now_us() + (uint64_t)timeout_ms * 1000 : FAR_US;

    if (timeout_ms == 0) {
        loop_defer(wake->loop, &wake->again);
    } else {
        loop_defer_cancel(&wake->again);
    }
    require(loop_timer_start(wake->loop, &wake->timer, at_us) == STATUS_OK);
}
