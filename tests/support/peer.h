/// Peer: a TCP or TLS server inside a test program that does to its clients whatever the test says.
///
/// Each accepted connection gets a thread that runs `serve`; when it returns, the connection is closed. Calls on a
/// stream wait; they fail as soon as the peer is stopped.
///
/// Threads: `serve` runs on the peer's threads, the rest belongs to the test.
/// Memory:  peer_stop frees everything.
#pragma once

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

struct peer;

struct peer_stream {
    struct peer *peer;
    int fd;
    SSL *tls;        // NULL: plain
    unsigned number; // of this connection, from 0
    void *context;
};

struct peer_options {
    void (*serve)(struct peer_stream *stream); // NULL: nothing is ever accepted
    void *context;
    SSL_CTX *tls;          // borrowed; NULL: plain
    bool has_no_handshake; // with tls: the TCP connection stands, TLS never begins
    int backlog;           // 0: 1024
};

/// On 127.0.0.1; aborts the test program when it cannot start.
struct peer *peer_start(const struct peer_options *options);
void peer_stop(struct peer **peer);
uint16_t peer_port(const struct peer *peer);
unsigned peer_connections(const struct peer *peer); // accepted so far
unsigned peer_requests(const struct peer *peer);    // read whole by stream_read_request so far

/// Reads one request with its body (Content-Length). False: the client left. The head is in `head`, terminated.
bool stream_read_request(struct peer_stream *stream, char *head, size_t size, uint64_t *body_length);
bool stream_send(struct peer_stream *stream, const char *bytes);
bool stream_send_bytes(struct peer_stream *stream, const void *bytes, size_t length);
/// Waits until the client has left or the peer is stopped; what comes is thrown away.
void stream_wait_for_end(struct peer_stream *stream);
/// The client sees a reset instead of an orderly end.
void stream_reset(struct peer_stream *stream);
