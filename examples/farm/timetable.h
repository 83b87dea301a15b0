/// Timetable: the flights that a supplier sells, before anybody asked for a route.
///
/// An itinerary says for each slice which carrier, when, and over which hub; route and date turn it into flights.
/// Numbers depend on the route, so that a flight has one number whoever sells it.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include "farm/airports.h"
#include "farm/draw.h"
#include "farm/query.h"

enum { TIMETABLE_LEGS = 2, TIMETABLE_CARRIERS = 16 };

struct itinerary_slice {
    uint8_t leg_count; // 1 or 2
    uint8_t hub;
    uint8_t carriers[TIMETABLE_LEGS];
    uint16_t numbers[TIMETABLE_LEGS];
    uint16_t departs_min; // of the day, local
    uint16_t layover_min;
    uint8_t slack_min; // that a leg takes longer than its distance asks for
};

struct itinerary {
    struct itinerary_slice slices[QUERY_SLICES_MAX];
    double price; // factor
};

/// One leg between two airports, whoever flies it.
struct hop {
    struct airport from, to;
    int flight_min;
    uint64_t hash;
};

/// All ways from one end to the other.
struct route {
    struct hop direct;
    struct hop to_hub[AIRPORT_HUBS];
    struct hop from_hub[AIRPORT_HUBS];
};

/// One leg as flown; times are local minutes since midnight of the slice's day, at the place itself.
struct leg {
    const struct hop *hop;
    int number;
    int departs_min, arrives_min;
    int departs_offset_min, arrives_offset_min; // local time - UTC
    int flight_min;
};

void timetable_route(struct route *route, const char from[3], const char to[3]);

void timetable_draw(struct itinerary *itinerary, struct draw *draw);

/// Fills the legs of one slice on a day (since 1970-01-01); returns the whole duration in minutes.
int timetable_legs(const struct itinerary_slice *slice, const struct route *route, int32_t day,
                   struct leg legs[TIMETABLE_LEGS]);
const char *timetable_carrier(unsigned carrier);
