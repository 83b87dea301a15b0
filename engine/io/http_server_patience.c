#include "io/http_server_patience.h"

#include "base/clock.h"
#include "base/log.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
    PATIENCE_PERIODS = 8, // in `limit_us`
    PATIENCE_BATCH = 64,  // sockets in one go; others' timers come first
};

static bool patience_count(const struct http_server_sender *sender, uint64_t *received)
{
    struct tcp_info info = { 0 };
    socklen_t length = sizeof(info);

    if (getsockopt(sender->fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        return false;
    }
    *received = info.tcpi_bytes_received;
    return true;
}

/// libmicrohttpd is told by edges: an end that comes together with bytes is never told apart from them.
static bool patience_is_deserted(const struct http_server_sender *sender)
{
    char byte;
    return recv(sender->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/// The first look only counts, for bytes of an earlier request are in it: the first byte of this one may be missed
/// then, and comes up to two periods before it is noticed.
static void patience_check(struct http_server_patience *patience, struct http_server_sender *sender, uint64_t now_us)
{
    uint64_t received = 0;

    if (sender->end_us == 0 && patience_count(sender, &received)) {
        if (sender->is_counted && received != sender->received) {
            sender->end_us = now_us + patience->limit_us - 2 * patience->period_us;
        }
        sender->is_counted = true;
        sender->received = received;
    }
    bool is_over = sender->end_us != 0 && now_us + patience->period_us > sender->end_us;
    if (is_over || patience_is_deserted(sender)) {
        (void)shutdown(sender->fd, SHUT_RDWR); // libmicrohttpd sees it and closes
        return;
    }
    sender->check_us = now_us + patience->period_us;
    list_append(&patience->senders, &sender->node);
}

static void patience_plan(struct http_server_patience *patience)
{
    if (list_is_empty(&patience->senders) || timer_is_running(&patience->timer)) {
        return;
    }
    struct http_server_sender *first = CONTAINER_OF(patience->senders.next, struct http_server_sender, node);
    if (loop_timer_start(patience->loop, &patience->timer, first->check_us) != STATUS_OK) {
        log_line(LOG_ERROR, "http_server", "no memory for a timer; slow senders are cut later");
    }
}

static void patience_on_due(struct timer *timer)
{
    struct http_server_patience *patience = CONTAINER_OF(timer, struct http_server_patience, timer);
    uint64_t now_us = clock_now_us();

    for (int i = 0; i < PATIENCE_BATCH && !list_is_empty(&patience->senders); i++) {
        struct http_server_sender *sender = CONTAINER_OF(patience->senders.next, struct http_server_sender, node);
        if (sender->check_us > now_us) {
            break;
        }
        list_remove(&sender->node);
        patience_check(patience, sender, now_us);
    }
    patience_plan(patience);
}

void http_server_patience_init(struct http_server_patience *patience, struct loop *loop, uint64_t limit_us)
{
    *patience =
        (struct http_server_patience){ .loop = loop, .limit_us = limit_us, .period_us = limit_us / PATIENCE_PERIODS };
    patience->timer.on_due = patience_on_due;
    list_init(&patience->senders);
}

void http_server_patience_fini(struct http_server_patience *patience)
{
    loop_timer_cancel(patience->loop, &patience->timer);
}

static void patience_await(struct http_server_patience *patience, struct http_server_sender *sender)
{
    list_remove(&sender->node);
    sender->check_us = clock_now_us() + patience->period_us;
    list_append(&patience->senders, &sender->node);
    patience_plan(patience);
}

struct http_server_sender *http_server_sender_create(struct http_server_patience *patience, int fd)
{
    struct http_server_sender *sender = calloc(1, sizeof(*sender));

    if (sender == NULL) {
        return NULL;
    }
    list_init(&sender->node);
    sender->fd = fd;
    sender->is_counted = true; // at zero
    patience_await(patience, sender);
    return sender;
}

void http_server_sender_destroy(struct http_server_sender *sender)
{
    if (sender != NULL) {
        list_remove(&sender->node);
        free(sender);
    }
}

void http_server_sender_owes_head(struct http_server_patience *patience, struct http_server_sender *sender)
{
    if (sender != NULL) {
        sender->is_counted = false;
        sender->end_us = 0;
        patience_await(patience, sender);
    }
}

void http_server_sender_owes_body(struct http_server_patience *patience, struct http_server_sender *sender)
{
    if (sender != NULL) {
        patience_await(patience, sender);
        sender->end_us = sender->check_us + patience->limit_us;
    }
}

void http_server_sender_owes_nothing(struct http_server_sender *sender)
{
    if (sender != NULL) {
        list_remove(&sender->node);
    }
}
