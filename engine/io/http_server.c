#include "io/http_server.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/http_server_call.h"
#include "io/http_server_socket.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// How it works: libmicrohttpd runs only inside http_server_run. Its callbacks never call our user's code; what they
// find (a whole request, a reply that is out) goes into `events`, which http_server_deliver hands out when
// libmicrohttpd has returned. So a user may answer from anywhere: http_call_reply lets libmicrohttpd write at once, and
// what comes of it is told later. A stream is the same with more goes: libmicrohttpd comes for bytes while there are
// some, and the connection is suspended while there are none.

enum {
    SERVER_BODY_CAP = 256 * 1024,
    SERVER_MAX_CONNECTIONS = 4096,
    SERVER_IDLE_TIMEOUT_S = 60,
    SERVER_POOL = 16 * 1024, // of a connection: its head, and the pieces of its body as they pass through
    SERVER_POOL_INCREMENT = 2048,
    SERVER_PIECE = 4096,   // of a stream to a caller that knows no chunks
    SERVER_PASSES = 16,    // of libmicrohttpd in one turn, while it has something at hand
    SERVER_PAUSE_US = 100, // when that was not enough
    SERVER_LOOK_US = 1000, // of others' work in a turn of the loop; then it looks whether somebody has come
};

void http_server_forget(struct http_call *call)
{
    if (call->response != NULL) {
        MHD_destroy_response(call->response);
    }
    http_server_call_destroy(call);
}

/// What is written and not sent yet, piece by piece. Without any the connection rests until there is.
static ssize_t call_on_read(void *closure, uint64_t position, char *out, size_t room)
{
    struct http_call *call = closure;

    (void)position;
    if (call->state != CALL_STREAMING && call->state != CALL_ANSWERED) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t length = http_server_stream_take(&call->stream, out, room);
    if (length > 0) {
        return (ssize_t)length;
    }
    if (call->stream.is_ended) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    MHD_suspend_connection(call->connection);
    call->stream.is_suspended = true;
    return 0;
}

static struct MHD_Response *call_make_stream(struct http_call *call)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, SERVER_PIECE, call_on_read, call, NULL);

    // libmicrohttpd ends the chunks that it did not send for HEAD: five bytes that the next reply would begin with.
    if (response != NULL && text_equals_c(call->method, MHD_HTTP_METHOD_HEAD) &&
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END) != MHD_YES) {
        MHD_destroy_response(response);
        return NULL;
    }
    return response;
}

/// libmicrohttpd reads the block's own bytes and drops its reference at the end.
static struct MHD_Response *call_make_body(struct block *body)
{
    struct text bytes = block_text(body);

    if (bytes.length == 0) {
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    }
    struct block *held = block_acquire(body);
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        bytes.length, (void *)(uintptr_t)bytes.data, http_server_body_release, held);
    if (response == NULL) {
        block_release(&held);
    }
    return response;
}

static bool response_add(struct MHD_Response *response, const struct header_pair *headers, size_t count)
{
    bool is_ok = true;

    for (size_t i = 0; i < count && is_ok; i++) {
        is_ok = MHD_add_response_header(response, headers[i].name, headers[i].value) == MHD_YES;
    }
    return is_ok;
}

/// What every reply to this request carries.
static bool response_add_common(struct MHD_Response *response, const struct http_call *call)
{
    const struct http_server_handlers *handlers = &call->server->handlers;
    struct header_pair headers[HTTP_SERVER_COMMON_HEADERS];

    return handlers->common_headers == NULL ||
           response_add(response, headers, handlers->common_headers(handlers->context, call, headers));
}

/// NULL without memory, or when a header is none.
static struct MHD_Response *call_make_response(struct http_call *call, const struct http_reply *reply)
{
    struct MHD_Response *response =
        call->state == CALL_STREAMING ? call_make_stream(call) : call_make_body(reply->body);

    if (response == NULL) {
        return NULL;
    }
    bool is_ok = reply->content_type == NULL ||
                 MHD_add_response_header(response, "Content-Type", reply->content_type) == MHD_YES;
    is_ok = is_ok && response_add(response, reply->headers, reply->header_count) && response_add_common(response, call);
    if (!is_ok) {
        MHD_destroy_response(response);
        return NULL;
    }
    return response;
}

