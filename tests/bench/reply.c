#include "bench/reply.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void reply_init(struct reply *reply)
{
    reply->state = REPLY_IN_HEAD;
    reply->status = 0;
    reply->body_bytes = 0;
    reply->has_done = false;
    reply->left = 0;
    reply->line_length = 0;
    reply->tail_length = 0;
    reply->lead_length = 0;
    reply->head_length = 0;
}

static struct text text_skip(struct text text, size_t length)
{
    return (struct text){ text.data + length, text.length - length };
}

// ------------------------------------------------------------------------------------------------------------ the body

static bool has_done(const char *bytes, size_t length)
{
    static const char SSE[] = "event: done\n";
    static const char NDJSON[] = "{\"event\":\"done\",";

    return memmem(bytes, length, SSE, sizeof SSE - 1) != NULL ||
           memmem(bytes, length, NDJSON, sizeof NDJSON - 1) != NULL;
}

/// Looks for the event `done` in a piece of the body, and across its border with the one before.
static void reply_look(struct reply *reply, struct text piece)
{
    char border[2 * REPLY_TAIL];
    size_t begin = piece.length < REPLY_TAIL ? piece.length : REPLY_TAIL;
    size_t joined = reply->tail_length + begin;

    if (piece.length == 0) {
        return;
    }
    memcpy(border, reply->tail, reply->tail_length);
    memcpy(border + reply->tail_length, piece.data, begin);
    reply->has_done = reply->has_done || has_done(border, joined) || has_done(piece.data, piece.length);
    const char *end = piece.length < REPLY_TAIL ? border + joined : piece.data + piece.length;
    size_t kept = piece.length < REPLY_TAIL && joined < REPLY_TAIL ? joined : REPLY_TAIL;
    memmove(reply->tail, end - kept, kept);
    reply->tail_length = kept;
}

/// Takes up to what is left of the body or the chunk.
static void reply_take_body(struct reply *reply, struct text *bytes)
{
    size_t length = bytes->length < reply->left ? bytes->length : (size_t)reply->left;

    size_t room = REPLY_LEAD - reply->lead_length, lead = length < room ? length : room;
    memcpy(reply->lead + reply->lead_length, bytes->data, lead);
    reply->lead_length += lead;
    reply_look(reply, (struct text){ bytes->data, length });
    reply->body_bytes += length;
    reply->left -= length;
    *bytes = text_skip(*bytes, length);
}

int reply_percent(const struct reply *reply)
{
    static const char KEY[] = "\"percent\":";
    const char *found = memmem(reply->lead, reply->lead_length, KEY, sizeof KEY - 1);
    int percent = 0;

    if (found == NULL) {
        return -1;
    }
    for (const char *at = found + sizeof KEY - 1; at < reply->lead + reply->lead_length; at++) {
        if (*at < '0' || *at > '9') {
            return percent;
        }
        percent = percent * 10 + (*at - '0');
    }
    return -1;
}

/// One byte of a chunk's head: hexadecimal digits up to the end of the line. False: it is none.
static bool reply_take_size(struct reply *reply, char byte)
{
    if (byte == '\n') {
        reply->state = reply->left > 0 ? REPLY_IN_CHUNK : REPLY_IN_TRAILER;
        reply->line_length = 0;
        return true;
    }
    if (byte == '\r') {
        return true;
    }
    const char digit[2] = { byte, '\0' };
    char *end = NULL;
    unsigned long value = strtoul(digit, &end, 16);
    reply->left = reply->left * 16 + value;
    return end == digit + 1 && ++reply->line_length <= 8;
}

// ------------------------------------------------------------------------------------------------------------ the head

/// Takes the head as far as it has come. False: no reply that we can read.
static bool reply_take_head(struct reply *reply, struct text *bytes)
{
    size_t room = REPLY_HEAD - 1 - reply->head_length;
    size_t length = bytes->length < room ? bytes->length : room;

    memcpy(reply->head + reply->head_length, bytes->data, length);
    reply->head[reply->head_length + length] = '\0';
    char *end = strstr(reply->head, "\r\n\r\n");
    if (end == NULL) {
        reply->head_length += length;
        *bytes = text_skip(*bytes, length);
        return reply->head_length < REPLY_HEAD - 1;
    }
    end[2] = '\0';
    size_t whole = (size_t)(end + 4 - reply->head);
    *bytes = text_skip(*bytes, whole - reply->head_length);
    reply->head_length = whole;
    reply->status = (uint16_t)strtoul(reply->head + 9, NULL, 10);
    const char *declared = strcasestr(reply->head, "\r\ncontent-length:");
    if (declared != NULL) {
        reply->left = strtoull(declared + 17, NULL, 10);
        reply->state = REPLY_IN_BODY;
        return true;
    }
    reply->state = REPLY_IN_SIZE;
    return strcasestr(reply->head, "\r\ntransfer-encoding: chunked") != NULL;
}

// --------------------------------------------------------------------------------------------------------- the machine

/// One step; the state says where. REPLY_MORE: go on while there are bytes.
static enum reply_progress reply_step(struct reply *reply, struct text *bytes)
{
    if (reply->state == REPLY_IN_HEAD) {
        bool is_fine = reply_take_head(reply, bytes);
        bool is_over = reply->state == REPLY_IN_BODY && reply->left == 0;
        return !is_fine ? REPLY_BROKEN : is_over ? REPLY_COMPLETE : REPLY_MORE;
    }
    if (reply->state == REPLY_IN_BODY || reply->state == REPLY_IN_CHUNK) {
        bool is_chunk = reply->state == REPLY_IN_CHUNK;
        reply_take_body(reply, bytes);
        reply->state = is_chunk && reply->left == 0 ? REPLY_AFTER_CHUNK : reply->state;
        return !is_chunk && reply->left == 0 ? REPLY_COMPLETE : REPLY_MORE;
    }
    char byte = bytes->data[0];
    *bytes = text_skip(*bytes, 1);
    if (reply->state == REPLY_IN_SIZE) {
        return reply_take_size(reply, byte) ? REPLY_MORE : REPLY_BROKEN;
    }
    if (reply->state == REPLY_AFTER_CHUNK) {
        reply->state = byte == '\n' ? REPLY_IN_SIZE : REPLY_AFTER_CHUNK;
        return byte == '\n' || byte == '\r' ? REPLY_MORE : REPLY_BROKEN;
    }
    // The trailer: libmicrohttpd sends none, so the empty line comes at once.
    return byte == '\n' ? REPLY_COMPLETE : byte == '\r' ? REPLY_MORE : REPLY_BROKEN;
}

enum reply_progress reply_take_some(struct reply *reply, struct text *bytes)
{
    enum reply_progress progress = REPLY_MORE;

    while (progress == REPLY_MORE && bytes->length > 0) {
        progress = reply_step(reply, bytes);
    }
    return progress;
}

enum reply_progress reply_take(struct reply *reply, struct text bytes)
{
    enum reply_progress progress = reply_take_some(reply, &bytes);
    return progress == REPLY_COMPLETE && bytes.length > 0 ? REPLY_BROKEN : progress;
}
