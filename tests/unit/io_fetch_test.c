// The fetch pool against peers on loopback: what goes out, what comes back, and over which connection.

#include "base/clock.h"
#include "support/fetch_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void serve_silence(struct peer_stream *stream)
{
    stream_wait_for_end(stream);
}

// -------------------------------------------------------------------------------------------------------- good answers

static void an_answer_comes_with_status_headers_and_body(void **state)
{
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
    struct call call;

    start_peer_saying(world,
                      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
                      "HTTP/1.1 404 Not Found\r\nX-Late: 2\r\nContent-Length: 2\r\n\r\nno",
                      false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    assert_int_equal(call.fetch.response->status, 404);
    assert_int_equal(call.fetch.response->header_count, 2);
    expect_body(&call, "no");
    call_fini(&call);

    start_peer_saying(world,
                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                      "4\r\nwhol\r\n1\r\ne\r\n0\r\nX-Sum: 1\r\n\r\n",
                      false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    expect_body(&call, "whole");
    assert_null(http_response_header(call.fetch.response, "x-sum").data);
    call_fini(&call);

    start_peer_saying(world,
                      "HTTP/1.1 200 OK\r\nX-Long: one\r\n  two\r\n\tthree\r\nEMPTY:\r\n"
                      "Content-Length: 0\r\n\r\n",
                      false);
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
    struct fetch_world *world = *state;
    struct call call;

    start_peer_saying(world,
                      "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n"
                      "Content-Length: 4\r\n\r\naway",
                      false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    assert_int_equal(call.fetch.response->status, 302);
    assert_int_equal(peer_requests(world->peer), 1);
    call_fini(&call);

    start_peer_saying(world,
                      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n"
                      "plain",
                      false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    expect_body(&call, "plain");
    call_fini(&call);

    start_peer_saying(world, "HTTP/1.1 200 OK\r\n\r\nall there is", false);
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    expect_body(&call, "all there is");
    call_fini(&call);
}

// --------------------------------------------------------------------------------------------------- kept connections

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

static void a_post_is_never_sent_twice_over_a_kept_connection_that_dies(void **state)
{
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
    struct loop_stats before, after;

    start_peer_saying(world, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst", false);
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
    struct fetch_world *world = *state;
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
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_silence, false);
    for (unsigned i = 0; i < 3; i++) {
        call_prepare(world, &call, "POST", "127.0.0.1", false);
        one_until_its_end(world, &call, PHASE_FIRST_BYTE);
        assert_int_equal(peer_connections(world->peer), i + 1);
    }
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, fetch_world_set_up, fetch_world_tear_down)

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
        IN_WORLD(a_post_is_never_sent_twice_over_a_kept_connection_that_dies),
        IN_WORLD(a_post_is_not_repeated_over_another_kept_connection_either),
        IN_WORLD(a_get_is_repeated_when_its_kept_connection_dies),
        IN_WORLD(a_kept_connection_that_the_peer_has_closed_is_not_used),
        IN_WORLD(bytes_that_nobody_asked_for_do_not_become_the_next_answer),
        IN_WORLD(a_connection_on_which_a_fetch_was_cut_is_never_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
