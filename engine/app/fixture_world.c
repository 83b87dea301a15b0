// The worker's clock is real, the search's is not; a call carries the time that its scripts are told. The virtual clock
// begins an hour ahead, so that no worker finds a call too late.

#include "app/fixture_world.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD_US (UINT64_C(3600) * 1000000)

/// An answer on its way, or a call that a worker has brought back.
struct fixture_event {
    struct timer timer;
    struct fixture_world *played;
    struct script_call *call;
    struct fetch *fetch;
    const struct fixture_exchange *exchange;
};

static struct fixture_world *played_of(struct world *world)
{
    return CONTAINER_OF(world, struct fixture_world, world);
}

/// NULL without memory.
static struct fixture_event *event_start(struct fixture_world *played, uint64_t at_us,
                                         void (*on_due)(struct timer *timer))
{
    struct fixture_event *event = calloc(1, sizeof(*event));

    if (event == NULL) {
        return NULL;
    }
    event->played = played;
    event->timer.on_due = on_due;
    if (timer_heap_start(&played->timers, &event->timer, at_us) != STATUS_OK) {
        free(event);
        return NULL;
    }
    return event;
}

static uint64_t world_now_us(struct world *world)
{
    return played_of(world)->now_us;
}

static enum status world_timer_start(struct world *world, struct timer *timer, uint64_t at_us)
{
    return timer_heap_start(&played_of(world)->timers, timer, at_us);
}

static void world_timer_cancel(struct world *world, struct timer *timer)
{
    timer_heap_cancel(&played_of(world)->timers, timer);
}

// ---- exchanges

static bool add_header(struct http_response *response, const struct header *header)
{
    struct buffer *bytes = &response->header_bytes;
    size_t from = bytes->length;

    if (!buffer_append_text(bytes, header->name) || !buffer_append_text(bytes, header->value)) {
        return false;
    }
    response->headers[response->header_count++] =
        (struct header){ { bytes->data + from, header->name.length },
                         { bytes->data + from + header->name.length, header->value.length } };
    return true;
}

static bool fill_response(struct http_response *response, const struct fixture_exchange *exchange)
{
    size_t size = 1;
    bool is_whole = true;

    for (size_t i = 0; i < exchange->header_count; i++) {
        size += exchange->headers[i].name.length + exchange->headers[i].value.length;
    }
    response->status = exchange->status;
    response->headers = calloc(exchange->header_count + 1, sizeof(*response->headers));
    // The views of headers point into the buffer, which must not move.
    if (response->headers == NULL || !buffer_reserve(&response->header_bytes, size)) {
        return false;
    }
    for (size_t i = 0; i < exchange->header_count && is_whole; i++) {
        is_whole = add_header(response, &exchange->headers[i]);
    }
    if (exchange->body.length > 0) {
        response->body = block_create(exchange->body);
        is_whole = is_whole && response->body != NULL;
    }
    return is_whole;
}

struct http_response *fixture_world_response(const struct fixture_exchange *exchange)
{
    struct http_response *response = http_response_create();

    if (response != NULL && !fill_response(response, exchange)) {
        http_response_destroy(&response);
    }
    return response;
}

/// The exchange's answer, as far as the supplier's cap lets it through.
static void take_answer(struct fetch *fetch, const struct fixture_exchange *exchange)
{
    if (exchange->body.length > fetch->body_cap) {
        fetch->result = FETCH_TOO_LARGE;
        (void)snprintf(fetch->detail, sizeof(fetch->detail), "the body is larger than its cap");
        return;
    }
    fetch->response = fixture_world_response(exchange);
    fetch->result = fetch->response == NULL ? FETCH_NO_MEMORY : FETCH_OK;
    fetch->phase = PHASE_NONE;
    fetch->first_byte_us = fetch->done_us;
}

