// The fetch pool over TLS, and by names of the address book; requests that are refused.

#include "base/clock.h"
#include "support/fetch_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

// --------------------------------------------------------------------------------------------------------------- TLS

static void tls_with_the_given_authority_works_and_is_kept(void **state)
{
    struct fetch_world *world = *state;

    start_peer(world, serve_echo, true);
    for (int i = 0; i < 3; i++) {
        struct call call;
        call_prepare(world, &call, "POST", "127.0.0.1", true);
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        expect_body(&call, "POST /search?a=1 HTTP/1.1");
        assert_int_equal(call.fetch.is_reused, i > 0);
        call_fini(&call);
    }
    assert_int_equal(peer_connections(world->peer), 1);
}

static void serve_whether_resumed(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    if (stream_read_request(stream, head, sizeof(head), &length)) {
        bool is_resumed = SSL_session_reused(stream->tls) == 1;
        stream_send(stream, is_resumed ? "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\nresumed"
                                       : "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nfull");
    }
}

static void a_new_tls_connection_resumes_the_session_of_its_host(void **state)
{
    struct fetch_world *world = *state;

    start_peer(world, serve_whether_resumed, true);
    for (int i = 0; i < 3; i++) {
        struct call call;
        call_prepare(world, &call, "GET", "127.0.0.1", true);
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        expect_body(&call, i == 0 ? "full" : "resumed");
        call_fini(&call);
    }
}

static void forty_tls_connections_at_once_are_opened_a_few_per_turn(void **state)
{
    struct fetch_world *world = *state;
    struct call *calls = calloc(40, sizeof(*calls));
    struct loop_stats before, after;
    struct fetch_pool_counts counts;

    start_peer(world, serve_echo, true);
    for (int i = 0; i < 40; i++) {
        call_prepare(world, &calls[i], "POST", "127.0.0.1", true);
        call_start(world, &calls[i]);
    }
    fetch_pool_counts(world->pool, &counts);
    assert_int_equal(counts.waiting, 40);
    loop_stats(world->loop, &before);
    do { // turn by turn, until all have left the queue
        run_for(world, 0);
        loop_stats(world->loop, &after);
        fetch_pool_counts(world->pool, &counts);
        assert_true(counts.connects <= 4 * (after.turns - before.turns));
    } while (counts.waiting > 0);
    run_world(world);
    for (int i = 0; i < 40; i++) {
        expect(&calls[i], FETCH_OK, PHASE_BODY);
        call_fini(&calls[i]);
    }
    free(calls);
}

static void a_certificate_of_another_host_or_authority_is_refused(void **state)
{
    struct fetch_world *world = *state;
    struct certificate_authority *stranger = certificate_authority_create();
    struct call call;

    SSL_CTX *contexts[] = { certificate_authority_serve(world->authority, "DNS:other.test"),
                            certificate_authority_serve(stranger, "IP:127.0.0.1") };
    for (size_t i = 0; i < COUNT_OF(contexts); i++) {
        struct peer_options options = { .serve = serve_echo, .tls = contexts[i] };
        if (world->peer != NULL) {
            peer_stop(&world->peer);
        }
        world->peer = peer_start(&options);
        call_prepare(world, &call, "GET", "127.0.0.1", true);
        call_run(world, &call);
        expect(&call, FETCH_TLS_FAILED, PHASE_TLS);
        assert_int_equal(peer_requests(world->peer), 0);
        SSL_CTX_free(contexts[i]);
    }
    start_peer(world, serve_echo, false); // a peer that speaks no TLS at all
    call_prepare(world, &call, "GET", "127.0.0.1", true);
    call.fetch.end_us = clock_now_us() + 150 * MS;
    call_run(world, &call);
    assert_int_equal(call.fetch.phase, PHASE_TLS);
    certificate_authority_destroy(&stranger);
}

static void an_authority_file_that_holds_none_is_refused_at_the_start(void **state)
{
    struct fetch_world *world = *state;
    struct fetch_pool_options options = { .ca_file = "/dev/null" };
    struct fetch_pool *pool;
    struct failure why = { 0 };

    assert_int_equal(fetch_pool_create(world->loop, &options, &pool, &why), STATUS_INVALID);
    assert_null(pool);
    assert_non_null(strstr(why.message, "/dev/null"));
    options.ca_file = "/nonexistent/authorities.pem";
    assert_int_equal(fetch_pool_create(world->loop, &options, &pool, &why), STATUS_INVALID);
}

// ------------------------------------------------------------------------------------------------------- names,
// refusals

static void a_name_of_the_book_is_reached_over_tls_by_its_name(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_mirror, true);
    set_book(world, NAME_KNOWN, "127.0.0.1");
    call_prepare(world, &call, "GET", "Peer.TEST", true);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    call_fini(&call);
}

static void a_pending_name_waits_and_goes_on_when_the_book_knows_it(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_echo, false);
    set_book(world, NAME_PENDING, NULL);
    call_prepare(world, &call, "GET", "peer.test", false);
    call_start(world, &call);
    run_for(world, 20 * MS);
    assert_int_equal(call.done, 0);
    assert_int_equal(fetch_phase(&call.fetch), PHASE_DNS);
    set_book(world, NAME_PENDING, NULL);
    set_book(world, NAME_KNOWN, "127.0.0.1");
    assert_int_equal(call.done, 0);
    run_world(world);
    expect(&call, FETCH_OK, PHASE_BODY);
    call_fini(&call);
}

