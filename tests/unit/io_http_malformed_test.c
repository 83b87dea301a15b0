// What is no HTTP: libmicrohttpd answers it by itself, and it is told all the same.

#include "io/http_server.h"
#include "support/caller.h"
#include "support/server_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LONG = 40000 }; // more than a head may be

static void ask(struct server_world *world, const char *request, unsigned status)
{
    unsigned before = world->malformed;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, request);
    server_world_await(&world->malformed, before + 1);
    assert_int_equal(world->malformed_status, status);
    close(fd);
}

static void what_is_no_http_is_told_with_its_status(void **state)
{
    static const char HEAD[] = "GET /echo HTTP/1.1\r\nHost: test\r\nX: ";
    struct server_world *world = *state;
    char request[LONG + sizeof(HEAD)];

    ask(world, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: many\r\n\r\n", 400);
    ask(world, "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400);
    memcpy(request, HEAD, strlen(HEAD));
    memset(request + strlen(HEAD), 'x', LONG);
    request[LONG + strlen(HEAD)] = '\0';
    ask(world, request, 431);
    assert_int_equal(world->malformed, 3);
    assert_int_equal(world->requests, 0);
    assert_int_equal(world->sent, 0); // each is told in one way only
}

static void what_the_server_refuses_itself_is_not_told_so(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999\r\n\r\n");
    caller_expect(fd, 413, NULL);
    server_world_await(&world->sent, 1);
    assert_int_equal(world->malformed, 0);
    close(fd);
}

#define WITH_SERVER(name) cmocka_unit_test_setup_teardown(name, server_world_setup, server_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(what_is_no_http_is_told_with_its_status),
        WITH_SERVER(what_the_server_refuses_itself_is_not_told_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