static void on_answered(struct timer *timer)
{
    struct fixture_event *event = CONTAINER_OF(timer, struct fixture_event, timer);
    struct fetch *fetch = event->fetch;

    fetch->impl = NULL;
    fetch->done_us = event->played->now_us;
    if (event->exchange == NULL) {
        fetch->result = FETCH_CONNECT_FAILED;
        fetch->phase = PHASE_CONNECT;
        (void)snprintf(fetch->detail, sizeof(fetch->detail), "the fixture has no exchange for it");
    } else if (event->played->now_us >= fetch->end_us) {
        fetch->result = FETCH_ENDED;
    } else {
        take_answer(fetch, event->exchange);
    }
    free(event);
    fetch->on_done(fetch);
}

static enum status world_fetch_start(struct world *world, struct fetch *fetch)
{
    struct fixture_world *played = played_of(world);
    size_t index = played->sent++;
    const struct fixture_exchange *exchange =
        index < played->exchanges->count ? &played->exchanges->items[index] : NULL;
    uint64_t at_us = played->now_us + (exchange == NULL ? 0 : exchange->after_us);
    struct fixture_event *event = event_start(played, at_us < fetch->end_us ? at_us : fetch->end_us, on_answered);

    if (event == NULL) {
        return STATUS_NO_MEMORY;
    }
    event->fetch = fetch;
    event->exchange = exchange;
    fetch->impl = event;
    fetch->started_us = fetch->connected_us = fetch->sent_us = played->now_us;
    fetch->phase = PHASE_FIRST_BYTE;
    if (exchange != NULL && played->last_answer_us < played->now_us + exchange->after_us) {
        played->last_answer_us = played->now_us + exchange->after_us;
    }
    if (played->on_send != NULL) {
        played->on_send(played->owner, exchange, index, fetch->request);
    }
    return STATUS_OK;
}

static void world_fetch_cancel(struct world *world, struct fetch *fetch)
{
    struct fixture_event *event = fetch->impl;

    if (event != NULL) {
        timer_heap_cancel(&played_of(world)->timers, &event->timer);
        free(event);
        fetch->impl = NULL;
    }
}

static enum phase world_fetch_phase(struct world *world, struct fetch *fetch)
{
    (void)world;
    return fetch->phase;
}

// ---- script calls

void fixture_world_deliver(void *home, struct script_call *call)
{
    struct fixture_world *played = home;

    pthread_mutex_lock(&played->lock);
    played->returned = call;
    pthread_cond_signal(&played->is_back);
    pthread_mutex_unlock(&played->lock);
}

void fixture_world_keep_trouble(struct fixture_world *played, const struct failure *trouble)
{
    struct failure *kept = malloc(sizeof(*kept));

    if (kept != NULL) {
        *kept = *trouble;
        free(played->trouble);
        played->trouble = kept;
    }
}

static void copy_trouble(struct fixture_world *played, const struct failure *trouble)
{
    if (played->trouble == NULL && trouble != NULL) {
        fixture_world_keep_trouble(played, trouble);
    }
}

/// What the first script that failed is told of; those after it mostly fail for its sake.
static void keep_trouble(struct fixture_world *played, struct script_call *call)
{
    copy_trouble(played, call->trouble);
    if (call->kind == SCRIPT_CALL_START) {
        struct start_call *start = CONTAINER_OF(call, struct start_call, call);
        for (size_t i = 0; i < start->candidate_count; i++) {
            copy_trouble(played, start->candidates[i].trouble);
        }
    }
}

bool fixture_world_call(struct fixture_world *played, struct script_call *call)
{
    call->home = played;
    call->now_us = played->now_us;
    call->seed = ++played->calls;
    if (call->deadline_us == 0) {
        call->deadline_us = UINT64_MAX;
    }
    if (worker_pool_submit(played->workers, call) != STATUS_OK) {
        return false;
    }
    pthread_mutex_lock(&played->lock);
    while (played->returned == NULL) {
        pthread_cond_wait(&played->is_back, &played->lock);
    }
    played->returned = NULL;
    pthread_mutex_unlock(&played->lock);
    keep_trouble(played, call);
    return true;
}

static void on_called(struct timer *timer)
{
    struct fixture_event *event = CONTAINER_OF(timer, struct fixture_event, timer);
    struct script_call *call = event->call;

    free(event);
    if (atomic_load(&call->is_cancelled)) {
        script_call_destroy(call);
    } else {
        call->on_done(call);
    }
}

