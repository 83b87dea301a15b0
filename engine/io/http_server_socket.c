#include "io/http_server_socket.h"

#include "base/log.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET_BACKLOG = 1024, SOCKET_SEND_BUFFER = 1024 * 1024 };

/// Splits at the last colon; the brackets of IPv6 are taken off.
static bool socket_split(struct text address, struct text *host, struct text *port)
{
    size_t colon = address.length;
    while (colon > 0 && address.data[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return false;
    }
    *host = (struct text){ address.data, colon - 1 };
    *port = (struct text){ address.data + colon, address.length - colon };
    if (host->length >= 2 && host->data[0] == '[' && host->data[host->length - 1] == ']') {
        *host = (struct text){ host->data + 1, host->length - 2 };
    }
    return true;
}

static bool socket_parse(const char *listen_address, struct sockaddr_storage *address, socklen_t *length)
{
    struct text host;
    struct text port_text;
    uint64_t port = 0;
    char name[INET6_ADDRSTRLEN];

    if (!socket_split(text_of(listen_address), &host, &port_text) || !text_to_u64(port_text, &port) ||
        port > UINT16_MAX || host.length == 0 || host.length >= sizeof(name)) {
        return false;
    }
    memcpy(name, host.data, host.length);
    name[host.length] = '\0';
    memset(address, 0, sizeof(*address));

    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    if (inet_pton(AF_INET, name, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        *length = sizeof(*four);
        return true;
    }
    if (inet_pton(AF_INET6, name, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        *length = sizeof(*six);
        return true;
    }
    return false;
}

/// The system may refuse a large buffer or cap it; a smaller one only costs a second write.
static void socket_set_send_buffer(int fd)
{
    int size = SOCKET_SEND_BUFFER;

    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) != 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    }
}

static bool socket_prepare(int fd, int family, bool share_port)
{
    int on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) {
        return false;
    }
    if (share_port && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0) {
        return false;
    }
    if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0) {
        return false;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    socket_set_send_buffer(fd);
    return true;
}

static uint16_t socket_port(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address = { .six = { .sin6_family = AF_UNSPEC } };
    socklen_t length = sizeof(address);

    if (getsockname(fd, &address.any, &length) != 0) {
        return 0;
    }
    return ntohs(address.any.sa_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port);
}

static void socket_explain(struct failure *why, const char *listen_address, int error)
{
    failure_set(why, "cannot listen on %s: %s", listen_address, strerror(error));
    if (error == EADDRINUSE) {
        failure_help(why, "another program has this port; stop it or change `listen`");
    } else if (error == EACCES) {
        failure_help(why, "ports below 1024 need a privilege; choose a higher one");
    } else if (error == EADDRNOTAVAIL) {
        failure_help(why, "no interface of this machine has that address");
    }
}

enum status http_server_socket_open(const char *listen_address, bool share_port, int *fd, uint16_t *port,
                                    struct failure *why)
{
    struct sockaddr_storage address;
    socklen_t length = 0;

    if (!socket_parse(listen_address, &address, &length)) {
        failure_set(why, "`%s` is no address to listen on", listen_address);
        failure_help(why, "write ADDRESS:PORT, for example 127.0.0.1:8080 or [::1]:8080");
        return STATUS_INVALID;
    }
    int opened = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (opened < 0) {
        socket_explain(why, listen_address, errno);
        return STATUS_IO;
    }
    if (!socket_prepare(opened, address.ss_family, share_port) ||
        bind(opened, (struct sockaddr *)&address, length) != 0 || listen(opened, SOCKET_BACKLOG) != 0) {
        socket_explain(why, listen_address, errno);
        close(opened);
        return STATUS_IO;
    }
    *fd = opened;
    *port = socket_port(opened);
    return STATUS_OK;
}

uint16_t http_server_socket_log(const char *format, va_list arguments)
{
    // It has no other way to tell of its own answers.
    static const char ANSWERED[] = "Error processing request (HTTP response code is ";
    char line[512] = "";

    (void)vsnprintf(line, sizeof(line), format, arguments);
    log_line(LOG_DEBUG, "http_server", "%.*s", (int)strcspn(line, "\n"), line);
    unsigned long status =
        strncmp(line, ANSWERED, strlen(ANSWERED)) == 0 ? strtoul(line + strlen(ANSWERED), NULL, 10) : 0;
    return status >= 400 && status <= 599 ? (uint16_t)status : 0;
}
