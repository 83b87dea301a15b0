/// Admission: what an engine under pressure does without, and whom it turns away (policy.md section 6).
///
/// Pressure is found as CoDel does (Nichols, Jacobson 2012): what waits in a queue is no trouble by itself; it is when
/// not one in a whole interval (100 ms) waited less than the target (5 ms). Each queue is judged by itself, for one
/// that is served first hides how another fares. What follows is a ladder, a rung up with each such interval, two when
/// it is severe, and one down with each that was none: first no extra calls; then the least valuable suppliers are left
/// out; then searches are refused.
///
/// Who is refused is a matter of how many are under way, for that number answers at once, and a share of the arrivals
/// only when what was admitted has come back from its suppliers. The most that may be under way is cut in proportion to
/// how much of a search's time is waiting (as Vegas does: Brakmo, Peterson 1995), at most once in the time that a
/// search takes, and grows by little in each interval that was none of pressure.
///
/// Threads: one owner.
/// Memory:  a plain value to embed; nothing to free.
/// Time:    never reads the clock, every call takes `now_us`, which does not go back.
#pragma once

#include "base/check.h"
#include "model/admission_settings.h"

enum {
    ADMISSION_TARGET_US = 5000,
    ADMISSION_INTERVAL_US = 100000,
    ADMISSION_SHEDS_AT = 3, // rungs: intervals under pressure in a row
    ADMISSION_REFUSES_AT = 5,
    ADMISSION_RUNGS = 5,
};

/// THE word for how far it has come; each includes those before it.
enum overload_level {
    OVERLOAD_NONE,
    OVERLOAD_NO_EXTRAS, // no call that nobody would miss: retries, hedges, dark ones, those that linger
    OVERLOAD_SHEDDING,  // the least valuable suppliers of a search are not asked
    OVERLOAD_REFUSING,  // searches beyond those that it can bear are turned away
    OVERLOAD_LEVELS
};
const char *overload_level_name(enum overload_level level);

/// What may wait.
enum admission_queue {
    ADMISSION_STARTS,  // searches for a script worker
    ADMISSION_ANSWERS, // answers of suppliers for one
    ADMISSION_LOOP,    // what a worker has finished, for the loop's turn
    ADMISSION_QUEUES
};

struct admission {
    struct admission_settings settings;
    uint64_t least_us[ADMISSION_QUEUES]; // waited in this interval; UINT64_MAX: nothing waited
    uint64_t end_us;                     // of the interval; 0: none has begun
    uint32_t rung;
    double most;        // searches at once, while it refuses
    uint32_t in_flight; // as it was told last
    bool was_full;      // somebody was refused in this interval
    uint32_t open_for;  // intervals in a row in which nobody was
    double took_us;     // a search, decayed; 0: not known
    uint64_t cut_us;    // when the most was cut last
};

void admission_init(struct admission *admission, struct admission_settings settings);
/// New settings count from the next interval on; switched off, all is forgotten.
void admission_set(struct admission *admission, struct admission_settings settings);

/// Something waited so long in that queue.
void admission_note(struct admission *admission, enum admission_queue queue, uint64_t waited_us, uint64_t now_us);
/// Time has passed. `is_busy`: something waits, of which nothing was heard: an interval like this says nothing; else
/// one in which nothing waited is none of pressure.
void admission_advance(struct admission *admission, bool is_busy, uint64_t now_us);

/// May a search begin beside those that are under way?
MUST_CHECK bool admission_admit(struct admission *admission, uint32_t in_flight, uint64_t now_us);
/// One is over that took so long.
void admission_done(struct admission *admission, uint64_t took_us);

enum overload_level admission_level(const struct admission *admission);
/// How many may be under way at once now; UINT32_MAX: any number.
uint32_t admission_most(const struct admission *admission);
/// What a held connection costs more than usual: a factor for the price of patience, 1 without pressure.
double admission_price(const struct admission *admission);
