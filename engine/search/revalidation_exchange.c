// Requests are made by the script, signed when they have waited, sent one after another, and their answers read in the
// order of the parts: what the first parts said comes to the last one as its state.

#include "model/exchange_note.h"
#include "search/part_internal.h"
#include "search/revalidation_internal.h"
#include "search/say.h"
#include "search/verdict.h"

#include <stdlib.h>

// ------------------------------------------------------------------------------------------------------- script calls

static struct script_times times_of(const struct revalidation *self)
{
    return (struct script_times){ self->options.arrival_us, self->options.end_us, self->options.arrival_wall_us };
}

// `call` NULL: there was no memory for it.
static void submit(struct revalidation *self, enum revalidation_state state, struct script_call *call,
                   void (*on_done)(struct script_call *call))
{
    struct world *world = revalidation_world(self);

    if (call == NULL) {
        revalidation_finish(self, OUTCOME_FAILED, "out of memory");
        return;
    }
    catalogue_carry(self->options.catalogue, call);
    call->deadline_us = self->options.end_us;
    call->on_done = on_done;
    call->owner = self;
    if (world->ops->script_submit(world, call) != STATUS_OK) {
        script_call_destroy(call);
        revalidation_finish(self, OUTCOME_SHED, "the script queue is closed");
        return;
    }
    self->call = call;
    self->state = state;
}

static struct script_call *ask_of(struct revalidation *self, enum ask_what what, struct http_response *response)
{
    struct ask_call *ask = ask_call_create(what, self->options.facts, self->options.offer, response);

    if (ask == NULL) {
        return NULL;
    }
    ask->account = self->options.account;
    ask->allocation_end_us = self->options.end_us;
    ask->times = times_of(self);
    ask->login = login_hold(&self->login);
    ask->part = self->part;
    ask->parts = self->parts;
    ask->step = self->step;
    ask->state = block_acquire(self->step_state);
    return &ask->call;
}

void revalidation_drop_exchanges(struct revalidation *self)
{
    http_request_destroy(&self->request);
    http_request_destroy(&self->others);
    http_request_destroy(&self->next.request);
    block_release(&self->next.state);
    block_release(&self->step_state);
}

// What a script said when it did not do its work.
static void take_words(struct revalidation *self, struct script_call *call, const char *message, const char *code)
{
    struct part_end *words = &self->end.end;

    say(words->detail, sizeof(words->detail), text_of(message));
    say(words->code, sizeof(words->code), text_of(code));
    free(self->trouble);
    self->trouble = call->trouble;
    call->trouble = NULL;
}

// True: it goes on with another login.
static bool redo(struct revalidation *self)
{
    struct world *world = revalidation_world(self);
    uint64_t refused = self->login.number;

    if (self->options.account->login == 0) {
        return false;
    }
    if (self->is_redone) {
        struct part_end refusal = self->end.end;
        refusal.outcome = OUTCOME_REJECTED;
        refusal.phase = PHASE_LOGIN;
        world->ops->login_refuse(world, self->options.account, refused, &refusal);
        return false;
    }
    self->is_redone = true;
    self->end.end = (struct part_end){ 0 };
    revalidation_drop_exchanges(self);
    revalidation_log_in(self, refused);
    return true;
}

static void send(struct revalidation *self);

// Its step has waited long enough.
static void go_on(struct revalidation *self)
{
    http_request_destroy(&self->request);
    block_release(&self->step_state);
    self->step_state = self->next.state;
    if (self->next.request != NULL) {
        self->request = self->next.request;
        self->step++;
    } else {
        self->request = self->others;
        self->others = self->request->next;
        self->request->next = NULL;
        self->part++;
        self->step = 1;
    }
    self->next = (struct next_step){ 0 };
    send(self);
}

void revalidation_on_pause_over(struct timer *timer)
{
    go_on(CONTAINER_OF(timer, struct revalidation, pause));
}

