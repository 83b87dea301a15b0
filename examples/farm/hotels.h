/// Hotels: forty thousand hotels in fifty cities, sold by twenty suppliers that each have ids of their own for them.
///
/// Who sells which hotel follows from the hotel's number alone, so that the table of properties (100,000 rows:
/// supplier, city, property, hotel, name, stars) can be written without a running farm. Prices follow from the seed,
/// the hotel, the supplier and the stay. A supplier is called h01 to h20 and asked for the properties that it is to
/// price:
///
///     POST /v2/rates {"check_in": "2030-05-12", "check_out": "2030-05-14", "rooms": [{"adults": 2, "children": [7]}],
///                     "properties": ["P0007919", …]}
///
/// Suppliers differ as real ones do: by currency (EUR, USD, GBP, JPY, KWD), by whether their totals hold the taxes, by
/// fees that are due at the hotel and stand apart. The tenth and the twentieth also sell a hotel that is in no table.
///
/// Threads: any.
/// Memory:  plain values; an answer is written into the caller's.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>

enum {
    HOTELS_SUPPLIERS = 20,
    HOTELS_PROPERTIES_MAX = 200,    // of a request
    HOTELS_RATES_MAX = 3,           // of a property
    HOTELS_ANSWER_MAX = 512 * 1024, // bytes
};

struct hotels_query {
    int32_t check_in; // days since 1970-01-01
    int32_t nights;
    uint32_t rooms, guests;
    uint32_t count;
    uint32_t properties[HOTELS_PROPERTIES_MAX]; // the digits of their ids
};

/// "h07" is 7; 0: not the name of a supplier of hotels.
uint32_t hotels_supplier(const char *name);

/// False: `*why` is a constant sentence for the caller.
MUST_CHECK bool hotels_read(struct hotels_query *query, struct text body, const char **why);

/// Writes the answer into HOTELS_ANSWER_MAX bytes; returns its length.
size_t hotels_render(const struct hotels_query *query, uint64_t seed, uint32_t supplier, char *out);

/// Writes the table of properties as tab-separated values.
MUST_CHECK enum status hotels_write_table(const char *path, struct failure *why);
