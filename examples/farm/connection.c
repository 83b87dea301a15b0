#include "farm/connection.h"
#include "base/clock.h"
#include "farm/admin.h"
#include "farm/play.h"
#include "farm/prompter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

//   HANDSHAKING --> READING <--> WAITING --> SENDING --> READING      the usual way round; DELAYED may come before it
//                      |            +------> DRIPPING, RESETTING, HANGING         ASKING may come before WAITING
//   any --> CLOSED when the peer leaves, or when a fault says so

enum { DRIP_US = 400000, RESET_US = 3000, SLOW_TLS_US = 400000 };

static void connection_enter(struct connection *connection, enum connection_state state)
{
    connection->state = state;
}

static void connection_start_timer(struct connection *connection, uint64_t after_us)
{
    if (timer_heap_start(&connection->farm->loop.timers, &connection->timer, clock_now_us() + after_us) != STATUS_OK) {
        connection_close(connection);
    }
}

void connection_close(struct connection *connection)
{
    struct farm *farm = connection->farm;

    if (connection->state == CONNECTION_CLOSED) {
        return;
    }
    if (connection->supplier != NULL && connection->state > CONNECTION_READING && connection->has_peer_left) {
        connection->supplier->counters.abandoned++;
    }
    prompter_tell_left(connection);
    connection_enter(connection, CONNECTION_CLOSED);
    timer_heap_cancel(&farm->loop.timers, &connection->timer);
    tls_session_destroy(&connection->tls);
    close(connection->watch.fd);
    free(connection->input);
    free(connection->output);
    free(connection->prompted);
    connection->prompted = NULL;
    connection->input = connection->output = NULL;
    connection->input_length = connection->input_capacity = 0;
    connection->output_length = connection->output_sent = 0;
    list_remove(&connection->node);
    list_append(&farm->spare, &connection->node);
}

void connection_reset(struct connection *connection)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };

    setsockopt(connection->watch.fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    connection_close(connection);
}

void connection_hang(struct connection *connection)
{
    connection_enter(connection, CONNECTION_HANGING);
    if (connection->has_peer_left) {
        connection_close(connection);
    }
}

void connection_reset_soon(struct connection *connection)
{
    connection_enter(connection, CONNECTION_RESETTING);
    connection_start_timer(connection, RESET_US);
}

void connection_ask(struct connection *connection)
{
    connection_enter(connection, CONNECTION_ASKING);
}

void connection_wait(struct connection *connection, uint64_t latency_us)
{
    connection_enter(connection, CONNECTION_WAITING);
    if (connection->has_peer_left) { // behind its request: no event will tell it again
        connection_close(connection);
        return;
    }
    connection_start_timer(connection, latency_us);
}

