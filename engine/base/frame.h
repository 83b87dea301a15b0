/// Frame: a message between two programs on a stream: a JSON document, and bytes beside it that no JSON could hold.
///
///     24 1832\n      the lengths of both, then the document, then the bytes
///
/// Threads: any.
/// Memory:  a frame that was read is views into the input.
#pragma once

#include "base/buffer.h"

enum { FRAME_MAX = 80 << 20 };
enum frame_verdict { FRAME_INCOMPLETE, FRAME_BROKEN, FRAME_WHOLE };

struct frame {
    struct text json, bytes;
    size_t length; // of all of it
};

/// The frame at the start of the input. FRAME_BROKEN: what stands there is none, or one larger than FRAME_MAX.
enum frame_verdict frame_read(struct frame *frame, struct text input);

/// Appends a frame; `out->is_full` when it did not fit.
void frame_append(struct buffer *out, struct text json, struct text bytes);
