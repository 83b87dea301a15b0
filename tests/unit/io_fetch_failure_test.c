// The fetch pool against peers that fall silent, cut, reset and lie; end times, cancelling, leaks.

#include "base/clock.h"
#include "io/fetch_transfer.h"
#include "support/fetch_world.h"

#include <malloc.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

// Sends one GET to the peer that was started, and expects the result.
static void one(struct fetch_world *world, enum fetch_result result, enum phase phase)
{
    struct call call;

    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, result, phase);
    call_fini(&call);
}

static void one_saying(struct fetch_world *world, const char *bytes, enum fetch_result result, enum phase phase)
{
    start_peer_saying(world, bytes, false);
    one(world, result, phase);
}

static void serve_reset(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    stream_read_request(stream, head, sizeof(head), &length);
    stream_reset(stream);
}

static void serve_long_head(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    if (stream_read_request(stream, head, sizeof(head), &length)) {
        memset(head, 'x', 9000);
        memcpy(head, "HTTP/1.1 200 OK\r\nX-Long: ", 25);
        for (size_t i = 1000; i < 9000; i += 1000) { // nine lines
            memcpy(head + i, "\r\nX-Long: ", 10);
        }
        memcpy(head + 9000, "\r\n\r\n", 5);
        stream_send(stream, head);
    }
}

static void serve_long_line(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    if (stream_read_request(stream, head, sizeof(head), &length)) {
        stream_send(stream, "HTTP/1.1 200 OK\r\nX-Long: ");
        memset(head, 'x', 8000);
        head[8000] = '\0';
        for (int i = 0; i < 20; i++) {
            stream_send(stream, head);
        }
        stream_send(stream, "\r\n\r\n");
    }
}

static void serve_many_interim(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    if (stream_read_request(stream, head, sizeof(head), &length)) {
        while (stream_send(stream, "HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n")) {
        }
    }
}

static bool send_zeros(struct peer_stream *stream, size_t count)
{
    char zeros[4096];

    memset(zeros, '0', sizeof(zeros));
    for (; count > 0; count -= count < sizeof(zeros) ? count : sizeof(zeros)) {
        if (!stream_send_bytes(stream, zeros, count < sizeof(zeros) ? count : sizeof(zeros))) {
            return false;
        }
    }
    return true;
}

static void serve_1000_bytes(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    if (stream_read_request(stream, head, sizeof(head), &length) && stream_send(stream, "HTTP/1.1 200 OK\r\n\r\n")) {
        send_zeros(stream, 1000);
    }
}

static void serve_endless(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    if (stream_read_request(stream, head, sizeof(head), &length) && stream_send(stream, "HTTP/1.1 200 OK\r\n\r\n")) {
        while (send_zeros(stream, 4096)) {
        }
    }
}

static void serve_silence(struct peer_stream *stream)
{
    stream_wait_for_end(stream);
}

// --------------------------------------------------------------------------------------------------------- bad answers

