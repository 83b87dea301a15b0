#include "search/attempt.h"

#include "search/search_internal.h"

#include <stdio.h>
#include <string.h>

//   WAITING --> FETCHING --> NORMALISING --> CLOSED(outcome)
//   any --> CLOSED on the end of its allocation, the caller's leaving, or an error

static struct world *world_of(const struct attempt *attempt)
{
    return search_world(attempt->search);
}

static void attempt_enter(struct attempt *attempt, enum attempt_state state)
{
    require(state > attempt->state);
    attempt->state = state;
}

static void attempt_say(struct attempt *attempt, struct text detail)
{
    size_t length = detail.length < sizeof attempt->detail - 1 ? detail.length : sizeof attempt->detail - 1;
    if (length > 0) {
        memcpy(attempt->detail, detail.data, length);
    }
    attempt->detail[length] = '\0';
}

/// Stops whatever still runs for this attempt; nothing of it calls back afterwards.
static void attempt_stop(struct attempt *attempt)
{
    struct world *world = world_of(attempt);

    if (timer_is_running(&attempt->ceiling_timer)) {
        world->ops->timer_cancel(world, &attempt->ceiling_timer);
    }
    if (attempt->state == ATTEMPT_FETCHING) {
        world->ops->fetch_cancel(world, &attempt->fetch);
    }
    if (attempt->state == ATTEMPT_NORMALISING && attempt->normalise != NULL) {
        world->ops->script_cancel(world, &attempt->normalise->call);
        attempt->normalise = NULL;
    }
}

/// The one way to CLOSED. The fetch or call that led here must already be over (or attempt_stop was called).
static void attempt_finish(struct attempt *attempt, enum outcome outcome)
{
    struct world *world = world_of(attempt);

    if (timer_is_running(&attempt->ceiling_timer)) {
        world->ops->timer_cancel(world, &attempt->ceiling_timer);
    }
    attempt_enter(attempt, ATTEMPT_CLOSED);
    attempt->outcome   = outcome;
    attempt->closed_us = world->ops->now_us(world);
    search_on_attempt_closed(attempt->search);
}

void attempt_close(struct attempt *attempt, enum outcome outcome)
{
    attempt_stop(attempt);
    attempt_finish(attempt, outcome);
}

void attempt_cut(struct attempt *attempt, enum bound bound, enum phase phase_if_waiting)
{
    struct world *world = world_of(attempt);

    attempt->bound = bound;
    switch (attempt->state) {
    case ATTEMPT_WAITING:
        attempt->phase = phase_if_waiting;
        break;
    case ATTEMPT_FETCHING:
        attempt->phase = world->ops->fetch_phase(world, &attempt->fetch);
        break;
    case ATTEMPT_NORMALISING:
        attempt->phase = world->ops->script_has_begun(world, &attempt->normalise->call) ? PHASE_SCRIPT
                                                                                        : PHASE_SCRIPT_QUEUE;
        break;
    case ATTEMPT_CLOSED:
        require(attempt->state != ATTEMPT_CLOSED);    // an attempt is cut once
        break;
    }
    attempt_close(attempt, OUTCOME_CUT);
}

static void attempt_on_ceiling(struct timer *timer)
{
    attempt_cut(CONTAINER_OF(timer, struct attempt, ceiling_timer), BOUND_CEILING, PHASE_SCRIPT_QUEUE);
}

/// A refusal typed by the script; 0 = not one.
static enum rejection rejection_of(enum script_verdict verdict)
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

static enum outcome outcome_of_verdict(enum script_verdict verdict)
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

/// Typed failures win; without one, a 5xx is failed and a 4xx rejected, whatever the script made of it
/// (contract.md section 3). Limits hit by the script stay its own.
static enum outcome outcome_of_normalise(struct attempt *attempt, enum script_verdict verdict)
{
    bool is_untyped = verdict == SCRIPT_OK || verdict == SCRIPT_EMPTY || verdict == SCRIPT_UNPARSABLE ||
                      verdict == SCRIPT_ERROR;

    attempt->rejection = rejection_of(verdict);
    if (is_untyped && attempt->http_status >= 400) {
        if (attempt->detail[0] == '\0') {
            snprintf(attempt->detail, sizeof attempt->detail, "HTTP status %u", attempt->http_status);
        }
        if (attempt->http_status >= 500) {
            return OUTCOME_FAILED;
        }
        attempt->rejection = attempt->http_status == 429 ? REJECTION_QUOTA : REJECTION_SUPPLIER;
        return OUTCOME_REJECTED;
    }
    return outcome_of_verdict(verdict);
}

static void attempt_on_normalised(struct script_call *call)
{
    struct attempt        *attempt   = call->owner;
    struct normalise_call *normalise = CONTAINER_OF(call, struct normalise_call, call);

    attempt->normalise      = NULL;
    attempt->retry_after_ms = normalise->retry_after_ms;
    attempt_say(attempt, text_of(normalise->message));
    snprintf(attempt->code, sizeof attempt->code, "%s", normalise->code);

    enum outcome outcome = outcome_of_normalise(attempt, normalise->verdict);
    if (outcome == OUTCOME_ANSWERED) {
        attempt->offers   = normalise->offers;
        normalise->offers = NULL;
        attempt->dropped  = attempt->offers->dropped;
    }
    if (outcome == OUTCOME_CUT) {
        attempt->bound = attempt->allocation.bound;
        attempt->phase = PHASE_SCRIPT_QUEUE;
    }
    script_call_destroy(call);
    attempt_finish(attempt, outcome);
}

