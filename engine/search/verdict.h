/// Verdict: what a script's verdict and an HTTP status mean for an attempt (contract.md section 3).
///
/// Typed failures win; without one, a 5xx is failed, a 3xx and a 4xx rejected, whatever the script made of it. Limits
/// that the script hit stay its own.
///
/// Threads: any; pure functions.
#pragma once

#include "model/script_call.h"
#include "policy/health.h"
#include "search/part_end.h"

enum outcome verdict_outcome(enum script_verdict verdict);

/// REJECTION_NONE unless it is a typed refusal.
enum rejection verdict_rejection(enum script_verdict verdict);

/// Of an answer with its HTTP status.
struct verdict_answer {
    enum outcome outcome;
    enum rejection rejection;
    bool is_by_status; // the status decided
};
struct verdict_answer verdict_of_answer(enum script_verdict verdict, uint16_t http_status);

/// Of the answer to a login; OUTCOME_ANSWERED: it was granted. A script that finds nothing in an error page is no bug:
/// there a status decides, and 401 and 403 say that the credentials are no good.
struct verdict_answer verdict_of_login(enum script_verdict verdict, uint16_t http_status);

/// Of a fetch that brought no answer.
enum outcome verdict_of_fetch(enum fetch_result result);

/// What one that ended so says of its supplier's health.
enum health_end verdict_health(enum outcome outcome, const struct part_end *end);
