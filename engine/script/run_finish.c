// How calls end that no script finished: dropped, or taken away from a lost worker. The caller holds the lease.

#include "model/ask_call.h"
#include "script/run.h"

#include <stdio.h>

static void finish_candidates(struct start_call *call, enum script_verdict verdict, const char *message)
{
    for (size_t i = 0; i < call->candidate_count; i++) {
        if (!run_is_finished(&call->candidates[i])) {
            call->candidates[i].verdict = verdict;
            call->candidates[i].message = arena_copy(&call->memory, text_of(message));
        }
    }
}

static void finish_start(struct start_call *start, enum script_verdict verdict, const char *message)
{
    if (start->facts == NULL) {
        start->product_verdict = verdict;
        snprintf(start->message, sizeof start->message, "%s", message);
    }
    finish_candidates(start, verdict, message);
}

void run_fail_all(struct script_call *call, enum script_verdict verdict, const char *message)
{
    struct normalise_call *normalise = CONTAINER_OF(call, struct normalise_call, call);
    struct request_call *request = CONTAINER_OF(call, struct request_call, call);
    struct login_call *login = CONTAINER_OF(call, struct login_call, call);
    struct ask_call *ask = CONTAINER_OF(call, struct ask_call, call);

    switch (call->kind) {
    case SCRIPT_CALL_START:
        finish_start(CONTAINER_OF(call, struct start_call, call), verdict, message);
        break;
    case SCRIPT_CALL_NORMALISE:
        normalise->verdict = verdict;
        snprintf(normalise->message, sizeof normalise->message, "%s", message);
        break;
    case SCRIPT_CALL_REQUEST:
        request->verdict = verdict;
        snprintf(request->message, sizeof request->message, "%s", message);
        break;
    case SCRIPT_CALL_LOGIN:
        login->verdict = verdict;
        snprintf(login->message, sizeof login->message, "%s", message);
        break;
    case SCRIPT_CALL_CEILING:
        run_fail_ceilings(CONTAINER_OF(call, struct ceiling_call, call), verdict, message);
        break;
    case SCRIPT_CALL_ASK:
        ask->verdict = verdict;
        snprintf(ask->message, sizeof ask->message, "%s", message);
        break;
    }
}

bool run_lose(struct script_call *call, const struct guard_blame *blame)
{
    static const char sentence[] = "stuck where it could not be stopped; quarantined";

    if (call->kind == SCRIPT_CALL_CEILING) {
        return run_lose_ceiling(CONTAINER_OF(call, struct ceiling_call, call), blame->candidate, sentence);
    }
    if (call->kind != SCRIPT_CALL_START || blame->script.is_product) {
        run_fail_all(call, SCRIPT_TIMEOUT, sentence);
        return false;
    }
    struct start_call *start = CONTAINER_OF(call, struct start_call, call);
    start->candidates[blame->candidate].verdict = SCRIPT_TIMEOUT;
    start->candidates[blame->candidate].message = arena_copy(&start->memory, text_of(sentence));
    for (size_t i = 0; i < start->candidate_count; i++) {
        if (!run_is_finished(&start->candidates[i])) {
            return true;
        }
    }
    return false;
}
