#include "bench/client.h"

#include "base/clock.h"
#include "bench/reply.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_EVENTS = 256, READ_SIZE = 256 << 10, NO_SAMPLE = -1, MAX_WAIT_MS = 20, REST_WAIT_MS = 1 };

struct connection {
    int fd;
    int64_t sample; // NO_SAMPLE: idle
    size_t written;
    struct reply reply;
    struct connection *next_idle;
};

struct client {
    const struct client_options *options;
    struct client_result *result;
    struct sockaddr_in address;
    int epoll;
    struct connection *idle;
    size_t in_flight;
    size_t capacity;
    uint64_t random;
    uint64_t end_us;
    char *scratch;
};

static uint64_t next_random(uint64_t *state)
{
    // splitmix64 (Steele, Lea, Flood 2014)
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t exponential_gap_us(struct client *client)
{
    double uniform = ((double)(next_random(&client->random) >> 11) + 0.5) / 9007199254740992.0;
    return (uint64_t)(-log(uniform) / client->options->rate * 1e6);
}

static void connection_close(struct client *client, struct connection *connection)
{
    if (connection->sample != NO_SAMPLE) {
        client->in_flight--;
    }
    close(connection->fd);
    free(connection);
}

static struct connection *connection_open(struct client *client)
{
    struct connection *connection = calloc(1, sizeof *connection);
    int one = 1;

    if (connection == NULL) {
        return NULL;
    }
    connection->sample = NO_SAMPLE;
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection };
    if (connection->fd < 0 ||
        (connect(connection->fd, (struct sockaddr *)&client->address, sizeof client->address) != 0 &&
         errno != EINPROGRESS) ||
        epoll_ctl(client->epoll, EPOLL_CTL_ADD, connection->fd, &event) != 0) {
        if (connection->fd >= 0) {
            close(connection->fd);
        }
        free(connection);
        return NULL;
    }
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    client->result->connects++;
    return connection;
}

/// Of each eight searches one streams events and one lines, at fixed places in the order of the intended starts.
static enum caller_kind kind_of(const struct client *client, size_t sample)
{
    if (!client->options->has_streams) {
        return CALLER_SINGLE;
    }
    return sample % 8 == 2 ? CALLER_SSE : sample % 8 == 6 ? CALLER_NDJSON : CALLER_SINGLE;
}

/// Sends what is left of the request. False: the connection is broken.
static bool connection_write(struct client *client, struct connection *connection)
{
    if (connection->sample == NO_SAMPLE) {
        return true;
    }
    enum caller_kind kind = client->result->samples[connection->sample].kind;
    struct text request = client->options->requests[kind];

    while (connection->written < request.length) {
        ssize_t sent = send(connection->fd, request.data + connection->written, request.length - connection->written,
                            MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == ENOTCONN || errno == EINTR;
        }
        connection->written += (size_t)sent;
    }
    return true;
}

static bool client_send(struct client *client, uint64_t intended_us)
{
    struct client_result *result = client->result;
    struct connection *connection = client->idle;

    if (result->count == client->capacity) {
        size_t capacity = client->capacity * 2;
        void *grown = realloc(result->samples, capacity * sizeof *result->samples);
        if (grown == NULL) {
            return false;
        }
        result->samples = grown;
        client->capacity = capacity;
    }
    result->samples[result->count] = (struct client_sample){
        .intended_us = intended_us,
        .sent_us = clock_now_us(),
        .kind = kind_of(client, result->count),
    };
    if (connection != NULL) {
        client->idle = connection->next_idle;
    } else {
        connection = connection_open(client);
    }
    int64_t sample = (int64_t)result->count++;
    if (connection == NULL) {
        return true; // counted as lost
    }
    connection->sample = sample;
    connection->written = 0;
    reply_init(&connection->reply);
    client->in_flight++;
    if (!connection_write(client, connection)) {
        connection_close(client, connection);
    }
    return true;
}

/// The whole reply is there. A stream without its `done` is as lost as a reply that never came.
static void connection_done(struct client *client, struct connection *connection)
{
    struct client_sample *sample = &client->result->samples[connection->sample];
    const struct reply *reply = &connection->reply;
    bool is_whole = sample->kind == CALLER_SINGLE || reply->has_done || reply->status != 200;

    sample->status = reply->status;
    sample->body_bytes = (uint32_t)reply->body_bytes;
    sample->percent = reply_percent(reply);
    sample->done_us = is_whole ? clock_now_us() : 0;
    connection->sample = NO_SAMPLE;
    connection->next_idle = client->idle;
    client->idle = connection;
    client->in_flight--;
}

