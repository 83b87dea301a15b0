#include "io/http_server.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "io/http_server_body.h"
#include "io/http_server_socket.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// How it works: libmicrohttpd runs only inside server_run. Its callbacks never call our user's code; what they find (a
// whole request, a reply that is out) goes into `events`, which server_deliver hands out when libmicrohttpd has
// returned. So a user may answer from anywhere: http_call_reply lets libmicrohttpd write at once, and what comes of it
// is told later.

enum {
    SERVER_BODY_CAP = 256 * 1024,
    SERVER_MAX_CONNECTIONS = 4096,
    SERVER_IDLE_TIMEOUT_S = 60,
    SERVER_POOL = 16 * 1024, // of a connection: its head, and the pieces of its body as they pass through
    SERVER_POOL_INCREMENT = 2048,
    SERVER_PASSES = 16,    // of libmicrohttpd in one turn, while it has something at hand
    SERVER_PAUSE_US = 100, // when that was not enough
};

//   RECEIVING --> ARRIVED --> WAITING --> ANSWERED --> DONE     reply sent, or the connection broke
//       |            |           |
//       |            |           +------> GONE                  the caller left; it was told to the user
//       |            +------------------> GONE                  nobody knew of it yet
//       +--> REFUSED                                            too large: the server answers itself
//
// From ARRIVED to ANSWERED or GONE the connection is suspended and its socket is watched.
enum call_state { CALL_RECEIVING, CALL_ARRIVED, CALL_WAITING, CALL_ANSWERED, CALL_REFUSED, CALL_GONE, CALL_DONE };

struct http_call {
    struct list node;  // in `calls` while it has a connection
    struct list event; // in `events` when there is something to tell: ARRIVED or DONE
    struct http_server *server;
    struct MHD_Connection *connection;
    struct loop_watch *watch;
    enum call_state state;
    struct http_server_body incoming;
    struct block *body;
    struct MHD_Response *response;
    uint16_t status;
    uint64_t queued_turn;
    uint64_t arrival_us, arrival_wall_us, sent_us;
    bool was_sent, was_slow;
    void *owner;
    struct text method, path; // in `bytes`
    char bytes[];
};

struct http_server {
    struct loop *loop;
    struct http_server_handlers handlers;
    struct MHD_Daemon *daemon;
    struct loop_watch *watch;
    struct timer timer;         // libmicrohttpd's next timeout
    struct timer deliver_timer; // events that came outside of a turn
    struct list calls, events;
    uint64_t body_cap, idle_timeout_us;
    uint64_t turn;
    uint32_t pass, open_calls;
    uint16_t port;
    bool is_running;    // inside libmicrohttpd
    bool is_delivering; // inside the user's code
    bool is_listening;
};

static void server_run(struct http_server *server);

static struct http_call *call_create(struct http_server *server, struct MHD_Connection *connection, const char *method,
                                     const char *path)
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
    call->arrival_us = loop_polled_us(server->loop);
    uint64_t now_us = clock_now_us();
    call->arrival_wall_us = clock_wall_us() - (now_us > call->arrival_us ? now_us - call->arrival_us : 0);
    http_server_body_init(&call->incoming, server->body_cap);
    list_init(&call->event);
    list_append(&server->calls, &call->node);
    server->open_calls++;
    return call;
}

static void call_destroy(struct http_call *call)
{
    list_remove(&call->node);
    list_remove(&call->event);
    if (call->watch != NULL) {
        loop_unwatch(&call->watch);
    }
    if (call->response != NULL) {
        MHD_destroy_response(call->response);
    }
    http_server_body_fini(&call->incoming);
    block_release(&call->body);
    call->server->open_calls--;
    free(call);
}

static void call_release_block(void *closure)
{
    struct block *block = closure;

    block_release(&block);
}

/// libmicrohttpd reads the block's own bytes and drops its reference at the end. NULL without memory.
static struct MHD_Response *call_make_response(const struct http_reply *reply)
{
    struct text bytes = block_text(reply->body);
    struct MHD_Response *response = NULL;

    if (bytes.length == 0) {
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    } else {
        struct block *held = block_acquire(reply->body);
        response = MHD_create_response_from_buffer_with_free_callback_cls(bytes.length, (void *)(uintptr_t)bytes.data,
                                                                          call_release_block, held);
        if (response == NULL) {
            block_release(&held);
        }
    }
    if (response == NULL) {
        return NULL;
    }
    bool is_ok = reply->content_type == NULL ||
                 MHD_add_response_header(response, "Content-Type", reply->content_type) == MHD_YES;
    for (size_t i = 0; i < reply->header_count && is_ok; i++) {
        is_ok = MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value) == MHD_YES;
    }
    if (!is_ok) {
        MHD_destroy_response(response);
        return NULL;
    }
    return response;
}