static struct http_server_sender *connection_sender(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info == NULL ? NULL : info->socket_context;
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

/// Within libmicrohttpd, so at once: the connection need not rest, nor be watched.
static enum MHD_Result call_refuse_with(struct http_call *call, const struct http_reply *reply)
{
    http_server_sender_owes_nothing(connection_sender(call->connection));
    call->state = CALL_REFUSED;
    call->status = reply->status;
    call->response = call_make_response(call, reply);
    return call_queue(call);
}

static enum MHD_Result call_refuse(struct http_call *call)
{
    struct block *body = http_server_body_problem(&call->incoming);
    struct header_pair headers[] = {
        { "Cache-Control", "no-store" },
        { "Connection", "close" }, // after an ambiguous length: where would the next request begin?
    };
    bool is_ambiguous = call->incoming.is_ambiguous;
    struct http_reply reply = { .status = is_ambiguous ? 400 : 413,
                                .content_type = "application/problem+json",
                                .body = body,
                                .headers = headers,
                                .header_count = is_ambiguous ? 2 : 1 };

    enum MHD_Result result = call_refuse_with(call, &reply);
    block_release(&body);
    return result;
}

/// The whole request is there: the connection rests until the answer, and we look for its end ourselves.
static enum MHD_Result call_arrive(struct http_call *call)
{
    struct http_server *server = call->server;

    if (call->incoming.is_too_large) {
        return call_refuse(call);
    }
    const struct http_server_handlers *handlers = &server->handlers;
    const struct http_reply *no = handlers->turn_away != NULL ? handlers->turn_away(handlers->context, call) : NULL;
    if (no != NULL) {
        return call_refuse_with(call, no);
    }
    call->body = http_server_body_take(&call->incoming);
    if (call->body == NULL && call->incoming.received > 0) {
        return MHD_NO;
    }
    http_server_sender_owes_nothing(connection_sender(call->connection));
    MHD_suspend_connection(call->connection);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(call->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != NULL) {
        call->fd = info->connect_fd;
        call->watch = loop_watch(server->loop, call->fd, LOOP_DISCONNECT, http_server_on_socket, call);
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

static enum MHD_Result call_count_length(void *closure, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    http_server_body_note_header(closure, text_of(name), value != NULL ? text_of(value) : TEXT(""));
    return MHD_YES;
}

/// The head has come. A length that is announced and hopeless is refused before it is sent.
static enum MHD_Result call_begin(struct http_call *call)
{
    (void)MHD_get_connection_values(call->connection, MHD_HEADER_KIND, call_count_length, &call->incoming);
    if (call->incoming.is_ambiguous) {
        return call_refuse(call);
    }
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
        call = http_server_call_create(server, connection, method, url);
        if (call == NULL) {
            return MHD_NO;
        }
        *connection_closure = call;
        http_server_sender_owes_body(&server->patience, connection_sender(connection));
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
    case CALL_STREAMING:
    case CALL_ANSWERED:
        return call_queue(call);
    case CALL_CUT:
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

    http_server_sender_owes_head(&server->patience, connection_sender(connection));
    if (call == NULL) {
        return;
    }
    *connection_closure = NULL;
    call->connection = NULL;
    http_server_unwatch(call); // before its descriptor is closed
    call->sent_us = clock_now_us();
    call->was_sent = reason == MHD_REQUEST_TERMINATED_COMPLETED_OK;
    switch (call->state) {
    case CALL_ANSWERED:
        call->was_slow = call->stream.is_on ? call->stream.is_late : server->turn > call->queued_turn;
        http_server_finish(call);
        return;
    case CALL_STREAMING:
        if (!call->was_sent) { // otherwise only a head was asked for, and its stream goes on without a reader
            http_server_cut(call);
        }
        return;
    case CALL_CUT:
        return;
    case CALL_REFUSED:
        http_server_finish(call);
        return;
    default:
        http_server_forget(call);
    }
}

static void server_on_connection(void *closure, struct MHD_Connection *connection, void **socket_context,
                                 enum MHD_ConnectionNotificationCode what)
{
    struct http_server *server = closure;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        server->connections--;
        server->has_lost = true;
        http_server_sender_destroy(*socket_context);
        *socket_context = NULL;
        return;
    }
    server->connections++;
    server->has_begun = true;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != NULL) {
        *socket_context = http_server_sender_create(&server->patience, info->connect_fd);
    }
}

void http_server_run(struct http_server *server)
{
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    bool has_timeout = false;

    require(!server->is_running);
    server->is_running = true;
    server->turn++;
    for (server->pass = 0; server->pass < SERVER_PASSES; server->pass++) {
        server->has_lost = false;
        (void)MHD_run(server->daemon);
        has_timeout = MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES;
        // The room that a connection leaves is seen by the next pass only, and nothing else may ever ask for one.
        if (!server->has_lost && (!has_timeout || wait_ms > 0)) {
            break;
        }
    }
    server->is_running = false;
    if (server->has_lost) {
        http_server_plan(server, clock_now_us() + SERVER_PAUSE_US);
    } else if (has_timeout) {
        http_server_plan(server, clock_now_us() + (wait_ms > 0 ? wait_ms * 1000 : SERVER_PAUSE_US));
    }
    if (!list_is_empty(&server->events) && !server->is_delivering) {
        if (loop_timer_start(server->loop, &server->deliver_timer, clock_now_us()) != STATUS_OK) {
            log_line(LOG_ERROR, "http_server", "no memory for a timer; requests wait for the next turn");
        }
    }
}

static void server_on_epoll(void *owner, int fd, unsigned events)
{
    (void)fd;
    (void)events;
    ((struct http_server *)owner)->has_begun = false;
    http_server_run(owner);
    http_server_deliver(owner);
    http_server_rest_if_vain(owner);
}

static void server_on_timer(struct timer *timer)
{
    struct http_server *server = CONTAINER_OF(timer, struct http_server, timer);

    http_server_run(server);
    http_server_deliver(server);
}

/// In the midst of a long turn of the loop.
static void server_on_long_turn(void *context)
{
    struct http_server *server = context;

    if (!server->is_running) {
        http_server_run(server);
        http_server_deliver(server);
    }
}

static void server_on_deliver(struct timer *timer)
{
    http_server_deliver(CONTAINER_OF(timer, struct http_server, deliver_timer));
}

static struct MHD_Daemon *server_start_daemon(struct http_server *server, const struct http_server_options *options,
                                              int fd)
{
    unsigned timeout_s = options->idle_timeout_s > 0 ? options->idle_timeout_s : SERVER_IDLE_TIMEOUT_S;
    unsigned limit = options->max_connections > 0 ? options->max_connections : SERVER_MAX_CONNECTIONS;

    server->idle_timeout_us = (uint64_t)timeout_s * 1000000;
    http_server_patience_init(&server->patience, server->loop, server->idle_timeout_us);
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, server_on_access, server,
        MHD_OPTION_EXTERNAL_LOGGER, http_server_on_words, server, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_NOTIFY_COMPLETED, server_on_completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, server_on_connection, server, MHD_OPTION_CONNECTION_LIMIT, limit,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_POOL,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)SERVER_POOL_INCREMENT, MHD_OPTION_END);
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
    created->rest_timer.on_due = http_server_on_rested;
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
    http_server_run(created); // puts the listening socket into its epoll set
    loop_on_long_turn(loop, SERVER_LOOK_US, server_on_long_turn, created);
    *server = created;
    return STATUS_OK;