/// False: not a reply that we can read, or one that nobody asked for.
static bool connection_take(struct client *client, struct connection *connection, struct text bytes)
{
    if (connection->sample == NO_SAMPLE) {
        return false;
    }
    enum reply_progress progress = reply_take(&connection->reply, bytes);
    if (progress == REPLY_COMPLETE) {
        connection_done(client, connection);
    }
    return progress != REPLY_BROKEN;
}

static bool connection_read(struct client *client, struct connection *connection)
{
    for (;;) {
        ssize_t received = recv(connection->fd, client->scratch, READ_SIZE, 0);
        if (received < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        if (received == 0 || !connection_take(client, connection, (struct text){ client->scratch, (size_t)received })) {
            return false;
        }
        if ((size_t)received < READ_SIZE) {
            return true;
        }
    }
}

static void client_forget_idle(struct client *client, const struct connection *connection)
{
    for (struct connection **link = &client->idle; *link != NULL; link = &(*link)->next_idle) {
        if (*link == connection) {
            *link = connection->next_idle;
            return;
        }
    }
}

static void client_poll(struct client *client, int wait_ms)
{
    struct epoll_event events[MAX_EVENTS];
    int count = epoll_wait(client->epoll, events, MAX_EVENTS, wait_ms);

    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        bool is_alive = true;
        if ((events[i].events & EPOLLOUT) != 0) {
            is_alive = connection_write(client, connection);
        }
        if (is_alive && (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
            is_alive = connection_read(client, connection);
        }
        if (!is_alive) {
            if (connection->sample == NO_SAMPLE) {
                client_forget_idle(client, connection);
            }
            connection_close(client, connection);
        }
    }
}

/// Sleeps until shortly before `until_us`, then spins on the clock through short polls.
static int wait_ms_until(uint64_t until_us)
{
    uint64_t now_us = clock_now_us();
    if (until_us <= now_us + 1000) {
        return 0;
    }
    uint64_t wait_ms = (until_us - now_us) / 1000;
    return wait_ms > MAX_WAIT_MS ? MAX_WAIT_MS : (int)wait_ms;
}

static bool client_run_open(struct client *client)
{
    uint64_t next_us = client->result->began_us + exponential_gap_us(client);

    while (next_us < client->end_us) {
        while (clock_now_us() >= next_us && next_us < client->end_us) {
            if (!client_send(client, next_us)) {
                return false;
            }
            next_us += exponential_gap_us(client);
        }
        client_poll(client, wait_ms_until(next_us));
    }
    return true;
}

static bool client_rests(const struct client *client)
{
    uint64_t into_us = (clock_now_us() - client->result->began_us) % CLIENT_SPELL_US;

    return into_us >= CLIENT_SPELL_US / 100 * (100 - client->options->rest_percent);
}

static bool client_run_closed(struct client *client)
{
    int wait_ms = client->options->rest_percent > 0 ? REST_WAIT_MS : MAX_WAIT_MS;

    while (clock_now_us() < client->end_us) {
        while (client->in_flight < client->options->concurrency && !client_rests(client)) {
            size_t before = client->in_flight;
            if (!client_send(client, clock_now_us())) {
                return false;
            }
            if (client->in_flight == before) {
                break;
            }
        }
        client_poll(client, wait_ms);
    }
    return true;
}

bool client_run(const struct client_options *options, struct client_result *result)
{
    struct client client = { .options = options, .result = result, .random = options->seed, .capacity = 4096 };
    bool is_fine;

    *result = (struct client_result){ 0 };
    client.address.sin_family = AF_INET;
    client.address.sin_port = htons(options->port);
    client.epoll = epoll_create1(EPOLL_CLOEXEC);
    client.scratch = malloc(READ_SIZE);
    result->samples = malloc(client.capacity * sizeof *result->samples);
    if (inet_pton(AF_INET, options->host, &client.address.sin_addr) != 1 || client.epoll < 0 ||
        client.scratch == NULL || result->samples == NULL) {
        free(client.scratch);
        return false;
    }
    result->began_us = clock_now_us();
    client.end_us = result->began_us + (uint64_t)(options->seconds * 1e6);
    is_fine = options->rate > 0 ? client_run_open(&client) : client_run_closed(&client);
    result->ended_us = clock_now_us();
    while (is_fine && client.in_flight > 0 && clock_now_us() < result->ended_us + options->grace_us) {
        client_poll(&client, MAX_WAIT_MS);
    }
    while (client.idle != NULL) {
        struct connection *connection = client.idle;
        client.idle = connection->next_idle;
        connection_close(&client, connection);
    }
    close(client.epoll);
    free(client.scratch);
    return is_fine;
}
