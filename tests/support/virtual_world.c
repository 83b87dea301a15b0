#include "support/virtual_world.h"

#include "support/virtual_fetch.h"
#include "support/virtual_login.h"
#include "support/virtual_supplier.h"

#include "search/part.h"

#include <stdlib.h>
#include <string.h>

enum { LONG_TURN_EACH = 32 };

/// A script call that will be over at a known time, or waits for a worker.
struct virtual_event {
    struct timer timer;
    struct virtual_world *virtual;
    struct script_call *call;
    struct virtual_event *next;
};

static struct virtual_world *virtual_of(struct world *world)
{
    return CONTAINER_OF(world, struct virtual_world, world);
}

void virtual_world_blame(struct virtual_world *virtual, const char *rule)
{
    if (virtual->broken_rule == NULL) {
        virtual->broken_rule = rule;
    }
}

/// The search has ended, and of it nothing goes on.
static bool is_all_over(const struct virtual_world *virtual)
{
    return virtual->is_over && virtual->world.over == NULL;
}

void virtual_world_check_begin(struct virtual_world *virtual, const char *rule)
{
    if (is_all_over(virtual)) {
        virtual_world_blame(virtual, rule);
    }
}

/// 0 to `most`, from the seed (splitmix64).
static uint64_t draw(struct virtual_world *virtual, uint64_t most)
{
    if (most == 0) {
        return 0;
    }
    uint64_t mixed = virtual->machine.seed + ++virtual->draws * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return (mixed ^ (mixed >> 31)) % (most + 1);
}

static void event_at(struct virtual_event *event, uint64_t at_us, void (*on_due)(struct timer *timer))
{
    event->timer.on_due = on_due;
    event->virtual->events_running++;
    require(timer_heap_start(&event->virtual->timers, &event->timer, at_us) == STATUS_OK);
}

static struct virtual_event *event_start(struct virtual_world *virtual, uint64_t at_us,
                                         void (*on_due)(struct timer *timer))
{
    struct virtual_event *event = calloc(1, sizeof(*event));
    require(event != NULL);
    event->virtual = virtual;
    event_at(event, at_us, on_due);
    return event;
}

/// The event of a timer that is due.
static struct virtual_event *event_of(struct timer *timer)
{
    struct virtual_event *event = CONTAINER_OF(timer, struct virtual_event, timer);
    event->virtual->events_running--;
    return event;
}

static uint64_t virtual_now_us(struct world *world)
{
    return virtual_of(world)->now_us;
}

// -------------------------------------------------------------------------------------------------------------- timers

static enum status virtual_timer_start(struct world *world, struct timer *timer, uint64_t at_us)
{
    struct virtual_world *virtual = virtual_of(world);

    if (is_all_over(virtual)) {
        virtual_world_blame(virtual, "a timer was started after the end of the search");
    }
    if (++virtual->timers_asked == virtual->machine.refused_timer) {
        return STATUS_NO_MEMORY;
    }
    return timer_heap_start(&virtual->timers, timer, at_us);
}

static void virtual_timer_cancel(struct world *world, struct timer *timer)
{
    timer_heap_cancel(&virtual_of(world)->timers, timer);
}

// ------------------------------------------------------------------------------------------------------- script calls

static void call_begin(struct virtual_event *event);

/// Building requests goes first, then the earliest deadline.
static bool call_is_before(const struct script_call *a, const struct script_call *b)
{
    bool is_a_first = a->kind != SCRIPT_CALL_NORMALISE && !a->is_last;
    bool is_b_first = b->kind != SCRIPT_CALL_NORMALISE && !b->is_last;

    if (a->is_last != b->is_last) {
        return b->is_last;
    }
    return is_a_first != is_b_first ? is_a_first : a->deadline_us < b->deadline_us;
}

static void take_next_call(struct virtual_world *virtual)
{
    if (virtual->waiting == NULL || virtual->busy_workers >= virtual->machine.workers) {
        return;
    }
    struct virtual_event **best = &virtual->waiting;
    for (struct virtual_event **at = &virtual->waiting; *at != NULL; at = &(*at)->next) {
        best = call_is_before((*at)->call, (*best)->call) ? at : best;
    }
    struct virtual_event *event = *best;
    *best = event->next;
    call_begin(event);
}

