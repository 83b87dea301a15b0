#include "support/peer.h"

#include "base/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

// Every wait is a poll over the socket and the stop event, which stays readable once it was written.

struct peer {
    struct peer_options options;
    int listen_fd;
    int stop_fd;
    uint16_t port;
    pthread_t thread;
    atomic_uint connections;
    atomic_uint requests;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned running; // connections being served
};

static bool peer_wait(const struct peer *peer, int fd, short events)
{
    struct pollfd both[2] = { { .fd = fd, .events = events }, { .fd = peer->stop_fd, .events = POLLIN } };

    while (poll(both, 2, -1) < 0) {
        require(errno == EINTR);
    }
    return both[1].revents == 0;
}

static ssize_t stream_receive(struct peer_stream *stream, void *bytes, size_t size)
{
    for (;;) {
        ssize_t got;
        if (stream->tls != NULL) {
            got = SSL_read(stream->tls, bytes, (int)size);
            if (got <= 0 && SSL_get_error(stream->tls, (int)got) != SSL_ERROR_WANT_READ) {
                return -1;
            }
        } else {
            got = recv(stream->fd, bytes, size, 0);
            if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
                return -1;
            }
        }
        if (got > 0) {
            return got;
        }
        if (!peer_wait(stream->peer, stream->fd, POLLIN)) {
            return -1;
        }
    }
}

bool stream_send_bytes(struct peer_stream *stream, const void *bytes, size_t length)
{
    const char *rest = bytes;

    while (length > 0) {
        ssize_t sent;
        if (stream->tls != NULL) {
            sent = SSL_write(stream->tls, rest, (int)length);
            if (sent <= 0 && SSL_get_error(stream->tls, (int)sent) != SSL_ERROR_WANT_WRITE) {
                return false;
            }
        } else {
            sent = send(stream->fd, rest, length, MSG_NOSIGNAL);
            if (sent < 0 && errno != EAGAIN && errno != EINTR) {
                return false;
            }
        }
        if (sent > 0) {
            rest += sent;
            length -= (size_t)sent;
        } else if (!peer_wait(stream->peer, stream->fd, POLLOUT)) {
            return false;
        }
    }
    return true;
}

bool stream_send(struct peer_stream *stream, const char *bytes)
{
    return stream_send_bytes(stream, bytes, strlen(bytes));
}

static uint64_t head_content_length(const char *head)
{
    for (const char *line = head; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncasecmp(line, "content-length:", 15) == 0) {
            return strtoull(line + 15, NULL, 10);
        }
    }
    return 0;
}

bool stream_read_request(struct peer_stream *stream, char *head, size_t size, uint64_t *body_length)
{
    char waste[16 * 1024];
    size_t length = 0;

    do { // byte by byte up to the blank line: whatever follows stays for the next request
        if (length + 1 >= size || stream_receive(stream, head + length, 1) <= 0) {
            return false;
        }
        head[++length] = '\0';
    } while (length < 4 || memcmp(head + length - 4, "\r\n\r\n", 4) != 0);
    uint64_t left = *body_length = head_content_length(head);
    while (left > 0) {
        ssize_t got = stream_receive(stream, waste, left < sizeof(waste) ? (size_t)left : sizeof(waste));
        if (got <= 0) {
            return false;
        }
        left -= (uint64_t)got;
    }
    atomic_fetch_add(&stream->peer->requests, 1);
    return true;
}

void stream_wait_for_end(struct peer_stream *stream)
{
    char waste[4096];

    while (stream_receive(stream, waste, sizeof(waste)) > 0) {
    }
}

void stream_reset(struct peer_stream *stream)
{
    const struct linger now = { .l_onoff = 1, .l_linger = 0 };
    setsockopt(stream->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static bool stream_shake_hands(struct peer_stream *stream)
{
    if (stream->peer->options.tls == NULL || stream->peer->options.has_no_handshake) {
        return true;
    }
    stream->tls = SSL_new(stream->peer->options.tls);
    require(stream->tls != NULL);
    SSL_set_fd(stream->tls, stream->fd);
    for (;;) {
        int done = SSL_accept(stream->tls);
        if (done == 1) {
            return true;
        }
        if (SSL_get_error(stream->tls, done) != SSL_ERROR_WANT_READ || !peer_wait(stream->peer, stream->fd, POLLIN)) {
            return false;
        }
    }
}

static void *peer_serve(void *context)
{
    struct peer_stream *stream = context;
    struct peer *peer = stream->peer;

    if (stream_shake_hands(stream)) {
        peer->options.serve(stream);
    }
    SSL_free(stream->tls);
    close(stream->fd);
    free(stream);
    pthread_mutex_lock(&peer->lock);
    peer->running--;
    pthread_cond_signal(&peer->changed);
    pthread_mutex_unlock(&peer->lock);
    return NULL;
}

static void *peer_accept(void *context)
{
    struct peer *peer = context;

    while (peer_wait(peer, peer->listen_fd, POLLIN)) {
        int fd = accept4(peer->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            continue;
        }
        struct peer_stream *stream = calloc(1, sizeof(*stream));
        require(stream != NULL);
        *stream = (struct peer_stream){ .peer = peer, .fd = fd, .context = peer->options.context };
        stream->number = atomic_fetch_add(&peer->connections, 1);
        pthread_mutex_lock(&peer->lock);
        peer->running++;
        pthread_mutex_unlock(&peer->lock);
        pthread_t thread;
        require(pthread_create(&thread, NULL, peer_serve, stream) == 0);
        pthread_detach(thread);
    }
    return NULL;
}

struct peer *peer_start(const struct peer_options *options)
{
    struct peer *peer = calloc(1, sizeof(*peer));
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t length = sizeof(address);

    require(peer != NULL);
    signal(SIGPIPE, SIG_IGN); // OpenSSL writes to clients that have left
    peer->options = *options;
    pthread_mutex_init(&peer->lock, NULL);
    pthread_cond_init(&peer->changed, NULL);
    peer->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    peer->stop_fd = eventfd(0, EFD_CLOEXEC);
    require(peer->listen_fd >= 0 && peer->stop_fd >= 0);
    require(bind(peer->listen_fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    require(listen(peer->listen_fd, options->backlog != 0 ? options->backlog : 1024) == 0);
    require(getsockname(peer->listen_fd, (struct sockaddr *)&address, &length) == 0);
    peer->port = ntohs(address.sin_port);
    if (options->serve != NULL) {
        require(pthread_create(&peer->thread, NULL, peer_accept, peer) == 0);
    }
    return peer;
}

void peer_stop(struct peer **peer)
{
    struct peer *gone = *peer;
    uint64_t one = 1;

    *peer = NULL;
    require(write(gone->stop_fd, &one, sizeof(one)) == sizeof(one));
    if (gone->options.serve != NULL) {
        pthread_join(gone->thread, NULL);
    }
    pthread_mutex_lock(&gone->lock);
    while (gone->running > 0) {
        pthread_cond_wait(&gone->changed, &gone->lock);
    }
    pthread_mutex_unlock(&gone->lock);
    close(gone->listen_fd);
    close(gone->stop_fd);
    pthread_cond_destroy(&gone->changed);
    pthread_mutex_destroy(&gone->lock);
    free(gone);
}

uint16_t peer_port(const struct peer *peer)
{
    return peer->port;
}

unsigned peer_connections(const struct peer *peer)
{
    return atomic_load(&((struct peer *)peer)->connections);
}

unsigned peer_requests(const struct peer *peer)
{
    return atomic_load(&((struct peer *)peer)->requests);
}
