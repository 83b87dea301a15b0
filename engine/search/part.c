#include "search/part_internal.h"

#include "model/exchange_note.h"
#include "search/attempt.h"
#include "search/say.h"
#include "search/search_internal.h"
#include "search/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//   IDLE --> FETCHING --> NORMALISING --> ENDED(end)
//               ^              |
//               +--- PAUSED <--+   a next step: poll, page, look-up
//   any --> ENDED on an error, or when the attempt is cut
//
// What comes before FETCHING when there is a login or a signature: part_login.c.

void part_enter(struct part *part, enum part_state state)
{
    part->state = state;
}

static bool is_in_network(enum phase phase)
{
    return phase >= PHASE_DNS && phase <= PHASE_BODY;
}

/// The whole request is out, in one fetch, when it stands here.
bool part_has_gone_out(enum phase phase)
{
    return phase == PHASE_FIRST_BYTE || phase == PHASE_BODY;
}

bool part_has_sent(const struct fetch *fetch)
{
    return fetch->result == FETCH_OK || part_has_gone_out(fetch->phase);
}

static void part_say(struct part *part, const char *detail)
{
    say(part->end.detail, sizeof(part->end.detail), text_of(detail));
}

void part_finish(struct part *part, enum outcome outcome)
{
    extra_stop(part);
    part_cancel_fetch(part);
    part_enter(part, PART_ENDED);
    part->end.outcome = outcome;
    attempt_on_part_ended(part->attempt);
}

void part_take_trouble(struct part *part, struct script_call *call)
{
    if (call->trouble != NULL) {
        free(part->trouble);
        part->trouble = call->trouble;
        call->trouble = NULL;
    }
}

void part_finish_saying(struct part *part, enum outcome outcome, const char *detail)
{
    part_say(part, detail);
    part_finish(part, outcome);
}

static void next_step_fini(struct next_step *next)
{
    http_request_destroy(&next->request);
    block_release(&next->state);
}

// --------------------------------------------------------------------------------------------------------------- steps

/// Waits before the next step, or ends here when there is no time for it.
static void part_pause(struct part *part)
{
    struct world *world = attempt_world(part->attempt);
    uint64_t now_us = world->ops->now_us(world);
    uint64_t left_us = part->attempt->allocation.end_us - now_us;

    part_enter(part, PART_PAUSED);
    if (part->next.after_us < PART_MIN_PAUSE_US) {
        part->next.after_us = PART_MIN_PAUSE_US;
    }
    if (now_us >= part->attempt->allocation.end_us || part->next.after_us >= left_us) {
        part->end.phase = PHASE_PAUSE; // nothing that comes later could still count
        part_finish(part, OUTCOME_CUT);
        return;
    }
    if (world->ops->timer_start(world, &part->pause, now_us + part->next.after_us) != STATUS_OK) {
        part_finish_saying(part, OUTCOME_FAILED, "out of memory");
    }
}

static void part_on_pause_over(struct timer *timer)
{
    struct part *part = CONTAINER_OF(timer, struct part, pause);
    struct world *world = attempt_world(part->attempt);

    if (part->state == PART_QUEUED) {
        part_on_queue_due(part);
        return;
    }
    if (world->ops->now_us(world) >= part->attempt->allocation.end_us) {
        part->end.phase = PHASE_PAUSE; // the loop was late: there is no time left to send in
        part_finish(part, OUTCOME_CUT);
        return;
    }
    http_request_destroy(&part->request);
    block_release(&part->state_block);
    part->request = part->next.request;
    part->state_block = part->next.state;
    part->next = (struct next_step){ 0 };
    part->step++;
    part_send(part);
}

// ----------------------------------------------------------------------------------------------------------- normalise

/// No step may follow, whether or not the script wants one.
static bool is_at_limit(struct part *part, const struct normalise_call *normalise)
{
    char warning[64];

    if (attempt_is_full(part->attempt)) {
        attempt_stop_others(part->attempt, part);
        return true;
    }
    if (normalise->next.request == NULL || part->step < PART_MAX_STEPS) {
        return false;
    }
    snprintf(warning, sizeof(warning), "stopped after %d steps, the most of one part", PART_MAX_STEPS);
    attempt_warn(part->attempt, warning);
    return true;
}

