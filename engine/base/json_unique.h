/// JSON unique: passes over a value and finds the keys that stand twice in one object.
///
/// The strict reader leaves duplicate keys to its caller. Who reads only a part of a document, and hands the rest to
/// somebody who takes the last of two keys in silence, looks at that rest here. Keys are compared without their
/// escapes.
///
/// Linear in the bytes, whatever a stranger sends. The worst is a document of nothing but short distinct keys: about
/// 40 ns a byte on a server core. Long keys, deep nesting and thousands of duplicates cost less.
///
/// Threads: one owner.
/// Memory:  its own scratch, freed before it returns.
#pragma once

#include "base/json_read.h"
#include "base/status.h"

enum { JSON_UNIQUE_POINTER_MAX = 127 };

/// Told of each duplicate, in the order of the document. `pointer` (RFC 6901) is valid during the call; it has at most
/// JSON_UNIQUE_POINTER_MAX bytes, none of them NUL. `is_cut`: the whole one does not fit, and it names the nearest
/// object or list around the duplicate that does. False: that was enough, no more are looked for.
typedef bool (*json_duplicate)(void *context, struct text pointer, bool is_cut);

/// Passes over the value that starts with `first` (just returned by json_next), which stands at `pointer`.
/// STATUS_INVALID: JSON_ERROR met, the reader tells; STATUS_NO_MEMORY.
MUST_CHECK enum status json_skip_unique(struct json_reader *reader, enum json_token first, struct text pointer,
                                        json_duplicate found, void *context);