/// Inside the access handler: the reply becomes libmicrohttpd's. Without one the connection is closed.
static enum MHD_Result call_queue(struct http_call *call)
{
    struct http_server *server = call->server;

    if (call->response == NULL) {
        return MHD_NO;
    }
    // Queued in the last pass of a turn it is written in the next one; that alone does not make its reader slow.
    call->queued_turn = server->turn + (server->pass + 1 >= SERVER_PASSES ? 1 : 0);
    enum MHD_Result result = MHD_queue_response(call->connection, call->status, call->response);
    MHD_destroy_response(call->response);
    call->response = NULL;
    return result;
}

static enum MHD_Result call_refuse(struct http_call *call)
{
    struct block *body = http_server_body_problem(&call->incoming);
    struct http_reply reply = { .status = 413, .content_type = "application/problem+json", .body = body };

    call->state = CALL_REFUSED;
    call->status = reply.status;
    call->response = body == NULL ? NULL : call_make_response(&reply);
    block_release(&body);
    return call_queue(call);
}

/// No answer will come: tells the user, if he knows of the call, and lets the connection go.
static void call_give_up(struct http_call *call)
{
    struct http_server *server = call->server;
    bool is_known = call->state == CALL_WAITING;

    if (call->watch != NULL) {
        loop_unwatch(&call->watch);
    }
    list_remove(&call->event);
    call->state = CALL_GONE;
    if (is_known) {
        server->handlers.on_gone(server->handlers.context, call);
    }
    MHD_resume_connection(call->connection); // suspended ones at the stop are fatal to libmicrohttpd
}

static void call_on_socket(void *owner, int fd, unsigned events)
{
    struct http_call *call = owner;
    struct http_server *server = call->server;

    (void)fd;
    if ((events & (LOOP_DISCONNECT | LOOP_ERROR)) != 0) {
        call_give_up(call);
        server_run(server);
    }
}

/// The whole request is there: the connection rests until the answer, and we look for its end ourselves.
static enum MHD_Result call_arrive(struct http_call *call)
{
    struct http_server *server = call->server;

    if (call->incoming.is_too_large) {
        return call_refuse(call);
    }
    call->body = http_server_body_take(&call->incoming);
    if (call->body == NULL && call->incoming.received > 0) {
        return MHD_NO;
    }
    MHD_suspend_connection(call->connection);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(call->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != NULL) {
        call->watch = loop_watch(server->loop, info->connect_fd, LOOP_DISCONNECT, call_on_socket, call);
    }
    call->state = CALL_ARRIVED;
    list_append(&server->events, &call->event);
    return MHD_YES;
}

static enum MHD_Result call_take_piece(struct http_call *call, const char *bytes, size_t length)
{
    struct http_server *server = call->server;

    // A body that drips keeps its connection alive for ever; it gets the idle time as a whole.
    if (loop_polled_us(server->loop) > call->arrival_us + server->idle_timeout_us) {
        return MHD_NO;
    }
    return http_server_body_append(&call->incoming, bytes, length) ? MHD_YES : MHD_NO;
}

/// The head has come. A length that is announced and hopeless is refused before it is sent.
static enum MHD_Result call_begin(struct http_call *call)
{
    struct text length = http_call_header(call, MHD_HTTP_HEADER_CONTENT_LENGTH);
    bool asks_first = http_call_header(call, MHD_HTTP_HEADER_EXPECT).data != NULL;

    return http_server_body_announce(&call->incoming, length, asks_first) ? MHD_YES : call_refuse(call);
}

static enum MHD_Result server_on_access(void *closure, struct MHD_Connection *connection, const char *url,
                                        const char *method, const char *version, const char *upload_data,
                                        size_t *upload_data_size, void **connection_closure)
{
    struct http_server *server = closure;
    struct http_call *call = *connection_closure;

    (void)version;
    if (call == NULL) {
        call = call_create(server, connection, method, url);
        if (call == NULL) {
            return MHD_NO;
        }
        *connection_closure = call;
        return call_begin(call);
    }
    if (*upload_data_size > 0) {
        size_t length = *upload_data_size;
        *upload_data_size = 0;
        return call_take_piece(call, upload_data, length);
    }
    switch (call->state) {
    case CALL_RECEIVING:
        return call_arrive(call);
    case CALL_ANSWERED:
        return call_queue(call);
    case CALL_GONE:
        return MHD_NO;
    default:
        return MHD_YES;
    }
}

