/// Airports: where they lie and which clock they keep, as far as a synthetic timetable needs it.
///
/// Known codes have real positions and their winter offset from UTC; an unknown code gets a place that follows from its
/// letters, so that every request can be answered. Flying times come from the great circle.
///
/// Threads: any.
/// Memory:  constants; a `struct airport` is a plain value.
#pragma once

#include "base/text.h"

struct airport {
    char code[4];
    int offset_min;     // local time - UTC
    double position[3]; // on the unit sphere
};

/// `code` is three letters A-Z.
struct airport airport_of(const char code[3]);

/// Gate to gate in minutes, a multiple of 5.
int airport_flight_min(const struct airport *from, const struct airport *to);

/// Hub number `index`, or the next ones when it is one of the two ends.
struct airport airport_hub(unsigned index, const struct airport *from, const struct airport *to);

enum { AIRPORT_HUBS = 8 };
