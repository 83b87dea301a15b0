#include "search/extra.h"

#include "search/part_internal.h"
#include "search/search_internal.h"

//   (own fetch starts) --> timer --> ask --> copy, sign --> OUT --> answer or failure
//
// `part->is_out` and `extra->is_out` say which fetches are under way; an answer that nobody has looked at yet stays in
// the response of its fetch. `part->reads_extra` says whose answer is being normalised. The first answer that came is
// read first; only one is read at a time.

static bool is_allowed(const struct part *part)
{
    const struct attempt *attempt = part->attempt;
    struct world *world = attempt_world(attempt);

    return attempt->search->options.catalogue->extra.is_on && world->ops->extra_ask != NULL &&
           !attempt_is_dark(attempt) && !attempt->is_lingering;
}

static const struct extra_terms *terms_of(const struct part *part)
{
    static const struct extra_terms NONE = { .may_hedge = false };
    const struct extra_terms *terms = part->attempt->supplier->extra;

    return terms != NULL ? terms : &NONE;
}

/// Does a URL lead to that origin?
static bool leads_to(struct text url, struct text origin)
{
    bool has_more = url.length > origin.length;
    char next = has_more ? url.data[origin.length] : '/';

    return text_starts_with(url, origin) && (next == '/' || next == '?');
}

/// The first other endpoint that answers the same request; NULL: none does.
static const struct text *endpoint_of(const struct part *part)
{
    const struct extra_terms *terms = terms_of(part);
    struct text url = part->request->url;

    if (terms->origin.data != NULL && !leads_to(url, terms->origin)) {
        return NULL;
    }
    for (size_t i = 0; i < terms->endpoint_count; i++) {
        if (!leads_to(url, terms->endpoints[i])) {
            return &terms->endpoints[i];
        }
    }
    return NULL;
}

/// NULL: no memory.
static struct extra *extra_of(struct part *part)
{
    if (part->extra == NULL) {
        part->extra = search_alloc(part->attempt->search, sizeof(*part->extra));
        if (part->extra != NULL) {
            part->extra->part = part;
        }
    }
    return part->extra;
}

static uint64_t left_us(const struct part *part, uint64_t now_us)
{
    uint64_t end_us = part->attempt->allocation.end_us;
    return end_us > now_us ? end_us - now_us : 0;
}

/// What is told of it is told here, and once.
static void extra_tell(struct part *part, enum extra_fate fate, uint64_t loser_us)
{
    struct extra *extra = part->extra;
    struct world *world = attempt_world(part->attempt);
    struct extra_result result = { .kind = extra->kind, .fate = fate, .loser_us = loser_us };

    if (extra->is_granted) {
        extra->is_granted = false;
        world->ops->extra_tell(world, part->attempt->account, &result);
    }
}

/// It does not go out after all.
static void extra_drop(struct part *part)
{
    http_request_destroy(&part->extra->request);
    extra_tell(part, EXTRA_NOT_SENT, 0);
}

static bool extra_ask(struct part *part, enum extra_kind kind, uint64_t began_us)
{
    struct world *world = attempt_world(part->attempt);
    uint64_t now_us = world->ops->now_us(world);
    struct extra_question question = { .kind = kind,
                                       .elapsed_us = now_us > began_us ? now_us - began_us : 0,
                                       .left_us = left_us(part, now_us),
                                       .call_cost = terms_of(part)->call_cost,
                                       .is_overloaded = world_overload(world) != OVERLOAD_NONE };

    if (question.left_us == 0 || world->ops->extra_ask(world, part->attempt->account, &question) != EXTRA_YES) {
        return false;
    }
    part->extra->kind = kind;
    part->extra->is_used = true;
    part->extra->is_granted = true;
    return true;
}

static void extra_stop_timer(struct part *part)
{
    struct world *world = attempt_world(part->attempt);

    if (part->extra != NULL && timer_is_running(&part->extra->timer)) {
        world->ops->timer_cancel(world, &part->extra->timer);
    }
}

// --------------------------------------------------------------------------------------------------------------- retry

/// Sends the request once more: the first step's is built anew, so that its script sees which try it is.
static bool extra_retry_now(struct part *part)
{
    struct extra *extra = is_allowed(part) ? extra_of(part) : NULL;

    if (extra == NULL || extra->is_used || part->state != PART_FETCHING ||
        !extra_ask(part, EXTRA_RETRY, part->fetch.started_us)) {
        return false;
    }
    extra_stop_timer(part);
    extra->has_held = true; // in case that nothing goes out
    extra->held = part->end;
    part->told.retries++;
    part->attempt_number = 2;
    part->is_retrying = true;
    http_response_destroy(&part->fetch.response);
    if (part->step == 1) {
        part_build_again(part);
    } else {
        part->request->signed_us = 0;
        part_send(part);
    }
    return true;
}

