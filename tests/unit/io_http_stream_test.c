// Streamed replies over real sockets. The server has a thread of its own; the test tells it step by step what to write.

#include "base/text.h"
#include "io/http_server.h"
#include "support/caller.h"
#include "support/server_world.h"
#include "support/stream_world.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int ask(struct stream_world *world, const char *request, int receive_buffer)
{
    unsigned before = atomic_load(&world->requests);
    int fd = caller_connect_with(http_server_port(world->server), receive_buffer);

    assert_true(fd >= 0);
    caller_send(fd, request);
    server_world_await(&world->requests, before + 1);
    return fd;
}

/// Reads a head to its end into `head`.
static void read_head(int fd, char *head, size_t room)
{
    size_t length = 0;

    do {
        assert_true(length + 1 < room);
        assert_int_equal(recv(fd, head + length, 1, 0), 1);
        head[++length] = '\0';
    } while (length < 4 || memcmp(head + length - 4, "\r\n\r\n", 4) != 0);
}

static void expect_head(int fd)
{
    char head[1024];

    read_head(fd, head, sizeof(head));
    assert_int_equal(strncmp(head, "HTTP/1.1 200", 12), 0);
    assert_non_null(strstr(head, "Transfer-Encoding: chunked\r\n"));
    assert_non_null(strstr(head, "Content-Type: text/event-stream\r\n"));
}

/// Exactly these bytes come next.
static void expect_bytes(int fd, const char *bytes)
{
    char got[256] = "";
    size_t length = strlen(bytes);

    assert_true(length < sizeof(got));
    assert_int_equal(recv(fd, got, length, MSG_WAITALL), (ssize_t)length);
    assert_string_equal(got, bytes);
}

/// One chunk: its length, or 0 at the end of the body. The bytes go on with the pattern that begins at `*next`.
static size_t read_chunk(int fd, unsigned char *next)
{
    char line[16] = "";
    size_t length = 0;

    do {
        assert_true(length + 1 < sizeof(line));
        assert_int_equal(recv(fd, line + length, 1, 0), 1);
        length++;
    } while (line[length - 1] != '\n');
    size_t size = strtoul(line, NULL, 16);
    char *bytes = malloc(size + 2);
    assert_int_equal(recv(fd, bytes, size + 2, MSG_WAITALL), (ssize_t)(size + 2));
    assert_int_equal(memcmp(bytes + size, "\r\n", 2), 0);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal((unsigned char)bytes[i], (*next)++);
    }
    free(bytes);
    return size;
}

static size_t read_body(int fd)
{
    unsigned char next = 0;
    size_t total = 0, size;

    while ((size = read_chunk(fd, &next)) > 0) {
        total += size;
    }
    return total;
}

// -------------------------------------------------------------------------------------------------------------- tests

static void pieces_arrive_as_they_are_written(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, GET("/stream"), 0);

    stream_begin(world, 0, STREAM_LIMIT);
    expect_head(fd);
    assert_true(stream_write_piece(world, 0, TEXT("one")));
    expect_bytes(fd, "3\r\none\r\n");
    assert_true(stream_write_piece(world, 0, (struct text){ NULL, 0 })); // nothing is no end
    assert_true(stream_write_piece(world, 0, TEXT("second")));
    expect_bytes(fd, "6\r\nsecond\r\n");
    assert_true(stream_write_piece(world, 0, TEXT("3")));
    expect_bytes(fd, "1\r\n3\r\n");
    assert_int_equal(world->sent + world->gone + world->broken, 0);
    stream_end(world, 0);
    expect_bytes(fd, "0\r\n\r\n");
    server_world_await(&world->sent, 1);
    assert_int_equal(world->slow, 0);
    close(fd);
}

/// The loop stands still until the reader has the piece: no later turn helps.
static void run_write_and_wait(struct stream_step *step)
{
    struct pollfd reader = { .fd = step->fd, .events = POLLIN };

    require(http_call_stream_write(step->call, step->piece));
    step->result = poll(&reader, 1, CALLER_PATIENCE_MS) == 1;
}

static void a_write_sends_before_it_returns(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, GET("/stream"), 0);

    stream_begin(world, 0, STREAM_LIMIT);
    expect_head(fd);
    for (int i = 0; i < 3; i++) {
        struct stream_step step = { .call = world->calls[0], .piece = TEXT("now"), .fd = fd };
        stream_world_do(world, &step, run_write_and_wait);
        assert_true(step.result);
        expect_bytes(fd, "3\r\nnow\r\n");
    }
    stream_end(world, 0);
    close(fd);
}

