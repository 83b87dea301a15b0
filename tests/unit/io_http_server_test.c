// The server under real sockets: its loop runs on a thread of its own, the test plays callers byte by byte.

#include "io/http_server.h"
#include "support/caller.h"
#include "support/server_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void two_requests_use_one_connection(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nfirst");
    caller_expect(fd, 200, "first");
    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 6\r\n\r\nsecond");
    caller_expect(fd, 200, "second");
    server_world_await(&world->sent, 2);
    assert_true(world->arrival_is_plausible);
    close(fd);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, GET("/later") "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\ntwo" GET("/later"));
    caller_expect(fd, 200, "later");
    caller_expect(fd, 200, "two");
    caller_expect(fd, 200, "later");
    server_world_await(&world->sent, 3);
    assert_int_equal(world->gone, 0);
    close(fd);
}

static void a_body_may_come_in_slow_pieces(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: te");
    usleep(20000);
    caller_send(fd, "st\r\nContent-Length: 9\r\n\r\none");
    usleep(20000);
    caller_send(fd, "two");
    usleep(20000);
    assert_int_equal(world->requests, 0);
    caller_send(fd, "end");
    caller_expect(fd, 200, "onetwoend");
    close(fd);
}

static void a_chunked_body_is_put_together(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(
        fd, "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    caller_expect(fd, 200, "abcde");
    close(fd);
}

static void method_headers_and_query_can_be_read(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "PUT /header?q=a%20b HTTP/1.1\r\nHost: test\r\nSearch-Caller: web\r\nContent-Length: 0\r\n\r\n");
    caller_expect(fd, 200, "PUT|web|a b|absent");
    close(fd);
}

static void a_header_that_is_given_twice_can_be_read_twice(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "GET /many HTTP/1.1\r\nHost: test\r\nX-Many: 700\r\nX-Other: 1\r\nx-many: 500\r\n\r\n");
    caller_expect(fd, 200, "700|500|absent");
    caller_send(fd, "GET /many HTTP/1.1\r\nHost: test\r\n\r\n");
    caller_expect(fd, 200, "||absent");
    close(fd);
}

/// All bytes until the connection ends.
static size_t read_all(int fd, char *bytes, size_t room)
{
    size_t length = 0;
    ssize_t got;

    while (length < room - 1 && (got = recv(fd, bytes + length, room - 1 - length, 0)) > 0) {
        length += (size_t)got;
    }
    bytes[length] = '\0';
    return length;
}

static void every_reply_carries_the_common_headers(void **state)
{
    static const char *const requests[] = {
        "GET /header HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: 99999999999\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    };
    struct server_world *world = *state;

    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        int fd = caller_connect(http_server_port(world->server));
        char bytes[2048];
        caller_send(fd, requests[i]);
        (void)read_all(fd, bytes, sizeof(bytes));
        assert_non_null(strstr(bytes, "\r\nX-Path: some\r\n"));
        close(fd);
    }
}

static void what_the_server_refuses_itself_is_told_when_it_is_sent(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999\r\n\r\n");
    caller_expect(fd, 413, NULL);
    server_world_await(&world->sent, 1);
    assert_int_equal(world->last_status, 413);
    close(fd);
    fd = caller_connect(http_server_port(world->server));
    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nContent-Length: 29\r\n\r\n");
    caller_expect(fd, 400, NULL);
    server_world_await(&world->sent, 2);
    assert_int_equal(world->last_status, 400);
    assert_int_equal(world->requests, 0);
    close(fd);
}

// Otherwise a proxy that goes by the other length lets a caller write the next one's request.
static void a_length_that_is_told_twice_is_refused(void **state)
{
    static const char *const heads[] = { "Content-Length: 5\r\nContent-Length: 29\r\n",
                                         "Content-Length: 29\r\nTransfer-Encoding: chunked\r\n",
                                         "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n" };
    struct server_world *world = *state;

    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        int fd = caller_connect(http_server_port(world->server));
        char bytes[16];
        caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\n");
        caller_send(fd, heads[i]);
        caller_send(fd, "\r\nfirst" GET("/echo"));
        caller_expect(fd, 400, NULL);
        assert_true(recv(fd, bytes, sizeof(bytes), 0) <= 0); // and no second answer
        close(fd);
    }
    assert_int_equal(world->requests, 0);
}

