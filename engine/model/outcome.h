/// Outcome: how a supplier's attempt ended. THE table; names in JSON, metrics and docs come from it.
///
/// A new outcome is one row here. The columns are contract.md section 3: what the breaker makes of it, whether
/// last-known results may stand in, and where coverage counts it; then what a caller sees who is told no details.
///
/// Threads: any; constants.
#pragma once

#include "base/check.h"

#include <stdbool.h>

enum outcome_breaker {
    BREAKER_SUCCESS,
    BREAKER_FAILURE,
    BREAKER_SLOW,
    BREAKER_BY_KIND,
    BREAKER_SCRIPT,
    BREAKER_IGNORED
};
enum outcome_group { GROUP_ANSWERED, GROUP_EMPTY, GROUP_CACHED, GROUP_MISSING, GROUP_NOT_ELIGIBLE };
enum outcome_seen { SEEN_ANSWERED, SEEN_NONE, SEEN_LATE, SEEN_UNAVAILABLE };

// clang-format off
//      name             breaker          last-known  coverage            seen as           meaning
#define OUTCOME_TABLE(X)                                                                                               \
    X(ANSWERED,       "answered",       BREAKER_SUCCESS, false, GROUP_ANSWERED,     SEEN_ANSWERED,    "at least one valid offer in time") \
    X(EMPTY,          "empty",          BREAKER_SUCCESS, false, GROUP_EMPTY,        SEEN_NONE,        "a well-formed nothing for you") \
    X(CACHED,         "cached",         BREAKER_IGNORED, false, GROUP_CACHED,       SEEN_ANSWERED,    "not asked, last-known is fresh") \
    X(CUT,            "cut",            BREAKER_SLOW,    true,  GROUP_MISSING,      SEEN_LATE,        "nothing by the end of its allocation") \
    X(FINISHED_EARLY, "finished_early", BREAKER_IGNORED, true,  GROUP_MISSING,      SEEN_LATE,        "pending when waiting had no worth") \
    X(FAILED,         "failed",         BREAKER_FAILURE, true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "transport or HTTP failure") \
    X(REJECTED,       "rejected",       BREAKER_BY_KIND, true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "the supplier's typed refusal") \
    X(UNPARSABLE,     "unparsable",     BREAKER_SCRIPT,  true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "a body that could not be read") \
    X(TOO_LARGE,      "too_large",      BREAKER_IGNORED, true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "over a cap") \
    X(SCRIPT_ERROR,   "script_error",   BREAKER_SCRIPT,  true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "a bug in our script, or quarantined") \
    X(SCRIPT_TIMEOUT, "script_timeout", BREAKER_SCRIPT,  true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "our script used up its time") \
    X(SCRIPT_MEMORY,  "script_memory",  BREAKER_SCRIPT,  true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "our script used up its memory") \
    X(BREAKER_OPEN,   "breaker_open",   BREAKER_IGNORED, true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "not asked: its breaker is open") \
    X(RATE_LIMITED,   "rate_limited",   BREAKER_IGNORED, true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "not asked: its quota is used") \
    X(SATURATED,      "saturated",      BREAKER_IGNORED, true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "not asked: too many calls in flight") \
    X(TOO_LATE,       "too_late",       BREAKER_IGNORED, true,  GROUP_MISSING,      SEEN_LATE,        "not asked: too little time left") \
    X(SHED,           "shed",           BREAKER_IGNORED, true,  GROUP_MISSING,      SEEN_UNAVAILABLE, "not asked: the engine is overloaded") \
    X(SKIPPED,        "skipped",        BREAKER_IGNORED, false, GROUP_NOT_ELIGIBLE, SEEN_NONE,        "its script declined") \
    X(DISABLED,       "disabled",       BREAKER_IGNORED, false, GROUP_NOT_ELIGIBLE, SEEN_UNAVAILABLE, "an operator switched it off") \
    X(CANCELLED,      "cancelled",      BREAKER_IGNORED, false, GROUP_NOT_ELIGIBLE, SEEN_UNAVAILABLE, "the caller went away")
// clang-format on

enum outcome {
#define X(symbol, name, breaker, last_known, group, seen, meaning) OUTCOME_##symbol,
    OUTCOME_TABLE(X)
#undef X
        OUTCOME_COUNT
};

struct outcome_row {
    const char *name;
    enum outcome_breaker breaker;
    bool last_known_may_fill;
    enum outcome_group group;
    enum outcome_seen seen;
    const char *meaning;
};

const struct outcome_row *outcome_row(enum outcome outcome);
const char *outcome_name(enum outcome outcome);
const char *seen_name(enum outcome_seen seen);

/// What bounded an allocation.
enum bound { BOUND_NONE, BOUND_CEILING, BOUND_BUDGET };
const char *bound_name(enum bound bound); // NULL for BOUND_NONE

/// Where an attempt was when it was cut or failed, in the order of a call.
enum phase {
    PHASE_NONE,
    PHASE_LOGIN,
    PHASE_QUEUE,
    PHASE_PAUSE,
    PHASE_DNS,
    PHASE_CONNECT,
    PHASE_TLS,
    PHASE_SEND,
    PHASE_FIRST_BYTE,
    PHASE_BODY,
    PHASE_SCRIPT_QUEUE,
    PHASE_SCRIPT,
    PHASE_COUNT
};
const char *phase_name(enum phase phase); // NULL for PHASE_NONE

/// Of `rejected`.
enum rejection { REJECTION_NONE, REJECTION_AUTH, REJECTION_QUOTA, REJECTION_BUSY, REJECTION_SUPPLIER };
const char *rejection_name(enum rejection rejection);
