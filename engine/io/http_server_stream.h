/// HTTP server stream: the pieces of a streamed reply on their way to libmicrohttpd.
///
/// A piece is lent while the server runs; what the kernel did not take of it is kept, up to a limit.
///
/// Threads: its loop's.
/// Memory:  owns the bytes that wait; gives the memory back when none do.
#pragma once

#include "base/buffer.h"

struct http_server_stream {
    struct buffer waiting; // its ceiling is the limit
    size_t taken;          // of `waiting`
    struct text piece;     // lent by http_call_stream_write for as long as it runs
    uint64_t moves;        // how often the server came for bytes
    bool is_on, is_ended, is_late;
    bool is_suspended; // the connection is, for there was nothing to send
};

void http_server_stream_init(struct http_server_stream *stream, size_t limit);
void http_server_stream_fini(struct http_server_stream *stream);

/// Copies up to `room` bytes out, the oldest first; 0 when nothing waits.
size_t http_server_stream_take(struct http_server_stream *stream, char *out, size_t room);

/// Copies what is left of the piece. False: more than the limit would wait, or there is no memory.
MUST_CHECK bool http_server_stream_keep(struct http_server_stream *stream);