static void a_connection_lives_on_after_a_stream(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, GET("/stream"), 0);

    for (unsigned i = 0; i < 3; i++) {
        stream_begin(world, i, STREAM_LIMIT);
        assert_true(stream_write_piece(world, i, TEXT("piece")));
        stream_end(world, i);
        expect_head(fd);
        expect_bytes(fd, "5\r\npiece\r\n0\r\n\r\n");
        caller_send(fd, GET("/whole"));
        caller_expect(fd, 200, "whole");
        caller_send(fd, GET("/stream"));
        server_world_await(&world->requests, 2 * i + 3);
    }
    server_world_await(&world->sent, 6);
    close(fd);
    server_world_await(&world->gone, 1); // the fourth was never begun
}

static void a_pipelined_request_waits_for_the_end_of_the_stream(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, GET("/stream") GET("/whole") GET("/stream"), 0);

    stream_begin(world, 0, STREAM_LIMIT);
    assert_true(stream_write_piece(world, 0, TEXT("piece")));
    expect_head(fd);
    expect_bytes(fd, "5\r\npiece\r\n");
    assert_int_equal(world->requests, 1);
    stream_end(world, 0);
    expect_bytes(fd, "0\r\n\r\n");
    caller_expect(fd, 200, "whole");
    server_world_await(&world->requests, 3);
    stream_begin(world, 1, STREAM_LIMIT);
    stream_end(world, 1); // without a piece
    expect_head(fd);
    expect_bytes(fd, "0\r\n\r\n");
    server_world_await(&world->sent, 3);
    assert_int_equal(world->gone + world->broken + world->slow, 0);
    close(fd);
}

static void a_piece_that_the_kernel_takes_may_be_larger_than_the_limit(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, GET("/stream"), 0);
    size_t length = MIDDLE; // more than one turn of the server moves
    char *bytes = stream_pattern(length);

    stream_begin(world, 0, 10);
    assert_true(stream_write_piece(world, 0, (struct text){ bytes, length }));
    stream_end(world, 0);
    expect_head(fd);
    assert_int_equal(read_body(fd), length);
    server_world_await(&world->sent, 1);
    assert_int_equal(world->slow, 0);
    free(bytes);
    close(fd);
}

static void a_reader_that_does_not_read_is_cut_at_the_limit(void **state)
{
    struct stream_world *world = *state;
    int before = server_world_descriptors();
    int fd = ask(world, GET("/stream"), 16 * 1024);
    struct stream_step step = { .call = world->calls[0] };

    stream_begin(world, 0, STREAM_LIMIT);
    stream_world_do(world, &step, stream_step_flood);
    assert_false(step.result);
    assert_true(step.written > STREAM_LIMIT);
    assert_int_equal(step.gone_inside, 0); // told later
    server_world_await(&world->gone, 1);
    await_descriptors(before + 1); // ours
    while (recv(fd, (char[4096]){ 0 }, 4096, 0) > 0) {
    }
    assert_int_equal(errno, ECONNRESET); // what the kernel still held is gone too
    close(fd);
    assert_int_equal(world->gone, 1);
    assert_int_equal(world->sent + world->broken, 0);
    assert_int_equal(stream_world_open_calls(world), 0);
}

static void what_waits_arrives_whole_and_in_order(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, GET("/stream"), 16 * 1024);
    struct stream_step step = { .call = world->calls[0], .limit = STREAM_BACKLOG };
    unsigned char next = 0;

    stream_begin(world, 0, (size_t)2 * STREAM_BACKLOG);
    stream_world_do(world, &step, stream_step_fill);
    assert_true(step.result);
    expect_head(fd);
    size_t total = read_chunk(fd, &next); // some of it, so that the rest moves up
    char *more = stream_pattern(STREAM_PIECE);
    assert_int_equal(STREAM_BACKLOG % 256, 0);
    assert_true(stream_write_piece(world, 0, (struct text){ more, STREAM_PIECE }));
    while (total < STREAM_BACKLOG / 2) {
        total += read_chunk(fd, &next);
    }
    assert_true(stream_write_piece(world, 0, (struct text){ more, STREAM_PIECE }));
    while (total < STREAM_BACKLOG + (size_t)2 * STREAM_PIECE) {
        total += read_chunk(fd, &next);
    }
    assert_true(stream_write_piece(world, 0, (struct text){ more, 1 })); // and it rests again
    assert_int_equal(read_chunk(fd, &next), 1);
    stream_end(world, 0);
    assert_int_equal(read_chunk(fd, &next), 0);
    server_world_await(&world->sent, 1);
    assert_int_equal(world->slow, 0); // all was out when it ended
    free(more);
    close(fd);
}