static void call_return(struct virtual_event *event)
{
    struct virtual_world *virtual = event->virtual;
    struct script_call *call = event->call;

    free(event);
    virtual->calls_out--;
    virtual->is_reasking = virtual->is_reasking && call->kind != SCRIPT_CALL_CEILING;
    if (atomic_load(&call->is_cancelled)) {
        script_call_destroy(call);
        return;
    }
    virtual->calls_settled++;
    call->on_done(call);
}

static void virtual_on_call_done(struct timer *timer)
{
    struct virtual_event *event = event_of(timer);
    struct virtual_world *virtual = event->virtual;
    struct script_call *call = event->call;

    virtual->busy_workers--;
    take_next_call(virtual);
    virtual_supplier_run(virtual, call); // given up or not: a worker that has begun runs it to its end
    call_return(event);
}

static void virtual_on_call_dropped(struct timer *timer)
{
    struct virtual_event *event = event_of(timer);
    struct virtual_world *virtual = event->virtual;

    virtual->busy_workers--;
    take_next_call(virtual);
    virtual_supplier_drop(event->call);
    call_return(event);
}

/// A worker takes it: runs it, or sees that there is no time for it.
static void call_begin(struct virtual_event *event)
{
    struct virtual_world *virtual = event->virtual;

    virtual->busy_workers++;
    if (virtual->machine.workers > 0 && virtual->now_us >= event->call->deadline_us) {
        event_at(event, virtual->now_us, virtual_on_call_dropped);
        return;
    }
    uint64_t takes_us = virtual_supplier_script_us(virtual, event->call);
    takes_us += takes_us * draw(virtual, virtual->machine.script_percent) / 100;
    event->call->begun_us = virtual->now_us;
    event_at(event, virtual->now_us + takes_us, virtual_on_call_done);
}

static void virtual_on_call_queued(struct timer *timer)
{
    struct virtual_event *event = event_of(timer);
    struct virtual_world *virtual = event->virtual;

    if (virtual->machine.workers == 0 || virtual->busy_workers < virtual->machine.workers) {
        call_begin(event);
        return;
    }
    struct virtual_event **end = &virtual->waiting;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = event;
}

/// At most one at a time, and at most one within 100 ms.
static void note_reask(struct virtual_world *virtual)
{
    if (virtual->is_reasking) {
        virtual_world_blame(virtual, "two calls for ceilings were out at once");
    } else if (virtual->reasks > 0 && virtual->now_us < virtual->reasked_us + 100000) {
        virtual_world_blame(virtual, "ceilings were asked twice within 100 ms");
    }
    virtual->reasks++;
    virtual->reasked_us = virtual->now_us;
    virtual->is_reasking = true;
}

static enum status virtual_script_submit(struct world *world, struct script_call *call)
{
    struct virtual_world *virtual = virtual_of(world);

    if (is_all_over(virtual)) {
        virtual_world_blame(virtual, "a script call was submitted after the end of the search");
    }
    if (virtual->is_start_refused || ++virtual->calls_asked == virtual->machine.refused_call) {
        return STATUS_CLOSED;
    }
    if (call->kind == SCRIPT_CALL_CEILING) {
        note_reask(virtual);
    }
    struct virtual_event *event =
        event_start(virtual, virtual->now_us + virtual->begins_after_us, virtual_on_call_queued);
    event->call = call;
    virtual->calls_submitted++;
    virtual->calls_out++;
    return STATUS_OK;
}

static void virtual_script_cancel(struct world *world, struct script_call *call)
{
    struct virtual_world *virtual = virtual_of(world);

    if (atomic_exchange(&call->is_cancelled, true)) {
        virtual_world_blame(virtual, "a script call was given up twice");
        return;
    }
    virtual->calls_settled++;
}

static bool virtual_script_has_begun(struct world *world, const struct script_call *call)
{
    (void)world;
    return call->begun_us != 0;
}

// ------------------------------------------------------------------------------------------------------------- permits

static struct quota *quota_of(struct virtual_world *virtual, const struct script_account *account)
{
    return &virtual->quotas[virtual_supplier_index(virtual, account)];
}

static enum quota_answer virtual_permit_begin(struct world *world, const struct script_account *account,
                                              uint64_t *wait_us)
{
    struct virtual_world *virtual = virtual_of(world);
    return quota_begin(quota_of(virtual, account), virtual->now_us, wait_us);
}

static enum quota_answer virtual_permit_begin_kept(struct world *world, const struct script_account *account,
                                                   uint64_t *wait_us)
{
    struct virtual_world *virtual = virtual_of(world);
    return quota_begin_kept(quota_of(virtual, account), virtual->now_us, wait_us);
}

