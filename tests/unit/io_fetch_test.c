// The fetch pool against real sockets on loopback: peers that answer, fall silent, cut, reset, lie and refuse.

#include "base/clock.h"
#include "io/fetch.h"
#include "io/resolver_book.h"
#include "support/certificate.h"
#include "support/peer.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { MS = 1000, GUARD_US = 30 * 1000 * MS, LONG_US = 20 * 1000 * MS, SHORT_US = 150 * MS, HEAD = 16 * 1024 };

struct world {
    struct loop *loop;
    struct fetch_pool *pool;
    struct certificate_authority *authority;
    SSL_CTX *tls;
    struct peer *peer;
    unsigned pending; // fetches that loop_run waits for
    struct timer guard;
    bool is_guarded; // the guard had to end it
};

static struct world *the_world;

static void guard_on_due(struct timer *timer)
{
    (void)timer;
    the_world->is_guarded = true;
    loop_stop(the_world->loop);
}

static void run_world(struct world *world)
{
    world->guard.on_due = guard_on_due;
    assert_int_equal(loop_timer_start(world->loop, &world->guard, clock_now_us() + GUARD_US), STATUS_OK);
    loop_run(world->loop);
    loop_timer_cancel(world->loop, &world->guard);
    assert_false(world->is_guarded);
}

static void stop_after(struct timer *timer)
{
    (void)timer;
    loop_stop(the_world->loop);
}

static void run_for(struct world *world, uint64_t us)
{
    struct timer timer = { .on_due = stop_after };

    assert_int_equal(loop_timer_start(world->loop, &timer, clock_now_us() + us), STATUS_OK);
    run_world(world);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    struct address_range loopback;
    struct failure why = { 0 };

    the_world = world;
    assert_true(address_range_parse(TEXT("127.0.0.0/30"), &loopback));
    assert_int_equal(loop_create(&world->loop), STATUS_OK);
    world->authority = certificate_authority_create();
    world->tls = certificate_authority_serve(world->authority, "DNS:peer.test,IP:127.0.0.1");
    struct fetch_pool_options options = {
        .ca_file = world->authority->file, .allowed = &loopback, .allowed_count = 1, .head_cap = 8 * 1024
    };
    assert_int_equal(fetch_pool_create(world->loop, &options, &world->pool, &why), STATUS_OK);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    fetch_pool_destroy(&world->pool);
    loop_destroy(&world->loop);
    if (world->peer != NULL) {
        peer_stop(&world->peer);
    }
    SSL_CTX_free(world->tls);
    certificate_authority_destroy(&world->authority);
    free(world);
    return 0;
}

static void start_peer(struct world *world, void (*serve)(struct peer_stream *stream), bool is_tls)
{
    struct peer_options options = { .serve = serve, .tls = is_tls ? world->tls : NULL };

    if (world->peer != NULL) {
        peer_stop(&world->peer);
    }
    world->peer = peer_start(&options);
}

// --------------------------------------------------------------------------------------------------------- one fetch

struct call {
    struct fetch fetch;
    struct http_request request;
    struct header headers[4];
    char url[512];
    unsigned done;
};

static void call_on_done(struct fetch *fetch)
{
    struct call *call = CONTAINER_OF(fetch, struct call, fetch);

    call->done++;
    assert_true(the_world->pending > 0);
    if (--the_world->pending == 0) {
        loop_stop(the_world->loop);
    }
}

static void call_prepare(struct world *world, struct call *call, const char *method, const char *host, bool is_tls)
{
    *call = (struct call){ 0 };
    uint16_t port = world->peer != NULL ? peer_port(world->peer) : 1;
    snprintf(call->url, sizeof(call->url), "%s://%s:%u/search?a=1", is_tls ? "https" : "http", host, (unsigned)port);
    call->request.method = text_of(method);
    call->request.url = text_of(call->url);
    call->request.headers = call->headers;
    call->fetch.request = &call->request;
    call->fetch.body_cap = 1024 * 1024;
    call->fetch.on_done = call_on_done;
    call->fetch.end_us = clock_now_us() + LONG_US;
}

