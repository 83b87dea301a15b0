/// Admission settings: when an engine counts as overloaded, as the settings say.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct admission_settings {
    bool is_on;           // false: everybody is admitted, and nothing is left out
    uint64_t target_us;   // what may wait so long is no trouble
    uint64_t interval_us; // unless nothing waited less for so long
};
