#include "e2e/wire.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

char answer[ANSWER_MAX];

struct sockaddr_in address_of(int host, int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    address.sin_addr.s_addr = htonl(0x7f002e00U + (uint32_t)host); // 127.0.46.HOST
    return address;
}

int connect_to(int host, int port, int limit_ms)
{
    struct sockaddr_in address = address_of(host, port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = 0;
    socklen_t length = sizeof(error);
    struct pollfd wait = { .fd = fd, .events = POLLOUT };

    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 &&
        (errno != EINPROGRESS || poll(&wait, 1, limit_ms) != 1 ||
         getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

void send_text(int fd, const char *bytes)
{
    assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), (ssize_t)strlen(bytes));
}

void send_request(int fd, const char *method, const char *path, const char *body)
{
    char request[2048];
    snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: farm\r\nContent-Length: %zu\r\n\r\n%s", method, path,
             strlen(body), body);
    send_text(fd, request);
}

ssize_t receive(int fd, char *out, size_t size, int limit_ms)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    if (poll(&wait, 1, limit_ms) != 1) {
        return -2;
    }
    return recv(fd, out, size, 0);
}

ssize_t drain(int fd, int limit_ms, size_t *length)
{
    ssize_t got;
    *length = 0;
    while ((got = receive(fd, answer + *length, ANSWER_MAX - 1 - *length, limit_ms)) > 0) {
        *length += (size_t)got;
    }
    answer[*length] = '\0';
    return got;
}

int read_answer(int fd, const char **body)
{
    size_t length = 0, wanted = SIZE_MAX;

    answer[0] = '\0';
    while (length < wanted) {
        ssize_t got = receive(fd, answer + length, ANSWER_MAX - 1 - length, WAIT_MS);
        if (got <= 0) {
            return (int)got;
        }
        length += (size_t)got;
        answer[length] = '\0';
        const char *end = strstr(answer, "\r\n\r\n");
        const char *said = strstr(answer, "Content-Length: ");
        if (end != NULL && said != NULL) {
            *body = end + 4;
            wanted = (size_t)(*body - answer) + strtoul(said + 16, NULL, 10);
        }
    }
    assert_int_equal(length, wanted);
    return (int)strtol(answer + 9, NULL, 10);
}

int ask_name(const char *name, int limit_ms, uint32_t *address)
{
    unsigned char packet[512] = { 0x12, 0x34, 1, 0, 0, 1 };
    struct sockaddr_in server = address_of(253, 5300);
    size_t at = 12;
    struct text rest = text_of(name);

    while (rest.length > 0) {
        struct text label = text_split(rest, '.', &rest);
        packet[at++] = (unsigned char)label.length;
        memcpy(packet + at, label.data, label.length);
        at += label.length;
    }
    static const unsigned char root_a_in[] = { 0, 0, 1, 0, 1 };
    memcpy(packet + at, root_a_in, sizeof(root_a_in));
    at += 5;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(sendto(fd, packet, at, 0, (struct sockaddr *)&server, sizeof(server)) == (ssize_t)at);
    ssize_t got = receive(fd, (char *)packet, sizeof(packet), limit_ms);
    close(fd);
    if (got < 0) {
        return -1;
    }
    assert_int_equal(packet[0] << 8 | packet[1], 0x1234);
    *address = 0;
    if (packet[7] == 1) {
        assert_int_equal(got, at + 16);
        memcpy(address, packet + got - 4, 4);
    }
    return packet[3] & 15;
}
