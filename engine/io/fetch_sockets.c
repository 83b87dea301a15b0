#include "io/fetch_sockets.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAR_MS = 10 };

struct socket_record {
    struct loop_watch *watch;
    struct origin *origin;
    unsigned wanted;  // 0: let go
    unsigned watched; // by the watch
    ino_t inode;
    bool is_open;
};

void sockets_init(struct sockets *sockets, struct loop *loop, void (*on_event)(void *context, int fd, unsigned events),
                  void *context)
{
    *sockets = (struct sockets){ .loop = loop, .on_event = on_event, .context = context };
}

void sockets_fini(struct sockets *sockets)
{
    require(sockets->open_count == 0);
    free(sockets->records);
    *sockets = (struct sockets){ 0 };
}

static struct socket_record *sockets_at(const struct sockets *sockets, int fd)
{
    if (fd < 0 || (size_t)fd >= sockets->capacity || !sockets->records[fd].is_open) {
        return NULL;
    }
    return &sockets->records[fd];
}

static bool sockets_grow(struct sockets *sockets, int fd)
{
    size_t capacity = sockets->capacity != 0 ? sockets->capacity : 64;

    while (capacity <= (size_t)fd) {
        capacity *= 2;
    }
    if (capacity == sockets->capacity) {
        return true;
    }
    struct socket_record *records = realloc(sockets->records, capacity * sizeof(*records));
    if (records == NULL) {
        return false;
    }
    for (size_t i = sockets->capacity; i < capacity; i++) {
        records[i] = (struct socket_record){ 0 };
    }
    sockets->records = records;
    sockets->capacity = capacity;
    return true;
}

static void sockets_forget(struct sockets *sockets, struct socket_record *record)
{
    loop_unwatch(&record->watch);
    record->origin->sockets--;
    record->is_open = false;
    sockets->open_count--;
}

int sockets_open(struct sockets *sockets, struct origin *origin, int family, int type, int protocol)
{
    int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    struct stat stat;
    unsigned wanted = 0;

    if (fd < 0) {
        return -1;
    }
    if (!sockets_grow(sockets, fd) || fstat(fd, &stat) != 0) {
        close(fd);
        return -1;
    }
    struct socket_record *record = &sockets->records[fd];
    if (record->is_open) {
        wanted = record->wanted;
        sockets_forget(sockets, record);
    }
    *record = (struct socket_record){ .origin = origin, .inode = stat.st_ino, .is_open = true };
    sockets->open_count++;
    origin->sockets++;
    if (wanted != 0 && !sockets_want(sockets, fd, wanted)) {
        sockets_close(sockets, fd);
        return -1;
    }
    return fd;
}

void sockets_close(struct sockets *sockets, int fd)
{
    struct socket_record *record = sockets_at(sockets, fd);

    if (record != NULL) {
        sockets_forget(sockets, record);
    }
    close(fd);
}

// statx and not fstat: a thread sanitizer takes fstat for a use of the descriptor, and the question here is whether the
// number is still ours; if it is not, another thread may be opening it this moment.
void sockets_check(struct sockets *sockets, int fd)
{
    struct socket_record *record = sockets_at(sockets, fd);
    struct statx stat;

    if (record != NULL && (statx(fd, "", AT_EMPTY_PATH, STATX_INO, &stat) != 0 || stat.stx_ino != record->inode)) {
        sockets_forget(sockets, record);
    }
}

// Takes what nobody asked for out of the kernel and shuts the connection; the transport then finds it dead.
static void socket_shut(int fd)
{
    char waste[4096];
    ssize_t taken;
    int rounds = 0;

    do {
        taken = recv(fd, waste, sizeof(waste), MSG_DONTWAIT);
    } while (taken > 0 && ++rounds < 64);
    shutdown(fd, SHUT_RDWR);
}

void sockets_shut_idle(struct sockets *sockets, const struct origin *origin)
{
    for (size_t fd = 0; fd < sockets->capacity; fd++) {
        struct socket_record *record = &sockets->records[fd];
        if (!record->is_open || record->origin != origin || record->wanted != 0) {
            continue;
        }
        sockets_check(sockets, (int)fd); // the number may be somebody else's by now
        if (record->is_open) {
            loop_unwatch(&record->watch);
            record->watched = 0;
            socket_shut((int)fd);
        }
    }
}

static void sockets_on_event(void *owner, int fd, unsigned events)
{
    struct sockets *sockets = owner;
    struct socket_record *record = sockets_at(sockets, fd);

    require(record != NULL); // a closed socket has no watch
    if (record->wanted != 0) {
        sockets->on_event(sockets->context, fd, events);
        return;
    }
    loop_unwatch(&record->watch);
    record->watched = 0;
    if ((events & (LOOP_READABLE | LOOP_ERROR)) != 0) {
        socket_shut(fd);
    }
}

bool sockets_want(struct sockets *sockets, int fd, unsigned events)
{
    struct socket_record *record = sockets_at(sockets, fd);

    if (record == NULL) {
        return false;
    }
    record->wanted = events;
    if (record->watch == NULL) {
        record->watch = loop_watch(sockets->loop, fd, events, sockets_on_event, sockets);
    } else if (record->watched != events) {
        loop_watch_change(record->watch, events);
    }
    record->watched = events;
    return record->watch != NULL;
}

void sockets_let_go(struct sockets *sockets, int fd, bool is_fresh)
{
    struct socket_record *record = sockets_at(sockets, fd);

    if (record != NULL) {
        record->wanted = 0;
        if (is_fresh) {
            sockets_check(sockets, fd);
        }
    }
}

void sockets_rewatch(struct sockets *sockets, int fd)
{
    struct socket_record *record = sockets_at(sockets, fd);

    if (record != NULL && record->wanted != 0 && record->watch != NULL) {
        loop_watch_change(record->watch, record->wanted);
    }
}

// What the kernel has taken from the peer, less what still waits there. In this order: what comes between the two
// questions must not count.
uint64_t sockets_taken(int fd)
{
    struct tcp_info info = { 0 };
    socklen_t length = sizeof(info);
    int waiting = 0;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || ioctl(fd, SIOCINQ, &waiting) != 0) {
        return 0;
    }
    uint64_t received = info.tcpi_bytes_received;
    uint64_t left = (uint64_t)waiting;
    return received > left ? received - left : 0;
}

bool sockets_wants_to_send(const struct sockets *sockets, int fd)
{
    const struct socket_record *record = sockets_at(sockets, fd);
    return record != NULL && (record->wanted & LOOP_WRITABLE) != 0;
}

bool sockets_is_connected(const struct sockets *sockets, int fd)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    return sockets_at(sockets, fd) != NULL && getpeername(fd, (struct sockaddr *)&peer, &length) == 0;
}

bool sockets_is_watched(const struct sockets *sockets, int fd)
{
    const struct socket_record *record = sockets_at(sockets, fd);
    return record != NULL && record->wanted != 0;
}

uint16_t sockets_listen_on_loopback(int *fd)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t length = sizeof(address);

    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0 || bind(*fd, (struct sockaddr *)&address, length) != 0 || listen(*fd, 1) != 0 ||
        getsockname(*fd, (struct sockaddr *)&address, &length) != 0) {
        return 0;
    }
    return ntohs(address.sin_port);
}

bool sockets_hear_on_loopback(int listener, int *peer)
{
    struct pollfd wait = { .fd = *peer >= 0 ? *peer : listener, .events = POLLIN };

    if (poll(&wait, 1, HEAR_MS) != 1) {
        return false;
    }
    if (*peer < 0) {
        *peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        return false;
    }
    return true;
}