static void a_stream_that_ends_with_bytes_waiting_is_slow(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, GET("/stream"), 16 * 1024);
    struct stream_step step = { .call = world->calls[0], .limit = STREAM_BACKLOG };

    stream_begin(world, 0, STREAM_BACKLOG);
    stream_world_do(world, &step, stream_step_fill);
    assert_true(step.result);
    stream_end(world, 0);
    assert_int_equal(world->sent, 0);
    expect_head(fd);
    assert_int_equal(read_body(fd), STREAM_BACKLOG);
    server_world_await(&world->sent, 1);
    assert_int_equal(world->slow, 1);
    caller_send(fd, GET("/whole"));
    caller_expect(fd, 200, "whole");
    close(fd);
}

static void a_reader_that_leaves_after_the_end_is_not_sent(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, GET("/stream"), 16 * 1024);
    struct stream_step step = { .call = world->calls[0], .limit = STREAM_BACKLOG };

    stream_begin(world, 0, STREAM_BACKLOG);
    stream_world_do(world, &step, stream_step_fill);
    stream_end(world, 0);
    caller_reset(fd);
    server_world_await(&world->broken, 1);
    assert_int_equal(world->gone + world->sent, 0);
}

static void leave(int fd, unsigned way)
{
    if (way == 0) {
        close(fd);
    } else if (way == 1) {
        caller_reset(fd);
    } else {
        assert_int_equal(shutdown(fd, SHUT_WR), 0); // counts as gone, as it does for a request that waits
    }
}

static void a_reader_that_leaves_mid_stream_is_told_once(void **state)
{
    struct stream_world *world = *state;
    int before = server_world_descriptors();

    for (unsigned i = 0; i < 6; i++) {
        bool is_full = i >= 3; // bytes wait for the reader; else the stream rests
        int fd = ask(world, GET("/stream"), 16 * 1024);
        struct stream_step step = { .call = world->calls[i], .limit = is_full ? STREAM_BACKLOG : 100 };
        stream_begin(world, i, STREAM_BACKLOG);
        stream_world_do(world, &step, stream_step_fill);
        assert_true(step.result);
        leave(fd, i % 3);
        server_world_await(&world->gone, i + 1);
        if (i % 3 == 2) {
            close(fd);
        }
        await_descriptors(before);
        assert_int_equal(world->gone, i + 1);
    }
    assert_int_equal(world->sent + world->broken, 0);
    assert_int_equal(stream_world_open_calls(world), 0);
}

/// A reader has left and nobody has looked at its socket yet: write until it shows, then end.
static void run_write_to_nobody(struct stream_step *step)
{
    caller_reset(step->fd);
    step->result = true;
    while (step->result && step->written < STREAM_FLOOD) {
        step->result = http_call_stream_write(step->call, TEXT("piece"));
        step->written += 5;
    }
    require(!http_call_stream_write(step->call, TEXT("again")));
    http_call_stream_end(step->call);
    step->gone_inside = atomic_load(&step->world->gone);
}

static void a_write_to_a_broken_connection_says_so_and_on_gone_follows(void **state)
{
    struct stream_world *world = *state;
    struct stream_step step = { .fd = ask(world, GET("/stream"), 0) };

    stream_begin(world, 0, STREAM_LIMIT);
    step.call = world->calls[0];
    stream_world_do(world, &step, run_write_to_nobody);
    assert_false(step.result);
    assert_int_equal(step.gone_inside, 0);
    server_world_await(&world->gone, 1);
    int fd = ask(world, GET("/whole"), 0);
    caller_expect(fd, 200, "whole");
    close(fd);
    assert_int_equal(world->gone, 1);
    assert_int_equal(world->sent + world->broken, 1); // the whole one
}

static void a_head_that_cannot_be_made_cuts_the_connection(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, GET("/stream"), 0);
    struct header_pair split = { "X-Split", "a\r\nInjected: yes" };
    struct http_reply head = { .status = 200, .headers = &split, .header_count = 1 };
    struct stream_step step = { .call = world->calls[0], .head = &head, .limit = STREAM_LIMIT };

    stream_world_do(world, &step, stream_step_begin);
    server_world_await(&world->gone, 1);
    caller_expect_end(fd);
    assert_int_equal(world->sent + world->broken, 0);
    close(fd);
}

static void a_caller_of_http_1_0_gets_the_stream_until_close(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, "GET /stream HTTP/1.0\r\nHost: test\r\nConnection: keep-alive\r\n\r\n", 0);
    char head[1024];

    stream_begin(world, 0, STREAM_LIMIT);
    read_head(fd, head, sizeof(head));
    assert_null(strstr(head, "chunked"));
    assert_true(stream_write_piece(world, 0, TEXT("one")));
    expect_bytes(fd, "one");
    assert_true(stream_write_piece(world, 0, TEXT("two")));
    expect_bytes(fd, "two");
    assert_int_equal(world->sent, 0);
    stream_end(world, 0);
    caller_expect_end(fd);
    server_world_await(&world->sent, 1);
    assert_int_equal(world->slow + world->gone, 0);
    close(fd);
}