static void keep_facts(struct fixture_world *played, struct script_call *call)
{
    if (call->kind == SCRIPT_CALL_START) {
        block_release(&played->facts);
        played->facts = block_acquire(CONTAINER_OF(call, struct start_call, call)->facts);
    }
}

static enum status world_script_submit(struct world *world, struct script_call *call)
{
    struct fixture_world *played = played_of(world);
    struct fixture_event *event = event_start(played, played->now_us, on_called);

    if (event == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (call->kind == SCRIPT_CALL_NORMALISE) {
        CONTAINER_OF(call, struct normalise_call, call)->wants_notes = true; // so that nothing that it has goes unseen
    }
    if (!fixture_world_call(played, call)) {
        timer_heap_cancel(&played->timers, &event->timer);
        free(event);
        return STATUS_CLOSED;
    }
    event->call = call;
    keep_facts(played, call);
    return STATUS_OK;
}

static void world_script_cancel(struct world *world, struct script_call *call)
{
    (void)world;
    atomic_store(&call->is_cancelled, true);
}

static bool world_script_has_begun(struct world *world, const struct script_call *call)
{
    (void)world;
    return atomic_load(&call->begun_us) != 0;
}

// ---- logins

static struct login world_login_peek(struct world *world, const struct script_account *account)
{
    (void)account; // a fixture has one
    return fixture_login_peek(&played_of(world)->login);
}

static enum login_state world_login_take(struct world *world, const struct script_account *account, uint64_t refused,
                                         struct login *login, struct part_end *end)
{
    (void)account;
    return fixture_login_take(&played_of(world)->login, refused, login, end);
}

static enum status world_login_start(struct world *world, struct login_wait *wait)
{
    return fixture_login_start(&played_of(world)->login, wait);
}

static void world_login_cancel(struct world *world, struct login_wait *wait)
{
    (void)world;
    list_remove(&wait->node);
}

static void world_login_refuse(struct world *world, const struct script_account *account, uint64_t number,
                               const struct part_end *end)
{
    (void)account;
    fixture_login_refuse(&played_of(world)->login, number, end);
}

// ---- world

void fixture_world_init(struct fixture_world *played, struct worker_pool *workers,
                        const struct fixture_exchanges *exchanges)
{
    static const struct world_ops OPS = {
        .now_us = world_now_us,
        .timer_start = world_timer_start,
        .timer_cancel = world_timer_cancel,
        .fetch_start = world_fetch_start,
        .fetch_cancel = world_fetch_cancel,
        .fetch_phase = world_fetch_phase,
        .script_submit = world_script_submit,
        .script_cancel = world_script_cancel,
        .script_has_begun = world_script_has_begun,
        .login_peek = world_login_peek,
        .login_take = world_login_take,
        .login_start = world_login_start,
        .login_cancel = world_login_cancel,
        .login_refuse = world_login_refuse,
    };
    *played = (struct fixture_world){
        .world = { .ops = &OPS }, .now_us = clock_now_us() + AHEAD_US, .workers = workers, .exchanges = exchanges
    };
    timer_heap_init(&played->timers);
    pthread_mutex_init(&played->lock, NULL);
    pthread_cond_init(&played->is_back, NULL);
}

void fixture_world_fini(struct fixture_world *played)
{
    require(played->timers.count == 0);
    fixture_login_fini(&played->login);
    free(played->trouble);
    block_release(&played->facts);
    timer_heap_fini(&played->timers);
    pthread_cond_destroy(&played->is_back);
    pthread_mutex_destroy(&played->lock);
}

void fixture_world_run(struct fixture_world *played)
{
    for (;;) {
        uint64_t next_us = timer_heap_next_us(&played->timers);
        if (next_us == UINT64_MAX) {
            return;
        }
        if (next_us > played->now_us) {
            played->now_us = next_us;
        }
        (void)timer_heap_fire(&played->timers, played->now_us);
    }
}
