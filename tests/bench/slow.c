#include "bench/slow.h"

#include "base/clock.h"
#include "bench/reply.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Readers 0 and 1 of each four are mute, 2 and 3 drip; which of them stream is in their requests. All ticks and lengths
// are fixed. A mute reader looks once, at the end of its life, at what the kernel holds for it.

enum {
    SLOW_MAX = 64,
    SLOW_TICK_MS = 50,
    SLOW_DRIP = 2048, // bytes a tick
    SLOW_LIFE_TICKS = 240,
    SLOW_AHEAD = 12, // searches sent in advance, one after the other answered within its budget
    SLOW_RECEIVE_BUFFER = 4096,
};

struct slow_reader {
    int fd; // -1: to be opened
    uint32_t index;
    uint32_t ticks;
    size_t unsent; // searches still to be sent
    size_t written;
    struct reply reply;
};

static struct {
    const struct slow_options *options;
    pthread_t thread;
    atomic_bool is_stopping;
    bool is_running;
    struct slow_reader readers[SLOW_MAX];
    struct slow_result result;
} slow;

static void reader_close(struct slow_reader *reader)
{
    if (reader->fd >= 0) {
        close(reader->fd);
    }
    reader->fd = -1;
}

static void reader_open(struct slow_reader *reader)
{
    int size = SLOW_RECEIVE_BUFFER;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(slow.options->port) };

    reader->ticks = 0;
    reader->unsent = SLOW_AHEAD;
    reader->written = 0;
    reply_init(&reader->reply);
    reader->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (reader->fd < 0) {
        return;
    }
    if (setsockopt(reader->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) != 0 ||
        inet_pton(AF_INET, slow.options->host, &address.sin_addr) != 1 ||
        (connect(reader->fd, (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS)) {
        reader_close(reader);
    }
}

/// False: the connection is over.
static bool reader_write(struct slow_reader *reader)
{
    struct text request = slow.options->request[reader->index % SLOW_KINDS];

    while (reader->unsent > 0) {
        ssize_t sent = send(reader->fd, request.data + reader->written, request.length - reader->written, MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == ENOTCONN || errno == EINTR;
        }
        reader->written += (size_t)sent;
        if (reader->written == request.length) {
            reader->written = 0;
            reader->unsent--;
            slow.result.asked++;
        }
    }
    return true;
}

/// Reads up to `most` bytes. False: the connection is over.
static bool reader_read(struct slow_reader *reader, size_t most)
{
    char bytes[SLOW_DRIP];

    while (most > 0) {
        ssize_t received = recv(reader->fd, bytes, most < sizeof bytes ? most : sizeof bytes, 0);
        if (received <= 0) {
            return received < 0 && (errno == EAGAIN || errno == EINTR);
        }
        most -= (size_t)received;
        struct text piece = { bytes, (size_t)received };
        while (piece.length > 0) {
            enum reply_progress progress = reply_take_some(&reader->reply, &piece);
            if (progress == REPLY_BROKEN) {
                return false;
            }
            if (progress == REPLY_COMPLETE) {
                slow.result.answered++;
                reply_init(&reader->reply);
            }
        }
    }
    return true;
}

static void reader_tick(struct slow_reader *reader)
{
    bool is_mute = reader->index % SLOW_KINDS < SLOW_KINDS / 2;
    bool is_old = reader->ticks++ >= SLOW_LIFE_TICKS;

    if (reader->fd < 0) {
        reader_open(reader);
        return;
    }
    bool is_alive = reader_write(reader);
    if (is_alive && (!is_mute || is_old)) {
        is_alive = reader_read(reader, is_old ? SIZE_MAX : SLOW_DRIP);
    }
    slow.result.cut += is_alive ? 0 : 1;
    if (!is_alive || is_old) {
        reader_close(reader);
    }
}

static void *slow_main(void *argument)
{
    struct timespec tick = { .tv_nsec = SLOW_TICK_MS * 1000000L };
    (void)argument;

    while (!atomic_load(&slow.is_stopping)) {
        for (uint32_t i = 0; i < slow.options->count && i < SLOW_MAX; i++) {
            reader_tick(&slow.readers[i]);
        }
        nanosleep(&tick, NULL);
    }
    for (uint32_t i = 0; i < SLOW_MAX; i++) {
        reader_close(&slow.readers[i]);
    }
    return NULL;
}

bool slow_start(const struct slow_options *options)
{
    slow.options = options;
    slow.result = (struct slow_result){ 0 };
    for (uint32_t i = 0; i < SLOW_MAX; i++) {
        slow.readers[i].fd = -1;
        slow.readers[i].index = i;
    }
    slow.is_running = pthread_create(&slow.thread, NULL, slow_main, NULL) == 0;
    return slow.is_running;
}

void slow_stop(struct slow_result *result)
{
    if (slow.is_running) {
        atomic_store(&slow.is_stopping, true);
        pthread_join(slow.thread, NULL);
        slow.is_running = false;
    }
    *result = slow.result;
}
