/// HTTP server patience: how long a caller may take to send a request.
///
/// libmicrohttpd cuts a connection on which nothing moves, but every byte that drips in starts its time-out anew, and
/// it does not tell when the first byte of a request has come. So the sockets of those who owe a request are looked at
/// eight times in that time-out: did the kernel count any bytes? From the first byte to the complete head it takes at
/// most `limit_us`; a caller is safe for five eighths of it. Body and trailers get `limit_us` once more, as a whole.
/// The same look finds callers who left right behind their last byte: libmicrohttpd would wait for its time-out.
///
/// Threads: its loop's.
/// Memory:  a sender is the server's, one a connection.
#pragma once

#include "base/list.h"
#include "io/loop.h"

struct http_server_patience {
    struct loop *loop;
    struct timer timer;
    struct list senders; // those who owe something, by `check_us`
    uint64_t limit_us, period_us;
};

struct http_server_sender {
    struct list node;
    int fd;
    bool is_counted; // `received` is known
    uint64_t received;
    uint64_t check_us;
    uint64_t end_us; // 0: no byte of the request has been seen
};

void http_server_patience_init(struct http_server_patience *patience, struct loop *loop, uint64_t limit_us);
void http_server_patience_fini(struct http_server_patience *patience);

/// A new connection; NULL without memory (then only libmicrohttpd's own time-out holds). All below take NULL.
struct http_server_sender *http_server_sender_create(struct http_server_patience *patience, int fd);
void http_server_sender_destroy(struct http_server_sender *sender);

void http_server_sender_owes_head(struct http_server_patience *patience, struct http_server_sender *sender);
void http_server_sender_owes_body(struct http_server_patience *patience, struct http_server_sender *sender);
void http_server_sender_owes_nothing(struct http_server_sender *sender);
