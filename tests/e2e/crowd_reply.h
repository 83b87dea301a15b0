/// Crowd reply: reads one HTTP reply as its bytes come, and keeps of it what a test compares.
///
/// Of a single reply that is the body; of a stream its events but those with offers, which are counted only.
///
/// Threads: one.
/// Memory:  owns what it keeps.
#pragma once

#include "base/buffer.h"

enum { CROWD_HEAD_MAX = 8192 };

enum crowd_framing { CROWD_BY_LENGTH, CROWD_CHUNK_SIZE, CROWD_CHUNK_DATA, CROWD_CHUNK_END, CROWD_TRAILER };

struct crowd_reply {
    char head[CROWD_HEAD_MAX];
    size_t head_length;
    bool is_in_body, is_whole, is_broken;
    bool is_sse, is_lines; // a stream, in which form
    unsigned status;
    enum crowd_framing framing;
    uint64_t left; // of the body or of the chunk
    char line[64]; // a chunk's size, or a trailer
    size_t line_length;
    struct buffer body; // of a stream: what is not a whole event yet
    struct buffer kept; // of a stream: events, joined by commas
    unsigned events, offer_events, comments;
    bool has_done;
};

void crowd_reply_init(struct crowd_reply *reply);
void crowd_reply_fini(struct crowd_reply *reply);

/// Returns how many of the bytes belong to this reply; fewer than `length` when it is whole or broken.
size_t crowd_reply_take(struct crowd_reply *reply, const char *bytes, size_t length);

/// What was kept as JSON: the body, or {"events": […], "offer_events": N, "comments": N}; null when it is no JSON.
void crowd_reply_write(const struct crowd_reply *reply, struct buffer *out);
