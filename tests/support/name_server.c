#include "support/name_server.h"

#include "base/check.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROWS_MAX = 32, PACKET_MAX = 512, TYPE_A = 1, TYPE_AAAA = 28 };

struct row {
    char name[128];
    enum name_server_mood mood;
    char addresses[256];
    uint32_t ttl_s;
    unsigned questions;
};

struct name_server {
    int fd;
    uint16_t port;
    pthread_t thread;
    atomic_bool is_stopping;
    pthread_mutex_t lock;
    struct row rows[ROWS_MAX];
    size_t row_count;
};

static struct row *name_server_row(struct name_server *server, const char *name)
{
    for (size_t i = 0; i < server->row_count; i++) {
        if (strcasecmp(server->rows[i].name, name) == 0) {
            return &server->rows[i];
        }
    }
    return NULL;
}

// Reads the question's name; the offset behind it, or 0.
static size_t question_name(const uint8_t *packet, size_t length, char *name, size_t size)
{
    size_t at = 12;
    size_t used = 0;

    while (at < length && packet[at] != 0) {
        size_t label = packet[at];
        if (label > 63 || at + 1 + label >= length || used + label + 2 > size) {
            return 0;
        }
        if (used != 0) {
            name[used++] = '.';
        }
        memcpy(name + used, packet + at + 1, label);
        used += label;
        at += 1 + label;
    }
    name[used] = '\0';
    return at + 5 <= length ? at + 1 : 0;
}

static void put_16(uint8_t *packet, size_t at, unsigned value)
{
    packet[at] = (uint8_t)(value >> 8);
    packet[at + 1] = (uint8_t)value;
}

// Appends the addresses of the asked family; the new length.
static size_t put_answers(const struct row *row, unsigned type, uint8_t *packet, size_t length)
{
    char copy[sizeof(row->addresses)];
    char *rest = copy;
    char *one;
    unsigned count = 0;

    snprintf(copy, sizeof(copy), "%s", row->addresses);
    while ((one = strsep(&rest, ",")) != NULL) {
        uint8_t bytes[16];
        bool is_ipv6 = strchr(one, ':') != NULL;
        unsigned size = is_ipv6 ? 16 : 4;
        if (is_ipv6 != (type == TYPE_AAAA) || inet_pton(is_ipv6 ? AF_INET6 : AF_INET, one, bytes) != 1 ||
            length + 12 + size > PACKET_MAX) {
            continue;
        }
        put_16(packet, length, 0xc00c); // the question's name
        put_16(packet, length + 2, type);
        put_16(packet, length + 4, 1);
        put_16(packet, length + 6, row->ttl_s >> 16);
        put_16(packet, length + 8, row->ttl_s & 0xffff);
        put_16(packet, length + 10, size);
        memcpy(packet + length + 12, bytes, size);
        length += 12 + size;
        count++;
    }
    put_16(packet, 6, count);
    return length;
}

// Turns a question into its answer, in place; 0: silence.
static size_t name_server_answer(struct name_server *server, uint8_t *packet, size_t length)
{
    char name[128];
    size_t at = length > 12 ? question_name(packet, length, name, sizeof(name)) : 0;

    if (at == 0) {
        return 0;
    }
    unsigned type = (unsigned)(packet[at] << 8 | packet[at + 1]);
    struct row *row = name_server_row(server, name);
    enum name_server_mood mood = row != NULL ? row->mood : SAYS_NO_NAME;
    static const uint8_t codes[] = { [ANSWERS] = 0, [SAYS_NO_NAME] = 3, [FAILS] = 2, [REFUSES] = 5 };

    if (row != NULL) {
        row->questions++;
    }
    if (mood == IS_SILENT || (mood == IS_SILENT_ABOUT_IPV6 && type == TYPE_AAAA)) {
        return 0;
    }
    if (mood == IS_SILENT_ABOUT_IPV6) {
        mood = ANSWERS;
    }
    length = at + 4; // extra records of the question are left out
    packet[2] = 0x85;
    packet[3] = (uint8_t)(0x80 | codes[mood]);
    memset(packet + 6, 0, 6);
    return mood == ANSWERS ? put_answers(row, type, packet, length) : length;
}

static void *name_server_run(void *context)
{
    struct name_server *server = context;

    while (!atomic_load(&server->is_stopping)) {
        uint8_t packet[PACKET_MAX];
        struct sockaddr_in from;
        socklen_t from_length = sizeof(from);
        ssize_t length = recvfrom(server->fd, packet, sizeof(packet), 0, (struct sockaddr *)&from, &from_length);
        if (length <= 0) {
            continue;
        }
        pthread_mutex_lock(&server->lock);
        size_t answer = name_server_answer(server, packet, (size_t)length);
        pthread_mutex_unlock(&server->lock);
        if (answer > 0) {
            sendto(server->fd, packet, answer, 0, (struct sockaddr *)&from, from_length);
        }
    }
    return NULL;
}

struct name_server *name_server_start(void)
{
    struct name_server *server = calloc(1, sizeof(*server));
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t length = sizeof(address);

    require(server != NULL);
    pthread_mutex_init(&server->lock, NULL);
    server->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    require(server->fd >= 0 && bind(server->fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    require(getsockname(server->fd, (struct sockaddr *)&address, &length) == 0);
    server->port = ntohs(address.sin_port);
    require(pthread_create(&server->thread, NULL, name_server_run, server) == 0);
    return server;
}

void name_server_stop(struct name_server **server)
{
    struct name_server *gone = *server;

    *server = NULL;
    atomic_store(&gone->is_stopping, true);
    shutdown(gone->fd, SHUT_RDWR); // wakes recvfrom
    pthread_join(gone->thread, NULL);
    close(gone->fd);
    pthread_mutex_destroy(&gone->lock);
    free(gone);
}

uint16_t name_server_port(const struct name_server *server)
{
    return server->port;
}

void name_server_set(struct name_server *server, const char *name, enum name_server_mood mood, const char *addresses,
                     uint32_t ttl_s)
{
    pthread_mutex_lock(&server->lock);
    struct row *row = name_server_row(server, name);
    if (row == NULL) {
        require(server->row_count < ROWS_MAX);
        row = &server->rows[server->row_count++];
        *row = (struct row){ 0 };
        snprintf(row->name, sizeof(row->name), "%s", name);
    }
    row->mood = mood;
    row->ttl_s = ttl_s;
    snprintf(row->addresses, sizeof(row->addresses), "%s", addresses);
    pthread_mutex_unlock(&server->lock);
}

unsigned name_server_questions(struct name_server *server, const char *name)
{
    pthread_mutex_lock(&server->lock);
    struct row *row = name_server_row(server, name);
    unsigned questions = row != NULL ? row->questions : 0;
    pthread_mutex_unlock(&server->lock);
    return questions;
}
