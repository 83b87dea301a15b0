/// Facets: what a caller may filter by, counted over everything that was found, returned or not.
///
/// Adds up the tables that came with the batches; of a batch that lost offers to later ones, only what is held counts.
/// Values stand in order; of a facet with more than FACET_VALUES_SHOWN the most frequent are shown.
///
/// Threads: the search's.
/// Memory:  scratch only.
#pragma once

#include "base/json_write.h"
#include "search/attempt.h"

enum {
    FACET_VALUES_SHOWN = 100,
    /// What the object can take at most, with every byte escaped.
    FACETS_ROOM_MAX = FACETS_MAX * (FACET_VALUES_SHOWN * (6 * FACET_VALUE_BYTES_MAX + 96) + 64)
};

/// Writes `{"NAME":[{"value":…,"count":…,"lowest":"…"},…],…}`; `{}` without offers, or without memory to count.
void facets_write(const struct attempt *attempts, size_t count, struct json_writer *json);
