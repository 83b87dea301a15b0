/// Allowance: how many extra calls may be made, as a share of the ordinary ones (policy.md section 4).
///
/// Each ordinary call earns a share of a permit, which is good for ten seconds; an extra call costs one. So extra calls
/// never are more than their share of what went out lately, however many would be worth it, and a supplier that is
/// hardly called is hardly called twice.
///
/// Threads: one owner; the caller holds the lock.
/// Memory:  a plain value to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`, which does not go back.
#pragma once

#include "base/check.h"

#include <stdbool.h>
#include <stdint.h>

enum { ALLOWANCE_SECONDS = 10 };

struct allowance {
    double share;                      // of a permit, that a call earns; 0..1
    double permits[ALLOWANCE_SECONDS]; // by the second that earned them: that of number N is N % 10
    uint64_t newest_second;
};

void allowance_init(struct allowance *allowance, double share);

/// An ordinary call goes out.
void allowance_earn(struct allowance *allowance, uint64_t now_us);
/// False: there is none, and nothing has changed.
MUST_CHECK bool allowance_spend(struct allowance *allowance, uint64_t now_us);
/// A permit that was spent was not needed: nothing went out.
void allowance_give_back(struct allowance *allowance, uint64_t now_us);
/// How many there are.
double allowance_left(struct allowance *allowance, uint64_t now_us);
