/// Rates: one dated table of exchange rates, as the settings name it.
///
///     { "id": "ecb-2026-11-29", "as_of": "2026-11-29T15:00:00Z", "base": "EUR", "rates": { "USD": 1.0842, "JPY":
///     163.05 } }
///
/// A rate says how much of its currency one unit of the base is worth; money goes from any currency of the table to any
/// other through the base. A rate is a JSON number or a text, both read as decimal literals. Codes that are no money of
/// ISO 4217 (gold, drawing rights, currencies of the past) are passed over, since tables of banks carry them.
///
/// Threads: immutable once made; the count is atomic.
/// Memory:  counted; one allocation.
/// Time:    never reads the clock.
#pragma once

#include "base/status.h"
#include "script/conversion.h"

enum { RATES_FILE_MAX = 1 << 20, RATES_ID_MAX = 64 };

struct rates;

typedef void (*rates_finding)(void *context, const struct failure *failure);

/// Reads the table; `file` is named in findings. On any of them the result is STATUS_INVALID and `*rates` NULL.
MUST_CHECK enum status rates_parse(struct text json, const char *file, uint64_t max_age_us, rates_finding report,
                                   void *context, struct rates **rates);

/// The same of a file; one that cannot be read is a finding.
MUST_CHECK enum status rates_load(const char *file, uint64_t max_age_us, rates_finding report, void *context,
                                  struct rates **rates);
struct rates *rates_acquire(struct rates *rates); // NULL gives NULL
void rates_release(struct rates **rates);

/// The same table, read by the same settings? Both may be NULL.
bool rates_equals(const struct rates *one, const struct rates *other);

/// A number that stands for all that it says.
uint64_t rates_digest(const struct rates *rates);

struct text rates_id(const struct rates *rates);
struct text rates_as_of(const struct rates *rates); // RFC 3339 in UTC
struct text rates_base(const struct rates *rates);
size_t rates_count(const struct rates *rates); // the base included
/// `{"id":…,"as_of":…}`
struct text rates_json(const struct rates *rates);

/// Older than the settings allow at that time of day, or dated more than a day ahead of it: nothing is converted by it.
bool rates_is_stale(const struct rates *rates, uint64_t wall_us);

/// How old it is in µs; 0 when it is dated ahead.
uint64_t rates_age_us(const struct rates *rates, uint64_t wall_us);

/// False: a currency that the table does not hold.
MUST_CHECK bool rates_find(const struct rates *rates, struct text from, struct text to, struct conversion *conversion);

/// True the first time it is called for this table: what is said of its age is said once.
bool rates_first_warning(struct rates *rates);
