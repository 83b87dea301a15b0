/// Script life: what is counted of a script while it runs. Time-outs and quarantine, limits, lines of the log, the
/// outcome of its first calls, and what has stopped appearing in its answers.
///
/// It goes on from set to set, for as long as the script does not change.
///
/// Threads: any; numbers are counted without locks.
/// Memory:  counted; the last drop frees it.
/// Time:    never reads the clock.
#pragma once

#include "base/text.h"
#include "model/script_limit.h"
#include "model/script_verdict.h"
#include "script/drift.h"

#include <stdatomic.h>

enum {
    SCRIPT_TIMEOUTS_MAX = 3,
    SCRIPT_TIMEOUTS_WITHIN_US = 60 * 1000 * 1000,
    SCRIPT_LOG_LINES_MAX = 50,   // of one script within a second
    SCRIPT_TRIAL_ERRORS_MAX = 32 // whose places in the row of calls are kept
};

/// How the calls of a script have ended since it began to run.
struct script_trial {
    uint64_t calls;
    uint64_t errors;                      // raised, too long, too much memory; not what suppliers did wrong
    uint64_t at[SCRIPT_TRIAL_ERRORS_MAX]; // which calls the first errors were, from 1; 0: no more
    char first[320];                      // "acme.lua:12: attempt to index …" of the first error; empty: none
};

struct script_life {
    atomic_uint holds;
    atomic_bool is_quarantined;
    atomic_bool is_told;                               // `place` is written
    char place[128];                                   // where it was stopped the last time; empty: it was stuck
    atomic_uint next;                                  // the slot of the next time-out
    _Atomic uint64_t timeouts_us[SCRIPT_TIMEOUTS_MAX]; // 0: none yet
    _Atomic uint64_t limits[SCRIPT_LIMIT_COUNT];
    _Atomic uint64_t log_second; // and how many lines were logged in it: in the lowest 16 bits
    _Atomic uint64_t calls, errors;
    _Atomic uint64_t error_at[SCRIPT_TRIAL_ERRORS_MAX];
    atomic_bool is_first_told; // `first` is written
    char first[320];
    struct drift drift;
};

MUST_CHECK struct script_life *script_life_create(void);
struct script_life *script_life_hold(struct script_life *life);
void script_life_drop(struct script_life **life);

/// True: only now. `place` is where it was stopped; empty: it was stuck.
bool script_life_quarantine(struct script_life *life, const char *place);
/// Counts a time-out. True: it is one too many.
bool script_life_note_timeout(struct script_life *life, uint64_t now_us);
bool script_life_tell_quarantine(const struct script_life *life, char *sentence, size_t size);

uint32_t script_life_log_lines_left(const struct script_life *life, uint64_t now_us);
void script_life_note_log_lines(struct script_life *life, uint64_t now_us, uint32_t lines);

/// Counts a call; `message` of an error has its place in it, and may be NULL.
void script_life_note_trial(struct script_life *life, enum script_verdict verdict, const char *message);
void script_life_trial(const struct script_life *life, struct script_trial *trial);
/// How many of the errors came within the first `calls` calls.
uint64_t script_trial_errors_within(const struct script_trial *trial, uint64_t calls);
