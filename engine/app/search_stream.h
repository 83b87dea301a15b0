/// Search stream: a search's events on the wire, as server-sent events or as lines of JSON.
///
/// SSE: `event: NAME`, `data: JSON`. NDJSON: `{"event":"NAME","data":JSON}` a line. A comment (an empty line in NDJSON)
/// goes out each second, so that proxies see life. A reader that does not keep up is cut by the server, never waited
/// for.
///
/// Threads: the I/O thread's.
/// Memory:  embedded in its search call.
#pragma once

#include "io/http_server.h"
#include "search/event.h"

enum stream_format { STREAM_NONE, STREAM_SSE, STREAM_NDJSON };

/// What an Accept header asks for: of the two types and application/json the one with the highest weight (`q`), the
/// first of equals. A range (`*/*`) stands for JSON, and yields to a type of its own weight. Nothing asked:
/// STREAM_NONE.
enum stream_format stream_format_of(struct text accept);

struct search_stream {
    struct loop *loop;
    struct http_call *call;
    enum stream_format format;
    bool has_begun;          // the head is out: only events can follow
    bool is_cut;             // the reader did not keep up, or left
    const char *traceparent; // of the head; borrowed
    uint64_t reserve_us;
    struct timer comment;
};

void search_stream_init(struct search_stream *stream, struct loop *loop, struct http_call *call,
                        enum stream_format format);

/// What the head tells besides; `traceparent` must outlive the stream. Of the times only the reserve is known then.
void search_stream_head(struct search_stream *stream, const char *traceparent, uint64_t reserve_us);

/// Stops the comments; before the call is freed.
void search_stream_fini(struct search_stream *stream);

/// The first one begins the reply.
void search_stream_event(struct search_stream *stream, enum search_event event, struct text json);

/// Sends `done` and ends the reply.
void search_stream_end(struct search_stream *stream, struct text done);
