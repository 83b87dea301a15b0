// Callers that take their time to send a request, with a server whose patience is a second.

#include "io/http_server.h"
#include "support/caller.h"
#include "support/server_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/// Sends a byte each 50 ms, for ever as far as the time-out of a silent connection goes. Is it cut?
static bool drips_until_cut(int fd)
{
    for (int i = 0; i < CALLER_PATIENCE_MS / 50; i++) {
        if (send(fd, "x", 1, MSG_NOSIGNAL) < 0) {
            return true;
        }
        usleep(50000);
    }
    return false;
}

static void a_dripping_head_is_cut(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "GET /echo HTTP/1.1\r\nHost: test\r\nX-Long: ");
    assert_true(drips_until_cut(fd));
    assert_int_equal(world->requests, 0);
    close(fd);
}

static void a_dripping_request_line_is_cut(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "GET /ec");
    assert_true(drips_until_cut(fd));
    close(fd);
}

static void a_dripping_head_after_a_reply_is_cut(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, GET("/echo") "GET /echo HTTP/1.1\r\nHost: ");
    caller_expect(fd, 200, "");
    assert_true(drips_until_cut(fd));
    assert_int_equal(world->requests, 1);
    close(fd);
}

static void dripping_trailers_are_cut(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd,
                "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Trailer: ");
    assert_true(drips_until_cut(fd));
    assert_int_equal(world->requests, 0);
    close(fd);
}

static void each_request_has_the_patience_anew(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    for (int i = 0; i < 8; i++) { // two seconds altogether, and each pause is looked at
        caller_send(fd, "POST /echo HTTP/1.1\r\nHo");
        usleep(140000);
        caller_send(fd, "st: test\r\nContent-Length: 4\r\n\r\nbo");
        usleep(140000);
        caller_send(fd, "dy");
        caller_expect(fd, 200, "body");
    }
    server_world_await(&world->sent, 8);
    close(fd);
}

static void the_end_of_the_server_finds_half_sent_heads(void **state)
{
    struct server_world *world = *state;
    int fds[20];

    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        fds[i] = caller_connect(http_server_port(world->server));
        caller_send(fds[i],
                    i % 2 == 0 ? "GET /echo HTT" : "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\na");
    }
    int answered = caller_connect(http_server_port(world->server));
    caller_send(answered, GET("/echo"));
    caller_expect(answered, 200, "");
    server_world_stop(world);
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        caller_expect_end(fds[i]);
        close(fds[i]);
    }
    close(answered);
    assert_int_equal(world->requests, 1);
}

#define IMPATIENT(test) cmocka_unit_test_setup_teardown(test, server_world_setup_impatient, server_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IMPATIENT(a_dripping_head_is_cut),
        IMPATIENT(a_dripping_request_line_is_cut),
        IMPATIENT(a_dripping_head_after_a_reply_is_cut),
        IMPATIENT(dripping_trailers_are_cut),
        IMPATIENT(each_request_has_the_patience_anew),
        IMPATIENT(the_end_of_the_server_finds_half_sent_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
