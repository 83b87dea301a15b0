// The store over Redis, over a transport of the test: its clock, and what comes back, are what the test says.
#include "store/store_redis.h"

#include "store/redis_link.h"
#include "support/some_offers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SECOND_US = 1000000, HOUR_MS = 3600000, SENT_MAX = 96 << 20 };

static const uint64_t NOW_MS = 1790000000000;

static const char GREETED[] = "+OK\r\n+PONG\r\n";

struct stage {
    uint64_t now_us;
    struct timer_heap timers;
    struct list posted, aside;
    struct transport_peer *peer; // NULL: closed
    unsigned connects;
    bool is_ended, is_joined;
    struct buffer sent; // since it was last looked at
    struct store *store;
    unsigned came_home;
};

static struct stage *stage_of(void *context)
{
    return context;
}

static void post(void *context, struct message *message)
{
    list_append(&stage_of(context)->posted, &message->node);
}

static void post_aside(void *context, struct message *message)
{
    list_append(&stage_of(context)->aside, &message->node);
}

static uint64_t now_us(void *context)
{
    return stage_of(context)->now_us;
}

static enum status timer_start(void *context, struct timer *timer, uint64_t at_us)
{
    return timer_heap_start(&stage_of(context)->timers, timer, at_us);
}

static void timer_cancel(void *context, struct timer *timer)
{
    timer_heap_cancel(&stage_of(context)->timers, timer);
}

static void connect_to(void *context, struct transport_peer *peer)
{
    stage_of(context)->peer = peer;
    stage_of(context)->connects++;
}

static bool write_to(void *context, struct text bytes)
{
    return buffer_append_text(&stage_of(context)->sent, bytes);
}

static void close_it(void *context)
{
    stage_of(context)->peer = NULL;
}

static void ended(void *context)
{
    stage_of(context)->is_ended = true;
}

static void serve_posts(struct stage *stage, struct list *posts)
{
    while (!list_is_empty(posts)) {
        struct message *message = CONTAINER_OF(list_take_first(posts), struct message, node);
        message->on_receive(message);
    }
    (void)stage;
}

/// Lets so much time go by, and all that is due in it happen.
static void pass(struct stage *stage, uint64_t us)
{
    uint64_t end_us = stage->now_us + us;

    serve_posts(stage, &stage->posted);
    while (timer_heap_next_us(&stage->timers) <= end_us) {
        stage->now_us = timer_heap_next_us(&stage->timers);
        timer_heap_fire(&stage->timers, stage->now_us);
        serve_posts(stage, &stage->posted);
    }
    stage->now_us = end_us;
}

static void pack_aside(struct stage *stage)
{
    serve_posts(stage, &stage->aside);
    serve_posts(stage, &stage->posted);
}

static void join(void *context)
{
    struct stage *stage = context;

    while (!stage->is_ended) { // its other thread packs meanwhile, and there is time
        pass(stage, 1000);
        pack_aside(stage);
    }
    stage->is_joined = true;
}

static void say(struct stage *stage, const char *words)
{
    assert_non_null(stage->peer);
    stage->peer->on_bytes(stage->peer, text_of(words));
    serve_posts(stage, &stage->posted);
}

static void come_home(void *home, struct store_call *call)
{
    stage_of(home)->came_home++;
    call->on_done(call);
}

static void on_done(struct store_call *call)
{
    assert_null(call->owner); // once
    call->owner = call;
}

static struct stage *begin(void)
{
    struct stage *stage = calloc(1, sizeof *stage);

    assert_non_null(stage);
    stage->now_us = 1000 * (uint64_t)SECOND_US;
    timer_heap_init(&stage->timers);
    list_init(&stage->posted);
    list_init(&stage->aside);
    buffer_init(&stage->sent, SENT_MAX);
    struct store_redis_options options = { .prefix = TEXT("lastcall"),
                                           .press_above = 2048,
                                           .seed = 42,
                                           .transport = { .context = stage,
                                                          .post = post,
                                                          .post_aside = post_aside,
                                                          .now_us = now_us,
                                                          .timer_start = timer_start,
                                                          .timer_cancel = timer_cancel,
                                                          .connect = connect_to,
                                                          .write = write_to,
                                                          .close = close_it,
                                                          .ended = ended,
                                                          .join = join },
                                           .deliver = come_home };
    stage->store = store_redis_create(&options);
    assert_non_null(stage->store);
    pass(stage, 0);
    return stage;
}

static struct stage *begin_up(void)
{
    struct stage *stage = begin();

    stage->peer->on_connected(stage->peer);
    say(stage, GREETED);
    buffer_clear(&stage->sent);
    return stage;
}