static void a_name_that_never_resolves_ends_in_the_phase_dns(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    set_book(world, NAME_PENDING, NULL);
    call_prepare(world, &call, "GET", "peer.test", false);
    one_until_its_end(world, &call, PHASE_DNS);
}

static void names_that_fail_or_are_forbidden_or_unknown_send_nothing(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_echo, false);
    set_book(world, NAME_FAILED, NULL);
    call_prepare(world, &call, "GET", "peer.test", false);
    call_run(world, &call);
    expect(&call, FETCH_DNS_FAILED, PHASE_DNS);
    set_book(world, NAME_FORBIDDEN, NULL);
    call_prepare(world, &call, "GET", "peer.test", false);
    call_run(world, &call);
    expect(&call, FETCH_REFUSED, PHASE_DNS);
    call_prepare(world, &call, "GET", "localhost", false);
    call_run(world, &call);
    expect(&call, FETCH_REFUSED, PHASE_DNS);
    assert_int_equal(peer_connections(world->peer), 0);
}

static void new_addresses_of_a_name_are_used_and_old_ones_do_not_come_back(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer_saying(world, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst", false);
    struct call pair[2];
    set_book(world, NAME_KNOWN, "127.0.0.1");
    for (size_t i = 0; i < COUNT_OF(pair); i++) { // from now on the pool has two handles and takes them in turn
        call_prepare(world, &pair[i], "POST", "peer.test", false);
        call_start(world, &pair[i]);
    }
    run_world(world);
    for (size_t i = 0; i < COUNT_OF(pair); i++) {
        expect(&pair[i], FETCH_OK, PHASE_BODY);
        call_fini(&pair[i]);
    }
    run_for(world, 10 * MS);
    static const char *const way[] = { "127.0.0.1", "127.0.0.9", "127.0.0.1", "127.0.0.9", "127.0.0.9" };
    for (size_t i = 0; i < COUNT_OF(way); i++) {
        set_book(world, NAME_KNOWN, way[i]);
        call_prepare(world, &call, "POST", "peer.test", false);
        call_run(world, &call);
        if (strcmp(way[i], "127.0.0.1") == 0) {
            expect(&call, FETCH_OK, PHASE_BODY);
        } else { // 127.0.0.9 is not allowed: the pool looks once more at where it really goes
            expect(&call, FETCH_REFUSED, PHASE_CONNECT);
        }
        call_fini(&call);
        run_for(world, 10 * MS);
    }
}

static void a_name_with_dead_addresses_is_reached_over_its_last_one(void **state)
{
    struct fetch_world *world = *state;
    static const char *const all[] = { "127.0.0.2", "127.0.0.3", "127.0.0.1" };
    struct call call;

    start_peer(world, serve_echo, false);
    fetch_pool_set_book(world->pool, make_book(NAME_KNOWN, all, 3));
    call_prepare(world, &call, "GET", "peer.test", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    call_fini(&call);
}

static void requests_that_cannot_be_sent_are_refused_with_a_sentence(void **state)
{
    struct fetch_world *world = *state;
    static const struct {
        const char *method;
        const char *url;
        const char *header;
        const char *value;
    } cases[] = {
        { "GET", "ftp://127.0.0.1/", NULL, NULL },
        { "GET", "file:///etc/passwd", NULL, NULL },
        { "GET", "http://user:password@127.0.0.1/", NULL, NULL },
        { "GET", "http://10.0.0.1/", NULL, NULL },
        { "GET", "http://[::1]/", NULL, NULL },
        { "GET", "http://2130706433/", NULL, NULL },
        { "GET", "http://0x7f.1/", NULL, NULL },
        { "G T", "http://127.0.0.1/", NULL, NULL },
        { "GET", "http://127.0.0.1/", "X-Key", "a\r\nX-Other: b" },
        { "GET", "http://127.0.0.1/", "X-Key\r\nX-Other", "b" },
        { "GET", "http://127.0.0.1/", "", "b" },
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct call call;
        call_prepare(world, &call, cases[i].method, "127.0.0.1", false);
        call.request.url = text_of(cases[i].url);
        if (cases[i].header != NULL) {
            call.headers[0] = (struct header){ text_of(cases[i].header), text_of(cases[i].value) };
            call.request.header_count = 1;
        }
        call_run(world, &call);
        assert_int_equal(call.fetch.connected_us, 0);
        if (call.fetch.result != FETCH_REFUSED || call.fetch.detail[0] == '\0') {
            fail_msg("%s: result %d", cases[i].url, (int)call.fetch.result);
        }
    }
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, fetch_world_set_up, fetch_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(tls_with_the_given_authority_works_and_is_kept),
        IN_WORLD(a_new_tls_connection_resumes_the_session_of_its_host),
        IN_WORLD(forty_tls_connections_at_once_are_opened_a_few_per_turn),
        IN_WORLD(a_certificate_of_another_host_or_authority_is_refused),
        IN_WORLD(an_authority_file_that_holds_none_is_refused_at_the_start),
        IN_WORLD(a_name_of_the_book_is_reached_over_tls_by_its_name),
        IN_WORLD(a_pending_name_waits_and_goes_on_when_the_book_knows_it),
        IN_WORLD(a_name_that_never_resolves_ends_in_the_phase_dns),
        IN_WORLD(names_that_fail_or_are_forbidden_or_unknown_send_nothing),
        IN_WORLD(new_addresses_of_a_name_are_used_and_old_ones_do_not_come_back),
        IN_WORLD(a_name_with_dead_addresses_is_reached_over_its_last_one),
        IN_WORLD(requests_that_cannot_be_sent_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