static void server_on_completed(void *closure, struct MHD_Connection *connection, void **connection_closure,
                                enum MHD_RequestTerminationCode reason)
{
    struct http_server *server = closure;
    struct http_call *call = *connection_closure;

    (void)connection;
    if (call == NULL) {
        return;
    }
    *connection_closure = NULL;
    call->connection = NULL;
    if (call->state != CALL_ANSWERED) {
        call_destroy(call);
        return;
    }
    call->state = CALL_DONE;
    call->sent_us = clock_now_us();
    call->was_sent = reason == MHD_REQUEST_TERMINATED_COMPLETED_OK;
    call->was_slow = server->turn > call->queued_turn;
    list_remove(&call->node);
    list_append(&server->events, &call->event);
}

__attribute__((format(printf, 2, 0))) static void server_on_log(void *closure, const char *format, va_list arguments)
{
    char line[512] = "";

    (void)closure;
    (void)vsnprintf(line, sizeof(line), format, arguments);
    log_line(LOG_DEBUG, "http_server", "%.*s", (int)strcspn(line, "\n"), line);
}

/// Makes sure that a turn comes by `at_us`. An earlier one that is already planned will do: it plans anew.
static void server_plan(struct http_server *server, uint64_t at_us)
{
    if (timer_is_running(&server->timer) && server->timer.at_us <= at_us) {
        return;
    }
    if (loop_timer_start(server->loop, &server->timer, at_us) != STATUS_OK) {
        log_line(LOG_ERROR, "http_server", "no memory for a timer; idle connections close later");
    }
}

static void server_run(struct http_server *server)
{
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    bool has_timeout = false;

    require(!server->is_running);
    server->is_running = true;
    server->turn++;
    for (server->pass = 0; server->pass < SERVER_PASSES; server->pass++) {
        (void)MHD_run(server->daemon);
        has_timeout = MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES;
        if (!has_timeout || wait_ms > 0) {
            break;
        }
    }
    server->is_running = false;
    if (has_timeout) {
        server_plan(server, clock_now_us() + (wait_ms > 0 ? wait_ms * 1000 : SERVER_PAUSE_US));
    }
    if (!list_is_empty(&server->events) && !server->is_delivering) {
        if (loop_timer_start(server->loop, &server->deliver_timer, clock_now_us()) != STATUS_OK) {
            log_line(LOG_ERROR, "http_server", "no memory for a timer; requests wait for the next turn");
        }
    }
}

static void server_tell(struct http_server *server, struct http_call *call)
{
    if (call->state == CALL_ARRIVED) {
        call->state = CALL_WAITING;
        server->handlers.on_request(server->handlers.context, call);
        return;
    }
    require(call->state == CALL_DONE);
    server->handlers.on_sent(server->handlers.context, call, call->sent_us, call->was_sent, call->was_slow);
    call_destroy(call);
}

static void server_deliver(struct http_server *server)
{
    struct list *node = NULL;

    if (server->is_delivering) {
        return;
    }
    server->is_delivering = true;
    loop_timer_cancel(server->loop, &server->deliver_timer);
    while ((node = list_take_first(&server->events)) != NULL) {
        server_tell(server, CONTAINER_OF(node, struct http_call, event));
        if (!list_is_empty(&server->events)) {
            loop_breathe(server->loop);
        }
    }
    server->is_delivering = false;
}

static void server_on_epoll(void *owner, int fd, unsigned events)
{
    (void)fd;
    (void)events;
    server_run(owner);
    server_deliver(owner);
}

static void server_on_timer(struct timer *timer)
{
    struct http_server *server = CONTAINER_OF(timer, struct http_server, timer);

    server_run(server);
    server_deliver(server);
}

static void server_on_deliver(struct timer *timer)
{
    server_deliver(CONTAINER_OF(timer, struct http_server, deliver_timer));
}

static struct MHD_Daemon *server_start_daemon(struct http_server *server, const struct http_server_options *options,
                                              int fd)
{
    unsigned timeout_s = options->idle_timeout_s > 0 ? options->idle_timeout_s : SERVER_IDLE_TIMEOUT_S;
    unsigned limit = options->max_connections > 0 ? options->max_connections : SERVER_MAX_CONNECTIONS;

    server->idle_timeout_us = (uint64_t)timeout_s * 1000000;
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
                            server_on_access, server, MHD_OPTION_EXTERNAL_LOGGER, server_on_log, NULL,
                            MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
                            MHD_OPTION_NOTIFY_COMPLETED, server_on_completed, server, MHD_OPTION_CONNECTION_LIMIT,
                            limit, MHD_OPTION_CONNECTION_TIMEOUT, timeout_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)SERVER_POOL, MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)SERVER_POOL_INCREMENT,
                            MHD_OPTION_END);
}

