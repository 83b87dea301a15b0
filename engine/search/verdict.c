#include "search/verdict.h"

enum rejection verdict_rejection(enum script_verdict verdict)
{
    switch (verdict) {
    case SCRIPT_FAIL_QUOTA:
        return REJECTION_QUOTA;
    case SCRIPT_FAIL_BUSY:
        return REJECTION_BUSY;
    case SCRIPT_FAIL_LOGIN:
    case SCRIPT_FAIL_AUTH:
        return REJECTION_AUTH;
    case SCRIPT_FAIL_SUPPLIER:
        return REJECTION_SUPPLIER;
    case SCRIPT_OK:
    case SCRIPT_SKIPPED:
    case SCRIPT_EMPTY:
    case SCRIPT_FAIL_UNEXPECTED:
    case SCRIPT_UNPARSABLE:
    case SCRIPT_TOO_LARGE:
    case SCRIPT_ERROR:
    case SCRIPT_TIMEOUT:
    case SCRIPT_MEMORY:
    case SCRIPT_DROPPED:
        return REJECTION_NONE;
    }
    return REJECTION_NONE;
}

enum outcome verdict_outcome(enum script_verdict verdict)
{
    switch (verdict) {
    case SCRIPT_OK:
        return OUTCOME_ANSWERED;
    case SCRIPT_SKIPPED:
        return OUTCOME_SKIPPED;
    case SCRIPT_EMPTY:
        return OUTCOME_EMPTY;
    case SCRIPT_FAIL_QUOTA:
    case SCRIPT_FAIL_BUSY:
    case SCRIPT_FAIL_LOGIN:
    case SCRIPT_FAIL_AUTH:
    case SCRIPT_FAIL_SUPPLIER:
        return OUTCOME_REJECTED;
    case SCRIPT_FAIL_UNEXPECTED:
    case SCRIPT_UNPARSABLE:
        return OUTCOME_UNPARSABLE;
    case SCRIPT_TOO_LARGE:
        return OUTCOME_TOO_LARGE;
    case SCRIPT_ERROR:
        return OUTCOME_SCRIPT_ERROR;
    case SCRIPT_TIMEOUT:
        return OUTCOME_SCRIPT_TIMEOUT;
    case SCRIPT_MEMORY:
        return OUTCOME_SCRIPT_MEMORY;
    case SCRIPT_DROPPED:
        return OUTCOME_CUT;
    }
    return OUTCOME_SCRIPT_ERROR;
}

struct verdict_answer verdict_of_answer(enum script_verdict verdict, uint16_t http_status)
{
    bool is_untyped = verdict == SCRIPT_OK || verdict == SCRIPT_EMPTY || verdict == SCRIPT_UNPARSABLE;

    // A script that trips over the page of a broken supplier must not hide that it is broken; below 500 it is a bug.
    if ((is_untyped || verdict == SCRIPT_ERROR) && http_status >= 500) {
        return (struct verdict_answer){ OUTCOME_FAILED, REJECTION_NONE, true };
    }
    if (is_untyped && http_status >= 300) { // a redirect is not followed: the supplier sent us away
        enum rejection rejection = http_status == 429 ? REJECTION_QUOTA : REJECTION_SUPPLIER;
        return (struct verdict_answer){ OUTCOME_REJECTED, rejection, true };
    }
    return (struct verdict_answer){ verdict_outcome(verdict), verdict_rejection(verdict), false };
}

struct verdict_answer verdict_of_login(enum script_verdict verdict, uint16_t http_status)
{
    bool is_untyped = verdict == SCRIPT_OK || verdict == SCRIPT_UNPARSABLE || verdict == SCRIPT_ERROR;

    if (is_untyped && (http_status == 401 || http_status == 403)) {
        return (struct verdict_answer){ OUTCOME_REJECTED, REJECTION_AUTH, true };
    }
    bool is_error_page = http_status >= 400 && verdict == SCRIPT_ERROR;
    struct verdict_answer answer = verdict_of_answer(is_error_page ? SCRIPT_UNPARSABLE : verdict, http_status);
    if (answer.outcome == OUTCOME_CUT) { // no worker was free in time
        answer.outcome = OUTCOME_SHED;
    }
    return answer;
}

enum outcome verdict_of_fetch(enum fetch_result result)
{
    switch (result) {
    case FETCH_TOO_LARGE:
        return OUTCOME_TOO_LARGE;
    case FETCH_ENDED:
        return OUTCOME_CUT;
    case FETCH_OK:
    case FETCH_DNS_FAILED:
    case FETCH_CONNECT_FAILED:
    case FETCH_TLS_FAILED:
    case FETCH_SEND_FAILED:
    case FETCH_RECEIVE_FAILED:
    case FETCH_REFUSED:
    case FETCH_NO_MEMORY:
    case FETCH_LOST:
        return OUTCOME_FAILED;
    }
    return OUTCOME_FAILED;
}

enum health_end verdict_health(enum outcome outcome, const struct part_end *end)
{
    bool is_of_network = end->phase >= PHASE_SEND && end->phase <= PHASE_BODY;

    switch (outcome) {
    case OUTCOME_ANSWERED:
    case OUTCOME_EMPTY:
        return HEALTH_GOOD;
    case OUTCOME_FAILED:
        if (end->http_status >= 500 || is_of_network) {
            return HEALTH_BAD;
        }
        return end->phase >= PHASE_DNS && end->phase <= PHASE_TLS ? HEALTH_UNREACHABLE : HEALTH_OURS;
    case OUTCOME_REJECTED:
        return end->rejection == REJECTION_BUSY ? HEALTH_BAD : HEALTH_OURS;
    case OUTCOME_CUT:
    case OUTCOME_FINISHED_EARLY:
        return HEALTH_CUT;
    default:
        return HEALTH_OURS;
    }
}
