#include "bench/floor_peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum { READ_SIZE = 64 << 10 };

struct peer *peer_create(int fd, enum peer_kind kind)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (peer != NULL) {
        peer->fd = fd;
        peer->kind = kind;
    }
    return peer;
}

void peer_destroy(struct peer *peer)
{
    free(peer);
}

void peer_reset(struct peer *peer)
{
    peer->head_length = 0;
    peer->is_in_body = false;
}

void peer_flush(struct peer *peer)
{
    while (peer->written < peer->out.length) {
        ssize_t sent = send(peer->fd, peer->out.data + peer->written, peer->out.length - peer->written, MSG_NOSIGNAL);
        if (sent < 0) {
            return;
        }
        peer->written += (size_t)sent;
    }
}

void peer_send(struct peer *peer, struct text bytes)
{
    peer->out = bytes;
    peer->written = 0;
    peer_flush(peer);
}

static enum peer_progress peer_read_head(struct peer *peer)
{
    peer->head[peer->head_length] = '\0';
    char *end = strstr(peer->head, "\r\n\r\n");
    if (end == NULL) {
        return peer->head_length < PEER_HEAD - 1 ? PEER_MORE : PEER_CLOSED;
    }
    char *length = strcasestr(peer->head, "\r\ncontent-length:");
    size_t body = length != NULL && length < end ? strtoul(length + 17, NULL, 10) : 0;
    size_t in_head = peer->head_length - (size_t)(end + 4 - peer->head);
    if (in_head > body) {
        return PEER_CLOSED;
    }
    peer->is_in_body = true;
    peer->body_left = body - in_head;
    return peer->body_left == 0 ? PEER_COMPLETE : PEER_MORE;
}

enum peer_progress peer_read(struct peer *peer)
{
    static char scratch[READ_SIZE];

    for (;;) {
        bool in_body = peer->is_in_body;
        char *target = in_body ? scratch : peer->head + peer->head_length;
        size_t room = in_body ? READ_SIZE : PEER_HEAD - 1 - peer->head_length;
        ssize_t received = recv(peer->fd, target, room, 0);
        if (received < 0) {
            return errno == EAGAIN || errno == EINTR ? PEER_MORE : PEER_CLOSED;
        }
        if (received == 0) {
            return PEER_CLOSED;
        }
        if (!in_body) {
            peer->head_length += (size_t)received;
            enum peer_progress progress = peer_read_head(peer);
            if (progress != PEER_MORE) {
                return progress;
            }
            continue;
        }
        if ((size_t)received > peer->body_left) {
            return PEER_CLOSED;
        }
        peer->body_left -= (size_t)received;
        if (peer->body_left == 0) {
            return PEER_COMPLETE;
        }
    }
}
