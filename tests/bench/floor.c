// bench_floor: the least that a fan-out can cost. A raw epoll program that takes the same POST, sends 40 POSTs over
// kept connections, reads the answers by Content-Length, parses nothing, and replies with as many bytes as the engine
// does.
//
//   bench_floor --listen 18090 --suppliers 40 --first 127.0.40.1 --port 8080 --path /v1/offers --request FILE
//   --reply-bytes 361000
#include "base/buffer.h"
#include "bench/floor_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_SUPPLIERS = 64, MAX_EVENTS = 256, LISTEN_BACKLOG = 1024 };

struct floor {
    int epoll;
    size_t supplier_count;
    struct sockaddr_in suppliers[MAX_SUPPLIERS];
    struct buffer requests[MAX_SUPPLIERS];
    struct peer *idle[MAX_SUPPLIERS]; // kept connections of each supplier
    struct buffer reply;
};

static int socket_make(void)
{
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    return fd;
}

static struct peer *floor_add(struct floor *self, int fd, enum peer_kind kind)
{
    struct peer *peer = peer_create(fd, kind);
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = peer };
    if (peer == NULL || epoll_ctl(self->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        perror("bench_floor");
        exit(1);
    }
    return peer;
}

static struct peer *supplier_take(struct floor *self, size_t index)
{
    struct peer *peer = self->idle[index];
    if (peer != NULL) {
        self->idle[index] = peer->next_idle;
        return peer;
    }
    int fd = socket_make();
    if (fd < 0 || (connect(fd, (struct sockaddr *)&self->suppliers[index], sizeof self->suppliers[index]) != 0 &&
                   errno != EINPROGRESS)) {
        perror("bench_floor: connect");
        exit(1);
    }
    peer = floor_add(self, fd, PEER_SUPPLIER);
    peer->index = index;
    return peer;
}

/// A caller's request is complete: one POST to every supplier.
static void floor_fan_out(struct floor *self, struct peer *caller)
{
    caller->waiting = self->supplier_count;
    for (size_t i = 0; i < self->supplier_count; i++) {
        struct peer *peer = supplier_take(self, i);
        peer->caller = caller;
        peer_reset(peer);
        peer_send(peer, buffer_text(&self->requests[i]));
    }
}

/// A supplier's answer is complete: its connection is kept; the last one of a search sends the reply.
static void floor_take_answer(struct floor *self, struct peer *peer)
{
    struct peer *caller = peer->caller;
    peer->caller = NULL;
    peer->next_idle = self->idle[peer->index];
    self->idle[peer->index] = peer;
    if (--caller->waiting == 0) {
        peer_reset(caller);
        peer_send(caller, buffer_text(&self->reply));
    }
}

static void floor_accept(struct floor *self, int listener)
{
    for (;;) {
        int one = 1;
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            return;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        floor_add(self, fd, PEER_CALLER);
    }
}

static void floor_on_event(struct floor *self, struct peer *peer, uint32_t events)
{
    if ((events & EPOLLOUT) != 0) {
        peer_flush(peer);
    }
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) {
        return;
    }
    switch (peer_read(peer)) {
    case PEER_MORE:
        break;
    case PEER_COMPLETE:
        if (peer->kind == PEER_CALLER) {
            floor_fan_out(self, peer);
        } else if (peer->caller != NULL) {
            floor_take_answer(self, peer);
        }
        break;
    case PEER_CLOSED:
        if (peer->kind == PEER_SUPPLIER || peer->waiting > 0) {
            fprintf(stderr, "bench_floor: a connection was lost, the measure is void\n");
            exit(1);
        }
        close(peer->fd);
        peer_destroy(peer);
        break;
    }
}

static void floor_run(struct floor *self, int listener)
{
    struct epoll_event events[MAX_EVENTS];
    for (;;) {
        int count = epoll_wait(self->epoll, events, MAX_EVENTS, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL) {
                floor_accept(self, listener);
            } else {
                floor_on_event(self, events[i].data.ptr, events[i].events);
            }
        }
    }
}

static int floor_listen(struct floor *self, uint16_t port)
{
    int one = 1;
    int fd = socket_make();
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };

    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, LISTEN_BACKLOG) != 0 ||
        epoll_ctl(self->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        perror("bench_floor: listen");
        exit(1);
    }
    return fd;
}

static void floor_make_messages(struct floor *self, const char *target, const char *path, size_t reply_bytes)
{
    char body[16 << 10];
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(body, 1, sizeof body, file) : 0;

    if (length == 0) {
        fprintf(stderr, "bench_floor: cannot read %s\n", path);
        exit(2);
    }
    fclose(file);
    for (size_t i = 0; i < self->supplier_count; i++) {
        char host[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &self->suppliers[i].sin_addr, host, sizeof host);
        buffer_init(&self->requests[i], 64 << 10);
        buffer_printf(&self->requests[i],
                      "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                      target, host, length);
        buffer_append(&self->requests[i], body, length);
    }
    buffer_init(&self->reply, reply_bytes + 1024);
    buffer_printf(&self->reply, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                  reply_bytes);
    while (reply_bytes-- > 0) {
        buffer_append_byte(&self->reply, ' ');
    }
}

int main(int argc, char **argv)
{
    static const struct option OPTIONS[] = {
        { "listen", required_argument, NULL, 'l' },      { "suppliers", required_argument, NULL, 'n' },
        { "first", required_argument, NULL, 'f' },       { "port", required_argument, NULL, 'p' },
        { "request", required_argument, NULL, 'r' },     { "path", required_argument, NULL, 't' },
        { "reply-bytes", required_argument, NULL, 'b' }, { NULL, 0, NULL, 0 },
    };
    static struct floor self;
    unsigned long listen_port = 18090, port = 8080, count = 40, reply_bytes = 361000;
    const char *first = "127.0.40.1", *request = NULL, *target = "/";
    struct in_addr address;
    int option;

    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        switch (option) {
        case 'l':
            listen_port = strtoul(optarg, NULL, 10);
            break;
        case 'n':
            count = strtoul(optarg, NULL, 10);
            break;
        case 'f':
            first = optarg;
            break;
        case 'p':
            port = strtoul(optarg, NULL, 10);
            break;
        case 'r':
            request = optarg;
            break;
        case 't':
            target = optarg;
            break;
        case 'b':
            reply_bytes = strtoul(optarg, NULL, 10);
            break;
        default:
            return 2;
        }
    }
    if (request == NULL || count == 0 || count > MAX_SUPPLIERS || inet_pton(AF_INET, first, &address) != 1) {
        fprintf(stderr, "bench_floor: wrong arguments (see the top of tests/bench/floor.c)\n");
        return 2;
    }
    self.epoll = epoll_create1(EPOLL_CLOEXEC);
    self.supplier_count = count;
    for (size_t i = 0; i < count; i++) {
        self.suppliers[i].sin_family = AF_INET;
        self.suppliers[i].sin_port = htons((uint16_t)port);
        self.suppliers[i].sin_addr.s_addr = htonl(ntohl(address.s_addr) + (uint32_t)i);
    }
    floor_make_messages(&self, target, request, reply_bytes);
    floor_run(&self, floor_listen(&self, (uint16_t)listen_port));
    return 0;
}
