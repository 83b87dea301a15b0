#include "io/http_server_stream.h"

#include "io/http_server_call.h"

#include <string.h>

void http_server_stream_init(struct http_server_stream *stream, size_t limit)
{
    *stream = (struct http_server_stream){ .is_on = true };
    buffer_init(&stream->waiting, limit);
}

void http_server_stream_fini(struct http_server_stream *stream)
{
    buffer_fini(&stream->waiting);
    stream->taken = 0;
    stream->piece = (struct text){ NULL, 0 };
}

static size_t stream_take_waiting(struct http_server_stream *stream, char *out, size_t room)
{
    size_t left = stream->waiting.length - stream->taken;
    size_t length = left < room ? left : room;

    if (length == 0) {
        return 0;
    }
    memcpy(out, stream->waiting.data + stream->taken, length);
    stream->taken += length;
    if (length == left) {
        buffer_fini(&stream->waiting);
        stream->taken = 0;
    }
    return length;
}

size_t http_server_stream_take(struct http_server_stream *stream, char *out, size_t room)
{
    size_t length = stream_take_waiting(stream, out, room);
    size_t more = stream->piece.length < room - length ? stream->piece.length : room - length;

    stream->moves++;
    if (more > 0) {
        memcpy(out + length, stream->piece.data, more);
        stream->piece.data += more;
        stream->piece.length -= more;
    }
    return length + more;
}

bool http_server_stream_keep(struct http_server_stream *stream)
{
    struct text piece = stream->piece;

    stream->piece = (struct text){ NULL, 0 };
    if (piece.length == 0) {
        return true;
    }
    if (stream->taken > 0) {
        stream->waiting.length -= stream->taken;
        memmove(stream->waiting.data, stream->waiting.data + stream->taken, stream->waiting.length);
        stream->taken = 0;
    }
    return buffer_append_text(&stream->waiting, piece);
}

// ----------------------------------------------------------------------------------------------- what the user calls

static bool stream_is_open(const struct http_call *call)
{
    return call->connection != NULL && (call->state == CALL_STREAMING || call->state == CALL_ANSWERED);
}

/// Runs the server for as long as it gets rid of something. A turn has few passes, and a pass moves few KiB.
static void stream_flush(struct http_call *call)
{
    uint64_t moves;

    if (call->stream.is_suspended) {
        call->stream.is_suspended = false;
        http_server_resume(call);
    }
    do {
        moves = call->stream.moves;
        http_server_run(call->server);
    } while (stream_is_open(call) && !call->stream.is_suspended && call->stream.moves != moves);
}

void http_call_stream_begin(struct http_call *call, const struct http_reply *head, size_t limit)
{
    require(call->state == CALL_WAITING && head->body == NULL);
    http_server_stream_init(&call->stream, limit);
    call->state = CALL_STREAMING;
    http_server_answer(call, head);
}

bool http_call_stream_write(struct http_call *call, struct text piece)
{
    require(call->state == CALL_STREAMING || call->state == CALL_CUT);
    if (call->state == CALL_CUT) {
        return false;
    }
    if (call->connection == NULL || piece.length == 0) {
        return true; // only the head was asked for; its reader has all of it
    }
    call->stream.piece = piece;
    stream_flush(call);
    if (call->state == CALL_STREAMING && call->connection != NULL && !http_server_stream_keep(&call->stream)) {
        http_server_cut(call);
        http_server_run(call->server);
    }
    call->stream.piece = (struct text){ NULL, 0 };
    return call->state == CALL_STREAMING;
}

void http_call_stream_end(struct http_call *call)
{
    require(call->state == CALL_STREAMING || call->state == CALL_CUT);
    if (call->state == CALL_CUT) {
        return;
    }
    call->stream.is_ended = true;
    if (call->connection == NULL) {
        http_server_finish(call);
        http_server_run(call->server);
        return;
    }
    http_server_unwatch(call);
    call->state = CALL_ANSWERED;
    stream_flush(call);
    call->stream.is_late = call->state == CALL_ANSWERED;
}
