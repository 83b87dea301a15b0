/// Admission: what an engine under pressure does without, and whom it turns away (policy.md section 6).
///
/// Pressure is found as CoDel does (Nichols, Jacobson 2012): what waits in a queue is no trouble by itself; it is when
/// not one in a whole interval of 100 ms waited less than 5 ms. What follows is a ladder, a rung up with each such
/// interval and one down with each that was none: first no extra calls; then the least valuable suppliers are left out;
/// then searches are refused, a share that grows while the pressure lasts and shrinks slowly when it is over.
///
/// Threads: one owner.
/// Memory:  a plain value to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`, which does not go back.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ADMISSION_TARGET_US = 5000,
    ADMISSION_INTERVAL_US = 100000,
    ADMISSION_SHEDS_AT = 3, // rungs: intervals under pressure in a row
    ADMISSION_REFUSES_AT = 5,
    ADMISSION_RUNGS = 5,
};

struct admission {
    uint64_t least_us;    // waited in this interval; UINT64_MAX: nothing waited
    uint64_t interval_us; // when it ends; 0: none has begun
    uint32_t rung;
    double refused; // share of searches, 0..1
};

void admission_init(struct admission *admission);

/// Something waited so long: for a worker, or the loop for its turn.
void admission_note(struct admission *admission, uint64_t waited_us, uint64_t now_us);

/// May a search begin? `dice`: any even random number.
MUST_CHECK bool admission_admit(struct admission *admission, uint32_t dice, uint64_t now_us);

bool admission_allows_extra_calls(const struct admission *admission);
/// What a held connection costs more than usual: a factor for the price of patience, 1 without pressure.
double admission_price(const struct admission *admission);