/// Bytes taken, 0 when it would block, -1 on failure.
static ssize_t connection_write(struct connection *connection, struct text head, struct text body)
{
    if (connection->tls != NULL) {
        struct text first = head.length > 0 ? head : body;
        ssize_t sent = tls_write(connection->tls, first.data, first.length);
        return sent > 0 ? sent : sent == TLS_AGAIN ? 0 : -1;
    }
    struct iovec parts[2] = { { (void *)(uintptr_t)head.data, head.length },
                              { (void *)(uintptr_t)body.data, body.length } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    ssize_t sent = sendmsg(connection->watch.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    }
    return sent;
}

static void skip(struct text *head, struct text *body, size_t count)
{
    size_t of_head = count < head->length ? count : head->length;

    *head = (struct text){ head->data + of_head, head->length - of_head };
    *body = (struct text){ body->data + (count - of_head), body->length - (count - of_head) };
}

static void connection_sent(struct connection *connection)
{
    connection->exchanges++;
    prompter_tell(connection, FAULT_NONE);
    free(connection->output);
    connection->output = NULL;
    if (connection->closes) {
        connection_close(connection);
    } else if (connection->turns_silent) {
        supplier_count_fault(connection->supplier, FAULT_SILENT_KEPT);
        connection_hang(connection);
    } else {
        connection_enter(connection, CONNECTION_READING);
    }
}

/// False: the connection failed and is closed.
static bool connection_write_all(struct connection *connection, struct text *head, struct text *body)
{
    while (head->length + body->length > 0) {
        ssize_t sent = connection_write(connection, *head, *body);
        if (sent < 0) {
            connection->has_peer_left = true;
            connection_close(connection);
            return false;
        }
        if (sent == 0) {
            return true;
        }
        skip(head, body, (size_t)sent);
    }
    return true;
}

/// Keeps what is left to send. False: no memory, and the connection is closed.
static bool connection_keep_output(struct connection *connection, struct text head, struct text body)
{
    char *kept = malloc(head.length + body.length + 1);

    if (kept == NULL) {
        connection_close(connection);
        return false;
    }
    if (head.length > 0) {
        memcpy(kept, head.data, head.length);
    }
    if (body.length > 0) {
        memcpy(kept + head.length, body.data, body.length);
    }
    connection->output = kept;
    connection->output_length = head.length + body.length;
    connection->output_sent = 0;
    return true;
}

void connection_send(struct connection *connection, struct text head, struct text body)
{
    if (!connection_write_all(connection, &head, &body)) {
        return;
    }
    if (head.length + body.length == 0) {
        connection_sent(connection);
    } else if (connection_keep_output(connection, head, body)) {
        connection_enter(connection, CONNECTION_SENDING);
    }
}

void connection_send_now(struct connection *connection, struct text bytes)
{
    struct text nothing = { bytes.data, 0 };
    connection_write_all(connection, &bytes, &nothing);
}

void connection_drip(struct connection *connection, struct text bytes)
{
    if (connection_keep_output(connection, bytes, (struct text){ bytes.data, 0 })) {
        connection_enter(connection, CONNECTION_DRIPPING);
        connection_start_timer(connection, DRIP_US);
    }
}

static void connection_flush(struct connection *connection)
{
    struct text head = { connection->output + connection->output_sent,
                         connection->output_length - connection->output_sent };
    struct text nothing = { head.data, 0 };

    if (!connection_write_all(connection, &head, &nothing)) {
        return;
    }
    connection->output_sent = connection->output_length - head.length;
    if (head.length == 0) {
        connection_sent(connection);
    }
}

static bool connection_keep_input(struct connection *connection, const char *bytes, size_t length)
{
    if (connection->input_length + length > connection->input_capacity) {
        size_t capacity = connection->input_length + length + 4096;
        char *grown = realloc(connection->input, capacity);
        if (grown == NULL) {
            return false;
        }
        connection->input = grown;
        connection->input_capacity = capacity;
    }
    memmove(connection->input + connection->input_length, bytes, length);
    connection->input_length += length;
    return true;
}

/// Takes one request out of `bytes`; returns how many bytes it had, 0 when it is not whole yet.
static size_t connection_take(struct connection *connection, char *bytes, size_t length)
{
    struct request request;

    switch (request_read(&request, bytes, length)) {
    case REQUEST_INCOMPLETE:
        if (request.waits && !connection->has_continued) { // what the socket does not take at once is not needed
            connection->has_continued = true;
            (void)connection_write(connection, TEXT("HTTP/1.1 100 Continue\r\n\r\n"), TEXT(""));
        }
        return 0;
    case REQUEST_BROKEN:
        connection->closes = true;
        connection_send(connection, TEXT("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                        TEXT(""));
        return length;
    default:
        break;
    }
    connection->has_continued = false;
    connection->closes = connection->closes || request.closes;
    if (connection->supplier != NULL) {
        play_request(connection, &request);
    } else {
        admin_answer(connection, &request);
    }
    return request.length;
}

/// Reads once into the scratch input. False: nothing to do now, or closed.
static bool connection_receive(struct connection *connection, size_t *length)
{
    char *input = connection->farm->input;
    ssize_t got;

    if (connection->tls != NULL) {
        got = tls_read(connection->tls, input, FARM_INPUT);
    } else {
        got = recv(connection->watch.fd, input, FARM_INPUT, MSG_DONTWAIT);
        if (got < 0) {
            got = errno == EAGAIN || errno == EINTR ? TLS_AGAIN : TLS_FAILED;
        } else if (got < FARM_INPUT && !connection->has_peer_left) {
            connection->has_unread = false; // a short read emptied the kernel's buffer; the next byte is an event
        }
    }
    if (got == TLS_AGAIN) {
        connection->has_unread = false;
        return false;
    }
    if (got <= 0) {
        connection->has_peer_left = true;
        connection_close(connection);
        return false;
    }
    *length = (size_t)got;
    return true;
}

static void connection_read(struct connection *connection)
{
    while (connection->state == CONNECTION_READING) {
        if (connection->input_length > 0) {
            size_t taken = connection_take(connection, connection->input, connection->input_length);
            if (taken > 0) {
                if (connection->state != CONNECTION_CLOSED) {
                    connection->input_length -= taken;
                    memmove(connection->input, connection->input + taken, connection->input_length);
                }
                continue;
            }
        }
        size_t length, taken = 0;
        if (!connection->has_unread || !connection_receive(connection, &length)) {
            return;
        }
        if (connection->input_length == 0) {
            taken = connection_take(connection, connection->farm->input, length);
        }
        if (connection->state != CONNECTION_CLOSED && taken < length &&
            !connection_keep_input(connection, connection->farm->input + taken, length - taken)) {
            connection_close(connection);
        }
    }
}

static void connection_shake_hands(struct connection *connection)
{
    int result = tls_handshake(connection->tls);

    if (result == TLS_AGAIN) {
        return;
    }
    if (result == TLS_FAILED) {
        connection_close(connection);
        return;
    }
    connection->supplier->counters.handshakes++;
    connection->has_unread = true;
    connection_enter(connection, CONNECTION_READING);
    connection_read(connection);
}

static void connection_on_event(struct watch *watch, uint32_t events)
{
    struct connection *connection = CONTAINER_OF(watch, struct connection, watch);

    connection->has_unread = connection->has_unread || (events & EPOLLIN) != 0;
    connection->has_peer_left = connection->has_peer_left || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
        connection_close(connection);
        return;
    }
    switch (connection->state) {
    case CONNECTION_HANDSHAKING:
        connection_shake_hands(connection);
        break;
    case CONNECTION_READING:
        connection_read(connection);
        break;
    case CONNECTION_SENDING:
        connection_flush(connection);
        connection_read(connection);
        break;
    case CONNECTION_CLOSED:
        break;
    default:
        if (connection->has_peer_left) {
            connection_close(connection);
        }
    }
}

static void connection_on_due(struct timer *timer)
{
    struct connection *connection = CONTAINER_OF(timer, struct connection, timer);

    if (connection->state == CONNECTION_DELAYED) {
        connection_enter(connection, CONNECTION_HANDSHAKING);
        connection_shake_hands(connection);
    } else if (connection->state == CONNECTION_WAITING) {
        play_answer(connection);
        connection_read(connection);
    } else if (connection->state == CONNECTION_DRIPPING) {
        struct text byte = { connection->output + connection->output_sent, 1 };
        connection->output_sent++;
        connection_send_now(connection, byte);
        if (connection->state == CONNECTION_CLOSED) {
            return;
        }
        if (connection->output_sent < connection->output_length) {
            connection_start_timer(connection, DRIP_US);
        } else {
            connection_sent(connection);
            connection_read(connection);
        }
    } else {
        connection_reset(connection);
    }
}

static struct connection *connection_obtain(struct farm *farm)
{
    struct list *node = list_take_first(&farm->spare);

    if (node != NULL) {
        return CONTAINER_OF(node, struct connection, node);
    }
    struct connection *connection = calloc(1, sizeof(*connection));
    if (connection != NULL) {
        list_init(&connection->node);
    }
    return connection;
}

static enum tls_certificate certificate_of(enum fault fault)
{
    switch (fault) {
    case FAULT_CERT_UNKNOWN:
        return TLS_UNKNOWN_AUTHORITY;
    case FAULT_CERT_NAME:
        return TLS_OTHER_NAME;
    case FAULT_CERT_EXPIRED:
        return TLS_EXPIRED;
    default:
        return TLS_RIGHT;
    }
}

static void connection_play(struct connection *connection, enum fault fault)
{
    if (fault == FAULT_NONE) {
        return;
    }
    if (fault == FAULT_SILENT_KEPT) {
        connection->turns_silent = true;
        return;
    }
    supplier_count_fault(connection->supplier, fault);
    prompter_tell_met(connection, fault);
    if (fault == FAULT_RESET_ACCEPT) {
        connection_reset(connection);
    } else if (fault == FAULT_SLOW_TLS) {
        connection_enter(connection, CONNECTION_DELAYED);
        connection_start_timer(connection, SLOW_TLS_US);
    } else if (certificate_of(fault) == TLS_RIGHT) {
        connection_hang(connection);
    }
}

void connection_accept(struct farm *farm, int fd, struct supplier *supplier, bool is_tls)
{
    struct connection *connection = connection_obtain(farm);

    require(!is_tls || supplier != NULL);
    if (connection == NULL) {
        close(fd);
        return;
    }
    *connection = (struct connection){
        .watch = { connection_on_event, fd },
        .timer = { .on_due = connection_on_due },
        .farm = farm,
        .supplier = supplier,
        .state = is_tls ? CONNECTION_HANDSHAKING : CONNECTION_READING,
    };
    list_init(&connection->node);
    list_append(&farm->connections, &connection->node);
    enum fault fault = FAULT_NONE;
    if (supplier != NULL) {
        supplier->counters.connections++;
        fault = supplier_fault(supplier, FAULT_AT_ACCEPT, clock_now_us());
        fault = fault_row(fault)->need == FAULT_NEEDS_TLS && !is_tls ? FAULT_NONE : fault;
    }
    if (is_tls) {
        connection->tls = tls_session_create(farm->tls, certificate_of(fault), fd, !supplier->now.has_no_tickets);
    }
    if ((is_tls && connection->tls == NULL) || loop_watch(&farm->loop, &connection->watch) != STATUS_OK) {
        connection_close(connection);
        return;
    }
    connection_play(connection, fault);
}

void connection_drop_idle(struct farm *farm, const struct supplier *supplier)
{
    LIST_FOR_EACH (node, &farm->connections) {
        struct connection *connection = CONTAINER_OF(node, struct connection, node);
        if (connection->supplier == supplier && connection->state == CONNECTION_READING) {
            connection_close(connection);
        }
    }
}

void connection_close_all(struct farm *farm)
{
    LIST_FOR_EACH (node, &farm->connections) {
        connection_close(CONTAINER_OF(node, struct connection, node));
    }
    LIST_FOR_EACH (node, &farm->spare) {
        free(CONTAINER_OF(node, struct connection, node));
    }
    list_init(&farm->spare);
}
