#include "support/virtual_fetch.h"

#include "support/virtual_supplier.h"
#include "support/virtual_world.h"

#include "search/part.h"

#include <stdlib.h>

/// A fetch that will be connected or over at a known time.
struct virtual_fetch {
    struct timer timer;
    struct virtual_world *virtual;
    struct fetch *fetch;
    uint32_t number;       // of the request, among those of its exchange
    uint64_t connected_us; // 0: at once
    uint64_t answer_us;
    enum phase phase; // once it is connected
    bool is_end;      // it does not answer by then
};

static struct virtual_world *virtual_of(struct world *world)
{
    return CONTAINER_OF(world, struct virtual_world, world);
}

static void event_at(struct virtual_fetch *event, uint64_t at_us, void (*on_due)(struct timer *timer))
{
    event->timer.on_due = on_due;
    event->virtual->events_running++;
    require(timer_heap_start(&event->virtual->timers, &event->timer, at_us) == STATUS_OK);
}

/// The fetch of a timer that is due.
static struct virtual_fetch *event_of(struct timer *timer)
{
    struct virtual_fetch *event = CONTAINER_OF(timer, struct virtual_fetch, timer);
    event->virtual->events_running--;
    return event;
}

/// Which request of its exchange this one is, from 1 on.
static uint32_t count_asked(struct virtual_world *virtual, const struct virtual_supplier *supplier,
                            const struct virtual_step *step)
{
    for (size_t i = 0; i < virtual->asked_count; i++) {
        struct virtual_asked *asked = &virtual->asked[i];
        if (asked->supplier == supplier && asked->part == step->part && asked->step == step->step) {
            return ++asked->times;
        }
    }
    virtual->asked = realloc(virtual->asked, (virtual->asked_count + 1) * sizeof(*virtual->asked));
    require(virtual->asked != NULL);
    virtual->asked[virtual->asked_count++] = (struct virtual_asked){ supplier, step->part, step->step, 1 };
    return 1;
}

/// Of two that race to connect the first one goes on.
static bool has_lost_race(const struct virtual_fetch *event)
{
    struct fetch_race *race = event->fetch->race;

    if (race != NULL && race->winner == NULL) {
        race->winner = event->fetch;
    }
    return race != NULL && race->winner != event->fetch;
}

static void fetch_end(struct virtual_fetch *event, enum fetch_result result)
{
    struct virtual_world *virtual = event->virtual;
    struct fetch *fetch = event->fetch;
    struct virtual_step step;

    const struct virtual_supplier *supplier = virtual_supplier_of(virtual, fetch->request, &step);
    virtual_step_take_number(&step, event->number);
    virtual->fetches_running--;
    virtual->fetches_done++;
    fetch->impl = NULL;
    fetch->done_us = virtual->now_us;
    fetch->result = result;
    if (fetch->result == FETCH_OK) {
        fetch->phase = PHASE_NONE;
        virtual_supplier_respond(virtual, supplier, &step, event->number, fetch);
    }
    free(event);
    fetch->on_done(fetch);
}

static void virtual_on_fetched(struct timer *timer)
{
    struct virtual_fetch *event = event_of(timer);
    struct virtual_step step;

    (void)virtual_supplier_of(event->virtual, event->fetch->request, &step);
    virtual_step_take_number(&step, event->number);
    bool is_end = event->is_end || event->virtual->now_us >= event->fetch->end_us;
    fetch_end(event, is_end ? FETCH_ENDED : step.result);
}

static void virtual_on_connected(struct timer *timer)
{
    struct virtual_fetch *event = event_of(timer);

    if (event->virtual->now_us >= event->fetch->end_us) {
        fetch_end(event, FETCH_ENDED);
    } else if (has_lost_race(event)) {
        fetch_end(event, FETCH_LOST);
    } else {
        event->fetch->connected_us = event->virtual->now_us;
        event->fetch->phase = event->phase;
        event_at(event, event->answer_us, virtual_on_fetched);
    }
}

/// What is known of it when it starts: when it is connected, when it ends.
static void fetch_plan(struct virtual_world *virtual, const struct virtual_supplier *supplier,
                       const struct virtual_step *step, struct virtual_fetch *event)
{
    struct fetch *fetch = event->fetch;
    uint64_t at_us = step->hangs ? UINT64_MAX - 1 : virtual->now_us + step->after_us;
    enum phase phase = step->phase != PHASE_NONE ? step->phase : supplier->phase;

    event->is_end = virtual->machine.fetch_ends_first && at_us >= fetch->end_us;
    event->answer_us = event->is_end ? fetch->end_us - 1 : at_us;
    event->connected_us = step->connect_us > 0 ? virtual->now_us + step->connect_us : 0;
    fetch->started_us = virtual->now_us;
    fetch->phase = phase != PHASE_NONE ? phase : PHASE_FIRST_BYTE;
    event->phase = fetch->phase;
    if (event->connected_us > 0 && event->connected_us < event->answer_us) {
        fetch->phase = PHASE_CONNECT;
        event_at(event, event->connected_us, virtual_on_connected);
    } else {
        if (fetch->phase > PHASE_TLS) {
            (void)has_lost_race(event); // it is connected at once
        }
        event_at(event, event->answer_us, virtual_on_fetched);
    }
}

enum status virtual_fetch_start(struct world *world, struct fetch *fetch)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_step step;

    virtual_world_check_begin(virtual, "a request was sent after the end of the search");
    if (virtual->now_us >= fetch->end_us) {
        virtual_world_blame(virtual, "a request was sent with no time left");
    }
    if (++virtual->fetches_started == virtual->machine.refused_fetch) {
        virtual->fetches_refused++;
        return STATUS_NO_MEMORY;
    }
    const struct virtual_supplier *supplier = virtual_supplier_of(virtual, fetch->request, &step);
    uint64_t signed_us = fetch->request->signed_us;
    if (supplier->signs && (signed_us == 0 || virtual->now_us > signed_us + PART_SIGNED_FRESH_US)) {
        virtual_world_blame(virtual, "a request was sent without a fresh signature");
    }
    struct virtual_fetch *event = calloc(1, sizeof(*event));
    require(event != NULL);
    event->virtual = virtual;
    event->fetch = fetch;
    event->number = count_asked(virtual, supplier, &step);
    virtual_step_take_number(&step, event->number);
    fetch_plan(virtual, supplier, &step, event);
    fetch->impl = event;
    virtual->fetches_running++;
    return STATUS_OK;
}

void virtual_fetch_cancel(struct world *world, struct fetch *fetch)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_fetch *event = fetch->impl;

    if (event == NULL) {
        virtual_world_blame(virtual, "a fetch was cancelled that was over");
        return;
    }
    timer_heap_cancel(&virtual->timers, &event->timer);
    virtual->events_running--;
    virtual->fetches_running--;
    virtual->fetches_cancelled++;
    fetch->impl = NULL;
    free(event);
}

enum phase virtual_fetch_phase(struct world *world, struct fetch *fetch)
{
    (void)world;
    return fetch->phase;
}

void virtual_fetch_drop(struct timer *timer)
{
    if (timer->on_due == virtual_on_fetched || timer->on_due == virtual_on_connected) {
        free(CONTAINER_OF(timer, struct virtual_fetch, timer));
    }
}
