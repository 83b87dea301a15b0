/// Breaker settings: when a supplier is left alone, as the settings say.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct breaker_settings {
    bool is_on;           // false: everybody is asked, whatever became of it before
    uint32_t window_s;    // it looks back over; 1 to 60
    uint32_t min_calls;   // it looks back further for, up to a minute
    double failure_share; // 0..1; more, and it opens
};
