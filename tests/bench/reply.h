/// Reply: reads one HTTP reply as its bytes arrive: by length or in chunks, a single body or a stream of events.
///
/// Threads: one.
/// Memory:  a plain value; bodies are counted and thrown away.
#pragma once

#include "base/text.h"

enum { REPLY_HEAD = 4096, REPLY_TAIL = 32, REPLY_LEAD = 1024 };

enum reply_state { REPLY_IN_HEAD, REPLY_IN_BODY, REPLY_IN_SIZE, REPLY_IN_CHUNK, REPLY_AFTER_CHUNK, REPLY_IN_TRAILER };

struct reply {
    enum reply_state state;
    uint16_t status;
    uint64_t body_bytes; // without chunk heads
    bool has_done;       // the event `done` was in it, as SSE or as a line of JSON
    uint64_t left;       // of the body or the chunk
    size_t line_length;  // of the chunk's head so far
    size_t tail_length;
    char tail[REPLY_TAIL]; // the end of what came before: the event's name may lie across two pieces
    size_t lead_length;
    char lead[REPLY_LEAD]; // the begin of the body, where its coverage stands
    size_t head_length;
    char head[REPLY_HEAD];
};

enum reply_progress { REPLY_MORE, REPLY_COMPLETE, REPLY_BROKEN };

void reply_init(struct reply *reply);

/// Takes what has arrived. Bytes after the end of the reply are taken for a fault: nothing was asked yet.
enum reply_progress reply_take(struct reply *reply, struct text bytes);

/// The coverage that the begin of the body tells, 0..100; -1: it tells none.
int reply_percent(const struct reply *reply);

/// Takes what belongs to this reply and leaves the rest in `bytes`: for a caller that asks before it reads.
enum reply_progress reply_take_some(struct reply *reply, struct text *bytes);
