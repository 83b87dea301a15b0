/// Base64url: bytes as letters without padding (RFC 4648, section 5), as tokens are spelt.
///
/// Reading is strict: another alphabet, padding, blanks, and bits left over that are not zero are refused, so that a
/// token has one spelling.
///
/// Threads: any.
/// Memory:  the caller's buffer.
#pragma once

#include "base/buffer.h"
#include "base/check.h"

/// Look at `is_full` afterwards.
void base64url_append(struct buffer *out, struct text bytes);
/// False: not base64url, or `out` has no room.
MUST_CHECK bool base64url_read(struct text spelt, struct buffer *out);
