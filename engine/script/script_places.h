/// Script places: the airports of a scripts folder, as they were read, shared by sets.
///
/// Threads: made by the loader, read by all.
/// Memory:  counted; the last drop frees it.
#pragma once

#include "base/places.h"
#include "script/script_shelf.h"

#include <stdatomic.h>

struct script_places {
    atomic_uint holds;
    unsigned char digest[SCRIPT_DIGEST]; // of the file
    char path[1024];
    struct places *places;
};

/// What is in the file at `path`. STATUS_NOT_FOUND: there is no such file; STATUS_INVALID: findings.
MUST_CHECK enum status script_places_load(const char *path, places_finding report, void *context,
                                          struct script_places **places);
/// Zeros: it cannot be read.
void script_places_digest(const char *path, unsigned char digest[SCRIPT_DIGEST]);
/// The same file with the same bytes?
bool script_places_is(const struct script_places *places, const char *path, const unsigned char *digest);
/// NULL is held as NULL.
struct script_places *script_places_hold(struct script_places *places);
void script_places_drop(struct script_places **places);
