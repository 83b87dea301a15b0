// The server under real sockets: its loop runs on a thread of its own, the test plays callers byte by byte.

#include "base/clock.h"
#include "io/http_server.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { BIG = 5 * 1024 * 1024, MIDDLE = 400 * 1000, HELD_MAX = 64, PATIENCE_MS = 20000 };

/// What the handlers do is told by the path: /echo, /later, /hold, /big, /middle, /header, /broken.
struct fixture {
    struct loop *loop;
    struct http_server *server;
    pthread_t thread;
    struct message stop, quiesce, release;
    struct block *big, *middle;
    atomic_uint requests, gone, sent, broken, slow;
    atomic_uint open_calls;
    atomic_bool arrival_is_plausible, quiesced;
    struct http_call *held[HELD_MAX]; // the loop's thread only
    unsigned held_count;
};

struct later {
    struct timer timer;
    struct http_call *call;
    struct fixture *fixture;
};

static void reply_with(struct http_call *call, uint16_t status, struct block *body)
{
    struct header_pair extra = { "X-Test", "yes" };
    struct http_reply reply = {
        .status = status, .content_type = "text/plain", .body = body, .headers = &extra, .header_count = 1
    };
    http_call_reply(call, &reply);
}

static void reply_text(struct http_call *call, struct text text)
{
    struct block *body = block_create(text);
    reply_with(call, 200, body);
    block_release(&body);
}

static void later_on_due(struct timer *timer)
{
    struct later *later = CONTAINER_OF(timer, struct later, timer);
    http_call_set_owner(later->call, NULL);
    reply_text(later->call, TEXT("later"));
    free(later);
}

static void handle_request(void *context, struct http_call *call)
{
    struct fixture *fixture = context;
    struct text path = http_call_path(call);

    atomic_fetch_add(&fixture->requests, 1);
    uint64_t arrival_us = http_call_arrival_us(call);
    if (arrival_us > clock_now_us() || http_call_arrival_wall_us(call) > clock_wall_us()) {
        atomic_store(&fixture->arrival_is_plausible, false);
    }
    if (text_equals_c(path, "/later")) {
        struct later *later = calloc(1, sizeof(*later));
        later->timer.on_due = later_on_due;
        later->call = call;
        later->fixture = fixture;
        http_call_set_owner(call, later);
        require(loop_timer_start(fixture->loop, &later->timer, clock_now_us() + 30000) == STATUS_OK);
    } else if (text_equals_c(path, "/hold")) {
        require(fixture->held_count < HELD_MAX);
        fixture->held[fixture->held_count++] = call;
    } else if (text_equals_c(path, "/big")) {
        reply_with(call, 200, fixture->big);
    } else if (text_equals_c(path, "/middle")) {
        reply_with(call, 200, fixture->middle);
    } else if (text_equals_c(path, "/header")) {
        struct text query = http_call_query(call, "q");
        char line[128];
        int length = snprintf(line, sizeof(line), "%.*s|%.*s|%.*s|%s", TEXT_ARGS(http_call_method(call)),
                              TEXT_ARGS(http_call_header(call, "search-CALLER")), TEXT_ARGS(query),
                              http_call_query(call, "none").data == NULL ? "absent" : "there");
        reply_text(call, (struct text){ line, (size_t)length });
    } else if (text_equals_c(path, "/broken")) {
        struct header_pair split = { "X-Split", "a\r\nInjected: yes" };
        struct http_reply reply = { .status = 200, .headers = &split, .header_count = 1 };
        http_call_reply(call, &reply);
    } else {
        reply_with(call, 200, http_call_body(call));
    }
}

static void handle_gone(void *context, struct http_call *call)
{
    struct fixture *fixture = context;
    struct later *later = http_call_owner(call);

    if (later != NULL) {
        loop_timer_cancel(fixture->loop, &later->timer);
        free(later);
    }
    for (unsigned i = 0; i < fixture->held_count; i++) {
        if (fixture->held[i] == call) {
            fixture->held[i] = fixture->held[--fixture->held_count];
        }
    }
    atomic_fetch_add(&fixture->gone, 1);
}

