/// Wait: how long a supplier wants to be left alone, in the spellings that suppliers use.
///
/// Seconds ("120", 1.5), an instant ("Mon, 03 May 2027 20:05:00 GMT", "2027-05-03T20:05:00Z"), or, as resets of quotas
/// are told, a number that is an instant: seconds or milliseconds since 1970. What makes no sense was not said: "2abc",
/// -1, a date without time.
///
/// Threads: any.
/// Memory:  plain values.
/// Time:    never reads the clock.
#pragma once

#include "base/text.h"

enum { WAIT_MAX_S = 24 * 60 * 60 };

struct wait {
    uint64_t after_ms; // 0: it was not said so
    int64_t at_s;      // an instant, since 1970; 0: it was not said so
};

/// Retry-After: as a header has it, or a number.
struct wait wait_of_text(struct text text);
struct wait wait_of_seconds(double seconds);

/// The instant when a quota is whole again. A number that is too small for an instant is seconds to wait.
struct wait wait_of_reset_text(struct text text);
struct wait wait_of_reset(double number);

/// What is left of it at that time of day, at most WAIT_MAX_S; 0: nothing, or it was not said.
uint64_t wait_left_ms(struct wait wait, uint64_t wall_us);