static bool server_watch_daemon(struct http_server *server)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);

    server->watch =
        info == NULL ? NULL : loop_watch(server->loop, info->epoll_fd, LOOP_READABLE, server_on_epoll, server);
    return server->watch != NULL;
}

enum status http_server_create(struct loop *loop, const struct http_server_options *options,
                               const struct http_server_handlers *handlers, struct http_server **server,
                               struct failure *why)
{
    int fd = -1;
    struct http_server *created = calloc(1, sizeof(*created));

    if (created == NULL) {
        failure_set(why, "no memory for the listener");
        return STATUS_NO_MEMORY;
    }
    enum status status = http_server_socket_open(options->listen, options->share_port, &fd, &created->port, why);
    if (status != STATUS_OK) {
        goto fail;
    }
    created->loop = loop;
    created->handlers = *handlers;
    created->body_cap = options->body_cap > 0 ? options->body_cap : SERVER_BODY_CAP;
    created->timer.on_due = server_on_timer;
    created->deliver_timer.on_due = server_on_deliver;
    list_init(&created->calls);
    list_init(&created->events);

    created->daemon = server_start_daemon(created, options, fd);
    if (created->daemon == NULL) {
        failure_set(why, "libmicrohttpd refused to start on %s", options->listen);
        failure_help(why, "look for a limit on open files (ulimit -n)");
        close(fd);
        status = STATUS_IO;
        goto fail;
    }
    created->is_listening = true;
    if (!server_watch_daemon(created)) {
        failure_set(why, "no memory for the listener");
        MHD_stop_daemon(created->daemon);
        status = STATUS_NO_MEMORY;
        goto fail;
    }
    server_run(created); // puts the listening socket into its epoll set
    *server = created;
    return STATUS_OK;

fail:
    free(created);
    return status;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
}

void http_server_stop_listening(struct http_server *server)
{
    if (!server->is_listening) {
        return;
    }
    server->is_listening = false;
    MHD_socket fd = MHD_quiesce_daemon(server->daemon);
    if (fd != MHD_INVALID_SOCKET) {
        close(fd);
    }
}

uint32_t http_server_open_calls(const struct http_server *server)
{
    return server->open_calls;
}

void http_server_destroy(struct http_server **server)
{
    struct http_server *ending = *server;

    if (ending == NULL) {
        return;
    }
    require(!ending->is_running && !ending->is_delivering);
    ending->is_delivering = true;
    LIST_FOR_EACH (node, &ending->calls) {
        struct http_call *call = CONTAINER_OF(node, struct http_call, node);
        if (call->state == CALL_ARRIVED || call->state == CALL_WAITING) {
            call_give_up(call);
        }
    }
    ending->is_delivering = false;
    loop_timer_cancel(ending->loop, &ending->timer);
    loop_unwatch(&ending->watch);
    MHD_stop_daemon(ending->daemon);
    server_deliver(ending);
    require(ending->open_calls == 0);
    free(ending);
    *server = NULL;
}

struct text http_call_method(const struct http_call *call)
{
    return call->method;
}

struct text http_call_path(const struct http_call *call)
{
    return call->path;
}

static struct text call_value(const struct http_call *call, enum MHD_ValueKind kind, const char *name)
{
    const char *value = NULL;
    size_t length = 0;

    if (call->connection == NULL ||
        MHD_lookup_connection_value_n(call->connection, kind, name, strlen(name), &value, &length) != MHD_YES) {
        return (struct text){ NULL, 0 };
    }
    return value == NULL ? (struct text){ "", 0 } : (struct text){ value, length };
}

struct text http_call_query(const struct http_call *call, const char *name)
{
    return call_value(call, MHD_GET_ARGUMENT_KIND, name);
}

struct text http_call_header(const struct http_call *call, const char *name)
{
    return call_value(call, MHD_HEADER_KIND, name);
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

void http_call_set_owner(struct http_call *call, void *owner)
{
    call->owner = owner;
}

void *http_call_owner(const struct http_call *call)
{
    return call->owner;
}

void http_call_reply(struct http_call *call, const struct http_reply *reply)
{
    struct http_server *server = call->server;

    require(call->state == CALL_WAITING);
    if (call->watch != NULL) {
        loop_unwatch(&call->watch);
    }
    call->status = reply->status;
    call->response = call_make_response(reply);
    call->state = CALL_ANSWERED;
    MHD_resume_connection(call->connection);
    server_run(server);
}
