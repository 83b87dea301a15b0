/// Sealed note: what engines leave for each other where others can read and write, sealed with their keys for offers'
/// tokens.
///
/// Bytes: version (1), key id (4), 128 random bits, tag (16), what is sealed. The name under which it is left is
/// vouched for, so that nobody can put one note in the place of another; an offer's token is never taken for a note.
///
/// Threads: any.
/// Memory:  the caller's buffers.
#pragma once

#include "token/token_fault.h"
#include "token/token_ring.h"

enum { SEALED_NOTE_MAX = 512 << 10 };

/// Appends it. STATUS_NOT_FOUND: no key; STATUS_INVALID: nothing, or too much to seal; STATUS_FULL: no room in `out`;
/// STATUS_IO, STATUS_NO_MEMORY: libcrypto refused.
MUST_CHECK enum status sealed_note_write(const struct token_ring *ring, struct text name, struct text plain,
                                         struct buffer *out);
/// Appends what was sealed; TOKEN_EXPIRED is not told here.
MUST_CHECK enum token_fault sealed_note_read(const struct token_ring *ring, struct text name, struct text note,
                                             struct buffer *plain);
