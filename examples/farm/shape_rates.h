/// Shape rates: hotels in the manner of a large seller of many sources: rooms with rates, prices by occupancy.
///
///     GET /v3/properties/availability?checkin=2030-05-12&checkout=2030-05-14&currency=EUR&country_code=DE
///         &language=en-GB&occupancy=2-7,9&occupancy=1&property_id=30007919&property_id=…   (up to 250)
///     Authorization: EAN APIKey=KEY,Signature=HEX,timestamp=SECONDS
///
/// The signature is SHA-512 over key, secret and seconds, at most five minutes off. A property's number is that of a
/// supplier of hotels.h, then its own in seven digits: 30007919 is P0007919 of h03. Each room asked for is an
/// occupancy; equal ones are priced once, each.
///
/// Threads: any.
/// Memory:  plain values; an answer is written into the caller's.
#pragma once

#include "farm/request.h"

enum { RATES_PROPERTIES_MAX = 250, RATES_ROOMS_MAX = 9, RATES_ANSWER_MAX = 4 << 20 };

#define RATES_KEY "farm-key"
#define RATES_SECRET "farm-secret"

struct rates_occupancy {
    unsigned adults, children;
    char written[64];
};

struct rates_query {
    int32_t check_in; // days since 1970-01-01
    int32_t nights;
    char currency[4];
    uint32_t room_count;
    struct rates_occupancy rooms[RATES_ROOMS_MAX]; // each once
    uint32_t count;
    uint32_t properties[RATES_PROPERTIES_MAX];
};

/// False: `*status` and `*why` say what is wrong with the request.
MUST_CHECK bool rates_read(struct rates_query *query, const struct request *request, uint64_t wall_s,
                           const char **status, const char **why);

/// Writes the answer into RATES_ANSWER_MAX bytes; returns its length.
size_t rates_render(const struct rates_query *query, uint64_t seed, char *out);
