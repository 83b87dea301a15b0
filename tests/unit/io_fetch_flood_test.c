// The fetch pool against peers whose answers are framing without end: nothing of it reaches libcurl's callbacks.

#include "support/fetch_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

enum { FLOODS = 6, SMALL_CHUNKS = 400000 };

static bool asks_for(const char *head, const char *target)
{
    return strncmp(head + strlen("GET "), target, strlen(target)) == 0;
}

// The extension of a chunk that never ends; "/calm" gets its answer.
static void serve_endless_extension(struct peer_stream *stream)
{
    static const char filler[64 * 1024] = { 0 };
    char head[HEAD];
    uint64_t length;

    while (stream_read_request(stream, head, sizeof(head), &length)) {
        if (asks_for(head, "/calm")) {
            stream_send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ncalm");
            continue;
        }
        stream_send(stream, CHUNKED "1;");
        while (stream_send_bytes(stream, filler, sizeof(filler))) {
        }
        return;
    }
}

// Much more on the wire than in the body, again and again over one connection.
static void serve_small_chunks(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;
    size_t size = (size_t)SMALL_CHUNKS * 6;
    char *bytes = malloc(size + 1);

    for (size_t i = 0; bytes != NULL && i < SMALL_CHUNKS; i++) {
        memcpy(bytes + i * 6, "1\r\nx\r\n", 7);
    }
    while (bytes != NULL && stream_read_request(stream, head, sizeof(head), &length)) {
        stream_send(stream, CHUNKED);
        stream_send_bytes(stream, bytes, size);
        stream_send(stream, "0\r\n\r\n");
    }
    free(bytes);
}

static void prepare(struct fetch_world *world, struct call *call, const char *target, bool is_tls)
{
    call_prepare(world, call, "GET", "127.0.0.1", is_tls);
    snprintf(call->url, sizeof(call->url), "http%s://127.0.0.1:%u%s", is_tls ? "s" : "",
             (unsigned)peer_port(world->peer), target);
    call->request.url = text_of(call->url);
}

static void endless_framing_ends_as_too_large_and_others_get_their_answers(void **state)
{
    struct fetch_world *world = *state;

    for (int is_tls = 0; is_tls < 2; is_tls++) {
        struct call floods[FLOODS];
        struct call calm;

        start_peer(world, serve_endless_extension, is_tls != 0);
        for (size_t i = 0; i < FLOODS; i++) {
            prepare(world, &floods[i], "/flood", is_tls != 0);
            call_start(world, &floods[i]);
        }
        prepare(world, &calm, "/calm", is_tls != 0);
        call_start(world, &calm);
        run_world(world);
        for (size_t i = 0; i < FLOODS; i++) {
            expect(&floods[i], FETCH_TOO_LARGE, PHASE_BODY);
            call_fini(&floods[i]);
        }
        expect(&calm, FETCH_OK, PHASE_BODY);
        expect_body(&calm, "calm");
        call_fini(&calm);
    }
}

static void a_kept_connection_that_begins_to_flood_ends_as_too_large(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_endless_extension, false);
    prepare(world, &call, "/calm", false);
    call_run(world, &call);
    expect(&call, FETCH_OK, PHASE_BODY);
    call_fini(&call);
    prepare(world, &call, "/flood", false);
    call_run(world, &call);
    assert_true(call.fetch.is_reused);
    expect(&call, FETCH_TOO_LARGE, PHASE_BODY);
    call_fini(&call);
}

static void a_body_in_very_small_chunks_is_no_flood_however_long_its_connection_is_kept(void **state)
{
    struct fetch_world *world = *state;

    start_peer(world, serve_small_chunks, false);
    for (int i = 0; i < 5; i++) {
        struct call call;
        prepare(world, &call, "/", false);
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        assert_int_equal(block_text(call.fetch.response->body).length, SMALL_CHUNKS);
        assert_true(call.fetch.is_reused == (i != 0));
        call_fini(&call);
    }
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, fetch_world_set_up, fetch_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(endless_framing_ends_as_too_large_and_others_get_their_answers),
        IN_WORLD(a_kept_connection_that_begins_to_flood_ends_as_too_large),
        IN_WORLD(a_body_in_very_small_chunks_is_no_flood_however_long_its_connection_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
