/// JSON unique: passes over a value and finds the keys that stand twice in one object.
///
/// The strict reader leaves duplicate keys to its caller. Who reads only a part of a document, and hands the rest to
/// somebody who takes the last of two keys in silence, looks at that rest here. Keys are compared without their
/// escapes.
///
/// Threads: one owner.
/// Memory:  its own scratch, freed before it returns.
#pragma once

#include "base/json_read.h"
#include "base/status.h"

/// Told of each duplicate, in the order of the document; `pointer` (RFC 6901) is valid during the call.
typedef void (*json_duplicate)(void *context, struct text pointer);

/// Passes over the value that starts with `first` (just returned by json_next), which stands at `pointer`.
/// STATUS_INVALID: JSON_ERROR met, the reader tells; STATUS_NO_MEMORY.
MUST_CHECK enum status json_skip_unique(struct json_reader *reader, enum json_token first, struct text pointer,
                                        json_duplicate found, void *context);
