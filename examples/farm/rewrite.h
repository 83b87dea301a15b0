/// Rewrite: an answer in which a field has another name, or is left out, as after a change that nobody announced.
///
/// JSON: every member of that name. XML: every element of that local name.
///
/// Threads: any.
/// Memory:  writes into the caller's buffer.
#pragma once

#include "base/buffer.h"

/// False: no memory, or the body is neither.
MUST_CHECK bool rewrite_field(struct buffer *out, struct text body, struct text field, bool is_dropped);
