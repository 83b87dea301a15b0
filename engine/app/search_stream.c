#include "app/search_stream.h"

#include "base/clock.h"

#include <stdio.h>

enum { STREAM_LIMIT = 4 << 20, COMMENT_EVERY_US = 1000000, FRAME_ROOM = 64 };

enum { WEIGHT_FULL = 1000 };

struct media_type {
    struct text name;
    enum stream_format format;
    bool is_range;
};

/// "0.25" in thousandths; 0, never wanted, when it is no weight.
static uint32_t weight_read(struct text value)
{
    uint32_t weight = 0;
    uint32_t unit = WEIGHT_FULL;

    for (size_t i = 0; i < value.length; i++) {
        char byte = value.data[i];
        bool is_point = i == 1;
        if (i > 4 || (is_point ? byte != '.' : byte < '0' || byte > '9')) {
            return 0;
        }
        weight += is_point ? 0 : (uint32_t)(byte - '0') * unit;
        unit /= is_point ? 1 : 10;
    }
    return weight <= WEIGHT_FULL ? weight : 0;
}

/// The `q` among the parameters of a type; full without one.
static uint32_t weight_of(struct text parameters)
{
    while (parameters.data != NULL) {
        struct text value;
        struct text name = text_split(text_split(parameters, ';', &parameters), '=', &value);
        if (text_equals_nocase(text_trim(name), TEXT("q"))) {
            return value.data != NULL ? weight_read(text_trim(value)) : 0;
        }
    }
    return WEIGHT_FULL;
}

static const struct media_type *media_type_find(struct text name)
{
    static const struct media_type types[] = {
        { { "text/event-stream", 17 }, STREAM_SSE, false },
        { { "application/x-ndjson", 20 }, STREAM_NDJSON, false },
        { { "application/json", 16 }, STREAM_NONE, false },
        { { "application/*", 13 }, STREAM_NONE, true },
        { { "*/*", 3 }, STREAM_NONE, true },
    };

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (text_equals_nocase(name, types[i].name)) {
            return &types[i];
        }
    }
    return NULL;
}

enum stream_format stream_format_of(struct text accept)
{
    const struct media_type *best = NULL;
    uint32_t most = 0;

    while (accept.data != NULL) {
        struct text parameters;
        struct text name = text_trim(text_split(text_split(accept, ',', &accept), ';', &parameters));
        const struct media_type *type = media_type_find(name);
        uint32_t weight = type != NULL ? weight_of(parameters) : 0;
        bool is_nearer = best != NULL && best->is_range && type != NULL && !type->is_range && weight == most;
        if (weight > most || (weight > 0 && is_nearer)) {
            best = type;
            most = weight;
        }
    }
    return best != NULL ? best->format : STREAM_NONE;
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
