/// Redis wire: commands of Redis as bytes, and bytes as its replies.
///
/// The only place that knows hiredis, of which it uses the formatter and the parser. What a hostile peer sends is
/// bounded: a reply that takes more than REDIS_REPLY_MAX bytes, an array of more than REDIS_ARRAY_MAX, one nested
/// deeper than SCAN's, and whatever is no reply end the connection.
///
/// Threads: one owner.
/// Memory:  owns what has come of a reply; a reply is the caller's.
#pragma once

#include "base/buffer.h"

enum { REDIS_REPLY_MAX = 16 << 20, REDIS_ARRAY_MAX = 1 << 16, REDIS_ARGUMENTS_MAX = 32 };

enum redis_kind { REDIS_BULK, REDIS_ARRAY, REDIS_INTEGER, REDIS_NIL, REDIS_STATUS, REDIS_ERROR };

struct redis_reply {
    enum redis_kind kind;
    int64_t integer;
    struct text text; // of bulk, status and error
    struct redis_reply **elements;
    size_t count;
};
void redis_reply_destroy(struct redis_reply **reply);

/// Appends a command. False: the buffer is full, or no memory; it is then marked full.
bool redis_command(struct buffer *out, const struct text *arguments, size_t count);

struct redis_wire;
MUST_CHECK struct redis_wire *redis_wire_create(void); // NULL: no memory
void redis_wire_destroy(struct redis_wire **wire);

/// Takes what came. False: no memory.
MUST_CHECK bool redis_wire_feed(struct redis_wire *wire, struct text bytes);
/// The next whole reply; `*reply` NULL: there is none yet. False: what came is no reply, or too large; `why` says so to
/// people, and the wire is of no use any more.
MUST_CHECK bool redis_wire_next(struct redis_wire *wire, struct redis_reply **reply, char *why, size_t size);
