/// HTTP server: the public listener on a loop (libmicrohttpd, driven by its epoll descriptor).
///
/// A request is handed over when its head has come and again when its body is complete; its connection is then
/// suspended until the answer. While it waits, the server itself watches the socket: a caller that leaves is told
/// within milliseconds. Arrival is the clock read after the poll that completed the request line.
///
/// A stream is a reply in pieces. Its socket stays watched, and a reader that does not keep up is cut, never waited
/// for.
///
/// None of the handlers is called from inside http_call_reply or http_call_stream_…. While the server is destroyed
/// `on_gone` must not answer other calls.
///
/// Threads: its loop's.
/// Memory:  owns connections and the bytes of requests; a reply's body is a counted block, released when sent.
#pragma once

#include "base/block.h"
#include "io/loop.h"

struct http_server;
struct http_call; // one request being answered

struct http_server_options {
    const char *listen;       // "127.0.0.1:8080", "[::1]:8080"; port 0 picks one
    uint64_t body_cap;        // default 256 KiB; more: 413
    uint32_t max_connections; // default 4,096
    bool share_port;          // SO_REUSEPORT, for several loops
    uint32_t idle_timeout_s;  // default 60; also what a head may take from its first byte on, and its body from there
};

struct header_pair {
    const char *name;
    const char *value;
};

enum { HTTP_SERVER_COMMON_HEADERS = 4 };

struct http_server_handlers {
    /// A whole request has come. Must be answered exactly once, by http_call_reply or as a stream, now or later.
    void (*on_request)(void *context, struct http_call *call);
    /// The caller left or was cut before the answer was given or its stream ended; the call is gone after this returns
    /// (do not answer it).
    void (*on_gone)(void *context, struct http_call *call);
    /// The kernel took the last byte (or the connection broke: `was_sent` false). `was_slow`: it took more than one go
    /// (a stream: after its end). It comes too for a request that the server refused itself (too large, ambiguous), or
    /// that was turned away, of which on_request never told.
    void (*on_sent)(void *context, struct http_call *call, uint64_t sent_us, bool was_sent, bool was_slow);
    void *context;
    /// NULL, or fills in what every reply to this request carries, be it the user's or the server's own, and returns
    /// how many. The values are copied. This one is called from inside the server: it only reads the call.
    size_t (*common_headers)(void *context, const struct http_call *call,
                             struct header_pair headers[HTTP_SERVER_COMMON_HEADERS]);
    /// NULL, or told of what libmicrohttpd answers by itself with this status, in words of its own, because it is no
    /// HTTP: nobody else knows of it. Called from inside the server: it only counts.
    void (*on_malformed)(void *context, uint16_t status);
    /// NULL, or asked of a whole request before on_request is told: NULL: it goes on; else it is answered by this at
    /// once, which costs less, and waits for no turn of the loop (the server reads it before it asks again). Called
    /// from inside the server: it only reads the call.
    const struct http_reply *(*turn_away)(void *context, const struct http_call *call);
};

MUST_CHECK enum status http_server_create(struct loop *loop, const struct http_server_options *options,
                                          const struct http_server_handlers *handlers, struct http_server **server,
                                          struct failure *why);
uint16_t http_server_port(const struct http_server *server);
void http_server_stop_listening(struct http_server *server);
uint32_t http_server_open_calls(const struct http_server *server); // not yet sent
void http_server_destroy(struct http_server **server); // open calls are cut; on_gone is called for the unanswered

struct text http_call_method(const struct http_call *call);
struct text http_call_path(const struct http_call *call);
/// Query and headers can be read until the call is answered.
struct text http_call_query(const struct http_call *call, const char *name);  // absent: not given
struct text http_call_header(const struct http_call *call, const char *name); // absent: not given; any case
/// Of a header that is given several times, the one at `index` from 0 on, in their order.
struct text http_call_header_nth(const struct http_call *call, const char *name, size_t index);
struct block *http_call_body(struct http_call *call); // borrowed; NULL: none
uint64_t http_call_arrival_us(const struct http_call *call);
uint64_t http_call_arrival_wall_us(const struct http_call *call);
uint16_t http_call_status(const struct http_call *call); // of the answer, once there is one
void http_call_set_owner(struct http_call *call, void *owner);
void *http_call_owner(const struct http_call *call);

struct http_reply {
    uint16_t status;
    const char *content_type;
    struct block *body;                // acquired by the server; NULL: none
    const struct header_pair *headers; // copied
    size_t header_count;
};
void http_call_reply(struct http_call *call, const struct http_reply *reply);

/// Begins a streamed reply: head now (its body is NULL), body in pieces, until http_call_stream_end. Chunked; a caller
/// of HTTP/1.0 gets it until close, one that asked by HEAD only its head. `limit` bytes may wait for a slow reader,
/// besides what the kernel and libmicrohttpd (16 KiB) hold.
void http_call_stream_begin(struct http_call *call, const struct http_reply *head, size_t limit);

/// Appends a piece (copied) and sends what the kernel takes. False: more than `limit` bytes wait, or the connection
/// broke: the reader is cut, on_gone comes later, never from inside (do not write again; an end does nothing).
MUST_CHECK bool http_call_stream_write(struct http_call *call, struct text piece);

/// No more pieces; on_sent comes when the kernel took the last byte.
void http_call_stream_end(struct http_call *call);
