// Gate: what a supplier may have in front of it, for identity_test.lua: servers that want a client's certificate, and
// proxies that lead to them, refuse, or say nothing. It prints where everything is, then a line for each connection and
// request, until it is told to stop.

#include "base/check.h"
#include "support/certificate.h"
#include "support/peer.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 8192, PLACES_MAX = 16 };

static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;

PRINTF_LIKE(1, 2) static void tell(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    pthread_mutex_lock(&print_lock);
    vprintf(format, arguments);
    fflush(stdout);
    pthread_mutex_unlock(&print_lock);
    va_end(arguments);
}

/// A server or proxy under its name.
struct place {
    const char *name;
    const char *refusal; // of a proxy: the status line; NULL: it leads there
    struct peer *peer;
};

static struct place places[PLACES_MAX];
static size_t place_count;

// ------------------------------------------------------------------------------------------------------------- servers

/// Answers every request with the name in the client's certificate and the number of the connection.
static void serve_name(struct peer_stream *stream)
{
    const struct place *place = stream->context;
    char head[HEAD], name[64] = "nobody", body[128], answer[256];
    uint64_t length;

    while (stream_read_request(stream, head, sizeof(head), &length)) {
        X509 *certificate = stream->tls != NULL ? SSL_get1_peer_certificate(stream->tls) : NULL;
        if (certificate != NULL) {
            X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
            X509_free(certificate);
        }
        tell("%s %u %s\n", place->name, stream->number, name);
        snprintf(body, sizeof(body), "{\"client\":\"%s\",\"connection\":%u}", name, stream->number);
        snprintf(answer, sizeof(answer),
                 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s", strlen(body),
                 body);
        if (!stream_send(stream, answer)) {
            return;
        }
    }
}

// ------------------------------------------------------------------------------------------------------------- proxies

static bool pump(int from, int to)
{
    char bytes[4096];
    ssize_t got = recv(from, bytes, sizeof(bytes), 0);
    return got > 0 && send(to, bytes, (size_t)got, MSG_NOSIGNAL) == got;
}

/// A connection to "127.0.0.1:PORT", which may follow a scheme and precede a path; -1: none.
static int connect_to(const char *target)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const char *scheme = strstr(target, "://");
    unsigned port = 0;

    if (sscanf(scheme != NULL ? scheme + 3 : target, "127.0.0.1:%u", &port) != 1 || port > UINT16_MAX) {
        return -1;
    }
    address.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void lead(struct peer_stream *stream, int fd)
{
    struct pollfd both[] = { { .fd = stream->fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
    bool is_open = true;

    while (is_open && poll(both, 2, -1) > 0) {
        is_open = (both[0].revents == 0 || pump(stream->fd, fd)) && (both[1].revents == 0 || pump(fd, stream->fd));
    }
}

/// One tunnel, or one plain request and its answer; after that it is the two ends' affair.
static void serve_proxy(struct peer_stream *stream)
{
    const struct place *place = stream->context;
    char head[HEAD], method[16], target[256];
    uint64_t length;

    if (!stream_read_request(stream, head, sizeof(head), &length) || sscanf(head, "%15s %255s", method, target) != 2) {
        return;
    }
    tell("%s %u %s %s\n", place->name, stream->number, method, target);
    if (place->refusal != NULL) {
        stream_send(stream, place->refusal);
        return;
    }
    int fd = connect_to(target);
    if (fd < 0) {
        stream_send(stream, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
        return;
    }
    if (strcmp(method, "CONNECT") == 0) {
        stream_send(stream, "HTTP/1.1 200 Connection established\r\n\r\n");
    } else { // the body was read; a server that looks at nothing takes the request without it
        static const char request[] = "GET /rates HTTP/1.1\r\nHost: gate\r\n\r\n";
        (void)send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL);
    }
    lead(stream, fd);
    close(fd);
}

static void serve_nothing(struct peer_stream *stream)
{
    const struct place *place = stream->context;

    tell("%s %u connected\n", place->name, stream->number);
    stream_wait_for_end(stream);
}

// ---------------------------------------------------------------------------------------------------------------- main

static void open_place(const char *name, void (*serve)(struct peer_stream *stream), SSL_CTX *tls, const char *refusal)
{
    struct place *place = &places[place_count++];

    require(place_count <= PLACES_MAX);
    *place = (struct place){ .name = name, .refusal = refusal };
    struct peer_options options = { .serve = serve, .context = place, .tls = tls };
    place->peer = peer_start(&options);
    tell("at %s %u\n", name, peer_port(place->peer));
}

static void issue(struct certificate_authority *authority, const char *name)
{
    char certificate[] = "/tmp/gate-XXXXXX", key[] = "/tmp/gate-XXXXXX";

    certificate_authority_issue(authority, name, 1, certificate, key);
    tell("file %s %s %s\n", name, certificate, key);
}

int main(void)
{
    struct certificate_authority *authority = certificate_authority_create();
    struct certificate_authority *stranger = certificate_authority_create();
    SSL_CTX *open = certificate_authority_serve(authority, "IP:127.0.0.1");
    SSL_CTX *closed = certificate_authority_serve(authority, "IP:127.0.0.1");
    SSL_CTX *closed_1_2 = certificate_authority_serve(authority, "IP:127.0.0.1");
    sigset_t signals;
    int number;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    certificate_authority_demand(authority, closed);
    certificate_authority_demand(authority, closed_1_2);
    SSL_CTX_set_max_proto_version(closed_1_2, TLS1_2_VERSION);
    tell("authority %s\n", authority->file);
    issue(authority, "acme");
    issue(authority, "beta");
    issue(stranger, "stranger");
    open_place("plain", serve_name, NULL, NULL);
    open_place("open", serve_name, open, NULL);
    open_place("closed", serve_name, closed, NULL);
    open_place("closed_1_2", serve_name, closed_1_2, NULL);
    open_place("proxy_a", serve_proxy, NULL, NULL);
    open_place("proxy_b", serve_proxy, NULL, NULL);
    open_place("proxy_407", serve_proxy, NULL,
               "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
               "Content-Length: 0\r\n\r\n");
    open_place("proxy_403", serve_proxy, NULL, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    open_place("proxy_silent", serve_nothing, NULL, NULL);
    open_place("proxy_dead", serve_nothing, NULL, NULL);
    peer_stop(&places[place_count - 1].peer); // its port is free again
    tell("ready\n");
    sigwait(&signals, &number);
    for (size_t i = 0; i + 1 < place_count; i++) {
        peer_stop(&places[i].peer);
    }
    SSL_CTX_free(open);
    SSL_CTX_free(closed);
    SSL_CTX_free(closed_1_2);
    certificate_authority_destroy(&authority);
    certificate_authority_destroy(&stranger);
    return 0;
}
