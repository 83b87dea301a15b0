/// Hidden note: what engines leave for each other in a shared store, sealed: what a script left in an offer and is too
/// large for its token, and logins.
///
/// Version (1 byte), key id (4), 128 random bits, tag (16), the sealed bytes; version, key id and the note's name are
/// vouched for, so that no note passes for another one. Its keys are those of offers' tokens.
///
/// Threads: any.
/// Memory:  the caller's.
#pragma once

#include "token/token_fault.h"
#include "token/token_ring.h"

enum { HIDDEN_NOTE_MORE = 1 + TOKEN_KEY_ID + SEAL_NONCE + SEAL_TAG }; // bytes beside those that are sealed

/// Appends the note. STATUS_NOT_FOUND: no key; STATUS_FULL: no room in `out`; STATUS_IO, STATUS_NO_MEMORY: libcrypto
/// refused.
MUST_CHECK enum status hidden_note_write(const struct token_ring *ring, struct text name, struct text plain,
                                         struct buffer *out);
/// Appends what was sealed under this name; otherwise `out` is as it was.
MUST_CHECK enum token_fault hidden_note_read(const struct token_ring *ring, struct text name, struct text note,
                                             struct buffer *out);
