/// Pretty: bodies as people read them: JSON and XML indented, forms a pair a line.
///
/// Threads: any.
/// Memory:  appends to the caller's buffer.
#pragma once

#include "base/buffer.h"

/// Two blanks a level; what is short stays in a line. What is no JSON stays as it is.
void pretty_json(struct text json, struct buffer *out);
/// By what it looks like.
void pretty_body(struct text body, bool is_form, struct buffer *out);
