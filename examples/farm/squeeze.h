/// Squeeze: gzip streams, whole and in the ways in which servers break them.
///
/// Threads: any.
/// Memory:  appends to the caller's buffer, which is full when there was no memory.
#pragma once

#include "base/buffer.h"

/// One member.
void squeeze_whole(struct buffer *out, struct text plain);

/// All of the text, flushed, but neither the end of the stream nor its sum: who reads on would see nothing missing.
void squeeze_open(struct buffer *out, struct text plain);

/// One member of `mebibytes` blanks in about a thousandth of it.
void squeeze_bomb(struct buffer *out, unsigned mebibytes);