bool extra_retry_failed(struct part *part)
{
    enum fetch_result result = part->fetch.result;
    bool is_fast = result == FETCH_CONNECT_FAILED || result == FETCH_SEND_FAILED || result == FETCH_RECEIVE_FAILED;

    part->end.outcome = OUTCOME_FAILED;
    return is_fast && extra_retry_now(part);
}

bool extra_retry_status(struct part *part)
{
    const struct http_response *response = part->fetch.response;

    if (!extra_terms_retry(terms_of(part), response->status) || response->status == 429 || response->status == 401 ||
        response->status == 403 || http_response_header(response, "retry-after").data != NULL) {
        return false;
    }
    part->end.outcome = OUTCOME_FAILED;
    part->end.http_status = response->status;
    return extra_retry_now(part);
}

bool extra_take_held(struct part *part, enum outcome outcome)
{
    bool is_ours = outcome == OUTCOME_RATE_LIMITED || outcome == OUTCOME_SATURATED || outcome == OUTCOME_SHED ||
                   outcome == OUTCOME_CUT || outcome == OUTCOME_FAILED;

    if (!part->is_retrying || !is_ours) {
        return false;
    }
    part->end = part->extra->held;
    extra_tell(part, EXTRA_NOT_SENT, 0);
    part->told.retries = 0;
    part->is_retrying = false;
    return true;
}

bool extra_hold(struct part *part)
{
    if (!extra_is_pending(part)) {
        return false;
    }
    part->extra->has_held = part->fetch.result != FETCH_LOST;
    part->extra->held = part->end;
    return true;
}

// -------------------------------------------------------------------------------------------------------- second calls

/// Its request, where it is sent for the second time. NULL: no memory.
static struct http_request *extra_copy(const struct part *part)
{
    const struct text *endpoint = part->extra->kind == EXTRA_HEDGE ? endpoint_of(part) : NULL;
    struct http_request values = *part->request;
    struct url_parts parts;
    struct buffer url;

    values.next = NULL;
    buffer_init(&url, 1 << 16);
    if (endpoint != NULL && url_split(values.url, &parts)) {
        buffer_append_text(&url, *endpoint);
        buffer_append_text(&url, parts.target.data != NULL ? parts.target : TEXT("/"));
        values.url = buffer_text(&url);
    }
    struct http_request *copy = url.is_full ? NULL : http_request_create(&values);
    buffer_fini(&url);
    return copy;
}

/// Neither call goes on: the part ends as its own one did, or, when that one only lost the race, as this one.
static void extra_end_alone(struct part *part)
{
    struct extra *extra = part->extra;

    if (extra->has_held) {
        part->end = extra->held;
        part_finish(part, part->end.outcome);
    } else {
        part_finish_fetch(part, &extra->fetch);
    }
}

static void extra_on_fetched(struct fetch *fetch)
{
    struct extra *extra = CONTAINER_OF(fetch, struct extra, fetch);
    struct part *part = extra->part;

    extra->is_out = false;
    permit_return(&extra->permit, attempt_world(part->attempt));
    part->requests += part_has_sent(fetch) ? 1 : 0;
    if (part->state == PART_NORMALISING) {
        return; // the part's own answer is being read
    }
    if (fetch->result == FETCH_OK) {
        part_start_normalise(part, true);
    } else if (!part->is_out) {
        extra_end_alone(part);
    }
}

static void extra_fetch(struct part *part)
{
    struct extra *extra = part->extra;
    struct attempt *attempt = part->attempt;
    struct world *world = attempt_world(attempt);
    struct permit_refusal refusal;
    bool is_race = extra->kind == EXTRA_CONNECT;

    if (world->ops->now_us(world) >= attempt->allocation.end_us || (is_race && !part_is_connecting(part)) ||
        !permit_take(&extra->permit, world, attempt->account, &refusal)) {
        extra_drop(part);
        return;
    }
    extra->race = (struct fetch_race){ NULL };
    extra->fetch = (struct fetch){ .request = extra->request,
                                   .route = attempt->account->route,
                                   .ground = attempt->search->ground,
                                   .end_us = part->fetch.end_us,
                                   .body_cap = part->fetch.body_cap,
                                   .race = is_race ? &extra->race : NULL,
                                   .on_done = extra_on_fetched };
    part->fetch.race = extra->fetch.race; // before the second one starts: either may be connected at once then
    if (world->ops->fetch_start(world, &extra->fetch) != STATUS_OK) {
        part->fetch.race = NULL;
        permit_return(&extra->permit, world);
        extra_drop(part);
        return;
    }
    extra->is_out = true;
    if (!is_race) {
        part->told.has_hedge = true;
        part->told.hedge_us = world->ops->now_us(world);
    }
}

