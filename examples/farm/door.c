#include "farm/door.h"
#include "farm/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

//   SHUT <--> OPEN <--> FULL        FULL: nobody accepts, and connects of our own occupy the queue of length 0

enum { BACKLOG = 4096, SEND_BUFFER = 256 << 10 };

static void door_on_event(struct watch *watch, uint32_t events)
{
    struct door *door = CONTAINER_OF(watch, struct door, watch);
    const int yes = 1;

    if ((events & EPOLLIN) == 0 || door->state != DOOR_OPEN) {
        return;
    }
    for (;;) {
        int fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == ECONNABORTED || errno == EINTR) {
                continue;
            }
            return;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        connection_accept(door->farm, fd, door->supplier, door->is_tls);
    }
}

static enum status door_listen(struct door *door, struct failure *why)
{
    const int yes = 1, send_buffer = SEND_BUFFER;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer));
    }
    if (fd < 0 || bind(fd, (const struct sockaddr *)&door->address, sizeof(door->address)) != 0 ||
        listen(fd, BACKLOG) != 0) {
        char address[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &door->address.sin_addr, address, sizeof(address));
        failure_set(why, "%s:%d: %s", address, ntohs(door->address.sin_port), strerror(errno));
        failure_help(why, "%s",
                     door->supplier != NULL && door->supplier->port != 0
                         ? "does something else listen there? `--listen` moves all doors"
                         : "is another farm running?");
        if (fd >= 0) {
            close(fd);
        }
        return STATUS_IO;
    }
    door->watch.fd = fd;
    return STATUS_OK;
}

static enum status door_fill(struct door *door, struct failure *why)
{
    if (listen(door->watch.fd, 0) != 0) {
        failure_set(why, "listen: %s", strerror(errno));
        return STATUS_IO;
    }
    for (size_t i = 0; i < COUNT_OF(door->fillers); i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0 || (connect(fd, (const struct sockaddr *)&door->address, sizeof(door->address)) != 0 &&
                       errno != EINPROGRESS)) {
            failure_set(why, "connect: %s", strerror(errno));
            if (fd >= 0) {
                close(fd);
            }
            return STATUS_IO;
        }
        door->fillers[i] = fd;
    }
    return STATUS_OK;
}

static void door_empty(struct door *door)
{
    for (size_t i = 0; i < COUNT_OF(door->fillers); i++) {
        if (door->fillers[i] >= 0) {
            close(door->fillers[i]);
            door->fillers[i] = -1;
        }
    }
}

/// Always through SHUT, so that each state begins with a fresh listener.
static enum status door_enter(struct door *door, enum door_state state, struct failure *why)
{
    enum status status = STATUS_OK;

    if (door->state == state) {
        return STATUS_OK;
    }
    if (door->state != DOOR_SHUT) {
        door_empty(door);
        close(door->watch.fd);
        door->state = DOOR_SHUT;
    }
    if (state != DOOR_SHUT) {
        status = door_listen(door, why);
        if (status != STATUS_OK) {
            return status;
        }
        door->state = state;
        status = state == DOOR_FULL ? door_fill(door, why) : loop_watch(&door->farm->loop, &door->watch);
        if (status != STATUS_OK) {
            door_empty(door);
            close(door->watch.fd);
            door->state = DOOR_SHUT;
        }
    }
    return status;
}

static enum status door_apply_one(struct door *door, struct failure *why)
{
    enum fault fault = door->supplier != NULL ? supplier_fault(door->supplier, FAULT_AT_DOOR, 0) : FAULT_NONE;

    return door_enter(door,
                      fault == FAULT_REFUSED        ? DOOR_SHUT
                      : fault == FAULT_HANG_CONNECT ? DOOR_FULL
                                                    : DOOR_OPEN,
                      why);
}

enum status door_apply(struct farm *farm, const struct supplier *supplier, struct failure *why)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < farm->door_count; i++) {
        if (farm->doors[i].supplier == supplier) {
            status = door_apply_one(&farm->doors[i], why);
        }
    }
    return status;
}

static void door_add(struct farm *farm, struct supplier *supplier, struct in_addr address, int port, bool is_tls)
{
    port = supplier != NULL && supplier->port != 0 ? supplier->port : port;
    farm->doors[farm->door_count++] = (struct door){
        .watch = { .on_event = door_on_event, .fd = -1 },
        .farm = farm,
        .supplier = supplier,
        .address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = address },
        .is_tls = is_tls,
        .fillers = { -1, -1 },
    };
}

enum status door_open_all(struct farm *farm, const struct sockaddr_in *admin, struct failure *why)
{
    struct population *population = farm->population;
    enum status status = STATUS_OK;

    farm->doors = calloc(2 * population->count + 1, sizeof(*farm->doors));
    if (farm->doors == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < population->count; i++) {
        struct supplier *supplier = &population->suppliers[i];
        if (supplier->speaks_http) {
            door_add(farm, supplier, supplier->address, POPULATION_HTTP_PORT, false);
        }
        if (supplier->speaks_tls) {
            door_add(farm, supplier, supplier->address, POPULATION_TLS_PORT, true);
        }
    }
    if (admin != NULL) {
        door_add(farm, NULL, admin->sin_addr, ntohs(admin->sin_port), false);
    }
    for (size_t i = 0; status == STATUS_OK && i < farm->door_count; i++) {
        status = door_apply_one(&farm->doors[i], why);
    }
    return status;
}

void door_close_all(struct farm *farm)
{
    for (size_t i = 0; i < farm->door_count; i++) {
        if (farm->doors[i].state != DOOR_SHUT) {
            door_empty(&farm->doors[i]);
            close(farm->doors[i].watch.fd);
        }
    }
    free(farm->doors);
    farm->doors = NULL;
    farm->door_count = 0;
}