static void finish(struct stage *stage)
{
    stage->store->ops->close(&stage->store, SECOND_US);
    assert_true(stage->is_joined);
    assert_true(timer_heap_next_us(&stage->timers) == UINT64_MAX);
    assert_true(list_is_empty(&stage->posted) && list_is_empty(&stage->aside));
    buffer_fini(&stage->sent);
    timer_heap_fini(&stage->timers);
    free(stage);
}

static struct store_report report_of(struct stage *stage)
{
    struct store_report report;

    store_report_fill(stage->store, &report);
    return report;
}

static struct store_call *call_of(struct stage *stage, enum store_job job, size_t entries, uint64_t life_us)
{
    struct store_call *call = store_call_create(job, TEXT("flights@1"), TEXT("q"), entries, job == STORE_KEEP ? 1 : 0);

    assert_non_null(call);
    call->home = stage;
    call->on_done = on_done;
    call->now_ms = NOW_MS;
    call->end_us = life_us != 0 ? stage->now_us + life_us : 0;
    for (size_t i = 0; i < entries; i++) {
        char name[32];
        snprintf(name, sizeof name, "acme%zu", i);
        assert_true(store_call_name(call, i, text_of(name), TEXT("main")));
    }
    return call;
}

static void submit(struct stage *stage, struct store_call *call)
{
    store_submit(stage->store, call);
    serve_posts(stage, &stage->posted);
}

static struct store_call *keep_of(struct stage *stage, size_t offers, unsigned seed)
{
    struct store_call *call = call_of(stage, STORE_KEEP, 1, 0);
    struct offer_batch *batch = some_offers(offers, seed, 100);

    call->entries[0].head.observed_ms = NOW_MS;
    call->entries[0].head.until_ms = NOW_MS + HOUR_MS;
    assert_true(store_call_fill(call, 0, batch, NULL));
    offer_batch_release(&batch);
    return call;
}

static bool is_home(const struct store_call *call)
{
    return call->owner != NULL;
}

// ---------------------------------------------------------------------------------------------------------------------

static void a_call_before_it_is_up_is_a_fault_and_nothing_waits(void **state)
{
    struct stage *stage = begin();
    struct store_call *call = call_of(stage, STORE_INDEX, 3, 15000);
    (void)state;

    submit(stage, call);
    assert_true(is_home(call));
    assert_int_equal(call->entries[2].state, STORE_FAULT);
    assert_int_equal(stage->sent.length, 0);
    assert_int_equal(report_of(stage).faults, 3);
    store_call_destroy(&call);
    finish(stage);
}

static void an_index_of_forty_is_one_write_of_forty_heads(void **state)
{
    struct stage *stage = begin_up();
    struct store_call *call = call_of(stage, STORE_INDEX, 40, 15000);
    unsigned count = 0;
    (void)state;

    submit(stage, call);
    assert_true(buffer_append_byte(&stage->sent, '\0'));
    for (const char *at = stage->sent.data; (at = strstr(at, "GETRANGE")) != NULL; at++) {
        count++;
    }
    assert_int_equal(count, 40);
    assert_non_null(strstr(stage->sent.data, "$1\r\n0\r\n$2\r\n63\r\n")); // no more than heads
    for (int i = 0; i < 40; i++) {
        assert_false(is_home(call));
        say(stage, "$0\r\n\r\n");
    }
    assert_true(is_home(call));
    assert_int_equal(call->entries[39].state, STORE_ABSENT);
    store_call_destroy(&call);
    finish(stage);
}

static void a_call_goes_home_at_its_end_and_its_late_reply_is_dropped_in_order(void **state)
{
    struct stage *stage = begin_up();
    struct store_call *slow = call_of(stage, STORE_INDEX, 2, 15000);
    struct store_call *next = call_of(stage, STORE_NOTE_GET, 0, 60000);
    (void)state;

    next->name = TEXT("lease");
    submit(stage, slow);
    submit(stage, next);
    say(stage, "$0\r\n\r\n"); // one of two
    pass(stage, 14999);
    assert_false(is_home(slow));
    pass(stage, 1);
    assert_true(is_home(slow));
    assert_int_equal(slow->entries[0].state, STORE_ABSENT); // what was there in time counts
    assert_int_equal(slow->entries[1].state, STORE_FAULT);
    assert_int_equal(report_of(stage).late, 1);
    assert_int_equal(report_of(stage).faults, 0);
    store_call_destroy(&slow);
    say(stage, "$0\r\n\r\n"); // of the one that left
    assert_false(is_home(next));
    say(stage, "$3\r\n1ab\r\n");
    assert_true(is_home(next));
    assert_int_equal(next->state, STORE_FOUND);
    assert_true(text_equals(block_text(next->value), TEXT("ab")));
    store_call_destroy(&next);
    finish(stage);
}

