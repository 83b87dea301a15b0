#include "io/http_server_call.h"

#include "io/http_server_socket.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct http_call *http_server_call_create(struct http_server *server, struct MHD_Connection *connection,
                                          const char *method, const char *path)
{
    struct text method_text = text_of(method);
    struct text path_text = text_of(path);
    struct http_call *call = calloc(1, sizeof(*call) + method_text.length + path_text.length);

    if (call == NULL) {
        return NULL;
    }
    memcpy(call->bytes, method_text.data, method_text.length);
    memcpy(call->bytes + method_text.length, path_text.data, path_text.length);
    call->method = (struct text){ call->bytes, method_text.length };
    call->path = (struct text){ call->bytes + method_text.length, path_text.length };
    call->server = server;
    call->connection = connection;
    call->fd = -1;
    call->arrival_us = loop_polled_us(server->loop);
    uint64_t now_us = clock_now_us();
    call->arrival_wall_us = clock_wall_us() - (now_us > call->arrival_us ? now_us - call->arrival_us : 0);
    http_server_body_init(&call->incoming, server->body_cap);
    list_init(&call->event);
    list_append(&server->calls, &call->node);
    server->open_calls++;
    return call;
}

void http_server_call_destroy(struct http_call *call)
{
    list_remove(&call->node);
    list_remove(&call->event);
    http_server_unwatch(call);
    http_server_body_fini(&call->incoming);
    http_server_stream_fini(&call->stream);
    block_release(&call->body);
    call->server->open_calls--;
    free(call);
}

void http_server_unwatch(struct http_call *call)
{
    if (call->watch != NULL) {
        loop_unwatch(&call->watch);
    }
}

void http_server_finish(struct http_call *call)
{
    call->state = CALL_DONE;
    list_remove(&call->node);
    list_append(&call->server->events, &call->event);
}

// libmicrohttpd knows no way to close a connection that waits for its socket. A socket that is shut down wakes it, and
// without lingering the kernel drops what it still holds for a reader that does not read.
void http_server_cut(struct http_call *call)
{
    struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

    http_server_unwatch(call);
    http_server_stream_fini(&call->stream);
    call->state = CALL_CUT;
    list_append(&call->server->events, &call->event);
    if (call->connection == NULL) {
        return;
    }
    if (call->fd >= 0) {
        (void)setsockopt(call->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        (void)shutdown(call->fd, SHUT_RDWR);
    }
    if (call->stream.is_suspended) {
        call->stream.is_suspended = false;
        http_server_resume(call);
    }
}

void http_server_give_up(struct http_call *call)
{
    struct http_server *server = call->server;
    bool is_known = call->state == CALL_WAITING;

    http_server_unwatch(call);
    list_remove(&call->event);
    call->state = CALL_GONE;
    if (is_known) {
        server->handlers.on_gone(server->handlers.context, call);
    }
    http_server_resume(call); // suspended ones at the stop are fatal to libmicrohttpd
}

void http_server_on_socket(void *owner, int fd, unsigned events)
{
    struct http_call *call = owner;
    struct http_server *server = call->server;

    (void)fd;
    if ((events & (LOOP_DISCONNECT | LOOP_ERROR)) != 0) {
        if (call->state == CALL_STREAMING) {
            http_server_cut(call);
        } else {
            http_server_give_up(call);
        }
        http_server_run(server);
    }
}

static void call_tell(struct http_call *call)
{
    const struct http_server_handlers *handlers = &call->server->handlers;

    if (call->state == CALL_ARRIVED) {
        call->state = CALL_WAITING;
        handlers->on_request(handlers->context, call);
        return;
    }
    if (call->state == CALL_CUT) {
        handlers->on_gone(handlers->context, call);
        if (call->connection == NULL) {
            http_server_forget(call);
        } else {
            call->state = CALL_GONE;
        }
        return;
    }
    require(call->state == CALL_DONE);
    handlers->on_sent(handlers->context, call, call->sent_us, call->was_sent, call->was_slow);
    http_server_forget(call);
}

void http_server_deliver(struct http_server *server)
{
    struct list *node = NULL;

    if (server->is_delivering) {
        return;
    }
    server->is_delivering = true;
    loop_timer_cancel(server->loop, &server->deliver_timer);
    while ((node = list_take_first(&server->events)) != NULL) {
        call_tell(CONTAINER_OF(node, struct http_call, event));
        if (!list_is_empty(&server->events)) {
            loop_breathe(server->loop);
        }
    }
    server->is_delivering = false;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
}

uint32_t http_server_open_calls(const struct http_server *server)
{
    return server->open_calls;
}

struct text http_call_method(const struct http_call *call)
{
    return call->method;
}

struct text http_call_path(const struct http_call *call)
{
    return call->path;
}

struct block *http_call_body(struct http_call *call)
{
    return call->body;
}

uint64_t http_call_arrival_us(const struct http_call *call)
{
    return call->arrival_us;
}

uint64_t http_call_arrival_wall_us(const struct http_call *call)
{
    return call->arrival_wall_us;
}

uint16_t http_call_status(const struct http_call *call)
{
    return call->status;
}

void http_call_set_owner(struct http_call *call, void *owner)
{
    call->owner = owner;
}

void *http_call_owner(const struct http_call *call)
{
    return call->owner;
}

void http_server_on_words(void *closure, const char *format, va_list arguments)
{
    const struct http_server *server = closure;
    uint16_t status = http_server_socket_log(format, arguments);

    if (status != 0 && server->handlers.on_malformed != NULL) {
        server->handlers.on_malformed(server->handlers.context, status);
    }
}