static void virtual_permit_end(struct world *world, const struct script_account *account)
{
    struct virtual_world *virtual = virtual_of(world);
    struct quota *quota = quota_of(virtual, account);

    if (quota->running == 0) {
        virtual_world_blame(virtual, "a permit was given back that nobody holds");
        return;
    }
    quota_end(quota);
}

static void virtual_account_strained(struct world *world, const struct script_account *account)
{
    struct virtual_world *virtual = virtual_of(world);
    quota_strained(quota_of(virtual, account), virtual->now_us);
}

static uint64_t virtual_account_block(struct world *world, const struct script_account *account, uint64_t wait_us)
{
    struct virtual_world *virtual = virtual_of(world);
    quota_block(quota_of(virtual, account), virtual->now_us, wait_us);
    return quota_blocked_us(quota_of(virtual, account), virtual->now_us);
}

/// What was before the play.
static void quotas_open(struct virtual_world *virtual)
{
    virtual->quotas = calloc(virtual->supplier_count + 1, sizeof(*virtual->quotas));
    require(virtual->quotas != NULL);
    for (size_t i = 0; i < virtual->supplier_count; i++) {
        const struct virtual_supplier *supplier = &virtual->suppliers[i];
        struct quota *quota = &virtual->quotas[i];
        uint64_t wait_us = 0;
        quota_init(quota, supplier->limits);
        for (uint32_t used = 0; used < supplier->used; used++) {
            require(quota_begin(quota, virtual->now_us, &wait_us) == QUOTA_FREE);
            quota_end(quota);
        }
        if (supplier->blocked_us > 0) {
            quota_block(quota, virtual->now_us, supplier->blocked_us);
        }
    }
}

// --------------------------------------------------------------------------------------------------------------- world

void virtual_world_init(struct virtual_world *virtual, const struct virtual_supplier *suppliers, size_t count)
{
    static const struct world_ops OPS = {
        .now_us = virtual_now_us,
        .timer_start = virtual_timer_start,
        .timer_cancel = virtual_timer_cancel,
        .fetch_start = virtual_fetch_start,
        .fetch_cancel = virtual_fetch_cancel,
        .fetch_phase = virtual_fetch_phase,
        .script_submit = virtual_script_submit,
        .script_cancel = virtual_script_cancel,
        .script_has_begun = virtual_script_has_begun,
        .permit_begin = virtual_permit_begin,
        .permit_begin_kept = virtual_permit_begin_kept,
        .permit_end = virtual_permit_end,
        .account_block = virtual_account_block,
        .is_switched_off = virtual_is_switched_off,
        .account_strained = virtual_account_strained,
        .auth_ask = virtual_auth_ask,
        .auth_tell = virtual_auth_tell,
        .overload = virtual_overload,
        .shed_share = virtual_shed_share,
        .worth = virtual_worth,
        .health_ask = virtual_health_ask,
        .health_tell = virtual_health_tell,
        .knowledge = virtual_knowledge,
        .worth_tell = virtual_worth_tell,
        .linger_wants = virtual_linger_wants,
        .linger_ended = virtual_linger_ended,
        .late_ended = virtual_late_ended,
        .extra_call = virtual_extra_call,
        .extra_connected = virtual_extra_connected,
        .extra_ask = virtual_extra_ask,
        .extra_tell = virtual_extra_tell,
        .login_peek = virtual_login_peek,
        .login_take = virtual_login_take,
        .login_start = virtual_login_start,
        .login_cancel = virtual_login_cancel,
        .login_refuse = virtual_login_refuse,
        .store_submit = virtual_store_submit,
        .store_cancel = virtual_store_cancel,
    };
    *virtual = (struct virtual_world){
        .world = { .ops = &OPS },
        .now_us = 1000000,
        .began_us = 1000000,
        .suppliers = suppliers,
        .supplier_count = count,
        .start_us = 1000,
    };
    timer_heap_init(&virtual->timers);
    quotas_open(virtual);
    virtual_health_init(virtual);
    virtual_extra_init(virtual);
    virtual_logins_init(virtual);
}

static bool is_own(const struct timer *timer)
{
    return timer->on_due == virtual_on_call_queued || timer->on_due == virtual_on_call_done ||
           timer->on_due == virtual_on_call_dropped;
}

