// When the server's next turn comes, and when it rather does not.
//
// Without descriptors accept fails, and the listening socket stays readable. While libmicrohttpd has connections it
// takes the socket out of its set until one of them has ended; without any it leaves it there and is asked again at
// once, for ever.

#include "base/clock.h"
#include "base/log.h"
#include "io/http_server_call.h"

enum { VAIN_TURNS_MAX = 4, REST_US = 100 * 1000 };

void http_server_plan(struct http_server *server, uint64_t at_us)
{
    if (timer_is_running(&server->timer) && server->timer.at_us <= at_us) {
        return;
    }
    if (loop_timer_start(server->loop, &server->timer, at_us) != STATUS_OK) {
        log_line(LOG_ERROR, "http_server", "no memory for a timer; idle connections close later");
    }
}

void http_server_rest_if_vain(struct http_server *server)
{
    bool is_vain = server->connections == 0 && !server->has_begun;

    server->vain_turns = is_vain ? server->vain_turns + 1 : 0;
    if (server->vain_turns < VAIN_TURNS_MAX || server->watch == NULL) {
        return;
    }
    if (loop_timer_start(server->loop, &server->rest_timer, clock_now_us() + REST_US) == STATUS_OK) {
        loop_watch_change(server->watch, 0);
    }
}

void http_server_on_rested(struct timer *timer)
{
    struct http_server *server = CONTAINER_OF(timer, struct http_server, rest_timer);

    loop_watch_change(server->watch, LOOP_READABLE);
}
