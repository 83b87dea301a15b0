// Callers for whom there is no room, or no descriptor: they wait, are let in when there is, and nothing spins
// meanwhile.

#include "io/http_server_call.h"
#include "support/caller.h"
#include "support/server_world.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct rlimit limit;

/// From now on nobody in this process gets another descriptor.
static void take_descriptors(void)
{
    int next = dup(STDIN_FILENO);
    struct rlimit none;

    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void give_descriptors(void)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/// A descriptor of a caller that is not connected yet.
static int caller_open(void)
{
    struct timeval patience = { .tv_sec = CALLER_PATIENCE_MS / 1000 };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    return fd;
}

static void caller_join(int fd, uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static void who_waits_for_room_is_let_in_when_the_last_one_leaves(void **state)
{
    struct server_world *world = *state;
    int idle = caller_connect(http_server_port(world->server));
    int waiting = caller_connect(http_server_port(world->server));

    caller_send(waiting, GET("/later"));
    caller_expect(waiting, 200, "later"); // once the idle one was closed, after which nothing else happens
    close(idle);
    close(waiting);
}

static void who_waits_for_a_descriptor_is_let_in_when_the_last_one_leaves(void **state)
{
    struct server_world *world = *state;
    int idle = caller_connect(http_server_port(world->server));
    int waiting = caller_open();

    caller_send(idle, GET("/later"));
    caller_expect(idle, 200, "later");
    take_descriptors();
    caller_join(waiting, http_server_port(world->server));
    caller_send(waiting, GET("/later"));
    caller_expect(waiting, 200, "later");
    give_descriptors();
    close(idle);
    close(waiting);
}

/// Asks the server's own thread for its turns.
struct turns {
    struct message message;
    struct http_server *server;
    atomic_uint count; // and one; 0: not answered yet
};

static void on_turns(struct message *message)
{
    struct turns *turns = CONTAINER_OF(message, struct turns, message);
    turns->count = (unsigned)turns->server->turn + 1;
}

static void without_descriptors_it_rests_and_then_goes_on(void **state)
{
    struct server_world *world = *state;
    int waiting = caller_open();

    take_descriptors();
    caller_join(waiting, http_server_port(world->server));
    caller_send(waiting, GET("/later"));
    sleep(1); // however long it is: a turn each tenth of a second, where there would be many thousands
    give_descriptors();
    caller_expect(waiting, 200, "later");
    close(waiting);
    server_world_await(&world->sent, 1);
    struct turns turns = { .message.on_receive = on_turns, .server = world->server };
    loop_post(world->loop, &turns.message);
    server_world_await(&turns.count, 1);
    assert_true(turns.count < 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_waits_for_room_is_let_in_when_the_last_one_leaves,
                                        server_world_setup_narrow, server_world_teardown),
        cmocka_unit_test_setup_teardown(who_waits_for_a_descriptor_is_let_in_when_the_last_one_leaves,
                                        server_world_setup_impatient, server_world_teardown),
        cmocka_unit_test_setup_teardown(without_descriptors_it_rests_and_then_goes_on, server_world_setup,
                                        server_world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
