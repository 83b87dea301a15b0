/// Crowd caller: one connection that does what its line of the plan says, good or bad, and then is gone.
///
/// Threads: one.
/// Memory:  owns its request and replies; the line's body is borrowed.
#pragma once

#include "base/clock.h"
#include "e2e/crowd_reply.h"

/// How much of its request it sends.
enum crowd_send {
    CROWD_SEND_NOTHING,
    CROWD_SEND_LINE,    // half of the request line
    CROWD_SEND_HEAD,    // half of the head
    CROWD_SEND_HEADERS, // all of the head, nothing of the body
    CROWD_SEND_BODY,    // half of the body
    CROWD_SEND_ALL,
    CROWD_SEND_TWICE, // a second request right behind the first
};

/// When it leaves.
enum crowd_leave {
    CROWD_LEAVE_ANSWERED, // with the whole reply
    CROWD_LEAVE_AFTER,    // so many ms after it sent what it sends
    CROWD_LEAVE_EVENTS,   // after so many events of a stream
    CROWD_LEAVE_SLOW,     // it reads so many bytes and no more; half a second later
    CROWD_LEAVE_KEPT,     // so many ms after the whole reply
};

struct crowd_line {
    const char *accept, *type; // header values
    enum crowd_send send;
    enum crowd_leave leave;
    uint64_t amount; // ms, events or bytes
    bool resets;     // RST instead of FIN
    struct text body;
};

enum crowd_end { CROWD_OPEN, CROWD_ANSWERED, CROWD_LEFT, CROWD_LOST, CROWD_STUCK };

struct crowd_caller {
    const struct crowd_line *line;
    size_t number;
    int fd;
    enum crowd_end end;
    struct buffer request;
    size_t sends, sent; // bytes
    unsigned replies_wanted, replies_taken;
    struct crowd_reply replies[2];
    uint64_t received;
    uint64_t began_us, leave_us; // UINT64_MAX: not by time
    bool is_deaf;                // reads nothing more
};

/// Connects to 127.0.0.1. False: no descriptor or no memory.
MUST_CHECK bool crowd_caller_start(struct crowd_caller *caller, const struct crowd_line *line, size_t number,
                                   uint16_t port);

/// Something happened at its descriptor, or time passed. It may end.
void crowd_caller_on_ready(struct crowd_caller *caller, bool is_readable);
void crowd_caller_on_time(struct crowd_caller *caller, uint64_t now_us);

/// Closes, writes its line of the report and frees what it owns. It must have ended.
void crowd_caller_finish(struct crowd_caller *caller, struct buffer *report);
