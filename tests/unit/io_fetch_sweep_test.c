// Connections to where nobody asks any more.
#include "support/fetch_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static atomic_uint ended; // connections whose end the peer has seen
static atomic_bool may_answer;

static void serve_and_note(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    while (stream_read_request(stream, head, sizeof(head), &length)) {
        while (!atomic_load(&may_answer)) {
            usleep(1000);
        }
        if (!stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) {
            break;
        }
    }
    atomic_fetch_add(&ended, 1);
}

static void open_world(struct fetch_world *world)
{
    atomic_store(&ended, 0);
    atomic_store(&may_answer, true);
    start_peer(world, serve_and_note, false);
    set_book(world, NAME_KNOWN, "127.0.0.1");
}

static void ask(struct fetch_world *world, const char *host, bool is_reused)
{
    struct call call;

    call_prepare(world, &call, "GET", host, false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    assert_int_equal(call.fetch.is_reused, is_reused);
    call_fini(&call);
}

static bool is_not_by_name(void *context, struct text host, uint16_t port, uint64_t route)
{
    assert_true(port > 0);
    assert_int_equal(route, 0);
    (*(int *)context)++;
    return !text_equals_c(host, "peer.test");
}

static bool is_nobody(void *context, struct text host, uint16_t port, uint64_t route)
{
    (void)context;
    (void)host;
    (void)port;
    (void)route;
    return false;
}

static void kept_connections_to_where_nobody_asks_any_more_are_closed(void **state)
{
    struct fetch_world *world = *state;
    int asked = 0;

    open_world(world);
    ask(world, "127.0.0.1", false);
    ask(world, "Peer.test", false);
    ask(world, "peer.test", true);
    fetch_pool_sweep(world->pool, is_not_by_name, &asked);
    assert_int_equal(asked, 2);
    while (atomic_load(&ended) == 0) { // the peer sees it, without another fetch
        run_for(world, 2 * MS);
    }
    ask(world, "127.0.0.1", true);
    assert_int_equal(atomic_load(&ended), 1);
    ask(world, "peer.test", false); // wanted again
    ask(world, "peer.test", true);
    assert_int_equal(peer_connections(world->peer), 3);
}

static void what_is_under_way_is_left_alone(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    open_world(world);
    atomic_store(&may_answer, false);
    call_prepare(world, &call, "GET", "peer.test", false);
    call_start(world, &call);
    run_for(world, 20 * MS);
    fetch_pool_sweep(world->pool, is_nobody, NULL);
    atomic_store(&may_answer, true);
    run_world(world);
    expect(&call, FETCH_OK, PHASE_BODY);
    call_fini(&call);
    assert_int_equal(atomic_load(&ended), 0);
    fetch_pool_sweep(world->pool, is_nobody, NULL);
    while (atomic_load(&ended) == 0) {
        run_for(world, 2 * MS);
    }
    for (int i = 0; i < 3; i++) { // again and again, with and without something to give up
        fetch_pool_sweep(world->pool, is_nobody, NULL);
        ask(world, "peer.test", false);
        fetch_pool_sweep(world->pool, is_nobody, NULL);
    }
}

#define PLAY(test) cmocka_unit_test_setup_teardown(test, fetch_world_set_up, fetch_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(kept_connections_to_where_nobody_asks_any_more_are_closed),
        PLAY(what_is_under_way_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
