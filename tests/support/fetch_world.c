#include "support/fetch_world.h"

#include "base/clock.h"
#include "io/resolver_book.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { GUARD_US = 30 * 1000 * MS, LONG_US = 20 * 1000 * MS, SHORT_US = 150 * MS };

static struct fetch_world *the_world;

static void guard_on_due(struct timer *timer)
{
    (void)timer;
    the_world->is_guarded = true;
    loop_stop(the_world->loop);
}

void run_world(struct fetch_world *world)
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

void run_for(struct fetch_world *world, uint64_t us)
{
    struct timer timer = { .on_due = stop_after };

    assert_int_equal(loop_timer_start(world->loop, &timer, clock_now_us() + us), STATUS_OK);
    run_world(world);
}

int fetch_world_set_up(void **state)
{
    struct fetch_world *world = calloc(1, sizeof(*world));
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

int fetch_world_tear_down(void **state)
{
    struct fetch_world *world = *state;

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

void start_peer(struct fetch_world *world, void (*serve)(struct peer_stream *stream), bool is_tls)
{
    struct peer_options options = { .serve = serve, .tls = is_tls ? world->tls : NULL };

    if (world->peer != NULL) {
        peer_stop(&world->peer);
    }
    world->peer = peer_start(&options);
}

static void serve_bytes(struct peer_stream *stream)
{
    char head[HEAD];
    uint64_t length;

    if (stream_read_request(stream, head, sizeof(head), &length) && stream_send(stream, the_world->says) &&
        the_world->then_waits) {
        stream_wait_for_end(stream);
    }
}

void start_peer_saying(struct fetch_world *world, const char *bytes, bool then_waits)
{
    if (world->peer != NULL) {
        peer_stop(&world->peer); // before its words change
    }
    world->says = bytes;
    world->then_waits = then_waits;
    start_peer(world, serve_bytes, false);
}

void call_on_done(struct fetch *fetch)
{
    struct call *call = CONTAINER_OF(fetch, struct call, fetch);

    call->done++;
    assert_true(the_world->pending > 0);
    if (--the_world->pending == 0) {
        loop_stop(the_world->loop);
    }
}

void call_prepare(struct fetch_world *world, struct call *call, const char *method, const char *host, bool is_tls)
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

void call_start(struct fetch_world *world, struct call *call)
{
    world->pending++;
    assert_int_equal(fetch_start(world->pool, &call->fetch), STATUS_OK);
    assert_int_equal(call->done, 0);
}

void call_run(struct fetch_world *world, struct call *call)
{
    call_start(world, call);
    run_world(world);
    assert_int_equal(call->done, 1);
    assert_true(call->fetch.done_us >= call->fetch.started_us);
    assert_null(call->fetch.impl);
}

void call_fini(struct call *call)
{
    http_response_destroy(&call->fetch.response);
}

void expect(const struct call *call, enum fetch_result result, enum phase phase)
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

void expect_body(const struct call *call, const char *body)
{
    assert_non_null(call->fetch.response);
    struct text text = block_text(call->fetch.response->body);
    if (!text_equals_c(text, body)) {
        fail_msg("body \"%.*s\", expected \"%s\"", TEXT_ARGS(text), body);
    }
}

void one_until_its_end(struct fetch_world *world, struct call *call, enum phase phase)
{
    call->fetch.end_us = clock_now_us() + SHORT_US;
    call_run(world, call);
    expect(call, FETCH_ENDED, phase);
    assert_true(call->fetch.done_us >= call->fetch.end_us);
}

size_t count_descriptors(void)
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

// Fills the backlog of a listener that never accepts, so that further connects get no answer.
void fill_backlog(uint16_t port, int *fds, size_t count)
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

struct address_book *make_book(enum name_state state, const char *const *addresses, size_t count)
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

void set_book(struct fetch_world *world, enum name_state state, const char *address)
{
    fetch_pool_set_book(world->pool, make_book(state, &address, address != NULL));
}

// Answers every request with its own first line, method to version.
void serve_echo(struct peer_stream *stream)
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
void serve_mirror(struct peer_stream *stream)
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
