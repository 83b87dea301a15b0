/// JSON for people: a document in lines of a width, as one would write it by hand.
///
/// What fits into a line stands in one; everything else has a member or an element in each. Literals stay as they are.
///
/// Threads: any; plain functions.
/// Memory:  writes into the caller's buffer.
#pragma once

#include "base/buffer.h"
#include "base/json_tree.h"

void json_pretty(const struct json_node *root, uint32_t width, struct buffer *out);