static void extra_on_signed(struct script_call *call)
{
    struct part *part = call->owner;
    struct extra *extra = part->extra;
    struct request_call *signed_call = CONTAINER_OF(call, struct request_call, call);
    bool is_signed = signed_call->verdict == SCRIPT_OK;

    extra->signing = NULL;
    extra->request = signed_call->request;
    signed_call->request = NULL;
    script_call_destroy(call);
    if (!is_signed) {
        extra_drop(part);
    } else {
        extra_fetch(part);
    }
    if (!extra->is_out && !part->is_out && part->state == PART_FETCHING) { // the part's own call failed meanwhile
        extra_end_alone(part);
    }
}

/// A call of its own: the part has one under way.
static void extra_sign(struct part *part)
{
    struct extra *extra = part->extra;
    struct attempt *attempt = part->attempt;
    struct world *world = attempt_world(attempt);
    struct request_call *call =
        search_request_call(attempt->search, attempt->supplier, REQUEST_SIGN, &part->login, extra->request);

    if (call == NULL) {
        extra_drop(part);
        return;
    }
    extra->request = NULL;
    part_describe_request(part, call);
    call->attempt = 2;
    call->is_hedge = true;
    call->call.deadline_us = attempt->allocation.end_us;
    call->call.on_done = extra_on_signed;
    call->call.owner = part;
    if (world->ops->script_submit(world, &call->call) != STATUS_OK) {
        script_call_destroy(&call->call);
        extra_drop(part);
        return;
    }
    extra->signing = &call->call;
}

static void extra_send(struct part *part)
{
    part->extra->request = extra_copy(part);
    if (part->extra->request == NULL) {
        extra_drop(part);
    } else if (part->attempt->supplier->signs) {
        extra_sign(part);
    } else {
        extra_fetch(part);
    }
}

// --------------------------------------------------------------------------------------------------------------- timer

static void extra_next(struct part *part, uint64_t after_us);

static void extra_on_due(struct timer *timer)
{
    struct extra *extra = CONTAINER_OF(timer, struct extra, timer);
    struct part *part = extra->part;
    struct world *world = attempt_world(part->attempt);
    uint64_t elapsed_us = world->ops->now_us(world) - part->fetch.started_us;

    if (!part->is_out || extra->is_used || !is_allowed(part)) {
        return;
    }
    bool is_connect_due = extra->times.connect_us <= elapsed_us;
    bool is_hedge_due = extra->times.hedge_us <= elapsed_us;
    if (is_connect_due && part_is_connecting(part) && extra_ask(part, EXTRA_CONNECT, part->fetch.started_us)) {
        extra_send(part);
        return;
    }
    if (is_hedge_due) {
        if (extra_ask(part, EXTRA_HEDGE, part->fetch.started_us)) {
            extra_send(part);
        }
        return;
    }
    extra_next(part, elapsed_us);
}

/// Waits for the next time to ask; none is asked twice.
static void extra_next(struct part *part, uint64_t after_us)
{
    struct extra *extra = part->extra;
    struct world *world = attempt_world(part->attempt);
    uint64_t connect_us = extra->times.connect_us > after_us ? extra->times.connect_us : UINT64_MAX;
    uint64_t hedge_us = extra->times.hedge_us > after_us ? extra->times.hedge_us : UINT64_MAX;
    uint64_t next_us = connect_us < hedge_us ? connect_us : hedge_us;

    if (next_us == UINT64_MAX) {
        return;
    }
    extra->timer.on_due = extra_on_due;
    if (world->ops->timer_start(world, &extra->timer, part->fetch.started_us + next_us) != STATUS_OK) {
        extra->is_used = true; // without its timer there is no second call
    }
}

void extra_watch(struct part *part)
{
    const struct extra_terms *terms = terms_of(part);
    struct attempt *attempt = part->attempt;
    struct world *world = attempt_world(attempt);

    if (!is_allowed(part) || part->told.retries > 0) {
        return;
    }
    uint64_t now_us = world->ops->now_us(world);
    struct extra_call call = { .left_us = left_us(part, now_us),
                               .call_cost = terms->call_cost,
                               .may_hedge = terms->may_hedge || endpoint_of(part) != NULL };
    struct extra_times times = world->ops->extra_call(world, attempt->account, &call);
    bool is_ever = times.connect_us != UINT64_MAX || times.hedge_us != UINT64_MAX;
    if (!is_ever || extra_of(part) == NULL || part->extra->is_used) {
        return;
    }
    part->extra->times = times;
    if (part->shared.shared != NULL) {
        part->extra->times.connect_us = UINT64_MAX; // others wait for that connect, too
    }
    extra_next(part, 0);
}