static void handle_sent(void *context, struct http_call *call, uint64_t sent_us, bool was_sent, bool was_slow)
{
    struct fixture *fixture = context;

    if (sent_us < http_call_arrival_us(call)) {
        atomic_store(&fixture->arrival_is_plausible, false);
    }
    atomic_fetch_add(was_sent ? &fixture->sent : &fixture->broken, 1);
    if (was_slow) {
        atomic_fetch_add(&fixture->slow, 1);
    }
}

static void on_stop(struct message *message)
{
    struct fixture *fixture = CONTAINER_OF(message, struct fixture, stop);
    http_server_destroy(&fixture->server);
    loop_stop(fixture->loop);
}

static void on_quiesce(struct message *message)
{
    struct fixture *fixture = CONTAINER_OF(message, struct fixture, quiesce);
    http_server_stop_listening(fixture->server);
    atomic_store(&fixture->open_calls, http_server_open_calls(fixture->server));
    atomic_store(&fixture->quiesced, true);
}

static void on_release(struct message *message)
{
    struct fixture *fixture = CONTAINER_OF(message, struct fixture, release);
    while (fixture->held_count > 0) {
        reply_text(fixture->held[--fixture->held_count], TEXT("released"));
    }
}

static void *fixture_run(void *argument)
{
    struct fixture *fixture = argument;
    loop_run(fixture->loop);
    return NULL;
}

static struct block *block_of(size_t length, char byte)
{
    char *bytes = malloc(length);
    memset(bytes, byte, length);
    struct block *block = block_create((struct text){ bytes, length });
    free(bytes);
    return block;
}

static int setup_with(void **state, uint32_t idle_timeout_s)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct http_server_options options = { .listen = "127.0.0.1:0",
                                           .body_cap = 64 * 1024,
                                           .idle_timeout_s = idle_timeout_s };
    struct http_server_handlers handlers = { handle_request, handle_gone, handle_sent, fixture };
    struct failure why;

    fixture->big = block_of(BIG, 'b');
    fixture->middle = block_of(MIDDLE, 'm');
    fixture->arrival_is_plausible = true;
    fixture->stop.on_receive = on_stop;
    fixture->quiesce.on_receive = on_quiesce;
    fixture->release.on_receive = on_release;
    if (loop_create(&fixture->loop) != STATUS_OK ||
        http_server_create(fixture->loop, &options, &handlers, &fixture->server, &why) != STATUS_OK ||
        pthread_create(&fixture->thread, NULL, fixture_run, fixture) != 0) {
        return 1;
    }
    *state = fixture;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, 0);
}

static int setup_impatient(void **state)
{
    return setup_with(state, 1);
}

static void fixture_stop(struct fixture *fixture)
{
    if (fixture->loop != NULL) {
        loop_post(fixture->loop, &fixture->stop);
        pthread_join(fixture->thread, NULL);
        loop_destroy(&fixture->loop);
    }
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    fixture_stop(fixture);
    block_release(&fixture->big);
    block_release(&fixture->middle);
    free(fixture);
    return 0;
}

/// Waits until `counter` has reached `least`; patience is bounded so that a hang fails instead of hanging.
static void await(atomic_uint *counter, unsigned least)
{
    for (int i = 0; i < PATIENCE_MS && atomic_load(counter) < least; i++) {
        usleep(1000);
    }
    assert_true(atomic_load(counter) >= least);
}

static int count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

static void await_descriptors(int expected)
{
    for (int i = 0; i < PATIENCE_MS && count_descriptors() > expected; i++) {
        usleep(1000);
    }
    assert_int_equal(count_descriptors(), expected);
}

// ---- a caller -------------------------------------------------------------------------------------------------------

static int caller_connect_with(struct fixture *fixture, int receive_buffer)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(http_server_port(fixture->server)) };
    struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (receive_buffer > 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int caller_connect(struct fixture *fixture)
{
    int fd = caller_connect_with(fixture, 0);
    assert_true(fd >= 0);
    return fd;
}

static void caller_send(int fd, const char *text)
{
    size_t length = strlen(text);
    assert_int_equal(send(fd, text, length, MSG_NOSIGNAL), (ssize_t)length);
}

static void caller_reset(int fd)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    close(fd);
}

