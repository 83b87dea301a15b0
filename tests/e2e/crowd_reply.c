#include "e2e/crowd_reply.h"

#include "base/json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { REPLY_MAX = 32 << 20 };

void crowd_reply_init(struct crowd_reply *reply)
{
    memset(reply, 0, sizeof(*reply));
    buffer_init(&reply->body, REPLY_MAX);
    buffer_init(&reply->kept, REPLY_MAX);
}

void crowd_reply_fini(struct crowd_reply *reply)
{
    buffer_fini(&reply->body);
    buffer_fini(&reply->kept);
}

// -------------------------------------------------------------------------------------------------------------- events

/// Keeps {"event": NAME, "data": JSON}.
static void keep_event(struct crowd_reply *reply, struct text name, struct text data)
{
    reply->events++;
    reply->is_broken = reply->is_broken || reply->has_done; // nothing comes after it
    reply->has_done = reply->has_done || text_equals_c(name, "done");
    if (text_equals_c(name, "offers") || text_equals_c(name, "retract")) {
        reply->offer_events++;
        return;
    }
    buffer_printf(&reply->kept, "%s{\"event\":\"%.*s\",\"data\":", reply->kept.length > 0 ? "," : "", TEXT_ARGS(name));
    buffer_append_text(&reply->kept, data);
    buffer_append_byte(&reply->kept, '}');
}

/// One block of server-sent events: "event: NAME\ndata: JSON", or a comment.
static void take_block(struct crowd_reply *reply, struct text block)
{
    static const struct text EVENT = { "event: ", 7 }, DATA = { "data: ", 6 };
    struct text data;
    struct text name = text_split(block, '\n', &data);

    if (text_starts_with(block, TEXT(":"))) {
        reply->comments++;
    } else if (text_starts_with(name, EVENT) && data.data != NULL && text_starts_with(data, DATA)) {
        keep_event(reply, (struct text){ name.data + EVENT.length, name.length - EVENT.length },
                   (struct text){ data.data + DATA.length, data.length - DATA.length });
    } else {
        reply->is_broken = true;
    }
}

/// One line {"event":"NAME","data":JSON}; an empty one is a comment.
static void take_line(struct crowd_reply *reply, struct text line)
{
    static const struct text BEGIN = { "{\"event\":\"", 10 }, MIDDLE = { ",\"data\":", 8 };
    struct text rest;

    if (line.length == 0) {
        reply->comments++;
        return;
    }
    if (!text_starts_with(line, BEGIN)) {
        reply->is_broken = true;
        return;
    }
    struct text name = text_split((struct text){ line.data + BEGIN.length, line.length - BEGIN.length }, '"', &rest);
    if (rest.data == NULL || !text_starts_with(rest, MIDDLE) || rest.data[rest.length - 1] != '}') {
        reply->is_broken = true;
        return;
    }
    keep_event(reply, name, (struct text){ rest.data + MIDDLE.length, rest.length - MIDDLE.length - 1 });
}

static void take_events(struct crowd_reply *reply)
{
    const char *end_mark = reply->is_sse ? "\n\n" : "\n";
    size_t mark_length = strlen(end_mark);
    size_t taken = 0;

    for (;;) {
        const char *begin = reply->body.data + taken;
        const char *end = memmem(begin, reply->body.length - taken, end_mark, mark_length);
        if (end == NULL) {
            break;
        }
        struct text event = { begin, (size_t)(end - begin) };
        if (reply->is_sse) {
            take_block(reply, event);
        } else {
            take_line(reply, event);
        }
        taken += event.length + mark_length;
    }
    if (taken > 0) {
        memmove(reply->body.data, reply->body.data + taken, reply->body.length - taken);
        reply->body.length -= taken;
    }
}

static void take_body(struct crowd_reply *reply, const char *bytes, size_t length)
{
    reply->is_broken = !buffer_append(&reply->body, bytes, length) || reply->is_broken;
    if (reply->is_sse || reply->is_lines) {
        take_events(reply);
    }
}

// ------------------------------------------------------------------------------------------------------------- framing

