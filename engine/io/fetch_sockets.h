/// Sockets: the descriptors of a fetch pool and the watches on them.
///
/// A watch outlives the exchange on its connection: switching polls on and off for every transfer costs six system
/// calls. What happens on a connection that nobody uses (the peer leaves, or sends what nobody asked for) makes it
/// dead: its watch is dropped and it is shut, so that no later exchange can read those bytes as its answer.
///
/// This libcurl (7.88) closes sockets that never got connected by itself, without a word. So a socket that may be gone
/// is compared with what was opened (by inode), and a number that comes again takes over what was wanted of the old
/// one: libcurl does not say it twice.
///
/// Threads: its loop's.
/// Memory:  one record a descriptor number.
#pragma once

#include "io/fetch_origin.h"
#include "io/loop.h"

struct sockets {
    struct loop *loop;
    struct socket_record *records; // by descriptor
    size_t capacity;
    size_t open_count;
    /// Something happened on a socket that is in use.
    void (*on_event)(void *context, int fd, unsigned events);
    void *context;
};

void sockets_init(struct sockets *sockets, struct loop *loop, void (*on_event)(void *context, int fd, unsigned events),
                  void *context);
void sockets_fini(struct sockets *sockets); // all are closed

/// Opens one for the origin; -1: the system or memory refused.
MUST_CHECK int sockets_open(struct sockets *sockets, struct origin *origin, int family, int type, int protocol);
void sockets_close(struct sockets *sockets, int fd);

/// Somebody waits for these events (LOOP_READABLE, LOOP_WRITABLE). False: it cannot be watched.
MUST_CHECK bool sockets_want(struct sockets *sockets, int fd, unsigned events);
/// Nobody waits for it; the connection may be kept. `is_fresh`: opened for this transfer, so it may be gone.
void sockets_let_go(struct sockets *sockets, int fd, bool is_fresh);
/// Forgets it if it was closed behind our back.
void sockets_check(struct sockets *sockets, int fd);
/// After an error event the watch rests; wakes it if the socket is still wanted.
void sockets_rewatch(struct sockets *sockets, int fd);

/// Shuts the connections of an origin that nobody uses; the transport then finds them dead.
void sockets_shut_idle(struct sockets *sockets, const struct origin *origin);

/// Is it open, and has the peer taken the connection?
bool sockets_is_connected(const struct sockets *sockets, int fd);
bool sockets_is_watched(const struct sockets *sockets, int fd);
/// Bytes that were read from it since it was opened, those of TLS and of framing too; 0: the system does not tell.
uint64_t sockets_taken(int fd);
/// Waits for room to send?
bool sockets_wants_to_send(const struct sockets *sockets, int fd);

/// A listener for the pool's own use; its port, or 0. `*fd` must be closed unless it is -1.
MUST_CHECK uint16_t sockets_listen_on_loopback(int *fd);
/// Takes its first connection as `*peer` (-1 before). True once that has sent something; waits a short while.
MUST_CHECK bool sockets_hear_on_loopback(int listener, int *peer);