/// One reply: the head, then as many bytes as it announces. The status, or 0 when the connection ended.
static int caller_read(int fd, char *body, size_t body_room, size_t *body_length)
{
    char head[4096];
    size_t length = 0;

    while (length < sizeof(head) - 1) {
        ssize_t got = recv(fd, head + length, 1, 0);
        if (got <= 0) {
            return 0;
        }
        head[++length] = '\0';
        if (length >= 4 && memcmp(head + length - 4, "\r\n\r\n", 4) == 0) {
            break;
        }
    }
    const char *announced = strcasestr(head, "content-length:");
    size_t wanted = announced != NULL ? strtoul(announced + 15, NULL, 10) : 0;
    size_t taken = 0;
    while (taken < wanted) {
        char piece[65536];
        size_t room = wanted - taken < sizeof(piece) ? wanted - taken : sizeof(piece);
        ssize_t got = recv(fd, piece, room, 0);
        if (got <= 0) {
            return 0;
        }
        if (taken < body_room) {
            memcpy(body + taken, piece, (size_t)got < body_room - taken ? (size_t)got : body_room - taken);
        }
        taken += (size_t)got;
    }
    *body_length = taken;
    return atoi(head + 9);
}

static void caller_expect(int fd, int status, const char *body)
{
    char bytes[8192] = "";
    size_t length = 0;

    assert_int_equal(caller_read(fd, bytes, sizeof(bytes) - 1, &length), status);
    bytes[length < sizeof(bytes) - 1 ? length : sizeof(bytes) - 1] = '\0';
    if (body != NULL) {
        assert_string_equal(bytes, body);
    }
}

static void caller_expect_end(int fd)
{
    char byte;
    assert_true(recv(fd, &byte, 1, 0) <= 0);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: test\r\n\r\n"

// ---- what must hold -------------------------------------------------------------------------------------------------

static void two_requests_use_one_connection(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nfirst");
    caller_expect(fd, 200, "first");
    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 6\r\n\r\nsecond");
    caller_expect(fd, 200, "second");
    await(&fixture->sent, 2);
    assert_true(fixture->arrival_is_plausible);
    close(fd);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, GET("/later") "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\ntwo" GET("/later"));
    caller_expect(fd, 200, "later");
    caller_expect(fd, 200, "two");
    caller_expect(fd, 200, "later");
    await(&fixture->sent, 3);
    assert_int_equal(fixture->gone, 0);
    close(fd);
}

static void a_body_may_come_in_slow_pieces(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: te");
    usleep(20000);
    caller_send(fd, "st\r\nContent-Length: 9\r\n\r\none");
    usleep(20000);
    caller_send(fd, "two");
    usleep(20000);
    assert_int_equal(fixture->requests, 0);
    caller_send(fd, "end");
    caller_expect(fd, 200, "onetwoend");
    close(fd);
}

static void a_chunked_body_is_put_together(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(
        fd, "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    caller_expect(fd, 200, "abcde");
    close(fd);
}

static void method_headers_and_query_can_be_read(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, "PUT /header?q=a%20b HTTP/1.1\r\nHost: test\r\nSearch-Caller: web\r\nContent-Length: 0\r\n\r\n");
    caller_expect(fd, 200, "PUT|web|a b|absent");
    close(fd);
}

static void a_body_over_the_cap_gets_413(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);
    size_t length = 64 * 1024 + 1;
    char *body = malloc(length);

    memset(body, 'x', length);
    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 65537\r\n\r\n");
    assert_int_equal(send(fd, body, length, MSG_NOSIGNAL), (ssize_t)length);
    char problem[1024] = "";
    size_t problem_length = 0;
    assert_int_equal(caller_read(fd, problem, sizeof(problem) - 1, &problem_length), 413);
    assert_non_null(strstr(problem, "body_too_large"));
    caller_send(fd, GET("/echo")); // the connection lives on
    caller_expect(fd, 200, "");
    assert_int_equal(fixture->requests, 1);

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 65536\r\n\r\n");
    assert_int_equal(send(fd, body, length - 1, MSG_NOSIGNAL), (ssize_t)length - 1);
    caller_expect(fd, 200, NULL); // exactly the cap passes
    free(body);
    close(fd);
}