static void silence_ends_the_connection_but_not_at_the_first_look(void **state)
{
    struct stage *stage = begin_up();
    struct store_call *call = call_of(stage, STORE_INDEX, 1, 0);
    (void)state;

    submit(stage, call);
    pass(stage, REDIS_SILENCE_US + REDIS_DOUBT_US / 2);
    assert_non_null(stage->peer); // perhaps it was this thread that did not listen
    pass(stage, REDIS_DOUBT_US);
    assert_null(stage->peer);
    assert_true(is_home(call));
    assert_string_equal(report_of(stage).trouble, "it says nothing any more");
    store_call_destroy(&call);
    finish(stage);
}

static void bytes_in_time_keep_the_connection(void **state)
{
    struct stage *stage = begin_up();
    struct store_call *call = call_of(stage, STORE_INDEX, 10, 0);
    (void)state;

    submit(stage, call);
    for (int i = 0; i < 4; i++) { // 0.9 s each, under the patience of a call without an end
        pass(stage, REDIS_SILENCE_US * 9 / 10);
        say(stage, "$0\r\n\r\n");
    }
    assert_non_null(stage->peer);
    for (int i = 0; i < 6; i++) {
        say(stage, "$0\r\n\r\n");
    }
    assert_true(is_home(call));
    pass(stage, 60 * (uint64_t)SECOND_US);
    assert_non_null(stage->peer); // it owes nothing
    store_call_destroy(&call);
    finish(stage);
}

static void attempts_come_one_by_one_after_longer_and_longer_pauses(void **state)
{
    struct stage *stage = begin();
    uint64_t last_us = 0, before_us = stage->now_us;
    (void)state;

    for (unsigned attempt = 1; attempt < 12; attempt++) {
        assert_int_equal(stage->connects, attempt);
        stage->peer->on_closed(stage->peer, "Connection refused");
        before_us = stage->now_us;
        while (stage->connects == attempt) {
            pass(stage, 1000);
        }
        last_us = stage->now_us - before_us;
        uint64_t most_us = (uint64_t)REDIS_PAUSE_US << (attempt < 7 ? attempt : 7);
        most_us = most_us < REDIS_PAUSE_MAX_US ? most_us : REDIS_PAUSE_MAX_US;
        assert_true(last_us >= most_us / 2 && last_us <= most_us + 1000);
    }
    stage->peer->on_connected(stage->peer);
    say(stage, GREETED);
    assert_true(report_of(stage).is_up);
    pass(stage, REDIS_STEADY_US);
    unsigned attempts = stage->connects;
    stage->peer->on_closed(stage->peer, "gone");
    pass(stage, REDIS_PAUSE_US + 1000); // it had held: at once again
    assert_int_equal(stage->connects, attempts + 1);
    finish(stage);
}

static unsigned count_sent(const struct stage *stage, const char *command)
{
    const char *at = stage->sent.data, *end = at + stage->sent.length;
    unsigned count = 0;

    while (at != NULL && (at = memmem(at, (size_t)(end - at), command, strlen(command))) != NULL) {
        count++;
        at++;
    }
    return count;
}

static void writes_wait_for_room_and_reads_go_before_them(void **state)
{
    enum { KEEPS = 6 };
    struct stage *stage = begin_up();
    struct store_call *keeps[KEEPS];
    (void)state;

    for (unsigned i = 0; i < KEEPS; i++) {
        keeps[i] = keep_of(stage, 1000, i);
        submit(stage, keeps[i]);
    }
    pack_aside(stage);
    unsigned first = count_sent(stage, "\r\nSET\r\n");
    assert_true(first > 0 && first < KEEPS);
    struct store_call *read = call_of(stage, STORE_READ, 1, 15000);
    submit(stage, read);
    assert_int_equal(count_sent(stage, "\r\nSET\r\n"), first);
    assert_int_equal(count_sent(stage, "\r\nGETRANGE\r\n"), 1); // though writes wait
    for (unsigned i = 0; i < first; i++) {
        say(stage, "+OK\r\n");
        assert_true(is_home(keeps[i]));
    }
    say(stage, "$0\r\n\r\n");
    assert_true(is_home(read));
    for (unsigned i = first; i < KEEPS; i++) {
        say(stage, "+OK\r\n");
    }
    assert_int_equal(report_of(stage).kept, KEEPS);
    for (unsigned i = 0; i < KEEPS; i++) {
        assert_int_equal(keeps[i]->entries[0].state, STORE_FOUND);
        store_call_destroy(&keeps[i]);
    }
    store_call_destroy(&read);
    finish(stage);
}

