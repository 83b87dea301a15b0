/// Store socket: the connection part of a transport (store/transport.h): TCP or a Unix socket, never waited for.
///
/// A host of several addresses is tried at the next one with each attempt that failed, so that one that takes no
/// connection and does not refuse it either keeps nobody from the others. Names are looked up anew for each connection,
/// because a store moves.
///
/// Threads: its loop's.
/// Memory:  embedded; what waits to be sent is bounded by STORE_UNSENT_MAX.
#pragma once

#include "app/store_lookup.h"
#include "app/store_url.h"
#include "base/buffer.h"
#include "store/transport.h"

enum { STORE_UNSENT_MAX = 64 << 20, STORE_SOCKET_READ = 64 << 10, STORE_TROUBLE_MAX = 128 };

struct store_socket {
    struct loop *loop;
    struct store_url url;
    struct transport_peer *peer; // NULL: there is no connection
    struct store_lookup *lookup; // under way, whoever wants it
    struct loop_watch *watch;
    int fd; // -1: none
    bool is_connected;
    unsigned attempts;   // which address is next
    struct message soon; // why there is no connection, which must not be told from inside a call
    char trouble[STORE_TROUBLE_MAX];
    struct buffer unsent; // from `sent` on
    size_t sent;
    char *bytes; // STORE_SOCKET_READ of them
};

MUST_CHECK bool store_socket_init(struct store_socket *store, struct loop *loop, const struct store_url *url);
void store_socket_fini(struct store_socket *store);
/// As struct transport says.
void store_socket_connect(struct store_socket *store, struct transport_peer *peer);
MUST_CHECK bool store_socket_write(struct store_socket *store, struct text bytes);
void store_socket_close(struct store_socket *store);
