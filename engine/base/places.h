/// Places: codes of three capitals, each with the time zone that its clocks keep.
///
/// Read from a file of lines `Europe/London LHR LGW`; `#` begins a comment. The rules of the zones come from the
/// system's time zone database.
///
/// Threads: loaded by one, read by all.
/// Memory:  owns its zones.
#pragma once

#include "base/zone.h"

enum { PLACES_FILE_MAX = 4 << 20, PLACES_ZONES_MAX = 1000 };

struct places;

/// One finding of a load; file, line and remedy in `failure`.
typedef void (*places_finding)(void *context, const struct failure *failure);

/// On any finding the result is STATUS_INVALID and `*places` NULL. STATUS_NOT_FOUND: there is no such file, and that is
/// no finding.
MUST_CHECK enum status places_load(const char *path, places_finding report, void *context, struct places **places);
void places_destroy(struct places **places);

size_t places_count(const struct places *places);

/// The zone of a code; NULL: unknown.
const struct zone *places_zone(const struct places *places, struct text code);

/// The zone of that name among those that places keep; NULL: none.
const struct zone *places_zone_named(const struct places *places, struct text name);
