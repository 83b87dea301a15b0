#include "support/caller.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

int caller_connect_with(uint16_t port, int receive_buffer)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct timeval patience = { .tv_sec = CALLER_PATIENCE_MS / 1000 };

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (receive_buffer > 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int caller_connect(uint16_t port)
{
    int fd = caller_connect_with(port, 0);
    assert_true(fd >= 0);
    return fd;
}

void caller_send(int fd, const char *text)
{
    size_t length = strlen(text);
    assert_int_equal(send(fd, text, length, MSG_NOSIGNAL), (ssize_t)length);
}

void caller_reset(int fd)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    close(fd);
}

/// One reply: the head, then as many bytes as it announces. The status, or 0 when the connection ended.
int caller_read(int fd, char *body, size_t body_room, size_t *body_length)
{
    char head[4096];
    size_t length = 0;

    while (length < sizeof(head) - 1) {
        ssize_t got = recv(fd, head + length, 1, 0);
        if (got <= 0) {
            return 0;
        }
        head[++length] = '\0';
        if (length >= 4 && memcmp(head + length - 4, "\r\n\r\n", 4) == 0) {
            break;
        }
    }
    const char *announced = strcasestr(head, "content-length:");
    size_t wanted = announced != NULL ? strtoul(announced + 15, NULL, 10) : 0;
    size_t taken = 0;
    while (taken < wanted) {
        char piece[65536];
        size_t room = wanted - taken < sizeof(piece) ? wanted - taken : sizeof(piece);
        ssize_t got = recv(fd, piece, room, 0);
        if (got <= 0) {
            return 0;
        }
        if (taken < body_room) {
            memcpy(body + taken, piece, (size_t)got < body_room - taken ? (size_t)got : body_room - taken);
        }
        taken += (size_t)got;
    }
    *body_length = taken;
    return atoi(head + 9);
}

void caller_expect(int fd, int status, const char *body)
{
    char bytes[8192] = "";
    size_t length = 0;

    assert_int_equal(caller_read(fd, bytes, sizeof(bytes) - 1, &length), status);
    bytes[length < sizeof(bytes) - 1 ? length : sizeof(bytes) - 1] = '\0';
    if (body != NULL) {
        assert_string_equal(bytes, body);
    }
}

void caller_expect_end(int fd)
{
    char byte;
    assert_true(recv(fd, &byte, 1, 0) <= 0);
}
