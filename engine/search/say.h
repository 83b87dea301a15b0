/// Say: words of a script or a supplier on their way into a reply.
///
/// They may repeat a key that they were given: a reply is a sink like any other, so secrets are taken out.
///
/// Threads: any.
#pragma once

#include "base/redact.h"

/// Copies what fits of `words` into `place`, terminated and without secrets.
static inline void say(char *place, size_t size, struct text words)
{
    (void)redact_copy(place, size, words);
}