void extra_note_connect(struct part *part)
{
    const struct fetch *fetch = &part->fetch;
    struct world *world = attempt_world(part->attempt);

    if (is_allowed(part) && !fetch->is_reused && fetch->connected_us > fetch->started_us) {
        world->ops->extra_connected(world, part->attempt->account, fetch->connected_us - fetch->started_us);
    }
}

// --------------------------------------------------------------------------------------------------------------- ends

bool extra_is_pending(const struct part *part)
{
    const struct extra *extra = part->extra;
    return extra != NULL &&
           (extra->is_out || extra->signing != NULL || (extra->fetch.response != NULL && !part->reads_extra));
}

bool extra_waits(struct part *part, enum outcome outcome)
{
    struct extra *extra = part->extra;

    part->end.outcome = outcome;
    if (extra == NULL || !extra->is_used || extra->kind == EXTRA_RETRY) {
        return false;
    }
    if (!part->reads_extra) {
        extra->has_held = true;
        extra->held = part->end;
        if (!extra_is_pending(part)) {
            return false;
        }
        if (extra->fetch.response != NULL) {
            part_start_normalise(part, true);
        } else {
            part_enter(part, PART_FETCHING);
        }
        return true;
    }
    if (part->is_out) { // a failing hedge never beats a pending primary
        part->end = (struct part_end){ 0 };
        part_enter(part, PART_FETCHING);
        return true;
    }
    if (part->fetch.response != NULL) {
        part->end = (struct part_end){ 0 };
        part_start_normalise(part, false);
        return true;
    }
    if (extra->has_held) {
        part->end = extra->held;
    }
    return false;
}

/// How long a fetch that is given up has been out.
static uint64_t out_us(const struct part *part, const struct fetch *fetch, bool is_out)
{
    struct world *world = attempt_world(part->attempt);
    return is_out ? world->ops->now_us(world) - fetch->started_us : 0;
}

/// Whatever of it is under way ends.
static void extra_cancel(struct part *part)
{
    struct extra *extra = part->extra;
    struct world *world = attempt_world(part->attempt);

    extra_stop_timer(part);
    if (extra->is_out) {
        part->requests += part_has_gone_out(world->ops->fetch_phase(world, &extra->fetch)) ? 1 : 0;
        world->ops->fetch_cancel(world, &extra->fetch);
        extra->is_out = false;
        permit_return(&extra->permit, world);
    }
    if (extra->signing != NULL) {
        world->ops->script_cancel(world, extra->signing);
        extra->signing = NULL;
    }
    part->fetch.race = part->fetch.race == &extra->race ? NULL : part->fetch.race;
    http_response_destroy(&extra->fetch.response);
    http_request_destroy(&extra->request);
    extra->is_used = extra->is_used || extra->is_granted;
}

void extra_settle(struct part *part, bool is_good)
{
    struct extra *extra = part->extra;
    struct world *world = attempt_world(part->attempt);

    if (extra == NULL) {
        return;
    }
    bool was_signing = extra->signing != NULL;
    bool has_won = is_good && (extra->kind == EXTRA_RETRY || part->reads_extra);
    uint64_t second_us = out_us(part, &extra->fetch, extra->is_out);
    if (has_won && extra->kind != EXTRA_RETRY) {
        uint64_t first_us = out_us(part, &part->fetch, part->is_out);
        part->told.has_won = extra->kind == EXTRA_HEDGE;
        bool is_alone = part->attempt->part_count == 1; // of several parts the last one's answer is the attempt's
        part->attempt->answer_us = is_alone && extra->kind == EXTRA_HEDGE ? extra->fetch.started_us : 0;
        part_cancel_fetch(part);
        http_response_destroy(&part->fetch.response);
        extra_cancel(part);
        extra_tell(part, EXTRA_WON, first_us);
        return;
    }
    bool is_unsent = was_signing || part->is_retrying;
    bool is_late = !is_good && world->ops->now_us(world) >= part->attempt->allocation.end_us;
    enum extra_fate fate = is_unsent ? EXTRA_NOT_SENT : has_won ? EXTRA_WON : is_late ? EXTRA_LATE : EXTRA_WASTED;
    part->told.retries = part->is_retrying ? 0 : part->told.retries;
    extra_cancel(part);
    extra_tell(part, fate, second_us);
}

void extra_stop(struct part *part)
{
    extra_settle(part, false);
}

struct extra_told extra_told_of(const struct attempt *attempt)
{
    struct extra_told told = { 0 };

    for (uint32_t i = 0; i < attempt->part_count; i++) {
        const struct extra_told *part = &attempt->parts[i].told;
        bool is_first = part->has_hedge && (!told.has_hedge || part->hedge_us < told.hedge_us);
        told.retries += part->retries;
        told.hedge_us = is_first ? part->hedge_us : told.hedge_us;
        told.has_hedge = told.has_hedge || part->has_hedge;
        told.has_won = told.has_won || part->has_won;
    }
    return told;
}