static void an_announced_flood_is_refused_before_it_is_sent(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999\r\n\r\n");
    caller_expect(fd, 413, NULL);
    close(fd);
    fd = caller_connect(fixture);
    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 70000\r\nExpect: 100-continue\r\n\r\n");
    caller_expect(fd, 413, NULL);
    close(fd);
    assert_int_equal(fixture->requests, 0);
}

static void a_flood_without_an_end_is_cut(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);
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
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: many\r\n\r\n");
    caller_expect(fd, 400, NULL);
    assert_int_equal(fixture->requests, 0);
    close(fd);
}

static void head_and_options_work(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);
    char head[2048];

    caller_send(fd, "OPTIONS /echo HTTP/1.1\r\nHost: test\r\n\r\n");
    caller_expect(fd, 200, "");
    caller_send(fd, "HEAD /middle HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    size_t length = 0;
    ssize_t got;
    while (length < sizeof(head) - 1 && (got = recv(fd, head + length, sizeof(head) - 1 - length, 0)) > 0) {
        length += (size_t)got;
    }
    head[length] = '\0';
    assert_non_null(strstr(head, "Content-Length: 400000"));
    assert_string_equal(head + length - 4, "\r\n\r\n"); // no body came
    close(fd);
}

static void a_caller_that_leaves_is_noticed_and_leaves_no_descriptor(void **state)
{
    struct fixture *fixture = *state;
    int before = count_descriptors();
    int fd = caller_connect(fixture);

    caller_send(fd, GET("/hold"));
    await(&fixture->requests, 1);
    close(fd);
    await(&fixture->gone, 1);
    int second = caller_connect(fixture);
    caller_send(second, GET("/later"));
    await(&fixture->requests, 2);
    caller_reset(second);
    await(&fixture->gone, 2);
    await_descriptors(before);
    assert_int_equal(fixture->sent + fixture->broken, 0);
}

static void a_pipelined_request_does_not_hide_the_leaving(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, GET("/hold") GET("/echo"));
    await(&fixture->requests, 1);
    close(fd);
    await(&fixture->gone, 1);
    assert_int_equal(fixture->requests, 1);
}

static void a_caller_that_leaves_after_the_reply_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    int before = count_descriptors();
    int fd = caller_connect(fixture);

    caller_send(fd, GET("/echo"));
    caller_expect(fd, 200, "");
    await(&fixture->sent, 1);
    caller_reset(fd);
    await_descriptors(before);
    assert_int_equal(fixture->gone, 0);
}

static void a_thousand_callers_that_reset_leave_descriptors_flat(void **state)
{
    struct fixture *fixture = *state;
    int before = count_descriptors();
    static const char *const openings[] = {
        "",           "POST /echo HT", "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nabc", GET("/later"),
        GET("/echo"), GET("/big")
    };

    for (size_t i = 0; i < 1000; i++) {
        int fd = caller_connect(fixture);
        caller_send(fd, openings[i % COUNT_OF(openings)]);
        caller_reset(fd);
    }
    await_descriptors(before);
    int fd = caller_connect(fixture);
    caller_send(fd, GET("/echo"));
    caller_expect(fd, 200, "");
    close(fd);
}

static void a_reply_from_a_timer_arrives(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, GET("/later"));
    caller_expect(fd, 200, "later");
    await(&fixture->sent, 1);
    assert_int_equal(fixture->slow, 0);
    close(fd);
}

static void a_usual_reply_goes_out_in_one_go(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);
    size_t length = 0;
    char first;

    caller_send(fd, GET("/middle"));
    assert_int_equal(caller_read(fd, &first, 1, &length), 200);
    assert_int_equal(length, MIDDLE);
    await(&fixture->sent, 1);
    assert_int_equal(fixture->slow, 0);
    close(fd);
}

static void a_slow_reader_gets_all_and_is_called_slow(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect_with(fixture, 16 * 1024);
    size_t length = 0;
    char first;

    caller_send(fd, GET("/big"));
    await(&fixture->requests, 1);
    usleep(50000);
    assert_int_equal(fixture->sent, 0);
    assert_int_equal(caller_read(fd, &first, 1, &length), 200);
    assert_int_equal(length, BIG);
    await(&fixture->sent, 1);
    assert_int_equal(fixture->slow, 1);
    close(fd);
}