fail:
    free(created);
    return status;
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

void http_server_destroy(struct http_server **server)
{
    struct http_server *ending = *server;

    if (ending == NULL) {
        return;
    }
    require(!ending->is_running && !ending->is_delivering);
    loop_on_long_turn(ending->loop, 0, NULL, NULL);
    ending->is_delivering = true;
    LIST_FOR_EACH (node, &ending->calls) {
        struct http_call *call = CONTAINER_OF(node, struct http_call, node);
        if (call->state == CALL_ARRIVED || call->state == CALL_WAITING) {
            http_server_give_up(call);
        } else if (call->state == CALL_STREAMING) {
            http_server_cut(call);
        }
    }
    ending->is_delivering = false;
    loop_timer_cancel(ending->loop, &ending->timer);
    loop_timer_cancel(ending->loop, &ending->rest_timer);
    loop_unwatch(&ending->watch);
    MHD_stop_daemon(ending->daemon);
    http_server_patience_fini(&ending->patience);
    http_server_deliver(ending);
    require(ending->open_calls == 0);
    free(ending);
    *server = NULL;
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

struct nth_header {
    struct text name, value;
    size_t left; // before the wanted one
};

static enum MHD_Result call_find_nth(void *closure, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct nth_header *wanted = closure;

    (void)kind;
    if (!text_equals_nocase(text_of(name), wanted->name)) {
        return MHD_YES;
    }
    if (wanted->left == 0) {
        wanted->value = value == NULL ? (struct text){ "", 0 } : text_of(value);
        return MHD_NO;
    }
    wanted->left--;
    return MHD_YES;
}

struct text http_call_header_nth(const struct http_call *call, const char *name, size_t index)
{
    struct nth_header wanted = { .name = text_of(name), .left = index };

    if (call->connection != NULL) {
        (void)MHD_get_connection_values(call->connection, MHD_HEADER_KIND, call_find_nth, &wanted);
    }
    return wanted.value;
}

void http_server_resume(struct http_call *call)
{
    MHD_resume_connection(call->connection);
}

void http_server_answer(struct http_call *call, const struct http_reply *reply)
{
    call->status = reply->status;
    call->response = call_make_response(call, reply);
    MHD_resume_connection(call->connection);
    http_server_run(call->server);
}

void http_call_reply(struct http_call *call, const struct http_reply *reply)
{
    require(call->state == CALL_WAITING);
    http_server_unwatch(call);
    call->state = CALL_ANSWERED;
    http_server_answer(call, reply);
}
