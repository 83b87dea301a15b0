/// Body keys: which names and lists a JSON answer has, for an author whose script looks for something else.
///
/// Names only, never values; those without secrets.
///
/// Threads: any.
/// Memory:  plain values.
/// Time:    one pass over the body, for what has failed already.
#pragma once

#include "base/text.h"

enum { BODY_KEYS_MAX = 12, BODY_KEY_SIZE = 41, BODY_LISTS_SIZE = 200 };

/// Where a path ends that is followed as far as it goes.
struct body_keys {
    size_t length;                           // so many bytes of the path are there
    const char *kind;                        // what stands there: "an object", "a list", "a text", …
    char keys[BODY_KEYS_MAX][BODY_KEY_SIZE]; // of an object
    size_t count, all;
};

/// Follows `body.data[1].price`; false: the body could not be read so far.
MUST_CHECK bool body_keys_find(struct text body, struct text path, struct body_keys *found);

/// One more name, unless it is among them.
void body_keys_add(struct body_keys *found, struct text name);

/// "{ at, iataCode, … }"
void body_keys_print(const struct body_keys *found, char *out, size_t size);

/// The lists of the answer as `each` names them, those within the first element of another one, too: "data[],
/// data[].offers[]". Empty: it has none.
void body_lists(struct text body, char out[BODY_LISTS_SIZE]);