static void call_start(struct world *world, struct call *call)
{
    world->pending++;
    assert_int_equal(fetch_start(world->pool, &call->fetch), STATUS_OK);
    assert_int_equal(call->done, 0);
}

static void call_run(struct world *world, struct call *call)
{
    call_start(world, call);
    run_world(world);
    assert_int_equal(call->done, 1);
    assert_true(call->fetch.done_us >= call->fetch.started_us);
    assert_null(call->fetch.impl);
}

static void call_fini(struct call *call)
{
    http_response_destroy(&call->fetch.response);
}

static void expect(const struct call *call, enum fetch_result result, enum phase phase)
{
    if (call->fetch.result != result || call->fetch.phase != phase) {
        fail_msg("result %d in phase %s (%s); expected %d in %s", (int)call->fetch.result,
                 phase_name(call->fetch.phase) != NULL ? phase_name(call->fetch.phase) : "none", call->fetch.detail,
                 (int)result, phase_name(phase));
    }
    if (result == FETCH_OK) {
        assert_non_null(call->fetch.response);
    } else {
        assert_null(call->fetch.response);
        assert_true(result == FETCH_ENDED || call->fetch.detail[0] != '\0');
    }
}

static void expect_body(const struct call *call, const char *body)
{
    assert_non_null(call->fetch.response);
    struct text text = block_text(call->fetch.response->body);
    if (!text_equals_c(text, body)) {
        fail_msg("body \"%.*s\", expected \"%s\"", TEXT_ARGS(text), body);
    }
}

// Sends one GET to a peer that does `serve`, and expects the result.
static void one(struct world *world, void (*serve)(struct peer_stream *stream), enum fetch_result result,
                enum phase phase)
{
    struct call call;

    start_peer(world, serve, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, result, phase);
    call_fini(&call);
}

static void one_until_its_end(struct world *world, struct call *call, enum phase phase)
{
    call->fetch.end_us = clock_now_us() + SHORT_US;
    call_run(world, call);
    expect(call, FETCH_ENDED, phase);
    assert_true(call->fetch.done_us >= call->fetch.end_us);
}

static size_t count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

// ------------------------------------------------------------------------------------------------------------- peers

// Answers every request with its own first line, method to version.
static void serve_echo(struct peer_stream *stream)
{
    char head[HEAD];
    char answer[2 * HEAD];
    uint64_t length;

    while (stream_read_request(stream, head, sizeof(head), &length)) {
        *strstr(head, "\r\n") = '\0';
        snprintf(answer, sizeof(answer),
                 "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Twice: a\r\nX-Twice:  b \r\n"
                 "Content-Length: %zu\r\n\r\n%s",
                 strlen(head), head);
        if (!stream_send(stream, answer)) {
            return;
        }
    }
}

// Answers with the whole head that it got.
static void serve_mirror(struct peer_stream *stream)
{
    char head[HEAD];
    char answer[2 * HEAD];
    uint64_t length;

    while (stream_read_request(stream, head, sizeof(head), &length)) {
        snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nX-Body: %llu\r\nContent-Length: %zu\r\n\r\n%s",
                 (unsigned long long)length, strlen(head), head);
        if (!stream_send(stream, answer)) {
            return;
        }
    }
}

#define SERVE(name, ...)                                                                                               \
    static void name(struct peer_stream *stream)                                                                       \
    {                                                                                                                  \
        char head[HEAD];                                                                                               \
        uint64_t length;                                                                                               \
        if (!stream_read_request(stream, head, sizeof(head), &length)) {                                               \
            return;                                                                                                    \
        }                                                                                                              \
        __VA_ARGS__                                                                                                    \
    }