// Another exchange is to follow.
static void take_next(struct revalidation *self, struct next_step *next)
{
    struct world *world = revalidation_world(self);
    uint64_t now_us = revalidation_now_us(self);

    self->next = *next;
    *next = (struct next_step){ 0 };
    if (self->next.request == NULL && self->others == NULL) { // the script's side does not let it through
        revalidation_finish(self, OUTCOME_SCRIPT_ERROR, "its script wants to go on with nothing");
        return;
    }
    if (self->exchanges >= REVALIDATION_MAX_EXCHANGES) {
        revalidation_finish(self, OUTCOME_SCRIPT_ERROR, "its script came to no end in 100 exchanges");
        return;
    }
    if (self->next.after_us < PART_MIN_PAUSE_US) {
        self->next.after_us = self->next.request != NULL ? PART_MIN_PAUSE_US : 0;
    }
    self->state = REVALIDATION_PAUSED;
    if (now_us + self->next.after_us >= self->options.end_us) { // nothing that comes later could still count
        self->end.end.phase = PHASE_PAUSE;
        revalidation_finish(self, OUTCOME_CUT, "its time would be over before its next step");
    } else if (self->next.after_us == 0) {
        go_on(self);
    } else if (world->ops->timer_start(world, &self->pause, now_us + self->next.after_us) != STATUS_OK) {
        revalidation_finish(self, OUTCOME_FAILED, "out of memory");
    }
}

static void on_read(struct script_call *call)
{
    struct revalidation *self = call->owner;
    struct ask_call *ask = CONTAINER_OF(call, struct ask_call, call);
    enum script_verdict verdict = ask->verdict;
    struct verdict_answer answer = verdict_of_answer(verdict, ask->response->status);
    uint64_t retry_after_ms = ask->retry_after_ms;

    self->call = NULL;
    self->end.end.http_status = ask->response->status;
    if (verdict == SCRIPT_OK && ask->result == NULL) {
        struct next_step next = ask->next;
        ask->next = (struct next_step){ 0 };
        script_call_destroy(call);
        take_next(self, &next);
        return;
    }
    if (verdict == SCRIPT_OK) { // what a script makes of a status is its own to say
        self->end.result = ask->result;
        self->end.hidden = ask->hidden;
        ask->result = NULL;
        ask->hidden = NULL;
        script_call_destroy(call);
        revalidation_finish(self, OUTCOME_ANSWERED, NULL);
        return;
    }
    exchange_note_request(call->trouble, self->request);
    exchange_note_response(call->trouble, ask->response, self->fetch.done_us - self->fetch.started_us, NULL);
    take_words(self, call, ask->message, ask->code);
    script_call_destroy(call);
    self->end.end.rejection = answer.rejection;
    if (verdict == SCRIPT_FAIL_LOGIN && redo(self)) {
        return;
    }
    if (answer.rejection == REJECTION_QUOTA) {
        permit_strained(revalidation_world(self), self->options.account);
    }
    if (answer.rejection == REJECTION_QUOTA || retry_after_ms > 0) {
        self->end.end.retry_after_ms = permit_block(revalidation_world(self), self->options.account, retry_after_ms);
    }
    revalidation_finish(self, verdict == SCRIPT_DROPPED ? OUTCOME_SHED : answer.outcome,
                        "the answer could not be read");
}

// -------------------------------------------------------------------------------------------------------------- fetch

static void on_fetched(struct fetch *fetch)
{
    struct revalidation *self = CONTAINER_OF(fetch, struct revalidation, fetch);

    permit_return(&self->permit, revalidation_world(self));
    self->state = REVALIDATION_READING; // nothing is out any more
    self->end.requests += part_has_sent(fetch);
    if (fetch->result == FETCH_CONNECT_FAILED) {
        permit_strained(revalidation_world(self), self->options.account);
    }
    if (fetch->result != FETCH_OK) {
        self->end.end.phase = fetch->phase;
        if (fetch->result == FETCH_ENDED) {
            self->pending_us = revalidation_now_us(self) - fetch->started_us;
        }
        revalidation_finish(self, verdict_of_fetch(fetch->result), fetch->detail);
        return;
    }
    self->arrived_us = fetch->done_us;
    struct script_call *call = ask_of(self, ASK_REVALIDATE_READ, fetch->response);
    if (call != NULL) {
        fetch->response = NULL;
    }
    submit(self, REVALIDATION_READING, call, on_read);
}

