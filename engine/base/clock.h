/// Clock: the three clocks, each in microseconds.
///
/// Threads: any.
#pragma once

#include <stdint.h>

/// Monotonic time in µs; deadlines and timers are absolute values of it. Never 0.
uint64_t clock_now_us(void);

/// Time of day in µs since 1970-01-01T00:00:00Z.
uint64_t clock_wall_us(void);

/// CPU time that the calling thread has used, in µs.
uint64_t clock_thread_cpu_us(void);

/// Whole milliseconds for people and JSON, rounded to the nearest.
static inline uint64_t clock_us_to_ms(uint64_t us)
{
    return (us + 500) / 1000;
}
