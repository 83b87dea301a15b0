/// Breaker: whether a supplier is asked, skipped, or tried out (policy.md section 5).
///
/// Closed it counts what becomes of calls, second by second, and opens when five connects in a row failed, or when the
/// lower Wilson bound of a share (Wilson 1927, 95 %) is above its limit: failures alone, or failures and slow ones
/// together. It looks back over its window, and over up to a minute while that has too few calls. Open it refuses for a
/// while that doubles, up to 8 s. Half-open it lends one probe at a time: a copy of a request that no search waits for;
/// three good ones of five, and it ramps up, 10, 25, 50, 100 % of calls for 3 s each. One that is out for longer than
/// its lease counts as bad, and the next one may go; if it comes back well after all, it counts as good instead.
///
/// A call carries what was true when it was sent. What was sent before the last change of state changes none.
///
/// Threads: one owner; the caller holds the supplier's lock.
/// Memory:  plain values to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`, which does not go back.
#pragma once

#include "base/check.h"
#include "model/breaker_settings.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    BREAKER_SECONDS = 60,      // it remembers
    BREAKER_LEAST_CALLS = 5,   // below that no share says anything, however bad
    BREAKER_CONNECTS = 5,      // failures in a row
    BREAKER_SLOW_PERCENT = 60, // of slow and failed ones together
    BREAKER_WAIT_US = 1000000, // the first time, doubled by each further one
    BREAKER_WAIT_MOST_US = 8000000,
    BREAKER_PROBES = 5,
    BREAKER_GOOD_PROBES = 3,
    BREAKER_BAD_PROBES = BREAKER_PROBES - BREAKER_GOOD_PROBES, // one more opens it again
    BREAKER_LEASE_US = 10000000,                               // of a probe
    BREAKER_STEP_US = 3000000,                                 // of the ramp
    BREAKER_SETTLED_US = 60000000, // closed for so long: the next wait is half as long again
    BREAKER_GUARD_US = 10000000,   // suppliers that fail together within it
    BREAKER_GUARD_HOLD_US = 60000000,
    BREAKER_GUARD_SUPPLIERS = 64, // that it remembers
};

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN, BREAKER_RAMP };
const char *breaker_state_name(enum breaker_state state);

/// What became of a call. Ignored is all that is our own doing: an early finish, a budget, a disconnect, a lost race.
enum breaker_verdict {
    BREAKER_WAS_GOOD,
    BREAKER_WAS_BAD,
    BREAKER_WAS_UNREACHABLE,
    BREAKER_WAS_SLOW, // a phase of the network took longer than it ever does, whoever ended it
    BREAKER_WAS_OURS,
};

struct breaker_second {
    uint32_t good, bad, slow;
};

struct breaker {
    struct breaker_settings settings;
    enum breaker_state state;
    uint32_t epoch; // of the state, from 1 on
    uint64_t since_us;
    struct breaker_second seconds[BREAKER_SECONDS]; // a ring: the second of number N is N % 60
    uint64_t newest_second;
    uint32_t connects; // failed in a row
    uint32_t trips;    // opened in short succession
    uint64_t openings; // since breaker_init
    uint64_t until_us; // open: refuses until then
    uint32_t probe;    // number of the one that is out, 0: none is
    uint32_t probes;   // lent so far
    uint64_t lease_us; // until when
    uint32_t lease_dice;
    uint32_t lapsed[BREAKER_BAD_PROBES]; // numbers of probes whose lease is over; 0: none
    uint32_t probes_good, probes_bad;
    uint32_t step; // of the ramp
    uint64_t step_us;
    uint64_t held_since_us; // it would open, but for the guard; 0: it would not
    uint64_t supplier;      // to the guard, those with the same number are one; 0: it is the only one of its supplier
};

/// Goes with a call from its begin to its end.
struct breaker_pass {
    uint32_t epoch;
    uint32_t probe; // 0: it is none
};

enum breaker_answer {
    BREAKER_PASS,
    BREAKER_REFUSE,
    BREAKER_PROBE, // refused, too; but a copy may go out now as a probe: its end must be told
};

/// Several breakers that fail together say more of us than of the suppliers: our name server, our way out, our
/// processor.
struct breaker_guard {
    uint32_t suppliers;                          // there are
    uint64_t failed[BREAKER_GUARD_SUPPLIERS];    // a ring; their numbers
    uint64_t failed_us[BREAKER_GUARD_SUPPLIERS]; // 0: none
    uint32_t next;
    uint64_t alarm_us; // last one; 0: never
};

void breaker_init(struct breaker *breaker, struct breaker_settings settings, uint64_t now_us);
void breaker_guard_init(struct breaker_guard *guard, uint32_t suppliers);

/// May a call go out? `dice`: any even random number. `pass` is filled unless it is refused.
MUST_CHECK enum breaker_answer breaker_ask(struct breaker *breaker, uint32_t dice, uint64_t now_us,
                                           struct breaker_pass *pass);

/// What became of it. `guard` may be NULL. True: the state changed.
bool breaker_tell(struct breaker *breaker, struct breaker_guard *guard, struct breaker_pass pass,
                  enum breaker_verdict verdict, uint32_t dice, uint64_t now_us);

/// Lets time pass, for somebody who only looks.
void breaker_advance(struct breaker *breaker, uint64_t now_us);

/// How long it will refuse; 0: it does not, or nobody knows.
uint64_t breaker_refuses_us(const struct breaker *breaker, uint64_t now_us);

/// The share of calls that it lets through, in percent.
uint32_t breaker_share_percent(const struct breaker *breaker);

/// An operator's word: it is as new.
void breaker_close(struct breaker *breaker, uint64_t now_us);
/// An operator's word: it refuses, then probes.
void breaker_trip(struct breaker *breaker, uint32_t dice, uint64_t now_us);

/// Did more than max(2, 30 %) of the suppliers want to open within the last 10 s?
bool breaker_guard_is_alarmed(const struct breaker_guard *guard, uint64_t now_us);

/// The lower end of the 95 % interval for a share of `hits` in `count`; Wilson 1927.
double breaker_wilson_lower(uint32_t hits, uint32_t count);
