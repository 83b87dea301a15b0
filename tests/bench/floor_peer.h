/// Peer of the floor program: one connection, to a caller or a supplier, with one message at a time each way.
///
/// Threads: one.
/// Memory:  owns its head; message bodies are counted and thrown away.
#pragma once

#include "base/text.h"

enum { PEER_HEAD = 8192 };

enum peer_kind { PEER_CALLER, PEER_SUPPLIER };

struct peer {
    int fd;
    enum peer_kind kind;
    size_t index;        // of the supplier
    struct peer *caller; // whom this supplier's answer is for
    size_t waiting;      // answers that a caller still waits for
    struct peer *next_idle;
    struct text out;
    size_t written;
    char head[PEER_HEAD];
    size_t head_length;
    bool is_in_body;
    size_t body_left;
};

enum peer_progress { PEER_MORE, PEER_COMPLETE, PEER_CLOSED };

struct peer *peer_create(int fd, enum peer_kind kind);
void peer_destroy(struct peer *peer);
void peer_reset(struct peer *peer);                   // ready for the next message
void peer_send(struct peer *peer, struct text bytes); // borrowed until sent
void peer_flush(struct peer *peer);
enum peer_progress peer_read(struct peer *peer);
