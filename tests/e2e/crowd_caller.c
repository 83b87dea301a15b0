#include "e2e/crowd_caller.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    REQUEST_MAX = 32 << 20,
    READ_SIZE = 64 << 10,
    SLOW_BUFFER = 4096,
    SLOW_PAUSE_US = 500000,
    STUCK_US = 120 * 1000000,
};

/// Writes the request, twice if wanted, and says how much of it goes out.
static void make_request(struct crowd_caller *caller, uint16_t port)
{
    const struct crowd_line *line = caller->line;
    struct buffer *request = &caller->request;
    bool is_twice = line->send == CROWD_SEND_TWICE;
    size_t head = 0;

    buffer_init(request, REQUEST_MAX);
    for (unsigned i = 0; i < (is_twice ? 2 : 1); i++) {
        buffer_printf(request,
                      "POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: %s\r\nAccept: %s\r\n"
                      "Content-Length: %zu\r\n\r\n",
                      port, line->type, line->accept, line->body.length);
        head = request->length;
        buffer_append_text(request, line->body);
    }
    const size_t sends[] = {
        [CROWD_SEND_NOTHING] = 0,
        [CROWD_SEND_LINE] = 8,
        [CROWD_SEND_HEAD] = head / 2,
        [CROWD_SEND_HEADERS] = head,
        [CROWD_SEND_BODY] = head + line->body.length / 2,
        [CROWD_SEND_ALL] = request->length,
        [CROWD_SEND_TWICE] = request->length,
    };
    caller->sends = sends[line->send];
    caller->replies_wanted = is_twice ? 2 : 1;
}

bool crowd_caller_start(struct crowd_caller *caller, const struct crowd_line *line, size_t number, uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    int one = 1, small = SLOW_BUFFER;

    memset(caller, 0, sizeof(*caller));
    caller->line = line;
    caller->number = number;
    caller->began_us = clock_now_us();
    caller->leave_us = UINT64_MAX;
    caller->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (caller->fd < 0) {
        return false;
    }
    crowd_reply_init(&caller->replies[0]);
    crowd_reply_init(&caller->replies[1]);
    make_request(caller, port);
    setsockopt(caller->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (line->leave == CROWD_LEAVE_SLOW) { // before the connection, or its window is wide already
        setsockopt(caller->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    }
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool is_going = connect(caller->fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == EINPROGRESS;
    if (!is_going) {
        caller->end = CROWD_LOST;
    }
    return !caller->request.is_full;
}

static void caller_send(struct crowd_caller *caller)
{
    if (caller->leave_us != UINT64_MAX || (caller->sends > 0 && caller->sent == caller->sends)) {
        return;
    }
    while (caller->sent < caller->sends) {
        ssize_t sent =
            send(caller->fd, caller->request.data + caller->sent, caller->sends - caller->sent, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno != EAGAIN && errno != EINTR && errno != ENOTCONN) {
                caller->end = CROWD_LOST;
            }
            return;
        }
        caller->sent += (size_t)sent;
    }
    if (caller->line->leave == CROWD_LEAVE_AFTER) {
        caller->leave_us = clock_now_us() + caller->line->amount * 1000;
    }
}

/// A reply came whole, or to the point at which this caller leaves.
static void caller_judge(struct crowd_caller *caller)
{
    const struct crowd_line *line = caller->line;
    const struct crowd_reply *reply = &caller->replies[caller->replies_taken];

    if (reply->is_whole) {
        caller->replies_taken++;
    }
    if (reply->is_broken) {
        caller->end = CROWD_LOST;
    } else if (caller->replies_taken == caller->replies_wanted) {
        caller->end = line->leave == CROWD_LEAVE_KEPT ? CROWD_OPEN : CROWD_ANSWERED;
        caller->leave_us = clock_now_us() + line->amount * 1000;
    } else if (line->leave == CROWD_LEAVE_EVENTS && reply->events >= line->amount) {
        caller->end = CROWD_LEFT;
    } else if (line->leave == CROWD_LEAVE_SLOW && caller->received >= line->amount && !caller->is_deaf) {
        caller->is_deaf = true;
        caller->leave_us = clock_now_us() + SLOW_PAUSE_US;
    }
}

static void caller_take(struct crowd_caller *caller, const char *bytes, size_t length)
{
    while (length > 0 && caller->end == CROWD_OPEN) {
        if (caller->replies_taken == caller->replies_wanted) {
            caller->end = CROWD_LOST; // bytes that nobody asked for
            return;
        }
        size_t taken = crowd_reply_take(&caller->replies[caller->replies_taken], bytes, length);
        bytes += taken;
        length -= taken;
        caller_judge(caller);
    }
}

static void caller_receive(struct crowd_caller *caller)
{
    static char bytes[READ_SIZE];

    while (caller->end == CROWD_OPEN && !caller->is_deaf) {
        size_t wanted = caller->line->leave == CROWD_LEAVE_SLOW ? SLOW_BUFFER : sizeof(bytes);
        ssize_t got = recv(caller->fd, bytes, wanted, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (got <= 0) {
            caller->end = CROWD_LOST;
            return;
        }
        caller->received += (uint64_t)got;
        caller_take(caller, bytes, (size_t)got);
    }
}

void crowd_caller_on_ready(struct crowd_caller *caller, bool is_readable)
{
    if (caller->end == CROWD_OPEN) {
        caller_send(caller);
    }
    if (caller->end == CROWD_OPEN && is_readable) {
        caller_receive(caller);
    }
}

void crowd_caller_on_time(struct crowd_caller *caller, uint64_t now_us)
{
    if (caller->end != CROWD_OPEN) {
        return;
    }
    if (now_us >= caller->leave_us) {
        caller->end = caller->replies_taken == caller->replies_wanted ? CROWD_ANSWERED : CROWD_LEFT;
    } else if (now_us > caller->began_us + STUCK_US) {
        caller->end = CROWD_STUCK;
    }
}

static void caller_close(struct crowd_caller *caller)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };

    if (caller->line->resets) {
        setsockopt(caller->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    }
    close(caller->fd);
    caller->fd = -1;
}

void crowd_caller_finish(struct crowd_caller *caller, struct buffer *report)
{
    static const char *const ends[] = {
        [CROWD_ANSWERED] = "answered", [CROWD_LEFT] = "left", [CROWD_LOST] = "lost", [CROWD_STUCK] = "stuck"
    };
    require(caller->end != CROWD_OPEN);
    caller_close(caller);
    bool was_sent = caller->sends > 0 && caller->sent == caller->sends && caller->line->send >= CROWD_SEND_ALL;
    buffer_printf(report,
                  "{\"caller\":%zu,\"end\":\"%s\",\"was_sent\":%s,\"took_us\":%llu,\"bytes\":%llu,\"replies\":[",
                  caller->number, ends[caller->end], was_sent ? "true" : "false",
                  (unsigned long long)(clock_now_us() - caller->began_us), (unsigned long long)caller->received);
    for (unsigned i = 0; i < 2; i++) {
        const struct crowd_reply *reply = &caller->replies[i];
        if (reply->is_in_body) {
            buffer_printf(report, "%s{\"status\":%u,\"is_whole\":%s,\"kept\":", i > 0 ? "," : "", reply->status,
                          reply->is_whole ? "true" : "false");
            crowd_reply_write(reply, report);
            buffer_append_byte(report, '}');
        }
        crowd_reply_fini(&caller->replies[i]);
    }
    buffer_append_c(report, "]}\n");
    buffer_fini(&caller->request);
}