static void answers_that_are_cut_or_no_http_fail_in_their_phase(void **state)
{
    struct fetch_world *world = *state;

    start_peer(world, serve_reset, false);
    one(world, FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
    one_saying(world, "", FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
    one_saying(world, "SSH-2.0-OpenSSH_9.2\r\n", FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
    one_saying(world, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", FETCH_RECEIVE_FAILED, PHASE_BODY);
    one_saying(world, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", FETCH_RECEIVE_FAILED,
               PHASE_BODY);
    one_saying(world, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhalf\r\n", FETCH_RECEIVE_FAILED,
               PHASE_BODY);
    one_saying(world, "HTTP/1.1 200 OK\r\nContent-Le", FETCH_RECEIVE_FAILED, PHASE_BODY);
    one_saying(world, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
    one_saying(world, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\nother", FETCH_RECEIVE_FAILED,
               PHASE_FIRST_BYTE);
}

static void heads_over_their_cap_are_too_large_interim_ones_too(void **state)
{
    struct fetch_world *world = *state;

    start_peer(world, serve_long_head, false);
    one(world, FETCH_TOO_LARGE, PHASE_BODY);
    start_peer(world, serve_long_line, false); // over libcurl's own cap
    one(world, FETCH_TOO_LARGE, PHASE_BODY);
    start_peer(world, serve_many_interim, false);
    one(world, FETCH_TOO_LARGE, PHASE_FIRST_BYTE);
}

static void a_body_may_fill_its_cap_and_not_a_byte_more(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_1000_bytes, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call.fetch.body_cap = 1000;
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    assert_int_equal(block_text(call.fetch.response->body).length, 1000);
    call_fini(&call);

    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call.fetch.body_cap = 999;
    call_run(world, &call);
    expect(&call, FETCH_TOO_LARGE, PHASE_BODY);

    start_peer(world, serve_endless, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_TOO_LARGE, PHASE_BODY);

    start_peer_saying(world, "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", true);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call.fetch.body_cap = 1000;
    call_run(world, &call);
    expect(&call, FETCH_TOO_LARGE, PHASE_BODY);
}

// --------------------------------------------------------------------------------------------------------- end times

static void silence_ends_in_the_phase_first_byte(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_silence, false);
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    call.request.body = TEXT("{}");
    one_until_its_end(world, &call, PHASE_FIRST_BYTE);
    assert_true(call.fetch.sent_us >= call.fetch.connected_us && call.fetch.connected_us != 0);
    assert_int_equal(call.fetch.first_byte_us, 0);
    start_peer_saying(world, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", true);
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    one_until_its_end(world, &call, PHASE_FIRST_BYTE);
}

static void a_stalled_body_ends_in_the_phase_body(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer_saying(world, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", true);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    one_until_its_end(world, &call, PHASE_BODY);
    assert_true(call.fetch.first_byte_us != 0);
}

static void serve_reads_nothing(struct peer_stream *stream)
{
    usleep(400000);
    (void)stream;
}

static void a_peer_that_reads_nothing_ends_in_the_phase_send(void **state)
{
    struct fetch_world *world = *state;
    size_t size = 32 * 1024 * 1024;
    char *body = calloc(1, size);
    struct call call;

    start_peer(world, serve_reads_nothing, false);
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    call.request.body = (struct text){ body, size };
    one_until_its_end(world, &call, PHASE_SEND);
    assert_int_equal(call.fetch.sent_us, 0);
    free(body);
}

static void a_black_hole_ends_in_the_phase_connect(void **state)
{
    struct fetch_world *world = *state;
    struct peer_options options = { .backlog = 1 };
    struct call call;
    int fds[8];

    world->peer = peer_start(&options);
    fill_backlog(peer_port(world->peer), fds, COUNT_OF(fds));
    for (int is_tls = 0; is_tls < 2; is_tls++) {
        call_prepare(world, &call, "GET", "127.0.0.1", is_tls != 0);
        one_until_its_end(world, &call, PHASE_CONNECT);
        assert_int_equal(call.fetch.connected_us, 0);
    }
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        close(fds[i]);
    }
}

static void a_slow_tls_handshake_ends_in_the_phase_tls(void **state)
{
    struct fetch_world *world = *state;
    struct peer_options options = { .serve = stream_wait_for_end, .tls = world->tls, .has_no_handshake = true };
    struct call call;

    world->peer = peer_start(&options);
    call_prepare(world, &call, "GET", "127.0.0.1", true);
    one_until_its_end(world, &call, PHASE_TLS);
    assert_int_equal(call.fetch.connected_us, 0);
}

static void an_end_that_has_passed_sends_nothing(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_echo, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call.fetch.end_us = clock_now_us();
    call_run(world, &call);
    expect(&call, FETCH_ENDED, PHASE_QUEUE);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call.fetch.end_us = 0;
    call_run(world, &call);
    expect(&call, FETCH_ENDED, PHASE_QUEUE);
    assert_int_equal(peer_connections(world->peer), 0);
}

// ------------------------------------------------------------------------------------------------------------- cancel

static void cancel_at(struct fetch_world *world, struct call *call, enum phase phase)
{
    world->pending = 0;
    assert_int_equal(fetch_start(world->pool, &call->fetch), STATUS_OK);
    for (int i = 0; i < 2000 && fetch_phase(&call->fetch) != phase; i++) {
        run_for(world, MS);
    }
    assert_int_equal(fetch_phase(&call->fetch), phase);
    fetch_cancel(world->pool, &call->fetch);
    assert_null(call->fetch.impl);
    fetch_cancel(world->pool, &call->fetch); // once more does no harm
    run_for(world, 20 * MS);
    assert_int_equal(call->done, 0);
}

static void cancelling_in_any_phase_calls_nobody_and_leaves_no_descriptor(void **state)
{
    struct fetch_world *world = *state;
    struct peer_options black_hole = { .backlog = 1 };
    struct peer_options no_tls = { .serve = stream_wait_for_end, .tls = world->tls, .has_no_handshake = true };
    struct fetch_pool_counts counts;
    struct call call;
    int fds[8];

    size_t before = count_descriptors();
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    cancel_at(world, &call, PHASE_QUEUE);
    set_book(world, NAME_PENDING, NULL);
    call_prepare(world, &call, "GET", "peer.test", false);
    cancel_at(world, &call, PHASE_DNS);
    world->peer = peer_start(&black_hole);
    fill_backlog(peer_port(world->peer), fds, COUNT_OF(fds));
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    cancel_at(world, &call, PHASE_CONNECT);
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        close(fds[i]);
    }
    peer_stop(&world->peer);
    world->peer = peer_start(&no_tls);
    call_prepare(world, &call, "GET", "127.0.0.1", true);
    cancel_at(world, &call, PHASE_TLS);
    start_peer(world, serve_silence, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    cancel_at(world, &call, PHASE_FIRST_BYTE);
    start_peer_saying(world, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", true);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    cancel_at(world, &call, PHASE_BODY);
    peer_stop(&world->peer);
    assert_int_equal(count_descriptors(), before);
    fetch_pool_counts(world->pool, &counts);
    assert_int_equal(counts.cancelled, 6);
    assert_int_equal(counts.running + counts.waiting, 0);
}

// Starts one with memory of its own and lets it come to `phase`, the first of its peer. The peer's end of the
// connection is open then: who counts descriptors counts both.
static struct call *begin_until(struct fetch_world *world, bool is_tls, const char *method, struct text body,
                                enum phase phase)
{
    struct call *call = malloc(sizeof(*call));

    assert_non_null(call);
    call_prepare(world, call, method, "127.0.0.1", is_tls);
    call->request.body = body;
    assert_int_equal(fetch_start(world->pool, &call->fetch), STATUS_OK);
    for (int i = 0; i < 2000 && fetch_phase(&call->fetch) != phase; i++) {
        run_for(world, MS);
    }
    for (int i = 0; i < 2000 && peer_connections(world->peer) == 0; i++) {
        run_for(world, MS);
    }
    assert_int_equal(peer_connections(world->peer), 1);
    assert_int_equal(fetch_phase(&call->fetch), phase);
    return call;
}

static void free_overwritten(struct call *call)
{
    memset(call, 0x5a, sizeof(*call));
    free(call);
}

static void a_cancelled_fetch_is_its_owners_at_once_and_its_connection_goes_a_turn_later(void **state)
{
    struct fetch_world *world = *state;
    struct fetch_pool_counts counts;

    for (unsigned i = 0; i < 2; i++) {
        struct peer_options no_tls = { .serve = stream_wait_for_end, .tls = world->tls, .has_no_handshake = true };
        if (world->peer != NULL) {
            peer_stop(&world->peer);
        }
        world->peer = peer_start(&no_tls);
        struct call *call =
            begin_until(world, i == 1, "GET", (struct text){ NULL, 0 }, i == 1 ? PHASE_TLS : PHASE_FIRST_BYTE);
        size_t open = count_descriptors();
        fetch_cancel(world->pool, &call->fetch);
        free_overwritten(call);
        assert_int_equal(count_descriptors(), open); // closing takes time that a search does not have now
        fetch_pool_counts(world->pool, &counts);
        assert_int_equal(counts.cancelled, i + 1);
        assert_int_equal(counts.running + counts.waiting, 0);
        for (int j = 0; j < 2000 && count_descriptors() == open; j++) {
            run_for(world, MS);
        }
        assert_true(count_descriptors() < open);
    }
}

static void an_orphan_sends_nothing_any_more(void **state)
{
    struct transfer transfer = { 0 };
    struct fetch fetch = { 0 };
    struct list sending;
    (void)state;

    list_init(&sending);
    list_init(&transfer.sending_node);
    transfer.fetch = &transfer.orphan;
    assert_false(transfer_may_send(&transfer, &sending)); // its owner's request may be gone
    assert_true(list_is_empty(&sending));
    transfer.fetch = &fetch;
    assert_true(transfer_may_send(&transfer, &sending));
}

static void a_fetch_that_still_sends_lets_go_of_its_request_at_once(void **state)
{
    static char bytes[8 << 20];
    struct fetch_world *world = *state;

    start_peer(world, serve_reads_nothing, false);
    struct call *call = begin_until(world, false, "POST", (struct text){ bytes, sizeof(bytes) }, PHASE_SEND);
    size_t open = count_descriptors();
    fetch_cancel(world->pool, &call->fetch);
    assert_true(count_descriptors() < open);
    free_overwritten(call);
    run_for(world, 20 * MS);
}

static void a_pool_ends_with_a_fetch_that_was_cancelled_this_moment(void **state)
{
    struct fetch_world *world = *state;

    start_peer_saying(world, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", true);
    struct call *call = begin_until(world, false, "GET", (struct text){ NULL, 0 }, PHASE_BODY);
    fetch_cancel(world->pool, &call->fetch);
    free_overwritten(call);
    fetch_pool_destroy(&world->pool);
}

struct pair {
    struct fetch_world *world;
    struct call first;
    struct call second;
};

static struct pair *the_pair;

// Whoever ends first cancels the other and starts a third.
static void pair_on_done(struct fetch *fetch)
{
    struct call *call = CONTAINER_OF(fetch, struct call, fetch);
    struct call *other = call == &the_pair->first ? &the_pair->second : &the_pair->first;

    call->done++;
    fetch_cancel(the_pair->world->pool, &other->fetch);
    http_response_destroy(&other->fetch.response);
    other->done = 0;
    other->fetch.on_done = call_on_done;
    call_start(the_pair->world, other);
}

static void an_owner_may_cancel_and_start_others_from_its_callback(void **state)
{
    struct fetch_world *world = *state;

    start_peer(world, serve_echo, false);
    for (int i = 0; i < 30; i++) {
        struct pair pair = { .world = world };
        the_pair = &pair;
        call_prepare(world, &pair.first, "POST", "127.0.0.1", false);
        call_prepare(world, &pair.second, "POST", "127.0.0.1", false);
        pair.first.fetch.on_done = pair.second.fetch.on_done = pair_on_done;
        if (i % 3 == 0) { // both end in the same moment, before anything is sent
            pair.first.fetch.end_us = pair.second.fetch.end_us = clock_now_us();
        }
        world->pending = 0;
        assert_int_equal(fetch_start(world->pool, &pair.first.fetch), STATUS_OK);
        assert_int_equal(fetch_start(world->pool, &pair.second.fetch), STATUS_OK);
        run_world(world);
        assert_int_equal(pair.first.done + pair.second.done, 2);
        call_fini(&pair.first);
        call_fini(&pair.second);
    }
}

static void a_pool_ends_in_the_middle_of_its_fetches(void **state)
{
    struct fetch_world *world = *state;
    struct fetch_pool *pool;
    struct failure why = { 0 };
    struct address_range loopback;
    struct call calls[10];

    assert_true(address_range_parse(TEXT("127.0.0.1"), &loopback));
    start_peer(world, serve_silence, false);
    size_t before = count_descriptors();
    struct fetch_pool_options options = { .ca_file = world->authority->file, .allowed = &loopback, .allowed_count = 1 };
    for (int round = 0; round < 3; round++) {
        assert_int_equal(fetch_pool_create(world->loop, &options, &pool, &why), STATUS_OK);
        for (size_t i = 0; i < COUNT_OF(calls); i++) {
            call_prepare(world, &calls[i], "GET", "127.0.0.1", i % 3 == 0);
            assert_int_equal(fetch_start(pool, &calls[i].fetch), STATUS_OK);
        }
        run_for(world, (uint64_t)round * 10 * MS);
        fetch_pool_destroy(&pool);
        for (size_t i = 0; i < COUNT_OF(calls); i++) {
            assert_int_equal(calls[i].done, 0);
        }
    }
    peer_stop(&world->peer);
    run_for(world, MS);
    assert_true(count_descriptors() <= before);
}

// --------------------------------------------------------------------------------------------------------------- leaks

// Bound and not listening: connects are refused, and no other program gets the port meanwhile.
static uint16_t hold_port_where_nobody_listens(int *fd)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t length = sizeof(address);

    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(*fd >= 0);
    assert_int_equal(bind(*fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(*fd, (struct sockaddr *)&address, &length), 0);
    return ntohs(address.sin_port);
}

static void ten_thousand_refused_connects_leave_descriptors_and_memory_flat(void **state)
{
    struct fetch_world *world = *state;
    struct call calls[50];
    size_t memory_before = 0;
    size_t descriptors_before = 0;

    int held;
    uint16_t port = hold_port_where_nobody_listens(&held);
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < COUNT_OF(calls); i++) {
            call_prepare(world, &calls[i], "POST", "127.0.0.1", false);
            snprintf(calls[i].url, sizeof(calls[i].url), "http://127.0.0.1:%u/", (unsigned)port);
            calls[i].request.url = text_of(calls[i].url);
            call_start(world, &calls[i]);
        }
        run_world(world);
        for (size_t i = 0; i < COUNT_OF(calls); i++) {
            expect(&calls[i], FETCH_CONNECT_FAILED, PHASE_CONNECT);
        }
        if (round == 20) {
            descriptors_before = count_descriptors();
            memory_before = mallinfo2().uordblks;
        }
    }
    assert_int_equal(count_descriptors(), descriptors_before);
    assert_true(mallinfo2().uordblks < memory_before + 64 * 1024);
    close(held);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, fetch_world_set_up, fetch_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(answers_that_are_cut_or_no_http_fail_in_their_phase),
        IN_WORLD(heads_over_their_cap_are_too_large_interim_ones_too),
        IN_WORLD(a_body_may_fill_its_cap_and_not_a_byte_more),
        IN_WORLD(silence_ends_in_the_phase_first_byte),
        IN_WORLD(a_stalled_body_ends_in_the_phase_body),
        IN_WORLD(a_peer_that_reads_nothing_ends_in_the_phase_send),
        IN_WORLD(a_black_hole_ends_in_the_phase_connect),
        IN_WORLD(a_slow_tls_handshake_ends_in_the_phase_tls),
        IN_WORLD(an_end_that_has_passed_sends_nothing),
        IN_WORLD(cancelling_in_any_phase_calls_nobody_and_leaves_no_descriptor),
        IN_WORLD(a_cancelled_fetch_is_its_owners_at_once_and_its_connection_goes_a_turn_later),
        cmocka_unit_test(an_orphan_sends_nothing_any_more),
        IN_WORLD(a_fetch_that_still_sends_lets_go_of_its_request_at_once),
        IN_WORLD(a_pool_ends_with_a_fetch_that_was_cancelled_this_moment),
        IN_WORLD(an_owner_may_cancel_and_start_others_from_its_callback),
        IN_WORLD(a_pool_ends_in_the_middle_of_its_fetches),
        IN_WORLD(ten_thousand_refused_connects_leave_descriptors_and_memory_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