static void part_take_answer(struct part *part, struct normalise_call *normalise)
{
    uint16_t status = normalise->is_told_empty ? 200 : part->end.http_status;
    struct verdict_answer answer = verdict_of_answer(normalise->verdict, status);
    bool is_good = answer.outcome == OUTCOME_ANSWERED || answer.outcome == OUTCOME_EMPTY;

    part->end.rejection = answer.rejection;
    part->end.retry_after_ms = permit_learn(attempt_world(part->attempt), normalise, answer.rejection);
    exchange_note_request(normalise->call.trouble, part->request);
    exchange_note_response(normalise->call.trouble, normalise->response, normalise->took_us, NULL);
    part_take_trouble(part, &normalise->call);
    part_say(part, normalise->message);
    say(part->end.code, sizeof(part->end.code), text_of(normalise->code));
    if (answer.is_by_status && normalise->message[0] == '\0') {
        snprintf(part->end.detail, sizeof(part->end.detail), "HTTP status %u", part->end.http_status);
    }
    if (answer.outcome == OUTCOME_CUT) {
        part->end.phase = PHASE_SCRIPT_QUEUE;
    }
    bool is_login_refused = normalise->verdict == SCRIPT_FAIL_LOGIN && !part->reads_extra;
    if (!is_good && !is_login_refused && extra_waits(part, answer.outcome)) {
        script_call_destroy(&normalise->call); // the part may be gone, its answer not
        return;
    }
    answer.outcome = is_good || is_login_refused ? answer.outcome : part->end.outcome;
    if (normalise->verdict == SCRIPT_FAIL_LOGIN) {
        extra_stop(part);
        if (part_redo(part)) {
            script_call_destroy(&normalise->call);
            return;
        }
    }
    if (is_good && !attempt_take_offers(part->attempt, part->index, normalise)) {
        is_good = false;
        answer.outcome = OUTCOME_FAILED;
        part_say(part, "out of memory");
    }
    if (is_good) {
        extra_settle(part, true);
        part->has_answered = true;
        part->is_incomplete = normalise->is_incomplete;
    }
    if (is_good && is_at_limit(part, normalise)) {
        part->is_incomplete = true;
    } else if (is_good && normalise->next.request != NULL) {
        part->next = normalise->next;
        normalise->next = (struct next_step){ 0 };
        part_keep_answer(part, normalise);
        script_call_destroy(&normalise->call);
        part_pause(part);
        return;
    }
    script_call_destroy(&normalise->call);
    part_finish(part, answer.outcome);
}

/// The call was dropped because of an end that has moved meanwhile: it has its time yet.
static bool part_normalises_again(struct part *part, struct script_call *call)
{
    struct world *world = attempt_world(part->attempt);
    struct normalise_call *normalise = CONTAINER_OF(call, struct normalise_call, call);
    uint64_t end_us = part->attempt->allocation.end_us;

    if (normalise->verdict != SCRIPT_DROPPED || call->deadline_us >= end_us || world->ops->now_us(world) >= end_us) {
        return false;
    }
    call->deadline_us = end_us;
    normalise->message[0] = '\0';
    return world->ops->script_submit(world, call) == STATUS_OK;
}

/// The supplier's shadow reads the same answer, later and for nobody here.
static void part_tell_shadow(const struct part *part, const struct normalise_call *normalise)
{
    const struct attempt *attempt = part->attempt;
    const struct catalogue_supplier *supplier = attempt->supplier;
    struct world *world = attempt_world(attempt);

    if (supplier->shadow != NULL && world->ops->shadow != NULL && normalise->verdict != SCRIPT_DROPPED) {
        world->ops->shadow(world, &supplier->shadow[attempt->account - supplier->account], normalise);
    }
}

static void part_on_normalised(struct script_call *call)
{
    struct part *part = call->owner;

    if (part_normalises_again(part, call)) {
        return;
    }
    part->normalise = NULL;
    part_tell_shadow(part, CONTAINER_OF(call, struct normalise_call, call));
    part_take_answer(part, CONTAINER_OF(call, struct normalise_call, call));
}

