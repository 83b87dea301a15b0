/// Clock: the three clocks, each in microseconds.
///
/// Threads: any.
#pragma once

#include "base/text.h"

/// Monotonic time in µs; deadlines and timers are absolute values of it. Never 0.
uint64_t clock_now_us(void);

/// Time of day in µs since 1970-01-01T00:00:00Z.
uint64_t clock_wall_us(void);

/// CPU time that the calling thread has used, in µs.
uint64_t clock_thread_cpu_us(void);

enum { CLOCK_UTC_SIZE = 25 };

/// Writes a time of day as RFC 3339 in UTC with milliseconds, "2026-11-29T09:00:00.123Z", terminated; returns its
/// length.
size_t clock_print_utc(uint64_t wall_us, char out[CLOCK_UTC_SIZE]);

/// The same in ms, with or without thousandths ("09:00:00Z"), as offers have it; what is before 1970 is 0. False: it is
/// no such text.
MUST_CHECK bool clock_read_utc(struct text text, uint64_t *wall_ms);

/// Whole milliseconds for people and JSON, rounded to the nearest.
static inline uint64_t clock_us_to_ms(uint64_t us)
{
    return (us + 500) / 1000;
}
