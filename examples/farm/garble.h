/// Garble: an answer as a server with a fault puts it on the wire: wrong lengths, broken chunks, cut gzip, odd heads.
///
/// Threads: any.
/// Memory:  writes into the caller's buffer.
#pragma once

#include "base/buffer.h"
#include "farm/fault.h"

/// Does this fault change the bytes of an answer?
bool garble_is(enum fault fault);

/// Writes head and body. `body` is the answer that a healthy supplier would give, `elsewhere` a URL for redirects.
/// `*closes`: the connection ends behind it. False: no memory.
MUST_CHECK bool garble_write(struct buffer *out, enum fault fault, struct text body, struct text elsewhere,
                             bool *closes);