static void a_length_that_only_some_would_see_is_refused(void **state)
{
    static const char *const heads[] = {
        "Content-Length: 5\r\nTransfer-Encoding : chunked\r\n",
        "Content-Length: 5\r\nTransfer-Encoding\t: chunked\r\n",
        "Content-Length: 5\r\nTransfer-Encoding:\r\n chunked\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chu\r\n\tnked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "Content-Length : 5\r\n",
        "Content-Length:\r\n 5\r\n",
        " Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding:\r\n",
    };
    struct server_world *world = *state;

    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        int fd = caller_connect(http_server_port(world->server));
        char bytes[16];
        caller_send(fd, "POST /echo HTTP/1.1\r\n");
        caller_send(fd, heads[i][0] == ' ' ? heads[i] : "Host: test\r\n");
        caller_send(fd, heads[i][0] == ' ' ? "Host: test\r\n" : heads[i]);
        caller_send(fd, "\r\nfirst" GET("/echo"));
        caller_expect(fd, 400, NULL);
        assert_true(recv(fd, bytes, sizeof(bytes), 0) <= 0); // and no second answer
        close(fd);
    }
    assert_int_equal(world->requests, 0);
}

static void a_folded_line_of_another_header_does_no_harm(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nX-Long: one\r\n two\r\n\r\nfirst");
    caller_expect(fd, 200, "first");
    close(fd);
}

static void a_body_over_the_cap_gets_413(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));
    size_t length = 64 * 1024 + 1;
    char *body = malloc(length);

    memset(body, 'x', length);
    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 65537\r\n\r\n");
    assert_int_equal(send(fd, body, length, MSG_NOSIGNAL), (ssize_t)length);
    char problem[1024] = "";
    size_t problem_length = 0;
    assert_int_equal(caller_read(fd, problem, sizeof(problem) - 1, &problem_length), 413);
    assert_non_null(strstr(problem, "\"errors\":[{\"pointer\":\"\",\"code\":\"body_too_large\","
                                    "\"detail\":\"the body may have at most 65536 bytes\"}]"));
    caller_send(fd, GET("/echo")); // the connection lives on
    caller_expect(fd, 200, "");
    assert_int_equal(world->requests, 1);

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 65536\r\n\r\n");
    assert_int_equal(send(fd, body, length - 1, MSG_NOSIGNAL), (ssize_t)length - 1);
    caller_expect(fd, 200, NULL); // exactly the cap passes
    free(body);
    close(fd);
}

static void an_announced_flood_is_refused_before_it_is_sent(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999\r\n\r\n");
    caller_expect(fd, 413, NULL);
    close(fd);
    fd = caller_connect(http_server_port(world->server));
    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 70000\r\nExpect: 100-continue\r\n\r\n");
    caller_expect(fd, 413, NULL);
    close(fd);
    assert_int_equal(world->requests, 0);
}

static void a_flood_without_an_end_is_cut(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));
    char piece[4096 + 16];
    bool is_cut = false;

    int length = snprintf(piece, sizeof(piece), "1000\r\n%4096s\r\n", "");
    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 100000 && !is_cut; i++) {
        is_cut = send(fd, piece, (size_t)length, MSG_NOSIGNAL) < 0;
    }
    assert_true(is_cut);
    close(fd);
}

static void what_is_no_http_gets_400(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: many\r\n\r\n");
    caller_expect(fd, 400, NULL);
    assert_int_equal(world->requests, 0);
    close(fd);
}

static void head_and_options_work(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));
    char head[2048];

    caller_send(fd, "OPTIONS /echo HTTP/1.1\r\nHost: test\r\n\r\n");
    caller_expect(fd, 200, "");
    caller_send(fd, "HEAD /middle HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    size_t length = read_all(fd, head, sizeof(head));
    assert_non_null(strstr(head, "Content-Length: 400000"));
    assert_string_equal(head + length - 4, "\r\n\r\n"); // no body came
    close(fd);
}

static void a_caller_that_leaves_is_noticed_and_leaves_no_descriptor(void **state)
{
    struct server_world *world = *state;
    int before = server_world_descriptors();
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, GET("/hold"));
    server_world_await(&world->requests, 1);
    close(fd);
    server_world_await(&world->gone, 1);
    int second = caller_connect(http_server_port(world->server));
    caller_send(second, GET("/later"));
    server_world_await(&world->requests, 2);
    caller_reset(second);
    server_world_await(&world->gone, 2);
    await_descriptors(before);
    assert_int_equal(world->sent + world->broken, 0);
}

static void a_pipelined_request_does_not_hide_the_leaving(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, GET("/hold") GET("/echo"));
    server_world_await(&world->requests, 1);
    close(fd);
    server_world_await(&world->gone, 1);
    assert_int_equal(world->requests, 1);
}

static void a_caller_that_leaves_after_the_reply_changes_nothing(void **state)
{
    struct server_world *world = *state;
    int before = server_world_descriptors();
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, GET("/echo"));
    caller_expect(fd, 200, "");
    server_world_await(&world->sent, 1);
    caller_reset(fd);
    await_descriptors(before);
    assert_int_equal(world->gone, 0);
}

