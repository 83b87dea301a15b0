// Requests that are answered before anybody is told of them.

#include "support/caller.h"
#include "support/server_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static void who_is_turned_away_is_told_so_and_may_go_on(void **state)
{
    struct server_world *world = *state;
    int fd = caller_connect(http_server_port(world->server));

    caller_send(fd, "POST /full HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\n");
    caller_send(fd, "body"); // it is not answered before it is whole: the connection could not live on
    caller_expect(fd, 503, "");
    caller_send(fd, "POST /full HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nbody" GET("/echo"));
    caller_expect(fd, 503, "");
    caller_expect(fd, 200, "");
    server_world_await(&world->sent, 3); // each is told
    assert_int_equal(world->requests, 1);
    assert_int_equal(world->gone, 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_is_turned_away_is_told_so_and_may_go_on, server_world_setup,
                                        server_world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