static void attempt_start_normalise(struct attempt *attempt)
{
    struct world          *world = world_of(attempt);
    struct normalise_call *call  = search_normalise_call(attempt->search, attempt->fetch.response);

    attempt->http_status = attempt->fetch.response->status;
    if (call == NULL) {
        http_response_destroy(&attempt->fetch.response);
        attempt_say(attempt, TEXT("out of memory"));
        attempt_finish(attempt, OUTCOME_FAILED);
        return;
    }
    attempt->fetch.response  = NULL;
    call->account            = attempt->supplier->account;
    call->allocation_end_us  = attempt->allocation.end_us;
    call->took_us            = attempt->fetch.done_us - attempt->fetch.started_us;
    call->body_cap           = attempt->supplier->body_cap;
    call->call.deadline_us   = attempt->allocation.end_us;
    call->call.on_done       = attempt_on_normalised;
    call->call.owner         = attempt;
    if (world->ops->script_submit(world, &call->call) != STATUS_OK) {
        script_call_destroy(&call->call);
        attempt_say(attempt, TEXT("the script queue is closed"));
        attempt_finish(attempt, OUTCOME_SHED);
        return;
    }
    attempt->normalise = call;
    attempt_enter(attempt, ATTEMPT_NORMALISING);
}

static enum outcome outcome_of_fetch(enum fetch_result result)
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
        return OUTCOME_FAILED;
    }
    return OUTCOME_FAILED;
}

static void attempt_on_fetched(struct fetch *fetch)
{
    struct attempt *attempt = CONTAINER_OF(fetch, struct attempt, fetch);

    if (fetch->result == FETCH_OK) {
        attempt_start_normalise(attempt);
        return;
    }
    attempt->phase = fetch->phase;
    if (fetch->result == FETCH_ENDED) {
        attempt->bound = attempt->allocation.bound;
    }
    attempt_say(attempt, text_of(fetch->detail));
    attempt_finish(attempt, outcome_of_fetch(fetch->result));
}

static void attempt_send(struct attempt *attempt)
{
    struct world *world = world_of(attempt);

    attempt->fetch = (struct fetch){
        .request  = attempt->request,
        .end_us   = attempt->allocation.end_us,
        .body_cap = attempt->supplier->body_cap,
        .on_done  = attempt_on_fetched,
    };
    if (attempt->allocation.bound == BOUND_CEILING &&
        world->ops->timer_start(world, &attempt->ceiling_timer, attempt->allocation.end_us) != STATUS_OK) {
        attempt_say(attempt, TEXT("out of memory"));
        attempt_finish(attempt, OUTCOME_FAILED);
        return;
    }
    if (world->ops->fetch_start(world, &attempt->fetch) != STATUS_OK) {
        attempt_say(attempt, TEXT("the request could not be started"));
        attempt_finish(attempt, OUTCOME_FAILED);
        return;
    }
    attempt_enter(attempt, ATTEMPT_FETCHING);
}

void attempt_start(struct attempt *attempt, struct start_candidate *candidate)
{
    struct world *world = world_of(attempt);

    attempt->ceiling_us             = candidate->ceiling_out_us;
    attempt->ceiling_is_from_script = candidate->ceiling_is_from_script;
    attempt->allocation             = search_allocation(attempt->search, attempt->ceiling_us);
    if (candidate->verdict == SCRIPT_DROPPED || (candidate->verdict == SCRIPT_OK && attempt->allocation.us == 0)) {
        attempt->bound = attempt->allocation.bound;
        attempt_finish(attempt, OUTCOME_TOO_LATE);
        return;
    }
    if (candidate->verdict != SCRIPT_OK) {
        attempt->rejection = rejection_of(candidate->verdict);
        attempt_say(attempt, candidate->message);
        attempt_finish(attempt, outcome_of_verdict(candidate->verdict));
        return;
    }
    attempt->request   = candidate->request;
    candidate->request = NULL;
    attempt->began_us  = world->ops->now_us(world);
    attempt_send(attempt);
}

void attempt_init(struct attempt *attempt, struct search *search, const struct catalogue_supplier *supplier)
{
    *attempt = (struct attempt){
        .search     = search,
        .supplier   = supplier,
        .state      = ATTEMPT_WAITING,
        .ceiling_us = UINT64_MAX,
    };
    attempt->ceiling_timer.on_due = attempt_on_ceiling;
}

void attempt_fini(struct attempt *attempt)
{
    attempt_stop(attempt);
    http_request_destroy(&attempt->request);
    http_response_destroy(&attempt->fetch.response);
    offer_batch_release(&attempt->offers);
}
