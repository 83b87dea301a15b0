#include "app/store_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { UNSENT_KEPT = 1 << 20 };

static void say_soon(struct store_socket *store, const char *trouble)
{
    snprintf(store->trouble, sizeof store->trouble, "%s", trouble);
    loop_defer(store->loop, &store->soon);
}

/// It is over, and the peer is told.
static void end(struct store_socket *store, const char *trouble)
{
    struct transport_peer *peer = store->peer;

    store_socket_close(store);
    if (peer != NULL) {
        peer->on_closed(peer, trouble);
    }
}

static void on_soon(struct message *message)
{
    struct store_socket *store = CONTAINER_OF(message, struct store_socket, soon);
    char trouble[STORE_TROUBLE_MAX];

    memcpy(trouble, store->trouble, sizeof trouble);
    end(store, trouble);
}

// ------------------------------------------------------------------------------------------------------------- bytes

static void look_for(struct store_socket *store)
{
    bool has_more = store->sent < store->unsent.length;

    loop_watch_change(store->watch, has_more ? LOOP_READABLE | LOOP_WRITABLE : LOOP_READABLE);
}

/// What can be sent now; errors are found by the next read.
static void send_now(struct store_socket *store)
{
    while (store->sent < store->unsent.length) {
        ssize_t taken =
            send(store->fd, store->unsent.data + store->sent, store->unsent.length - store->sent, MSG_NOSIGNAL);
        if (taken < 0 && errno == EINTR) {
            continue;
        }
        if (taken <= 0) {
            break;
        }
        store->sent += (size_t)taken;
    }
    if (store->sent == store->unsent.length) {
        store->sent = 0;
        buffer_clear(&store->unsent);
        if (store->unsent.capacity > UNSENT_KEPT) {
            buffer_fini(&store->unsent);
        }
    }
}

bool store_socket_write(struct store_socket *store, struct text bytes)
{
    if (store->watch == NULL || !buffer_append_text(&store->unsent, bytes)) {
        store->unsent.is_full = false;
        return false;
    }
    send_now(store);
    look_for(store);
    return true;
}

static void receive(struct store_socket *store)
{
    ssize_t taken = recv(store->fd, store->bytes, STORE_SOCKET_READ, 0);

    if (taken > 0) {
        store->peer->on_bytes(store->peer, (struct text){ store->bytes, (size_t)taken });
    } else if (taken == 0) {
        end(store, "it closed the connection");
    } else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
        end(store, strerror(errno));
    }
}

// ------------------------------------------------------------------------------------------------------------ connect

static void on_connect(struct store_socket *store)
{
    int error = 0;
    socklen_t size = sizeof error;

    if (getsockopt(store->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
        error = errno;
    }
    if (error != 0) {
        end(store, strerror(error));
        return;
    }
    store->is_connected = true;
    loop_watch_change(store->watch, LOOP_READABLE);
    store->peer->on_connected(store->peer);
}

static void on_event(void *owner, int fd, unsigned events)
{
    struct store_socket *store = owner;
    (void)fd;

    if (!store->is_connected) {
        on_connect(store);
        return;
    }
    if ((events & LOOP_WRITABLE) != 0) {
        send_now(store);
        look_for(store);
    }
    if ((events & (LOOP_READABLE | LOOP_ERROR)) != 0) {
        receive(store);
    }
}

static void open_to(struct store_socket *store, const struct sockaddr *address, socklen_t length)
{
    int one = 1;

    store->attempts++;
    store->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (store->fd < 0) {
        say_soon(store, strerror(errno));
        return;
    }
    if (address->sa_family != AF_UNIX) {
        (void)setsockopt(store->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        (void)setsockopt(store->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    }
    bool is_refused = connect(store->fd, address, length) != 0 && errno != EINPROGRESS;
    int error = errno;
    if (!is_refused) {
        store->watch = loop_watch(store->loop, store->fd, LOOP_WRITABLE, on_event, store);
        error = ENOMEM;
    }
    if (store->watch == NULL) {
        say_soon(store, strerror(error));
    }
}

static void open_one_of(struct store_socket *store, const struct addrinfo *found)
{
    unsigned count = 0;

    for (const struct addrinfo *one = found; one != NULL; one = one->ai_next) {
        count++;
    }
    unsigned number = store->attempts % count;
    for (unsigned i = 0; i < number; i++) {
        found = found->ai_next;
    }
    open_to(store, found->ai_addr, found->ai_addrlen);
}

static void on_found(void *owner, struct addrinfo *found, const char *why)
{
    struct store_socket *store = owner;

    store->lookup = NULL;
    if (store->peer != NULL && store->fd < 0) {
        if (found != NULL) {
            open_one_of(store, found);
        } else {
            end(store, why != NULL ? why : "its name has no address");
        }
    }
    if (found != NULL) {
        freeaddrinfo(found);
    }
}

static void open_path(struct store_socket *store)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    _Static_assert(sizeof address.sun_path == STORE_PATH_MAX, "a path fits");
    memcpy(address.sun_path, store->url.path, sizeof address.sun_path);
    open_to(store, (const struct sockaddr *)&address, sizeof address);
}

void store_socket_connect(struct store_socket *store, struct transport_peer *peer)
{
    store->peer = peer;
    if (store->url.path[0] != '\0') {
        open_path(store);
        return;
    }
    struct addrinfo *literal = store_lookup_literal(store->url.host, store->url.port);
    if (literal != NULL) {
        open_one_of(store, literal);
        freeaddrinfo(literal);
        return;
    }
    if (store->lookup == NULL) { // else that of an attempt before has still not come back
        store->lookup = store_lookup_start(store->loop, store->url.host, store->url.port, on_found, store);
        if (store->lookup == NULL) {
            say_soon(store, "no thread to look its name up");
        }
    }
}

void store_socket_close(struct store_socket *store)
{
    store->peer = NULL;
    loop_defer_cancel(&store->soon);
    loop_unwatch(&store->watch);
    if (store->fd >= 0) {
        (void)close(store->fd);
    }
    store->fd = -1;
    store->is_connected = false;
    store->sent = 0;
    buffer_fini(&store->unsent);
}

bool store_socket_init(struct store_socket *store, struct loop *loop, const struct store_url *url)
{
    *store = (struct store_socket){ .loop = loop, .url = *url, .fd = -1 };
    store->soon.on_receive = on_soon;
    list_init(&store->soon.node);
    buffer_init(&store->unsent, STORE_UNSENT_MAX);
    store->bytes = malloc(STORE_SOCKET_READ);
    return store->bytes != NULL;
}

void store_socket_fini(struct store_socket *store)
{
    store_socket_close(store);
    store_lookup_leave(&store->lookup);
    free(store->bytes);
}
