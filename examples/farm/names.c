#include "farm/names.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PACKET_MAX = 512, HEADER = 12, DELAYED_MAX = 4096, NAME_MAX_BYTES = 255 };
enum { TYPE_A = 1, CLASS_IN = 1 };
enum { ANSWER_OK = 0, ANSWER_SERVFAIL = 2, ANSWER_NXDOMAIN = 3, ANSWER_REFUSED = 5 };

struct names {
    struct watch watch;
    struct farm *farm;
    struct list delayed;
    size_t delayed_count;
    uint32_t ttl_s;
};

/// An answer that is sent later.
struct delayed {
    struct timer timer;
    struct list node;
    struct names *names;
    struct sockaddr_in to;
    size_t length;
    unsigned char packet[PACKET_MAX];
};

/// One question as it was asked.
struct question {
    char name[NAME_MAX_BYTES + 1]; // lower case, with dots
    unsigned type;
    size_t end; // of the question within the packet
};

static bool question_read(struct question *question, const unsigned char *packet, size_t length)
{
    size_t at = HEADER, written = 0;

    if (length < HEADER || (packet[2] & 0x80) != 0 || packet[4] != 0 || packet[5] != 1) {
        return false;
    }
    while (at < length && packet[at] != 0) {
        size_t label = packet[at++];
        if (label > 63 || at + label >= length || written + label + 1 > NAME_MAX_BYTES) {
            return false;
        }
        if (written > 0) {
            question->name[written++] = '.';
        }
        for (size_t i = 0; i < label; i++) {
            char c = (char)packet[at++];
            question->name[written++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
        }
    }
    if (at + 5 > length) {
        return false;
    }
    question->name[written] = '\0';
    question->type = (unsigned)packet[at + 1] << 8 | packet[at + 2];
    question->end = at + 5;
    return true;
}

/// Turns the packet into its own answer; returns the new length.
static size_t answer_write(unsigned char *packet, size_t end, unsigned code, const struct in_addr *address,
                           uint32_t ttl_s)
{
    packet[2] = (unsigned char)(0x84 | (packet[2] & 0x01)); // an answer, authoritative
    packet[3] = (unsigned char)(0x80 | code);
    memset(packet + 6, 0, 6);
    if (address == NULL) {
        return end;
    }
    const unsigned char record[12] = {
        0xc0,
        HEADER,
        0,
        TYPE_A,
        0,
        CLASS_IN,
        (unsigned char)(ttl_s >> 24),
        (unsigned char)(ttl_s >> 16),
        (unsigned char)(ttl_s >> 8),
        (unsigned char)ttl_s,
        0,
        4,
    };
    packet[7] = 1;
    memcpy(packet + end, record, sizeof(record));
    memcpy(packet + end + sizeof(record), address, 4);
    return end + sizeof(record) + 4;
}

static void delayed_destroy(struct delayed *delayed)
{
    timer_heap_cancel(&delayed->names->farm->loop.timers, &delayed->timer);
    list_remove(&delayed->node);
    delayed->names->delayed_count--;
    free(delayed);
}

static void names_send(struct names *names, const unsigned char *packet, size_t length, const struct sockaddr_in *to)
{
    // A lost answer is the asker's affair: it asks again.
    if (sendto(names->watch.fd, packet, length, MSG_DONTWAIT, (const struct sockaddr *)to, sizeof(*to)) >= 0) {
        names->farm->names_answered++;
    }
}

static void delayed_on_due(struct timer *timer)
{
    struct delayed *delayed = CONTAINER_OF(timer, struct delayed, timer);

    names_send(delayed->names, delayed->packet, delayed->length, &delayed->to);
    delayed_destroy(delayed);
}

static void names_send_later(struct names *names, const unsigned char *packet, size_t length,
                             const struct sockaddr_in *to, uint32_t delay_ms)
{
    struct delayed *delayed = names->delayed_count < DELAYED_MAX ? calloc(1, sizeof(*delayed)) : NULL;

    if (delayed == NULL) {
        return;
    }
    delayed->timer.on_due = delayed_on_due;
    delayed->names = names;
    delayed->to = *to;
    delayed->length = length;
    memcpy(delayed->packet, packet, length);
    list_init(&delayed->node);
    list_append(&names->delayed, &delayed->node);
    names->delayed_count++;
    if (timer_heap_start(&names->farm->loop.timers, &delayed->timer, clock_now_us() + delay_ms * UINT64_C(1000)) !=
        STATUS_OK) {
        delayed_destroy(delayed);
    }
}

static void names_answer(struct names *names, unsigned char *packet, size_t length, const struct sockaddr_in *to)
{
    struct farm *farm = names->farm;
    struct question question;
    struct text rest;

    farm->names_asked++;
    if (!question_read(&question, packet, length)) {
        return;
    }
    struct text host = text_split(text_of(question.name), '.', &rest);
    struct supplier *supplier = text_equals(rest, TEXT("farm.test")) ? population_find(farm->population, host) : NULL;
    enum fault fault = supplier != NULL ? supplier_fault(supplier, FAULT_AT_NAME, 0) : FAULT_NONE;
    double delay_ms = farm->names_delay_ms;
    if (supplier != NULL) {
        supplier->counters.names++;
        delay_ms += supplier->now.name_delay_ms;
    }
    if (fault != FAULT_NONE) {
        supplier_count_fault(supplier, fault);
    }
    if (farm->names == NAMES_NEVER || fault == FAULT_NEVER_RESOLVES || text_starts_with(host, TEXT("never"))) {
        return;
    }
    unsigned code = ANSWER_OK;
    if (!text_equals(rest, TEXT("farm.test"))) {
        code = ANSWER_REFUSED;
    } else if (supplier == NULL || fault == FAULT_NXDOMAIN || farm->names == NAMES_NXDOMAIN) {
        code = ANSWER_NXDOMAIN;
    } else if (fault == FAULT_NAME_SERVFAIL) {
        code = ANSWER_SERVFAIL;
    }
    const struct in_addr nobody = { htonl(INADDR_LOOPBACK) };
    const struct in_addr *address = code != ANSWER_OK || question.type != TYPE_A ? NULL
                                    : fault == FAULT_NAME_WRONG                  ? &nobody
                                                                                 : &supplier->address;
    size_t answer_length = answer_write(packet, question.end, code, address, names->ttl_s);
    if (fault == FAULT_NAME_GARBLED) {
        packet[7] = 1; // a record that ends in its middle
        answer_length -= address != NULL ? 8 : 0;
    }
    if (delay_ms > 0) {
        names_send_later(names, packet, answer_length, to, (uint32_t)delay_ms);
    } else {
        names_send(names, packet, answer_length, to);
    }
}

static void names_on_event(struct watch *watch, uint32_t events)
{
    struct names *names = CONTAINER_OF(watch, struct names, watch);
    unsigned char packet[PACKET_MAX];

    if ((events & EPOLLIN) == 0) {
        return;
    }
    for (;;) {
        struct sockaddr_in from;
        socklen_t from_length = sizeof(from);
        // Room is kept for the record that an answer adds.
        ssize_t length =
            recvfrom(watch->fd, packet, PACKET_MAX - 32, MSG_DONTWAIT, (struct sockaddr *)&from, &from_length);
        if (length < 0 && errno != EAGAIN) {
            continue; // an ICMP error of an earlier answer
        }
        if (length < 0) {
            return;
        }
        names_answer(names, packet, (size_t)length, &from);
    }
}

enum status names_create(struct farm *farm, const struct sockaddr_in *address, uint32_t ttl_s, struct names **names,
                         struct failure *why)
{
    struct names *made = calloc(1, sizeof(*made));

    *names = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    list_init(&made->delayed);
    made->farm = farm;
    made->ttl_s = ttl_s;
    made->watch.on_event = names_on_event;
    made->watch.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made->watch.fd < 0 || bind(made->watch.fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ||
        loop_watch(&farm->loop, &made->watch) != STATUS_OK) {
        char dotted[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &address->sin_addr, dotted, sizeof(dotted));
        failure_set(why, "%s:%d: %s", dotted, ntohs(address->sin_port), strerror(errno));
        failure_help(why, "is another farm running?");
        names_destroy(&made);
        return STATUS_IO;
    }
    *names = made;
    return STATUS_OK;
}

void names_destroy(struct names **names)
{
    if (*names == NULL) {
        return;
    }
    LIST_FOR_EACH (node, &(*names)->delayed) {
        delayed_destroy(CONTAINER_OF(node, struct delayed, node));
    }
    if ((*names)->watch.fd >= 0) {
        close((*names)->watch.fd);
    }
    free(*names);
    *names = NULL;
}
