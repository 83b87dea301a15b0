#include "app/search_stream.h"

#include "base/clock.h"

#include <stdio.h>

enum { STREAM_LIMIT = 4 << 20, COMMENT_EVERY_US = 1000000, FRAME_ROOM = 64 };

enum stream_format stream_format_of(struct text accept)
{
    while (accept.data != NULL) {
        struct text rest, parameters;
        struct text entry = text_split(accept, ',', &rest);
        struct text type = text_trim(text_split(entry, ';', &parameters));
        if (text_equals_nocase(type, TEXT("text/event-stream"))) {
            return STREAM_SSE;
        }
        if (text_equals_nocase(type, TEXT("application/x-ndjson"))) {
            return STREAM_NDJSON;
        }
        accept = rest;
    }
    return STREAM_NONE;
}

static void stream_put(struct search_stream *stream, struct text piece)
{
    if (!stream->is_cut) {
        stream->is_cut = !http_call_stream_write(stream->call, piece);
    }
}

static void stream_arm(struct search_stream *stream)
{
    // Without memory for the timer there are no comments; the events still come.
    (void)!loop_timer_start(stream->loop, &stream->comment, clock_now_us() + COMMENT_EVERY_US);
}

static void stream_on_comment(struct timer *timer)
{
    struct search_stream *stream = CONTAINER_OF(timer, struct search_stream, comment);

    stream_put(stream, stream->format == STREAM_SSE ? TEXT(":\n\n") : TEXT("\n"));
    if (!stream->is_cut) {
        stream_arm(stream);
    }
}

static void stream_begin(struct search_stream *stream)
{
    char timing[48];
    struct header_pair headers[] = {
        { "Cache-Control", "no-store" },
        { "Server-Timing", timing },
        { "traceparent", stream->traceparent },
        { "X-Accel-Buffering", "no" },
    };
    struct http_reply head = {
        .status = 200,
        .content_type = stream->format == STREAM_SSE ? "text/event-stream" : "application/x-ndjson",
        .headers = headers,
        .header_count = COUNT_OF(headers),
    };

    snprintf(timing, sizeof timing, "reserve;dur=%.1f", (double)stream->reserve_us / 1e3);
    stream->has_begun = true;
    http_call_stream_begin(stream->call, &head, STREAM_LIMIT);
    stream_arm(stream);
}

void search_stream_init(struct search_stream *stream, struct loop *loop, struct http_call *call,
                        enum stream_format format)
{
    *stream = (struct search_stream){ .loop = loop, .call = call, .format = format };
    stream->comment.on_due = stream_on_comment;
}

void search_stream_head(struct search_stream *stream, const char *traceparent, uint64_t reserve_us)
{
    stream->traceparent = traceparent;
    stream->reserve_us = reserve_us;
}

void search_stream_fini(struct search_stream *stream)
{
    loop_timer_cancel(stream->loop, &stream->comment);
}

void search_stream_event(struct search_stream *stream, enum search_event event, struct text json)
{
    struct buffer frame;

    if (!stream->has_begun) {
        stream_begin(stream);
    }
    buffer_init(&frame, json.length + FRAME_ROOM);
    buffer_reserve(&frame, json.length + FRAME_ROOM);
    if (stream->format == STREAM_SSE) {
        buffer_printf(&frame, "event: %s\ndata: ", search_event_name(event));
        buffer_append_text(&frame, json);
        buffer_append_c(&frame, "\n\n");
    } else {
        buffer_printf(&frame, "{\"event\":\"%s\",\"data\":", search_event_name(event));
        buffer_append_text(&frame, json);
        buffer_append_c(&frame, "}\n");
    }
    if (!frame.is_full) {
        stream_put(stream, buffer_text(&frame));
    }
    buffer_fini(&frame);
}

void search_stream_end(struct search_stream *stream, struct text done)
{
    search_stream_event(stream, SEARCH_EVENT_DONE, done);
    loop_timer_cancel(stream->loop, &stream->comment);
    if (!stream->is_cut) {
        http_call_stream_end(stream->call);
    }
}