SERVE(serve_silence, stream_wait_for_end(stream);)
SERVE(serve_reset, stream_reset(stream);)
SERVE(serve_nothing, )
SERVE(serve_garbage, stream_send(stream, "SSH-2.0-OpenSSH_9.2\r\n");)
SERVE(serve_half_body, stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");)
SERVE(serve_half_chunks, stream_send(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");)
SERVE(serve_bad_chunks, stream_send(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhalf\r\n");)
SERVE(serve_half_head, stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Le");)
SERVE(serve_stalled_body, stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
      stream_wait_for_end(stream);)
SERVE(serve_continue_and_silence, stream_send(stream, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
      stream_wait_for_end(stream);)
SERVE(serve_continue_and_end, stream_send(stream, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");)
SERVE(serve_switch, stream_send(stream, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\nother");)
SERVE(serve_interim, stream_send(stream, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
                                         "HTTP/1.1 404 Not Found\r\nX-Late: 2\r\nContent-Length: 2\r\n\r\nno");)
SERVE(serve_trailers, stream_send(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                                          "4\r\nwhol\r\n1\r\ne\r\n0\r\nX-Sum: 1\r\n\r\n");)
SERVE(serve_folded, stream_send(stream, "HTTP/1.1 200 OK\r\nX-Long: one\r\n  two\r\n\tthree\r\nEMPTY:\r\n"
                                        "Content-Length: 0\r\n\r\n");)
SERVE(serve_redirect, stream_send(stream, "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n"
                                          "Content-Length: 4\r\n\r\naway");)
SERVE(serve_gzip_label, stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n"
                                            "plain");)
SERVE(serve_to_the_end, stream_send(stream, "HTTP/1.1 200 OK\r\n\r\nall there is");)
SERVE(
    serve_long_head, stream_send(stream, "HTTP/1.1 200 OK\r\n"); char line[1100]; memset(line, 'x', sizeof(line));
    memcpy(line, "X-Long: ", 8); memcpy(line + 1000, "\r\n", 3);
    for (int i = 0; i < 20; i++) { stream_send(stream, line); } stream_send(stream, "Content-Length: 0\r\n\r\n");)
SERVE(
    serve_many_interim, for (int i = 0; i < 2000; i++) {
        if (!stream_send(stream, "HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n")) {
            return;
        }
    })

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

SERVE(serve_1000_bytes, stream_send(stream, "HTTP/1.1 200 OK\r\n\r\n"); send_zeros(stream, 1000);)
SERVE(serve_endless, stream_send(stream, "HTTP/1.1 200 OK\r\n\r\n"); while (send_zeros(stream, 4096)){})
SERVE(serve_announced_large, stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n");
      stream_wait_for_end(stream);)

// Answers the first request of the first connection and closes without a word after the second one.
static void serve_one_then_drop(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    if (stream->number > 0) {
        serve_echo(stream);
        return;
    }
    if (stream_read_request(stream, head, sizeof(head), &length) &&
        stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst")) {
        stream_read_request(stream, head, sizeof(head), &length);
    }
}

// Answers once and leaves.
SERVE(serve_and_leave, stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");)

// A 204 with a body a moment later, which looks like the next answer.
static void serve_poison(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    if (stream->number > 0) {
        serve_echo(stream);
        return;
    }
    if (stream_read_request(stream, head, sizeof(head), &length)) {
        stream_send(stream, "HTTP/1.1 204 No Content\r\n\r\n");
        usleep(20000);
        stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison");
        stream_wait_for_end(stream);
    }
}

// -------------------------------------------------------------------------------------------------------- good answers

static void an_answer_comes_with_status_headers_and_body(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_echo, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    expect_body(&call, "GET /search?a=1 HTTP/1.1");
    const struct http_response *response = call.fetch.response;
    assert_int_equal(response->status, 200);
    assert_int_equal(response->header_count, 4);
    assert_true(text_equals(response->headers[0].name, TEXT("content-type")));
    assert_true(text_equals(response->headers[1].value, TEXT("a")));
    assert_true(text_equals(response->headers[2].value, TEXT("b")));
    assert_true(text_equals(http_response_header(response, "content-length"), TEXT("24")));
    assert_true(call.fetch.started_us <= call.fetch.connected_us);
    assert_true(call.fetch.connected_us <= call.fetch.sent_us);
    assert_true(call.fetch.sent_us <= call.fetch.first_byte_us);
    assert_true(call.fetch.first_byte_us <= call.fetch.done_us);
    assert_false(call.fetch.is_reused);
    call_fini(&call);
}

static void the_request_goes_out_as_it_was_written(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_mirror, false);
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    call.request.body = (struct text){ "{\"a\":\0}", 7 };
    call.headers[0] = (struct header){ TEXT("X-Key"), TEXT(" secret ") };
    call.headers[1] = (struct header){ TEXT("X-Empty"), TEXT("") };
    call.headers[2] = (struct header){ TEXT("Content-Length"), TEXT("99") };
    call.headers[3] = (struct header){ TEXT("Transfer-Encoding"), TEXT("chunked") };
    call.request.header_count = 4;
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    char expected[512];
    snprintf(expected, sizeof(expected),
             "POST /search?a=1 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAccept: */*\r\nX-Key: secret\r\nX-Empty:\r\n"
             "Accept-Encoding: gzip\r\nContent-Length: 7\r\n\r\n",
             (unsigned)peer_port(world->peer));
    expect_body(&call, expected);
    assert_true(text_equals(http_response_header(call.fetch.response, "x-body"), TEXT("7")));
    call_fini(&call);
}

static void a_pooled_handle_keeps_nothing_of_its_last_request(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *method;
        const char *body;
        const char *line;
        const char *length;
    } cases[] = {
        { "POST", "abc", "POST /search?a=1 HTTP/1.1", "3" }, { "GET", NULL, "GET /search?a=1 HTTP/1.1", NULL },
        { "PUT", "abcd", "PUT /search?a=1 HTTP/1.1", "4" },  { "DELETE", NULL, "DELETE /search?a=1 HTTP/1.1", NULL },
        { "POST", NULL, "POST /search?a=1 HTTP/1.1", "0" },  { "HEAD", NULL, NULL, NULL },
        { "GET", NULL, "GET /search?a=1 HTTP/1.1", NULL },   { "PATCH", "x", "PATCH /search?a=1 HTTP/1.1", "1" },
    };

    start_peer(world, serve_mirror, false);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct call call;
        call_prepare(world, &call, cases[i].method, "127.0.0.1", false);
        call.request.body = text_of(cases[i].body);
        if (cases[i].line == NULL) {
            call.fetch.end_us = clock_now_us() + LONG_US;
        }
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        if (cases[i].line != NULL) {
            struct text head = block_text(call.fetch.response->body);
            assert_true(text_starts_with(head, text_of(cases[i].line)));
            char copy[HEAD];
            snprintf(copy, sizeof(copy), "%.*s", TEXT_ARGS(head));
            const char *length = strstr(copy, "Content-Length: ");
            assert_true((length != NULL) == (cases[i].length != NULL));
            if (length != NULL) {
                assert_int_equal(strncmp(length + 16, cases[i].length, strlen(cases[i].length)), 0);
            }
            assert_null(strstr(copy, "Expect"));
            assert_null(strstr(copy, "Content-Type"));
        } else {
            assert_null(call.fetch.response->body);
            // Its peer has sent a body all the same; that connection is not used again.
        }
        call_fini(&call);
    }
}

static void a_large_post_waits_for_no_hundred_continue(void **state)
{
    struct world *world = *state;
    size_t size = 3 * 1024 * 1024;
    char *body = malloc(size);
    struct call call;

    memset(body, 'x', size);
    start_peer(world, serve_mirror, false);
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    call.request.body = (struct text){ body, size };
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    assert_true(text_equals(http_response_header(call.fetch.response, "x-body"), TEXT("3145728")));
    struct text head = block_text(call.fetch.response->body);
    char copy[HEAD];
    snprintf(copy, sizeof(copy), "%.*s", TEXT_ARGS(head));
    assert_null(strstr(copy, "Expect"));
    call_fini(&call);
    free(body);
}

static void a_kept_connection_is_used_again(void **state)
{
    struct world *world = *state;
    struct fetch_pool_counts counts;

    start_peer(world, serve_echo, false);
    for (int i = 0; i < 20; i++) {
        struct call call;
        call_prepare(world, &call, i % 2 == 0 ? "POST" : "GET", "127.0.0.1", false);
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        assert_int_equal(call.fetch.is_reused, i > 0);
        call_fini(&call);
    }
    assert_int_equal(peer_connections(world->peer), 1);
    fetch_pool_counts(world->pool, &counts);
    assert_int_equal(counts.connects, 1);
    assert_int_equal(counts.reused, 19);
    assert_int_equal(counts.started, 20);
    assert_int_equal(counts.done, 20);
    assert_int_equal(counts.running, 0);
}

static void many_at_once_each_get_their_own_answer(void **state)
{
    struct world *world = *state;
    struct call *calls = calloc(100, sizeof(*calls));

    start_peer(world, serve_echo, false);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            call_prepare(world, &calls[i], "POST", "127.0.0.1", false);
            snprintf(calls[i].url, sizeof(calls[i].url), "http://127.0.0.1:%u/%d", (unsigned)peer_port(world->peer), i);
            calls[i].request.url = text_of(calls[i].url);
            call_start(world, &calls[i]);
        }
        run_world(world);
        for (int i = 0; i < 100; i++) {
            char expected[64];
            snprintf(expected, sizeof(expected), "POST /%d HTTP/1.1", i);
            expect(&calls[i], FETCH_OK, PHASE_BODY);
            expect_body(&calls[i], expected);
            call_fini(&calls[i]);
        }
    }
    assert_int_equal(peer_connections(world->peer), 100);
    free(calls);
}

static void interim_heads_trailers_and_folded_lines_are_dealt_with(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_interim, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    assert_int_equal(call.fetch.response->status, 404);
    assert_int_equal(call.fetch.response->header_count, 2);
    expect_body(&call, "no");
    call_fini(&call);

    start_peer(world, serve_trailers, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    expect_body(&call, "whole");
    assert_null(http_response_header(call.fetch.response, "x-sum").data);
    call_fini(&call);

    start_peer(world, serve_folded, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    struct text value = http_response_header(call.fetch.response, "x-long");
    assert_true(text_starts_with(value, TEXT("one")));
    assert_memory_equal(value.data + value.length - 5, "three", 5);
    assert_null(memchr(value.data, '\n', value.length));
    assert_int_equal(http_response_header(call.fetch.response, "empty").length, 0);
    assert_null(call.fetch.response->body);
    call_fini(&call);
}

static void redirects_and_encodings_are_handed_over_as_they_came(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_redirect, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    assert_int_equal(call.fetch.response->status, 302);
    assert_int_equal(peer_requests(world->peer), 1);
    call_fini(&call);

    start_peer(world, serve_gzip_label, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    expect_body(&call, "plain");
    call_fini(&call);

    start_peer(world, serve_to_the_end, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    expect_body(&call, "all there is");
    call_fini(&call);
}

// --------------------------------------------------------------------------------------------------------- bad answers

static void answers_that_are_cut_or_no_http_fail_in_their_phase(void **state)
{
    struct world *world = *state;

    one(world, serve_reset, FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
    one(world, serve_nothing, FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
    one(world, serve_garbage, FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
    one(world, serve_half_body, FETCH_RECEIVE_FAILED, PHASE_BODY);
    one(world, serve_half_chunks, FETCH_RECEIVE_FAILED, PHASE_BODY);
    one(world, serve_bad_chunks, FETCH_RECEIVE_FAILED, PHASE_BODY);
    one(world, serve_half_head, FETCH_RECEIVE_FAILED, PHASE_BODY);
    one(world, serve_continue_and_end, FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
    one(world, serve_switch, FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
}

static void heads_over_their_cap_are_too_large_interim_ones_too(void **state)
{
    struct world *world = *state;

    one(world, serve_long_head, FETCH_TOO_LARGE, PHASE_BODY);
    one(world, serve_many_interim, FETCH_TOO_LARGE, PHASE_FIRST_BYTE);
}

static void a_body_may_fill_its_cap_and_not_a_byte_more(void **state)
{
    struct world *world = *state;
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

    start_peer(world, serve_announced_large, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call.fetch.body_cap = 1000;
    call_run(world, &call);
    expect(&call, FETCH_TOO_LARGE, PHASE_BODY);
}

// --------------------------------------------------------------------------------------------------- kept connections

static void a_post_is_never_sent_twice_over_a_kept_connection_that_dies(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_one_then_drop, false);
    for (int i = 0; i < 2; i++) {
        call_prepare(world, &call, "POST", "127.0.0.1", false);
        call.request.body = TEXT("book it");
        call_run(world, &call);
        call_fini(&call);
    }
    expect(&call, FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE);
    assert_true(call.fetch.is_reused);
    assert_int_equal(peer_requests(world->peer), 2);
    // The next one is sent over a fresh connection.
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    assert_false(call.fetch.is_reused);
    call_fini(&call);
}

static void a_post_is_not_repeated_over_another_kept_connection_either(void **state)
{
    struct world *world = *state;
    struct call calls[3];

    start_peer(world, serve_one_then_drop, false);
    for (int i = 0; i < 3; i++) { // three connections, the first of which drops its second request
        call_prepare(world, &calls[i], "POST", "127.0.0.1", false);
        call_start(world, &calls[i]);
    }
    run_world(world);
    assert_int_equal(peer_connections(world->peer), 3);
    for (int i = 0; i < 3; i++) {
        call_fini(&calls[i]);
    }
    for (int i = 0; i < 3; i++) {
        call_prepare(world, &calls[i], "POST", "127.0.0.1", false);
        call_start(world, &calls[i]);
    }
    run_world(world);
    unsigned failed = 0;
    for (int i = 0; i < 3; i++) {
        failed += calls[i].fetch.result == FETCH_RECEIVE_FAILED;
        call_fini(&calls[i]);
    }
    assert_int_equal(failed, 1);
    assert_int_equal(peer_requests(world->peer), 6);
}

static void a_get_is_repeated_when_its_kept_connection_dies(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_one_then_drop, false);
    for (int i = 0; i < 2; i++) {
        call_prepare(world, &call, "GET", "127.0.0.1", false);
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        call_fini(&call);
    }
    assert_false(call.fetch.is_reused);
    assert_int_equal(peer_requests(world->peer), 3);
}

static void a_kept_connection_that_the_peer_has_closed_is_not_used(void **state)
{
    struct world *world = *state;
    struct loop_stats before, after;

    start_peer(world, serve_and_leave, false);
    for (int i = 0; i < 5; i++) {
        struct call call;
        call_prepare(world, &call, "POST", "127.0.0.1", false);
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        assert_false(call.fetch.is_reused);
        call_fini(&call);
        loop_stats(world->loop, &before);
        run_for(world, 30 * MS);
        loop_stats(world->loop, &after);
        assert_true(after.turns - before.turns < 20); // the peer's end does not spin the loop
    }
}

static void bytes_that_nobody_asked_for_do_not_become_the_next_answer(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_poison, false);
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    assert_int_equal(call.fetch.response->status, 204);
    call_fini(&call);
    run_for(world, 60 * MS);
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    expect_body(&call, "POST /search?a=1 HTTP/1.1");
    assert_false(call.fetch.is_reused);
    call_fini(&call);
}

static void a_connection_on_which_a_fetch_was_cut_is_never_used_again(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_silence, false);
    for (unsigned i = 0; i < 3; i++) {
        call_prepare(world, &call, "POST", "127.0.0.1", false);
        one_until_its_end(world, &call, PHASE_FIRST_BYTE);
        assert_int_equal(peer_connections(world->peer), i + 1);
    }
}

// --------------------------------------------------------------------------------------------------------- end times

static void silence_ends_in_the_phase_first_byte(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_silence, false);
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    call.request.body = TEXT("{}");
    one_until_its_end(world, &call, PHASE_FIRST_BYTE);
    assert_true(call.fetch.sent_us >= call.fetch.connected_us && call.fetch.connected_us != 0);
    assert_int_equal(call.fetch.first_byte_us, 0);
    start_peer(world, serve_continue_and_silence, false);
    call_prepare(world, &call, "POST", "127.0.0.1", false);
    one_until_its_end(world, &call, PHASE_FIRST_BYTE);
}

static void a_stalled_body_ends_in_the_phase_body(void **state)
{
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_stalled_body, false);
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
    struct world *world = *state;
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

// Fills the backlog of a listener that never accepts, so that further connects get no answer.
static void fill_backlog(uint16_t port, int *fds, size_t count)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };

    for (size_t i = 0; i < count; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_true(fds[i] >= 0);
        (void)!connect(fds[i], (struct sockaddr *)&address, sizeof(address));
    }
    usleep(20000);
}

static void a_black_hole_ends_in_the_phase_connect(void **state)
{
    struct world *world = *state;
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
    struct world *world = *state;
    struct peer_options options = { .serve = stream_wait_for_end, .tls = world->tls, .has_no_handshake = true };
    struct call call;

    world->peer = peer_start(&options);
    call_prepare(world, &call, "GET", "127.0.0.1", true);
    one_until_its_end(world, &call, PHASE_TLS);
    assert_int_equal(call.fetch.connected_us, 0);
}

static void an_end_that_has_passed_sends_nothing(void **state)
{
    struct world *world = *state;
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

// --------------------------------------------------------------------------------------------------------------- TLS

static void tls_with_the_given_authority_works_and_is_kept(void **state)
{
    struct world *world = *state;

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
    struct world *world = *state;

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
    struct world *world = *state;
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
    struct world *world = *state;
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
    call.fetch.end_us = clock_now_us() + SHORT_US;
    call_run(world, &call);
    assert_int_equal(call.fetch.phase, PHASE_TLS);
    certificate_authority_destroy(&stranger);
}

static void an_authority_file_that_holds_none_is_refused_at_the_start(void **state)
{
    struct world *world = *state;
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

static struct address_book *make_book(enum name_state state, const char *const *addresses, size_t count)
{
    struct sockaddr_storage room[4];
    struct address_entry entry = { .host = TEXT("peer.test"), .state = state, .addresses = room };

    memset(room, 0, sizeof(room));
    for (size_t i = 0; i < count; i++) {
        struct sockaddr_in *address = (struct sockaddr_in *)(void *)&room[i];
        address->sin_family = AF_INET;
        assert_int_equal(inet_pton(AF_INET, addresses[i], &address->sin_addr), 1);
    }
    entry.address_count = count;
    snprintf(entry.detail, sizeof(entry.detail), "the book says so");
    struct address_book *book = address_book_create(&entry, 1);
    assert_non_null(book);
    return book;
}

static void set_book(struct world *world, enum name_state state, const char *address)
{
    fetch_pool_set_book(world->pool, make_book(state, &address, address != NULL));
}

static void a_name_of_the_book_is_reached_over_tls_by_its_name(void **state)
{
    struct world *world = *state;
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
    struct world *world = *state;
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
    struct world *world = *state;
    struct call call;

    set_book(world, NAME_PENDING, NULL);
    call_prepare(world, &call, "GET", "peer.test", false);
    one_until_its_end(world, &call, PHASE_DNS);
}

static void names_that_fail_or_are_forbidden_or_unknown_send_nothing(void **state)
{
    struct world *world = *state;
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
    struct world *world = *state;
    struct call call;

    start_peer(world, serve_and_leave, false);
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
    struct world *world = *state;
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
    struct world *world = *state;
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

// ------------------------------------------------------------------------------------------------------------- cancel

static void cancel_at(struct world *world, struct call *call, enum phase phase)
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
    struct world *world = *state;
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
    start_peer(world, serve_stalled_body, false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    cancel_at(world, &call, PHASE_BODY);
    peer_stop(&world->peer);
    assert_int_equal(count_descriptors(), before);
    fetch_pool_counts(world->pool, &counts);
    assert_int_equal(counts.cancelled, 6);
    assert_int_equal(counts.running + counts.waiting, 0);
}

struct pair {
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
    fetch_cancel(the_world->pool, &other->fetch);
    http_response_destroy(&other->fetch.response);
    other->done = 0;
    other->fetch.on_done = call_on_done;
    call_start(the_world, other);
}

static void an_owner_may_cancel_and_start_others_from_its_callback(void **state)
{
    struct world *world = *state;

    start_peer(world, serve_echo, false);
    for (int i = 0; i < 30; i++) {
        struct pair pair;
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
    struct world *world = *state;
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

static void ten_thousand_refused_connects_leave_descriptors_and_memory_flat(void **state)
{
    struct world *world = *state;
    struct call calls[50];
    size_t memory_before = 0;
    size_t descriptors_before = 0;

    start_peer(world, serve_echo, false);
    uint16_t port = peer_port(world->peer);
    peer_stop(&world->peer); // nobody listens at its port any more
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
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(an_answer_comes_with_status_headers_and_body),
        IN_WORLD(the_request_goes_out_as_it_was_written),
        IN_WORLD(a_pooled_handle_keeps_nothing_of_its_last_request),
        IN_WORLD(a_large_post_waits_for_no_hundred_continue),
        IN_WORLD(a_kept_connection_is_used_again),
        IN_WORLD(many_at_once_each_get_their_own_answer),
        IN_WORLD(interim_heads_trailers_and_folded_lines_are_dealt_with),
        IN_WORLD(redirects_and_encodings_are_handed_over_as_they_came),
        IN_WORLD(answers_that_are_cut_or_no_http_fail_in_their_phase),
        IN_WORLD(heads_over_their_cap_are_too_large_interim_ones_too),
        IN_WORLD(a_body_may_fill_its_cap_and_not_a_byte_more),
        IN_WORLD(a_post_is_never_sent_twice_over_a_kept_connection_that_dies),
        IN_WORLD(a_post_is_not_repeated_over_another_kept_connection_either),
        IN_WORLD(a_get_is_repeated_when_its_kept_connection_dies),
        IN_WORLD(a_kept_connection_that_the_peer_has_closed_is_not_used),
        IN_WORLD(bytes_that_nobody_asked_for_do_not_become_the_next_answer),
        IN_WORLD(a_connection_on_which_a_fetch_was_cut_is_never_used_again),
        IN_WORLD(silence_ends_in_the_phase_first_byte),
        IN_WORLD(a_stalled_body_ends_in_the_phase_body),
        IN_WORLD(a_peer_that_reads_nothing_ends_in_the_phase_send),
        IN_WORLD(a_black_hole_ends_in_the_phase_connect),
        IN_WORLD(a_slow_tls_handshake_ends_in_the_phase_tls),
        IN_WORLD(an_end_that_has_passed_sends_nothing),
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
        IN_WORLD(cancelling_in_any_phase_calls_nobody_and_leaves_no_descriptor),
        IN_WORLD(an_owner_may_cancel_and_start_others_from_its_callback),
        IN_WORLD(a_pool_ends_in_the_middle_of_its_fetches),
        IN_WORLD(ten_thousand_refused_connects_leave_descriptors_and_memory_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
