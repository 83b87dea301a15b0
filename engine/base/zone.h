/// Zone: the rules of one time zone, from a compiled file of the IANA time zone database (TZif, RFC 8536).
///
/// libc knows one zone at a time; this reads any number of them side by side. Kept are the changes from 1970 on; what
/// the file says in its footer about all later years is written out to the end of 2199, after which the last offset
/// holds. A file is read strictly and within bounds, whoever wrote it.
///
/// Threads: immutable once made.
/// Memory:  one allocation.
/// Time:    never reads the clock; seconds are those since 1970, without leap seconds.
#pragma once

#include "base/status.h"
#include "base/text.h"

enum { ZONE_NAME_MAX = 63, ZONE_FILE_MAX = 64 * 1024 };

struct zone;

/// The zone of a file's bytes; version 2 or later. STATUS_INVALID: `*why` is a constant sentence.
MUST_CHECK enum status zone_parse(struct text name, struct text bytes, struct zone **zone, const char **why);

/// The zone of that name from the folder of the system ($TZDIR, else /usr/share/zoneinfo). STATUS_NOT_FOUND: there is
/// no such file, or the name is none. STATUS_IO, STATUS_INVALID: `*why` tells.
MUST_CHECK enum status zone_load(const char *name, struct zone **zone, const char **why);
void zone_destroy(struct zone **zone);

/// "Europe/London"; lives as long as the zone.
struct text zone_name(const struct zone *zone);

/// Seconds east of Greenwich at an instant.
int32_t zone_offset(const struct zone *zone, int64_t utc_s);

/// The instants at which clocks there show `local_s` (date and time of day as if it were UTC), earliest first; how many
/// there are. 0: the clocks were put forward over it. 2: they were put back, and showed it twice.
size_t zone_instants(const struct zone *zone, int64_t local_s, int64_t utc_s[2]);
