/// Login counter: a real loop and login book, and a world whose script calls the test answers by hand.
#pragma once

#include "app/login_book.h"

#include "app/login_errand.h"
#include "base/clock.h"
#include "model/request_call.h"
#include "support/note_home.h"
#include "unit/app_moves_stage.h"

enum { CALLS_MAX = 8 };

/// A loop with a desk, and the calls that its errands have out.
struct counter {
    struct world world;
    struct loop *loop;
    struct login_book *book;
    struct login_desk desk;
    struct script_call *calls[CALLS_MAX];
    size_t call_count;
    int cancelled;
    int fetches;
    struct note_home home; // of a store that it shares with others
};

static struct counter *counter_of(struct world *world)
{
    return CONTAINER_OF(world, struct counter, world);
}

static uint64_t now_us(struct world *world)
{
    (void)world;
    return clock_now_us();
}

static enum status submit(struct world *world, struct script_call *call)
{
    struct counter *counter = counter_of(world);

    assert_in_range(counter->call_count, 0, CALLS_MAX - 1);
    counter->calls[counter->call_count++] = call;
    return STATUS_OK;
}

static void take_call(struct counter *counter, const struct script_call *call)
{
    size_t kept = 0;

    for (size_t i = 0; i < counter->call_count; i++) {
        if (counter->calls[i] != call) {
            counter->calls[kept++] = counter->calls[i];
        }
    }
    counter->call_count = kept;
}

static void cancel(struct world *world, struct script_call *call)
{
    struct counter *counter = counter_of(world);

    take_call(counter, call);
    counter->cancelled++;
    script_call_destroy(call);
}

static enum status fetch(struct world *world, struct fetch *fetch)
{
    counter_of(world)->fetches++;
    fetch->started_us = clock_now_us();
    fetch->response = http_response_create();
    assert_non_null(fetch->response);
    fetch->response->status = 200;
    return STATUS_OK;
}

static void fetch_stop(struct world *world, struct fetch *fetch)
{
    (void)world;
    (void)fetch;
}

static enum status start_timer(struct world *world, struct timer *timer, uint64_t at_us)
{
    return loop_timer_start(counter_of(world)->loop, timer, at_us);
}

static void cancel_timer(struct world *world, struct timer *timer)
{
    loop_timer_cancel(counter_of(world)->loop, timer);
}

static void store_hand_over(struct world *world, struct store_call *call)
{
    note_home_submit(&counter_of(world)->home, call);
}

static const struct world_ops OPS = {
    .now_us = now_us,
    .script_submit = submit,
    .script_cancel = cancel,
    .fetch_start = fetch,
    .fetch_cancel = fetch_stop,
    .timer_start = start_timer,
    .timer_cancel = cancel_timer,
    .store_submit = store_hand_over,
    .store_cancel = note_home_give_up,
};

static void counter_open(struct counter *counter, struct login_book *book)
{
    *counter = (struct counter){ .world = { .ops = &OPS }, .book = book };
    assert_int_equal(loop_create(&counter->loop), STATUS_OK);
    assert_int_equal(login_desk_open(&counter->desk, book, &counter->world, counter->loop), STATUS_OK);
}

/// Receives what was posted.
static void turn(struct counter *counter)
{
    loop_stop(counter->loop);
    loop_run(counter->loop);
}

static void counter_close(struct counter *counter)
{
    login_desk_close(&counter->desk);
    turn(counter);
    loop_destroy(&counter->loop);
}

/// The errand's first call is answered: the request goes out and its answer comes, up to what reads it.
static void go_out(struct counter *counter)
{
    struct http_request request = { .method = TEXT("POST"), .url = TEXT("https://acme.example/login") };
    struct script_call *call = counter->calls[0];
    struct login_errand *errand = call->owner;
    struct login_call *built = CONTAINER_OF(call, struct login_call, call);

    take_call(counter, call);
    built->verdict = SCRIPT_OK;
    built->request = http_request_create(&request);
    assert_non_null(built->request);
    call->on_done(call);
    assert_int_equal(errand->state, ERRAND_FETCHING);
    errand->fetch.on_done(&errand->fetch);
}

static void come_back(struct counter *counter, const char *value)
{
    struct script_call *call = counter->calls[0];
    struct login_call *read = CONTAINER_OF(call, struct login_call, call);

    take_call(counter, call);
    read->verdict = value != NULL ? SCRIPT_OK : SCRIPT_ERROR;
    read->value = value != NULL ? block_create(text_of(value)) : NULL;
    read->life_us = UINT64_C(3600000000);
    call->on_done(call);
}

struct waiting {
    struct login_wait wait;
    int told;
};

static void on_told(struct login_wait *wait)
{
    CONTAINER_OF(wait, struct waiting, wait)->told++;
}

static struct waiting wait_for(struct script_account *account)
{
    return (struct waiting){ .wait = { .account = account, .on_done = on_told } };
}

static enum login_state take(struct counter *counter, const struct script_account *account, const char *value)
{
    struct login login = { 0 };
    struct part_end end;
    enum login_state state = login_desk_take(&counter->desk, account, 0, &login, &end);

    if (state == LOGIN_HERE) {
        assert_true(text_equals_c(block_text(login.value), value));
    }
    login_drop(&login);
    return state;
}

static struct script_account *add_account(struct stage *stage, const char *supplier, const char *account,
                                          const char *context)
{
    struct script_account *made = stage_add(stage, supplier, account, context);

    made->login = 1;
    return made;
}