void part_start_normalise(struct part *part, bool is_extra)
{
    struct attempt *attempt = part->attempt;
    struct fetch *fetch = is_extra ? &part->extra->fetch : &part->fetch;
    struct normalise_call *call = search_normalise_call(attempt->search, attempt->supplier, fetch->response);

    part->reads_extra = is_extra;
    part->end.http_status = fetch->response->status;
    attempt->arrived_us = fetch->done_us;
    if (call == NULL) {
        http_response_destroy(&fetch->response);
        part_finish_saying(part, OUTCOME_FAILED, "out of memory");
        return;
    }
    fetch->response = NULL;
    call->account = attempt->account;
    call->call.is_last = attempt->is_lingering;
    call->allocation_end_us = attempt->allocation.end_us;
    call->took_us = fetch->done_us - fetch->started_us;
    call->body_cap = attempt_body_cap(attempt);
    call->part = part->index;
    call->parts = attempt->part_count;
    call->step = part->step;
    call->attempt = part->attempt_number;
    call->is_hedge = is_extra && part->extra->kind == EXTRA_HEDGE;
    call->state = block_acquire(part->state_block);
    call->login = login_hold(&part->login);
    if (!part_submit(part, &call->call, part_on_normalised)) {
        return;
    }
    part->normalise = call;
    part_enter(part, PART_NORMALISING);
}

// --------------------------------------------------------------------------------------------------------------- fetch

void part_cancel_fetch(struct part *part)
{
    struct world *world = attempt_world(part->attempt);

    if (!part->is_out) {
        return;
    }
    part->requests += part_has_gone_out(world->ops->fetch_phase(world, &part->fetch)) ? 1 : 0;
    world->ops->fetch_cancel(world, &part->fetch);
    part->is_out = false;
    permit_return(&part->permit, world);
}

bool part_is_connecting(const struct part *part)
{
    struct world *world = attempt_world(part->attempt);
    enum phase phase = part->is_out ? world->ops->fetch_phase(world, (struct fetch *)&part->fetch) : PHASE_NONE;

    return phase == PHASE_CONNECT || phase == PHASE_TLS;
}

void part_finish_fetch(struct part *part, const struct fetch *fetch)
{
    part->end.phase = fetch->phase;
    part_finish_saying(part, verdict_of_fetch(fetch->result), fetch->detail);
}

static void part_on_fetched(struct fetch *fetch)
{
    struct part *part = CONTAINER_OF(fetch, struct part, fetch);
    bool reads_other = part->state == PART_NORMALISING; // the answer of its second call

    part->is_out = false;
    permit_return(&part->permit, attempt_world(part->attempt));
    part->requests += part_has_sent(fetch) ? 1 : 0;
    extra_note_connect(part);
    if (fetch->result == FETCH_OK) {
        if (!reads_other && !extra_retry_status(part)) {
            part_start_normalise(part, false);
        }
        return;
    }
    if (fetch->result == FETCH_CONNECT_FAILED) {
        permit_strained(attempt_world(part->attempt), part->attempt->account);
    }
    if (fetch->result == FETCH_ENDED && is_in_network(fetch->phase)) {
        attempt_note_pending(part->attempt, fetch->done_us - fetch->started_us);
    }
    if (reads_other) {
        return; // that answer decides
    }
    part->end.phase = fetch->phase;
    part->end.outcome = verdict_of_fetch(fetch->result);
    part_say(part, fetch->detail);
    if (extra_hold(part) || extra_retry_failed(part)) {
        return;
    }
    part_finish_fetch(part, fetch);
}

void part_start(struct part *part)
{
    if (part->request == NULL) {
        part_log_in(part, 0);
    } else {
        part_send(part);
    }
}

void part_send(struct part *part)
{
    if (part_is_signed(part)) {
        part_fetch(part);
    } else {
        part_sign(part);
    }
}

/// When the fetcher is to end it at the latest; its attempt's own end may be sooner.
static uint64_t part_fetch_end_us(const struct attempt *attempt)
{
    uint64_t end_us = attempt->allocation.end_us;

    if (attempt->progress_reads != 0 && attempt->search->end_us > end_us) {
        end_us = attempt->search->end_us; // a new ceiling moves it
    }
    uint64_t lingers_us = attempt->search->options.catalogue->linger_us;
    return lingers_us > 0 && attempt->began_us + lingers_us > end_us ? attempt->began_us + lingers_us : end_us;
}

void part_fetch(struct part *part)
{
    struct world *world = attempt_world(part->attempt);
    struct permit_refusal refusal;

    if (world->ops->now_us(world) >= part->attempt->allocation.end_us) {
        bool was_queued = part->state == PART_QUEUED;
        part->end.phase = was_queued ? PHASE_QUEUE : PHASE_SCRIPT; // there is no time left to send in
        part_finish(part, OUTCOME_CUT);
        return;
    }
    part->fetch = (struct fetch){
        .request = part->request,
        .route = part->attempt->account->route,
        .ground = part->attempt->search->ground,
        .end_us = part_fetch_end_us(part->attempt),
        .body_cap = attempt_body_cap(part->attempt),
        .is_fresh = part->is_retrying, // the one that failed may be kept
        .on_done = part_on_fetched,
    };
    part->end.http_status = 0;
    if (!permit_try(&part->permit, world, part->attempt->account, &refusal)) {
        part_queue(part, &refusal);
        return;
    }
    part->queue_end_us = 0;
    if (world->ops->fetch_start(world, &part->fetch) != STATUS_OK) {
        permit_return(&part->permit, world);
        part_finish_saying(part, OUTCOME_FAILED, "the request could not be started");
        return;
    }
    part->is_out = true;
    part->is_retrying = false;
    part_enter(part, PART_FETCHING);
    extra_watch(part);
}

