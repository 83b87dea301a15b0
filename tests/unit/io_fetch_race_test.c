// Two fetches of one request race to connect: only the one that is connected first sends it. And a fetch that wants a
// fresh connection gets one.

#include "support/fetch_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void race(struct fetch_world *world, bool is_tls)
{
    struct fetch_race race = { NULL };
    struct call calls[2];

    start_peer(world, serve_echo, is_tls);
    for (size_t i = 0; i < 2; i++) {
        call_prepare(world, &calls[i], "POST", "127.0.0.1", is_tls);
        calls[i].fetch.race = &race;
        call_start(world, &calls[i]);
    }
    run_world(world);
    size_t winner = calls[0].fetch.result == FETCH_OK ? 0 : 1;
    expect(&calls[winner], FETCH_OK, PHASE_BODY);
    assert_int_equal(calls[1 - winner].fetch.result, FETCH_LOST);
    assert_true(calls[1 - winner].fetch.phase < PHASE_SEND);
    assert_ptr_equal(race.winner, &calls[winner].fetch);
    assert_int_equal(peer_requests(world->peer), 1);
    call_fini(&calls[0]);
    call_fini(&calls[1]);
}

static void of_two_that_race_one_sends(void **state)
{
    race(*state, false);
}

static void of_two_that_race_over_tls_one_sends(void **state)
{
    race(*state, true);
}

static void a_race_may_begin_while_the_first_connects(void **state)
{
    struct fetch_world *world = *state;
    struct peer *silent = peer_start(&(struct peer_options){ .has_no_handshake = true, .tls = world->tls });
    struct fetch_race race = { NULL };
    struct call first, second;

    start_peer(world, serve_echo, true);
    call_prepare(world, &first, "POST", "127.0.0.1", true);
    snprintf(first.url, sizeof(first.url), "https://127.0.0.1:%u/search?a=1", (unsigned)peer_port(silent));
    first.request.url = text_of(first.url);
    call_start(world, &first);
    run_for(world, 20 * MS);
    assert_true(fetch_phase(&first.fetch) < PHASE_SEND);
    call_prepare(world, &second, "POST", "127.0.0.1", true);
    first.fetch.race = second.fetch.race = &race;
    call_start(world, &second);
    world->pending--; // nobody waits for the first
    run_world(world);
    expect(&second, FETCH_OK, PHASE_BODY);
    assert_ptr_equal(race.winner, &second.fetch);
    fetch_cancel(world->pool, &first.fetch);
    call_fini(&second);
    peer_stop(&silent);
}

static void a_fresh_fetch_uses_no_kept_connection(void **state)
{
    struct fetch_world *world = *state;

    start_peer(world, serve_echo, false);
    for (unsigned i = 0; i < 3; i++) { // fresh, kept, fresh
        struct call call;
        call_prepare(world, &call, "POST", "127.0.0.1", false);
        call.fetch.is_fresh = i != 1;
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        assert_int_equal(call.fetch.is_reused, i == 1);
        call_fini(&call);
    }
    assert_int_equal(peer_connections(world->peer), 2);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, fetch_world_set_up, fetch_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(of_two_that_race_one_sends),
        IN_WORLD(of_two_that_race_over_tls_one_sends),
        IN_WORLD(a_race_may_begin_while_the_first_connects),
        IN_WORLD(a_fresh_fetch_uses_no_kept_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
