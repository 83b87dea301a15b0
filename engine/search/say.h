/// Say: words of a script or a supplier on their way into a reply.
///
/// They may repeat a key that they were given: a reply is a sink like any other, so secrets are taken out.
///
/// Threads: any.
#pragma once

#include "base/redact.h"
#include "base/text.h"

#include <string.h>

/// Copies what fits of `words` into `place`, terminated and without secrets.
static inline void say(char *place, size_t size, struct text words)
{
    size_t length = words.length < size - 1 ? words.length : size - 1;

    if (length > 0) {
        memcpy(place, words.data, length);
    }
    place[redact_apply(place, length, length < words.length)] = '\0';
}
