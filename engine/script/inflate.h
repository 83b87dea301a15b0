/// Inflate: turns a body as it came over the wire into plain bytes, strictly and under caps.
///
/// gzip (several members) and zlib/raw deflate; the stream must end where the body ends. Anything cut, trailing or
/// corrupt is an error, because libcurl would call it success.
///
/// Threads: a worker's.
/// Memory:  writes into the caller's buffer, whose ceiling is the cap on the output.
#pragma once

#include "base/buffer.h"

enum inflate_result { INFLATE_OK, INFLATE_CORRUPT, INFLATE_TOO_LARGE, INFLATE_UNKNOWN_ENCODING };

/// `encoding`: the Content-Encoding header ("", "identity", "gzip", "x-gzip", "deflate"; lists are unknown). On OK the
/// plain bytes are in `*plain`: either `body` itself or the content of `out`. More than 200 times the input plus 64 KiB
/// is too large.
enum inflate_result inflate_body(struct text encoding, struct text body, struct buffer *out, struct text *plain);