static void what_cannot_wait_is_dropped_and_counted(void **state)
{
    struct stage *stage = begin_up();
    struct offer_batch *batch = some_offers(1000, 1, 100);
    uint64_t submitted = 0, kept = 0;
    (void)state;

    for (; submitted < 200; submitted++) { // nobody packs
        struct store_call *call = keep_of(stage, 1, 1);
        offer_batch_release(&call->parts[0].batch);
        call->parts[0].batch = offer_batch_acquire(batch);
        call->on_done = NULL;
        store_submit(stage->store, call);
        kept += report_of(stage).dropped == 0;
    }
    assert_true(kept < submitted && kept * batch->arena.used <= REDIS_KEEP_MAX);
    assert_int_equal(report_of(stage).dropped, submitted - kept);
    offer_batch_release(&batch);
    finish(stage);
}

static void closing_keeps_what_is_queued_within_its_grace(void **state)
{
    struct stage *stage = begin_up();
    struct store_call *call = keep_of(stage, 3, 1);
    (void)state;

    submit(stage, call); // not packed yet
    stage->store->ops->close(&stage->store, SECOND_US);
    assert_true(is_home(call));
    assert_true(buffer_append_byte(&stage->sent, '\0'));
    assert_non_null(strstr(stage->sent.data, "SET\r\n")); // sent, though nobody answered
    assert_int_equal(call->entries[0].state, STORE_FAULT);
    store_call_destroy(&call);
    buffer_fini(&stage->sent);
    timer_heap_fini(&stage->timers);
    free(stage);
}

static void a_purge_goes_round_until_its_cursor_is_back(void **state)
{
    struct stage *stage = begin_up();
    struct store_call *call = call_of(stage, STORE_PURGE, 1, 0);
    (void)state;

    call->entries[0].account = (struct text){ 0 };
    submit(stage, call);
    assert_true(buffer_append_byte(&stage->sent, '\0'));
    assert_non_null(strstr(stage->sent.data, "lastcall:a:acme0:*"));
    say(stage, "*2\r\n$2\r\n17\r\n*2\r\n$20\r\nlastcall:a:acme0:m:1\r\n$20\r\nlastcall:a:acme0:m:2\r\n");
    say(stage, ":2\r\n*2\r\n$1\r\n0\r\n*1\r\n$20\r\nlastcall:a:acme0:m:3\r\n");
    assert_false(is_home(call));
    say(stage, ":1\r\n");
    assert_true(is_home(call));
    assert_int_equal(call->state, STORE_FOUND);
    assert_int_equal(call->count, 3);
    assert_int_equal(report_of(stage).purged, 3);
    store_call_destroy(&call);
    finish(stage);
}

static void a_purge_touches_no_name_that_is_not_ours(void **state)
{
    struct stage *stage = begin_up();
    struct store_call *call = call_of(stage, STORE_PURGE, 1, 0);
    (void)state;

    submit(stage, call);
    buffer_clear(&stage->sent);
    say(stage, "*2\r\n$1\r\n0\r\n*1\r\n$6\r\nothers\r\n");
    assert_true(is_home(call));
    assert_int_equal(call->state, STORE_FAULT);
    assert_int_equal(stage->sent.length, 0);
    assert_null(stage->peer);
    store_call_destroy(&call);
    finish(stage);
}

static void a_cancelled_call_comes_home_uncounted(void **state)
{
    struct stage *stage = begin_up();
    struct store_call *call = call_of(stage, STORE_INDEX, 5, 15000);
    (void)state;

    atomic_store(&call->is_cancelled, true);
    submit(stage, call);
    assert_true(is_home(call));
    assert_int_equal(stage->sent.length, 0);
    assert_int_equal(report_of(stage).faults, 0);
    store_call_destroy(&call);
    finish(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_before_it_is_up_is_a_fault_and_nothing_waits),
        cmocka_unit_test(an_index_of_forty_is_one_write_of_forty_heads),
        cmocka_unit_test(a_call_goes_home_at_its_end_and_its_late_reply_is_dropped_in_order),
        cmocka_unit_test(silence_ends_the_connection_but_not_at_the_first_look),
        cmocka_unit_test(bytes_in_time_keep_the_connection),
        cmocka_unit_test(attempts_come_one_by_one_after_longer_and_longer_pauses),
        cmocka_unit_test(writes_wait_for_room_and_reads_go_before_them),
        cmocka_unit_test(what_cannot_wait_is_dropped_and_counted),
        cmocka_unit_test(closing_keeps_what_is_queued_within_its_grace),
        cmocka_unit_test(a_purge_goes_round_until_its_cursor_is_back),
        cmocka_unit_test(a_purge_touches_no_name_that_is_not_ours),
        cmocka_unit_test(a_cancelled_call_comes_home_uncounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
