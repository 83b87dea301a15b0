/// Calendar: reads and writes dates, times of day, instants and durations in the spellings of ISO 8601.
///
/// The Gregorian calendar, years 0001 to 9999, days without leap seconds. A time without offset is local: it is kept as
/// it is and never turned into an instant.
///
/// Threads: any.
/// Memory:  plain values.
/// Time:    never reads the clock.
#pragma once

#include "base/text.h"

struct moment {
    int64_t days; // of the date, since 1970-01-01
    uint32_t year, month, day;
    uint32_t hour, minute, second;
    uint32_t micros; // of the second
    bool has_time;
    bool has_offset;
    int32_t offset_min; // east of Greenwich
};

enum { CALENDAR_TEXT_MAX = 40, CALENDAR_LOCAL = 19 };

/// `2027-05-03`, `20270503`, `2027-05-03T20:05`, `20270503T200500.25Z`, `2027-05-03 20:05:00+01:00` and so on; a blank
/// may stand for the T, `24:00` is the next day's beginning. False: none of them, or no such day or time.
MUST_CHECK bool calendar_parse(struct text text, struct moment *moment);

/// The usual spelling, `2027-05-03T20:05` with or without seconds and offset (`Z`, `+01:00`), without the arithmetic of
/// a moment. False says nothing: calendar_parse decides.
struct calendar_spelling {
    char local[CALENDAR_LOCAL + 2]; // `2027-05-03T20:05:00`; calendar_spell_utc adds the Z
    bool has_offset;
    int32_t offset_min;
    int64_t local_s; // its seconds since 1970, as if it were UTC
};
/// Dates that were read: the times of an answer are of a few days, so these are kept between them. Begins as zeros.
enum { CALENDAR_DAYS = 8 };
struct calendar_days {
    struct calendar_day {
        char spelt[10]; // `2027-05-03`
        int64_t days;   // since 1970-01-01
    } kept[CALENDAR_DAYS];
};
MUST_CHECK bool calendar_spell(struct text text, struct calendar_days *days, struct calendar_spelling *spelling);
/// Turns `local` into UTC. False: without an offset, or on another day there.
MUST_CHECK bool calendar_spell_utc(struct calendar_spelling *spelling);

/// `Mon, 03 May 2027 20:05:00 GMT` (RFC 9110's preferred form) to seconds since 1970. False: not one.
MUST_CHECK bool calendar_parse_http(struct text text, int64_t *epoch_s);

/// `PT01H35M`, `P1DT1H10M0S`, `PT28H`, `P2W`, `PT1.5H` to seconds. Years and months are refused unless zero.
MUST_CHECK bool calendar_parse_duration(struct text text, int64_t *seconds);

int64_t calendar_days(uint32_t year, uint32_t month, uint32_t day);
bool calendar_is_date(uint32_t year, uint32_t month, uint32_t day);
/// Fills the date of `moment` from its days; false outside years 1 to 9999.
MUST_CHECK bool calendar_set_days(struct moment *moment, int64_t days);
/// 1 is Monday.
uint32_t calendar_weekday(int64_t days);
/// µs since 1970 of date, time and offset (none: as if it were UTC).
int64_t calendar_epoch_us(const struct moment *moment);
/// False outside years 1 to 9999. The result is UTC.
MUST_CHECK bool calendar_of_epoch_us(int64_t epoch_us, struct moment *moment);

/// `2027-05-03`, `2027-05-03T20:05:00`, the same with `Z` (of a moment that is UTC, milliseconds only when there are
/// any); terminated; the length is returned.
size_t calendar_write_date(const struct moment *moment, char out[CALENDAR_TEXT_MAX]);
size_t calendar_write_local(const struct moment *moment, char out[CALENDAR_TEXT_MAX]);
size_t calendar_write_utc(const struct moment *moment, char out[CALENDAR_TEXT_MAX]);