static void a_thousand_callers_that_reset_leave_descriptors_flat(void **state)
{
    struct server_world *world = *state;
    int before = server_world_descriptors();
    static const char *const openings[] = {
        "",           "POST /echo HT", "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nabc", GET("/later"),
        GET("/echo"), GET("/big")
    };

    for (size_t i = 0; i < 1000; i++) {
        int fd = caller_connect(http_server_port(world->server));
        caller_send(fd, openings[i % COUNT_OF(openings)]);
        caller_reset(fd);
    }
    await_descriptors(before);
    int fd = caller_connect(http_server_port(world->server));
    caller_send(fd, GET("/echo"));
    caller_expect(fd, 200, "");
    close(fd);
}

static void a_reply_from_a_timer_arrives(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, GET("/later"));
    caller_expect(fd, 200, "later");
    server_world_await(&world->sent, 1);
    assert_int_equal(world->slow, 0);
    close(fd);
}

static void a_usual_reply_goes_out_in_one_go(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));
    size_t length = 0;
    char first;

    caller_send(fd, GET("/middle"));
    assert_int_equal(caller_read(fd, &first, 1, &length), 200);
    assert_int_equal(length, MIDDLE);
    server_world_await(&world->sent, 1);
    assert_int_equal(world->slow, 0);
    close(fd);
}

static void a_slow_reader_gets_all_and_is_called_slow(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect_with(http_server_port(world->server), 16 * 1024);
    size_t length = 0;
    char first;

    caller_send(fd, GET("/big"));
    server_world_await(&world->requests, 1);
    usleep(50000);
    assert_int_equal(world->sent, 0);
    assert_int_equal(caller_read(fd, &first, 1, &length), 200);
    assert_int_equal(length, BIG);
    server_world_await(&world->sent, 1);
    assert_int_equal(world->slow, 1);
    close(fd);
}

static void a_reader_that_leaves_in_the_middle_is_not_sent(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect_with(http_server_port(world->server), 16 * 1024);

    caller_send(fd, GET("/big"));
    server_world_await(&world->requests, 1);
    caller_reset(fd);
    server_world_await(&world->broken, 1);
    assert_int_equal(world->sent + world->gone, 0);
}

static void a_reply_that_cannot_be_made_cuts_the_connection(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, GET("/broken"));
    caller_expect_end(fd);
    server_world_await(&world->broken, 1);
    close(fd);
}

static void many_replies_at_once_all_arrive(void **state)
{
    struct server_world *world = *state;
    int fds[HELD_MAX];

    for (int i = 0; i < HELD_MAX; i++) {
        fds[i] = caller_connect(http_server_port(world->server));
        caller_send(fds[i], GET("/hold"));
    }
    server_world_await(&world->requests, HELD_MAX);
    loop_post(world->loop, &world->release);
    for (int i = 0; i < HELD_MAX; i++) {
        caller_expect(fds[i], 200, "released");
        close(fds[i]);
    }
    server_world_await(&world->sent, HELD_MAX);
    assert_int_equal(world->slow, 0);
}

static void a_drip_or_an_idle_caller_is_closed(void **state)
{
    struct server_world *world = *state;
    int idle = caller_connect(http_server_port(world->server));
    int drip = caller_connect(http_server_port(world->server));
    bool is_cut = false;

    caller_send(drip, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 60000\r\n\r\n");
    for (int i = 0; i < CALLER_PATIENCE_MS / 100 && !is_cut; i++) {
        is_cut = send(drip, "x", 1, MSG_NOSIGNAL) < 0;
        usleep(100000);
    }
    assert_true(is_cut);
    caller_expect_end(idle);
    close(idle);
    close(drip);
}

static void a_server_that_stopped_listening_finishes_what_it_has(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, GET("/hold"));
    server_world_await(&world->requests, 1);
    loop_post(world->loop, &world->quiesce);
    for (int i = 0; i < CALLER_PATIENCE_MS && !world->quiesced; i++) {
        usleep(1000);
    }
    assert_int_equal(world->open_calls, 1);
    assert_true(caller_connect_with(http_server_port(world->server), 0) < 0);
    loop_post(world->loop, &world->release);
    caller_expect(fd, 200, "released");
    close(fd);
}

static void the_end_cuts_open_calls_and_leaves_no_descriptor(void **state)
{
    struct server_world *world = *state;
    int fds[50];
    int before = server_world_descriptors();
    int slow = caller_connect_with(http_server_port(world->server), 16 * 1024);
    int half = caller_connect(http_server_port(world->server));

    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        fds[i] = caller_connect(http_server_port(world->server));
        caller_send(fds[i], i % 2 == 0 ? GET("/hold") : GET("/hold") GET("/echo"));
    }
    caller_send(slow, GET("/big"));
    caller_send(half, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nabc");
    server_world_await(&world->requests, COUNT_OF(fds) + 1);
    server_world_stop(world);
    assert_int_equal(world->gone, COUNT_OF(fds));
    assert_int_equal(world->broken, 1);
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        caller_expect_end(fds[i]);
        close(fds[i]);
    }
    close(slow);
    close(half);
    assert_true(server_world_descriptors() < before); // the listener and the loop are gone too
}