static void fetch(struct revalidation *self)
{
    struct world *world = revalidation_world(self);
    struct permit_refusal refusal;

    if (!permit_take_kept(&self->permit, world, self->options.account, &refusal)) {
        self->end.end.retry_after_ms = refusal.retry_after_ms;
        revalidation_finish(self, refusal.outcome, refusal.detail);
        return;
    }
    self->fetch = (struct fetch){
        .request = self->request,
        .route = self->options.account->route,
        .ground = self->ground,
        .end_us = self->options.end_us,
        .body_cap = self->options.supplier->body_cap,
        .on_done = on_fetched,
    };
    if (world->ops->fetch_start(world, &self->fetch) != STATUS_OK) {
        revalidation_finish(self, OUTCOME_FAILED, "the request could not be started");
        return;
    }
    self->exchanges++;
    self->state = REVALIDATION_FETCHING;
    self->began_us = self->began_us != 0 ? self->began_us : revalidation_now_us(self);
}

// --------------------------------------------------------------------------------------------------------------- sign

static void on_signed(struct script_call *call)
{
    struct revalidation *self = call->owner;
    struct request_call *made = CONTAINER_OF(call, struct request_call, call);
    enum script_verdict verdict = made->verdict;

    self->call = NULL;
    self->request = made->request;
    made->request = NULL;
    if (verdict != SCRIPT_OK) {
        take_words(self, call, made->message, made->code);
        self->end.end.rejection = verdict_rejection(verdict);
    }
    script_call_destroy(call);
    if (verdict == SCRIPT_OK) {
        fetch(self);
    } else {
        revalidation_finish(self, verdict == SCRIPT_DROPPED ? OUTCOME_SHED : verdict_outcome(verdict),
                            "the request was not signed");
    }
}

// A request that has waited is signed anew: its signature tells the time.
static bool is_signed(const struct revalidation *self)
{
    return !self->options.supplier->signs ||
           (self->request->signed_us != 0 &&
            revalidation_now_us(self) <= self->request->signed_us + PART_SIGNED_FRESH_US);
}

static void sign(struct revalidation *self)
{
    struct request_call *call = request_call_create(REQUEST_SIGN, self->options.facts, &self->login, self->request);

    if (call == NULL) {
        submit(self, REVALIDATION_SIGNING, NULL, on_signed);
        return;
    }
    self->request = NULL;
    call->account = self->options.account;
    call->times = times_of(self);
    call->allocation_end_us = self->options.end_us;
    call->part = self->part;
    call->parts = self->parts;
    call->step = self->step;
    submit(self, REVALIDATION_SIGNING, &call->call, on_signed);
}

static void send(struct revalidation *self)
{
    if (revalidation_is_switched_off(self)) { // meanwhile
        return;
    }
    if (revalidation_now_us(self) >= self->options.end_us) {
        self->end.end.phase = PHASE_SCRIPT; // there is no time left to send in
        revalidation_finish(self, OUTCOME_CUT, "its time was over");
        return;
    }
    if (is_signed(self)) {
        fetch(self);
    } else {
        sign(self);
    }
}

// -------------------------------------------------------------------------------------------------------------- build

static void on_built(struct script_call *call)
{
    struct revalidation *self = call->owner;
    struct ask_call *ask = CONTAINER_OF(call, struct ask_call, call);
    enum script_verdict verdict = ask->verdict;

    self->call = NULL;
    self->request = ask->request;
    ask->request = NULL;
    for (const struct http_request *part = self->request; part != NULL; part = part->next) {
        self->parts++;
    }
    if (verdict != SCRIPT_OK) {
        take_words(self, call, ask->message, ask->code);
        self->end.end.rejection = verdict_rejection(verdict);
    }
    script_call_destroy(call);
    if (verdict == SCRIPT_OK && self->request != NULL) {
        self->others = self->request->next;
        self->request->next = NULL;
        send(self);
    } else {
        revalidation_finish(self, verdict == SCRIPT_DROPPED ? OUTCOME_SHED : verdict_outcome(verdict),
                            "the request was not built");
    }
}

void revalidation_build(struct revalidation *self)
{
    self->part = self->step = 1;
    self->parts = 0; // as many as it makes
    submit(self, REVALIDATION_BUILDING, ask_of(self, ASK_REVALIDATE_REQUEST, NULL), on_built);
}