/// A call nobody gave up belongs to a search that is lost; its memory is left for the leak checks to find.
static void event_drop(struct virtual_event *event)
{
    if (event->call != NULL && atomic_load(&event->call->is_cancelled)) {
        script_call_destroy(event->call);
    }
    free(event);
}

void virtual_world_forget(struct virtual_world *virtual)
{
    while (virtual->block_count > 0) {
        block_release(&virtual->blocks[--virtual->block_count]);
    }
    while (virtual->batch_count > 0) {
        offer_batch_release(&virtual->batches[--virtual->batch_count]);
    }
}

void virtual_world_fini(struct virtual_world *virtual)
{
    for (size_t i = 0; i < virtual->timers.count; i++) {
        if (is_own(virtual->timers.slots[i])) {
            event_drop(CONTAINER_OF(virtual->timers.slots[i], struct virtual_event, timer));
        } else if (!virtual_store_drop(virtual->timers.slots[i])) {
            virtual_fetch_drop(virtual->timers.slots[i]);
        }
    }
    while (virtual->waiting != NULL) {
        struct virtual_event *event = virtual->waiting;
        virtual->waiting = event->next;
        event_drop(event);
    }
    virtual_logins_fini(virtual);
    virtual_store_forget(virtual);
    virtual_world_forget(virtual);
    virtual_health_fini(virtual);
    virtual_extra_fini(virtual);
    free(virtual->asked);
    free(virtual->quotas);
    free(virtual->blocks);
    free(virtual->batches);
    timer_heap_fini(&virtual->timers);
}

uint64_t virtual_world_next_us(const struct virtual_world *virtual)
{
    uint64_t next_us = timer_heap_next_us(&virtual->timers);
    return next_us >= UINT64_MAX - 1 ? UINT64_MAX : next_us;
}

/// A turn of the loop has its cost; nothing else runs meanwhile.
static void turn_end(struct virtual_world *virtual)
{
    const struct virtual_machine *machine = &virtual->machine;

    virtual->turns++;
    virtual->now_us += draw(virtual, machine->turn_us);
    if (virtual->turns % LONG_TURN_EACH == machine->seed % LONG_TURN_EACH) {
        virtual->now_us += draw(virtual, machine->long_turn_us);
    }
}

bool virtual_world_step(struct virtual_world *virtual)
{
    uint64_t next_us = virtual_world_next_us(virtual);

    if (next_us == UINT64_MAX) {
        return false;
    }
    if (next_us > virtual->now_us) {
        virtual->now_us = next_us + draw(virtual, virtual->machine.late_us);
    }
    bool has_fired = timer_heap_fire(&virtual->timers, virtual->now_us);
    turn_end(virtual);
    return has_fired;
}

void virtual_world_run(struct virtual_world *virtual, uint64_t until_us)
{
    while (timer_heap_next_us(&virtual->timers) <= until_us && virtual_world_step(virtual)) {
    }
    virtual->now_us = until_us;
}

void virtual_world_charge_reply(struct virtual_world *virtual, uint64_t offers_found, size_t bytes)
{
    const struct virtual_machine *machine = &virtual->machine;
    virtual->now_us += (offers_found * machine->offer_ns + bytes * machine->byte_ns) / 1000;
}

void virtual_world_charge_event(struct virtual_world *virtual, size_t bytes)
{
    virtual->now_us += bytes * virtual->machine.event_byte_ns / 1000;
}

size_t virtual_world_search_timers(const struct virtual_world *virtual)
{
    return virtual->timers.count - virtual->events_running;
}

size_t virtual_world_search_calls(const struct virtual_world *virtual)
{
    return virtual->calls_submitted - virtual->calls_settled;
}

size_t virtual_world_store_calls(const struct virtual_world *virtual)
{
    return virtual->store.submitted - virtual->store.settled;
}

size_t virtual_world_permits(const struct virtual_world *virtual)
{
    size_t held = 0;

    for (size_t i = 0; i < virtual->supplier_count; i++) {
        held += virtual->quotas[i].running;
    }
    return held;
}

size_t virtual_world_references(const struct virtual_world *virtual)
{
    size_t held = 0;

    for (size_t i = 0; i < virtual->block_count; i++) {
        held += block_is_shared(virtual->blocks[i]);
    }
    for (size_t i = 0; i < virtual->batch_count; i++) {
        held += virtual->batches[i]->references > 1;
    }
    return held;
}