static void a_stream_for_head_is_a_head(void **state)
{
    struct stream_world *world = *state;
    int fd = ask(world, "HEAD /stream HTTP/1.1\r\nHost: test\r\n\r\n", 0);
    char head[1024];

    stream_begin(world, 0, 10);
    read_head(fd, head, sizeof(head));
    assert_non_null(strstr(head, "Content-Type: text/event-stream\r\n"));
    caller_expect_end(fd); // not a byte of the body
    assert_true(stream_write_piece(world, 0, TEXT("nobody wants this piece")));
    assert_int_equal(world->sent + world->gone, 0);
    stream_end(world, 0);
    server_world_await(&world->sent, 1);
    assert_int_equal(world->slow + world->gone + world->broken, 0);
    close(fd);
}

static void a_hundred_streams_run_at_once(void **state)
{
    struct stream_world *world = *state;
    int fds[STREAMS];

    for (unsigned i = 0; i < STREAMS; i++) {
        fds[i] = ask(world, GET("/stream"), 0);
        stream_begin(world, i, STREAM_LIMIT);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < STREAMS; i++) {
            char piece[32];
            int length = snprintf(piece, sizeof(piece), "round %u of %02u", round, i);
            assert_true(stream_write_piece(world, i, (struct text){ piece, (size_t)length }));
        }
    }
    for (unsigned i = 0; i < STREAMS; i++) {
        stream_end(world, i);
    }
    for (unsigned i = 0; i < STREAMS; i++) {
        expect_head(fds[i]);
        for (unsigned round = 0; round < 3; round++) {
            char chunk[64];
            (void)snprintf(chunk, sizeof(chunk), "D\r\nround %u of %02u\r\n", round, i);
            expect_bytes(fds[i], chunk);
        }
        expect_bytes(fds[i], "0\r\n\r\n");
        close(fds[i]);
    }
    server_world_await(&world->sent, STREAMS);
    assert_int_equal(world->slow + world->gone + world->broken, 0);
}

static void run_cut_and_destroy(struct stream_step *step)
{
    stream_step_flood(step);
    require(!step->result);
    stream_step_stop(step);
}

static void the_end_of_the_server_cuts_open_streams(void **state)
{
    struct stream_world *world = *state;
    int fds[STREAMS];
    unsigned count = 10;

    for (unsigned i = 0; i < count; i++) {
        fds[i] = ask(world, i == 0 ? "HEAD /stream HTTP/1.1\r\nHost: test\r\n\r\n" : GET("/stream") GET("/whole"),
                     16 * 1024);
        stream_begin(world, i, i == 1 ? STREAM_LIMIT : STREAM_BACKLOG);
        struct stream_step fill = { .call = world->calls[i], .limit = STREAM_BACKLOG };
        if (i >= 2 && i % 2 == 0) {
            stream_world_do(world, &fill, stream_step_fill);
        }
    }
    struct stream_step last = { .call = world->calls[1] }; // cut, and not told of it when the end comes
    stream_world_do(world, &last, run_cut_and_destroy);
    assert_int_equal(last.gone_inside, 0);
    pthread_join(world->thread, NULL);
    loop_destroy(&world->loop);
    assert_int_equal(world->gone, count);
    assert_int_equal(world->sent + world->broken, 0);
    for (unsigned i = 0; i < count; i++) {
        close(fds[i]);
    }
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, stream_world_setup, stream_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(pieces_arrive_as_they_are_written),
        WITH_SERVER(a_write_sends_before_it_returns),
        WITH_SERVER(a_connection_lives_on_after_a_stream),
        WITH_SERVER(a_pipelined_request_waits_for_the_end_of_the_stream),
        WITH_SERVER(a_piece_that_the_kernel_takes_may_be_larger_than_the_limit),
        WITH_SERVER(a_reader_that_does_not_read_is_cut_at_the_limit),
        WITH_SERVER(what_waits_arrives_whole_and_in_order),
        WITH_SERVER(a_stream_that_ends_with_bytes_waiting_is_slow),
        WITH_SERVER(a_reader_that_leaves_after_the_end_is_not_sent),
        WITH_SERVER(a_reader_that_leaves_mid_stream_is_told_once),
        WITH_SERVER(a_write_to_a_broken_connection_says_so_and_on_gone_follows),
        WITH_SERVER(a_head_that_cannot_be_made_cuts_the_connection),
        WITH_SERVER(a_caller_of_http_1_0_gets_the_stream_until_close),
        WITH_SERVER(a_stream_for_head_is_a_head),
        WITH_SERVER(a_hundred_streams_run_at_once),
        WITH_SERVER(the_end_of_the_server_cuts_open_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