static void bad_or_taken_addresses_are_explained(void **state)
{
    struct server_world *world = *state;
    struct loop *loop = NULL;
    struct http_server *server = NULL;
    struct http_server_handlers handlers = server_world_handlers;
    struct failure why;
    char taken[64];

    assert_int_equal(loop_create(&loop), STATUS_OK);
    static const char *const bad[] = {
        "", "localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "[::1", ":80"
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct http_server_options options = { .listen = bad[i] };
        memset(&why, 0, sizeof(why));
        assert_int_equal(http_server_create(loop, &options, &handlers, &server, &why), STATUS_INVALID);
        assert_non_null(strstr(why.message, "is no address to listen on"));
        assert_true(why.help[0] != '\0');
    }
    (void)snprintf(taken, sizeof(taken), "127.0.0.1:%u", http_server_port(world->server));
    struct http_server_options options = { .listen = taken };
    assert_int_equal(http_server_create(loop, &options, &handlers, &server, &why), STATUS_IO);
    assert_non_null(strstr(why.message, taken));
    assert_null(server);
    loop_destroy(&loop);
}

static void two_loops_can_share_a_port(void **state)
{
    struct loop *loop = NULL;
    struct http_server *first = NULL;
    struct http_server *second = NULL;
    struct http_server_handlers handlers = server_world_handlers;
    struct http_server_options options = { .listen = "127.0.0.1:0", .share_port = true };
    struct failure why;
    char shared[64];

    (void)state;
    assert_int_equal(loop_create(&loop), STATUS_OK);
    assert_int_equal(http_server_create(loop, &options, &handlers, &first, &why), STATUS_OK);
    (void)snprintf(shared, sizeof(shared), "127.0.0.1:%u", http_server_port(first));
    options.listen = shared;
    assert_int_equal(http_server_create(loop, &options, &handlers, &second, &why), STATUS_OK);
    assert_int_equal(http_server_port(first), http_server_port(second));
    http_server_destroy(&first);
    http_server_destroy(&second);
    loop_destroy(&loop);
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, server_world_setup, server_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(two_requests_use_one_connection),
        WITH_SERVER(pipelined_requests_are_answered_in_order),
        WITH_SERVER(a_body_may_come_in_slow_pieces),
        WITH_SERVER(a_chunked_body_is_put_together),
        WITH_SERVER(method_headers_and_query_can_be_read),
        WITH_SERVER(a_header_that_is_given_twice_can_be_read_twice),
        WITH_SERVER(every_reply_carries_the_common_headers),
        WITH_SERVER(what_the_server_refuses_itself_is_told_when_it_is_sent),
        WITH_SERVER(a_length_that_is_told_twice_is_refused),
        WITH_SERVER(a_length_that_only_some_would_see_is_refused),
        WITH_SERVER(a_folded_line_of_another_header_does_no_harm),
        WITH_SERVER(a_body_over_the_cap_gets_413),
        WITH_SERVER(an_announced_flood_is_refused_before_it_is_sent),
        WITH_SERVER(a_flood_without_an_end_is_cut),
        WITH_SERVER(what_is_no_http_gets_400),
        WITH_SERVER(head_and_options_work),
        WITH_SERVER(a_caller_that_leaves_is_noticed_and_leaves_no_descriptor),
        WITH_SERVER(a_pipelined_request_does_not_hide_the_leaving),
        WITH_SERVER(a_caller_that_leaves_after_the_reply_changes_nothing),
        WITH_SERVER(a_thousand_callers_that_reset_leave_descriptors_flat),
        WITH_SERVER(a_reply_from_a_timer_arrives),
        WITH_SERVER(a_usual_reply_goes_out_in_one_go),
        WITH_SERVER(a_slow_reader_gets_all_and_is_called_slow),
        WITH_SERVER(a_reader_that_leaves_in_the_middle_is_not_sent),
        WITH_SERVER(a_reply_that_cannot_be_made_cuts_the_connection),
        WITH_SERVER(many_replies_at_once_all_arrive),
        cmocka_unit_test_setup_teardown(a_drip_or_an_idle_caller_is_closed, server_world_setup_impatient,
                                        server_world_teardown),
        WITH_SERVER(a_server_that_stopped_listening_finishes_what_it_has),
        WITH_SERVER(the_end_cuts_open_calls_and_leaves_no_descriptor),
        WITH_SERVER(bad_or_taken_addresses_are_explained),
        cmocka_unit_test(two_loops_can_share_a_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