static void a_reader_that_leaves_in_the_middle_is_not_sent(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect_with(fixture, 16 * 1024);

    caller_send(fd, GET("/big"));
    await(&fixture->requests, 1);
    caller_reset(fd);
    await(&fixture->broken, 1);
    assert_int_equal(fixture->sent + fixture->gone, 0);
}

static void a_reply_that_cannot_be_made_cuts_the_connection(void **state)
{
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, GET("/broken"));
    caller_expect_end(fd);
    await(&fixture->broken, 1);
    close(fd);
}

static void many_replies_at_once_all_arrive(void **state)
{
    struct fixture *fixture = *state;
    int fds[HELD_MAX];

    for (int i = 0; i < HELD_MAX; i++) {
        fds[i] = caller_connect(fixture);
        caller_send(fds[i], GET("/hold"));
    }
    await(&fixture->requests, HELD_MAX);
    loop_post(fixture->loop, &fixture->release);
    for (int i = 0; i < HELD_MAX; i++) {
        caller_expect(fds[i], 200, "released");
        close(fds[i]);
    }
    await(&fixture->sent, HELD_MAX);
    assert_int_equal(fixture->slow, 0);
}

static void a_drip_or_an_idle_caller_is_closed(void **state)
{
    struct fixture *fixture = *state;
    int idle = caller_connect(fixture);
    int drip = caller_connect(fixture);
    bool is_cut = false;

    caller_send(drip, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 60000\r\n\r\n");
    for (int i = 0; i < PATIENCE_MS / 100 && !is_cut; i++) {
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
    struct fixture *fixture = *state;
    int fd = caller_connect(fixture);

    caller_send(fd, GET("/hold"));
    await(&fixture->requests, 1);
    loop_post(fixture->loop, &fixture->quiesce);
    for (int i = 0; i < PATIENCE_MS && !fixture->quiesced; i++) {
        usleep(1000);
    }
    assert_int_equal(fixture->open_calls, 1);
    assert_true(caller_connect_with(fixture, 0) < 0);
    loop_post(fixture->loop, &fixture->release);
    caller_expect(fd, 200, "released");
    close(fd);
}

static void the_end_cuts_open_calls_and_leaves_no_descriptor(void **state)
{
    struct fixture *fixture = *state;
    int fds[50];
    int before = count_descriptors();
    int slow = caller_connect_with(fixture, 16 * 1024);
    int half = caller_connect(fixture);

    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        fds[i] = caller_connect(fixture);
        caller_send(fds[i], i % 2 == 0 ? GET("/hold") : GET("/hold") GET("/echo"));
    }
    caller_send(slow, GET("/big"));
    caller_send(half, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nabc");
    await(&fixture->requests, COUNT_OF(fds) + 1);
    fixture_stop(fixture);
    assert_int_equal(fixture->gone, COUNT_OF(fds));
    assert_int_equal(fixture->broken, 1);
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        caller_expect_end(fds[i]);
        close(fds[i]);
    }
    close(slow);
    close(half);
    assert_true(count_descriptors() < before); // the listener and the loop are gone too
}

static void bad_or_taken_addresses_are_explained(void **state)
{
    struct fixture *fixture = *state;
    struct loop *loop = NULL;
    struct http_server *server = NULL;
    struct http_server_handlers handlers = { handle_request, handle_gone, handle_sent, fixture };
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
    (void)snprintf(taken, sizeof(taken), "127.0.0.1:%u", http_server_port(fixture->server));
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
    struct http_server_handlers handlers = { handle_request, handle_gone, handle_sent, NULL };
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

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(two_requests_use_one_connection),
        WITH_SERVER(pipelined_requests_are_answered_in_order),
        WITH_SERVER(a_body_may_come_in_slow_pieces),
        WITH_SERVER(a_chunked_body_is_put_together),
        WITH_SERVER(method_headers_and_query_can_be_read),
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
        cmocka_unit_test_setup_teardown(a_drip_or_an_idle_caller_is_closed, setup_impatient, teardown),
        WITH_SERVER(a_server_that_stopped_listening_finishes_what_it_has),
        WITH_SERVER(the_end_cuts_open_calls_and_leaves_no_descriptor),
        WITH_SERVER(bad_or_taken_addresses_are_explained),
        cmocka_unit_test(two_loops_can_share_a_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
