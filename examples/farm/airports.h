/// Airports: where they lie and which clock they keep, as far as a synthetic timetable needs it.
///
/// Known codes have real positions; an unknown one gets a place that follows from its letters, so that every request
/// can be answered. Clocks are those of the engine's own table of airports; one that is not in it keeps an offset that
/// follows from its longitude. Flying times come from the great circle.
///
/// Threads: any, once the clocks are open.
/// Memory:  constants, and the clocks; a `struct airport` is a plain value.
#pragma once

#include "base/places.h"

struct airport {
    char code[4];
    const struct zone *zone; // NULL: it keeps `offset_min`
    int offset_min;
    double position[3]; // on the unit sphere
};

/// Reads the table of airports; STATUS_NOT_FOUND: there is none at that path. Once, before anything else.
MUST_CHECK enum status airport_open_clocks(const char *path, struct failure *why);
void airport_close_clocks(void);

/// Minutes local time - UTC when the clocks there show so many minutes since 1970. Of an hour that comes twice, the
/// first; of one that is skipped, what held before it.
int airport_offset_min(const struct airport *airport, int64_t local_min);

/// … and at an instant, in minutes of UTC.
int airport_offset_at_min(const struct airport *airport, int64_t utc_min);

/// `code` is three letters A-Z.
struct airport airport_of(const char code[3]);

/// Gate to gate in minutes, a multiple of 5.
int airport_flight_min(const struct airport *from, const struct airport *to);

/// Hub number `index`, or the next ones when it is one of the two ends.
struct airport airport_hub(unsigned index, const struct airport *from, const struct airport *to);

enum { AIRPORT_HUBS = 8 };