// ----------------------------------------------------------------------------------------------------------------- end

enum phase part_phase(const struct part *part)
{
    struct world *world = attempt_world(part->attempt);

    switch (part->state) {
    case PART_LOGGING_IN:
        return PHASE_LOGIN;
    case PART_BUILDING:
    case PART_SIGNING:
        return world->ops->script_has_begun(world, part->making) ? PHASE_SCRIPT : PHASE_SCRIPT_QUEUE;
    case PART_QUEUED:
        return PHASE_QUEUE;
    case PART_FETCHING:
        if (!part->is_out && part->extra != NULL && part->extra->is_out) {
            return world->ops->fetch_phase(world, &part->extra->fetch);
        }
        return part->is_out ? world->ops->fetch_phase(world, (struct fetch *)&part->fetch) : PHASE_SCRIPT_QUEUE;
    case PART_NORMALISING:
        return world->ops->script_has_begun(world, &part->normalise->call) ? PHASE_SCRIPT : PHASE_SCRIPT_QUEUE;
    case PART_PAUSED:
        return PHASE_PAUSE;
    case PART_IDLE:
    case PART_ENDED:
        return PHASE_NONE;
    }
    return PHASE_NONE;
}

uint64_t part_pending_us(const struct part *part)
{
    struct world *world = attempt_world(part->attempt);
    enum phase phase = part->is_out ? world->ops->fetch_phase(world, (struct fetch *)&part->fetch) : PHASE_NONE;

    if (!is_in_network(phase) || part->fetch.started_us == 0) {
        return 0; // with us
    }
    return world->ops->now_us(world) - part->fetch.started_us;
}

uint32_t part_requests(const struct part *part)
{
    struct world *world = attempt_world(part->attempt);
    struct extra *extra = part->extra;
    uint32_t count = part->requests;

    count += part->is_out && part_has_gone_out(world->ops->fetch_phase(world, (struct fetch *)&part->fetch)) ? 1 : 0;
    bool has_extra = part->state != PART_ENDED && extra != NULL && extra->is_out;
    count += has_extra && part_has_gone_out(world->ops->fetch_phase(world, &extra->fetch)) ? 1 : 0;
    return count;
}

/// Stops whatever still runs; nothing of it calls back afterwards.
static void part_stop(struct part *part)
{
    struct world *world = attempt_world(part->attempt);

    if (timer_is_running(&part->pause)) {
        world->ops->timer_cancel(world, &part->pause);
    }
    if (part->state == PART_QUEUED) {
        permit_give_up(world, part->attempt->account);
    }
    extra_stop(part);
    part_cancel_fetch(part);
    if (part->state == PART_LOGGING_IN) {
        world->ops->login_cancel(world, &part->wait);
    }
    if (part->making != NULL) {
        world->ops->script_cancel(world, part->making);
        part->making = NULL;
    }
    if (part->state == PART_NORMALISING && part->normalise != NULL) {
        world->ops->script_cancel(world, &part->normalise->call);
        part->normalise = NULL;
    }
    part_enter(part, PART_ENDED);
}

void part_cut(struct part *part)
{
    part->end.phase = part_phase(part);
    part->end.outcome = OUTCOME_CUT;
    part_stop(part);
}

void part_init(struct part *part, struct attempt *attempt, uint32_t index, struct http_request *request)
{
    *part = (struct part){ .attempt = attempt, .index = index, .step = 1, .request = request };
    part->pause.on_due = part_on_pause_over;
}

void part_fini(struct part *part)
{
    part_stop(part);
    next_step_fini(&part->next);
    block_release(&part->state_block);
    http_request_destroy(&part->request);
    http_response_destroy(&part->fetch.response);
    login_drop(&part->login);
    http_response_destroy(&part->before);
    block_release(&part->before_state);
    free(part->trouble);
    part->trouble = NULL;
}