static void read_head(struct crowd_reply *reply)
{
    const char *length = strcasestr(reply->head, "\r\ncontent-length:");
    const char *type = strcasestr(reply->head, "\r\ncontent-type:");

    reply->is_in_body = true;
    reply->status = (unsigned)strtoul(reply->head + 9, NULL, 10);
    reply->is_broken = strncmp(reply->head, "HTTP/1.1 ", 9) != 0;
    if (strcasestr(reply->head, "\r\ntransfer-encoding: chunked") != NULL) {
        reply->framing = CROWD_CHUNK_SIZE;
    } else if (length != NULL) {
        reply->left = strtoull(length + 17, NULL, 10);
        reply->is_whole = reply->left == 0;
    } else {
        reply->is_broken = true;
    }
    if (type != NULL) {
        type += strspn(type + 15, " ") + 15;
        reply->is_sse = strncasecmp(type, "text/event-stream", 17) == 0;
        reply->is_lines = strncasecmp(type, "application/x-ndjson", 20) == 0;
    }
}

/// Takes one byte into the head; there are few of them.
static void take_head_byte(struct crowd_reply *reply, char byte)
{
    if (reply->head_length == CROWD_HEAD_MAX - 1) {
        reply->is_broken = true;
        return;
    }
    reply->head[reply->head_length++] = byte;
    reply->head[reply->head_length] = '\0';
    if (byte == '\n' && reply->head_length >= 4 && memcmp(reply->head + reply->head_length - 4, "\r\n\r\n", 4) == 0) {
        read_head(reply);
    }
}

/// Takes one byte of what stands between the data of two chunks.
static void take_frame_byte(struct crowd_reply *reply, char byte)
{
    if (byte != '\n') {
        reply->is_broken = reply->line_length == sizeof(reply->line) - 1;
        reply->line[reply->line_length] = byte;
        reply->line_length += reply->is_broken ? 0 : 1;
        return;
    }
    reply->line[reply->line_length] = '\0';
    bool is_empty = reply->line_length <= 1;
    reply->line_length = 0;
    switch (reply->framing) {
    case CROWD_CHUNK_SIZE:
        reply->left = strtoull(reply->line, NULL, 16);
        reply->framing = reply->left > 0 ? CROWD_CHUNK_DATA : CROWD_TRAILER;
        reply->is_broken = is_empty;
        break;
    case CROWD_CHUNK_END:
        reply->framing = CROWD_CHUNK_SIZE;
        reply->is_broken = !is_empty;
        break;
    default:
        reply->is_whole = is_empty;
    }
}

size_t crowd_reply_take(struct crowd_reply *reply, const char *bytes, size_t length)
{
    size_t taken = 0;

    while (taken < length && !reply->is_whole && !reply->is_broken) {
        bool is_data = reply->is_in_body && (reply->framing == CROWD_BY_LENGTH || reply->framing == CROWD_CHUNK_DATA);
        if (!reply->is_in_body) {
            take_head_byte(reply, bytes[taken++]);
        } else if (!is_data) {
            take_frame_byte(reply, bytes[taken++]);
        } else {
            size_t part = length - taken < reply->left ? length - taken : (size_t)reply->left;
            take_body(reply, bytes + taken, part);
            taken += part;
            reply->left -= part;
            if (reply->left == 0) {
                reply->is_whole = reply->framing == CROWD_BY_LENGTH;
                reply->framing = reply->framing == CROWD_CHUNK_DATA ? CROWD_CHUNK_END : reply->framing;
            }
        }
    }
    return taken;
}

void crowd_reply_write(const struct crowd_reply *reply, struct buffer *out)
{
    const char *sentence = NULL;
    size_t offset = 0;

    if (reply->is_sse || reply->is_lines) {
        buffer_printf(out, "{\"offer_events\":%u,\"comments\":%u,\"events\":[", reply->offer_events, reply->comments);
        buffer_append_text(out, buffer_text(&reply->kept));
        buffer_append_c(out, "]}");
    } else if (json_is_valid(buffer_text(&reply->body), &offset, &sentence)) {
        for (size_t i = 0; i < reply->body.length; i++) { // one line
            char byte = reply->body.data[i];
            buffer_append_byte(out, byte == '\n' || byte == '\r' ? ' ' : byte);
        }
    } else {
        buffer_append_c(out, "null");
    }
}
