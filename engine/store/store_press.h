/// Press: makes bytes smaller for a store, and back.
///
/// Level 1 of deflate: offers are JSON with the same words over and over, and what the higher levels gain on them is
/// not worth their time (README.md has the figures).
///
/// Threads: one owner.
/// Memory:  owns what zlib needs, which is taken with the first use.
#pragma once

#include "base/buffer.h"

struct store_press;

MUST_CHECK struct store_press *store_press_create(void); // NULL: no memory
void store_press_destroy(struct store_press **press);

/// Appends `bytes` pressed. False: they do not become smaller, or there is no memory; the buffer is as it was.
MUST_CHECK bool store_press_down(struct store_press *press, struct text bytes, struct buffer *out);

/// Appends what was pressed, which is `length` bytes. False: it is not, or there is no memory; nothing of more than
/// that was made.
MUST_CHECK bool store_press_up(struct store_press *press, struct text pressed, size_t length, struct buffer *out);
