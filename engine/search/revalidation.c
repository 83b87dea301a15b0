#include "search/revalidation.h"

#include "model/ask_call.h"
#include "model/exchange_note.h"
#include "model/ground.h"
#include "search/part_internal.h"
#include "search/permit.h"
#include "search/say.h"
#include "search/verdict.h"

#include <stdlib.h>

//   LOGGING_IN --> BUILDING --> FETCHING --> READING --> ENDED     its owner is told in the next turn
//        ^                                      |
//        +------------- login refused ----------+                  once
//   any --> ENDED on its end, or an error

enum revalidation_state { LOGGING_IN, BUILDING, FETCHING, READING, ENDED };

struct revalidation {
    struct revalidation_options options;
    struct ground *ground;
    enum revalidation_state state;
    struct timer timer; // its end; once ENDED, to tell it
    struct login_wait wait;
    struct login login;
    bool is_redone; // with another login
    struct script_call *call;
    struct http_request *request;
    struct permit permit;
    struct fetch fetch;
    struct breaker_pass pass;
    bool has_pass;
    struct auth_pass auth;
    bool has_auth;
    uint64_t began_us, arrived_us; // its first fetch began, its last answer came; 0: not
    uint64_t pending_us;           // cut in a phase of the network: since that fetch began
    struct revalidation_end end;
    struct failure *trouble;
};

static struct world *world_of(const struct revalidation *self)
{
    return self->options.world;
}

static uint64_t now_us(const struct revalidation *self)
{
    return world_of(self)->ops->now_us(world_of(self));
}

static enum health_end health_of(const struct part_end *end)
{
    bool is_of_network = end->phase >= PHASE_SEND && end->phase <= PHASE_BODY;

    switch (end->outcome) {
    case OUTCOME_ANSWERED:
        return HEALTH_GOOD;
    case OUTCOME_FAILED:
        if (end->http_status >= 500 || is_of_network) {
            return HEALTH_BAD;
        }
        return end->phase >= PHASE_DNS && end->phase <= PHASE_TLS ? HEALTH_UNREACHABLE : HEALTH_OURS;
    case OUTCOME_REJECTED:
        return end->rejection == REJECTION_BUSY ? HEALTH_BAD : HEALTH_OURS;
    case OUTCOME_CUT:
        return HEALTH_CUT;
    default:
        return HEALTH_OURS;
    }
}

// A revalidation takes other time than a search: of how long it took nothing is told but that it was cut or answered.
static void tell_health(struct revalidation *self, enum health_end end)
{
    struct health_result result = {
        .pass = self->pass,
        .end = self->began_us == 0 || end == HEALTH_GOOD ? HEALTH_OURS : end,
        .took_us = end == HEALTH_BAD   ? now_us(self) - self->began_us
                   : end == HEALTH_CUT ? self->pending_us
                                       : 0,
        .pending_us = end == HEALTH_CUT ? self->pending_us : 0,
        .has_answered = self->arrived_us != 0,
    };

    if (self->has_pass) {
        self->has_pass = false;
        world_of(self)->ops->health_tell(world_of(self), self->options.account, &result);
    }
}

// What the supplier said of the credentials. A login that was denied has told for itself.
static enum auth_end auth_of(const struct part_end *end)
{
    if (end->outcome == OUTCOME_ANSWERED) {
        return AUTH_TAKEN;
    }
    bool is_refused = end->outcome == OUTCOME_REJECTED && end->rejection == REJECTION_AUTH;
    return is_refused && end->phase != PHASE_LOGIN ? AUTH_REFUSED : AUTH_UNKNOWN;
}

static void tell_auth(struct revalidation *self, enum auth_end end)
{
    if (self->has_auth) {
        self->has_auth = false;
        world_of(self)->ops->auth_tell(world_of(self), self->options.account, &self->auth,
                                       self->began_us != 0 ? end : AUTH_UNKNOWN);
    }
}

// Gives up whatever is under way.
static void stop(struct revalidation *self)
{
    struct world *world = world_of(self);

    world->ops->timer_cancel(world, &self->timer);
    if (self->state == LOGGING_IN) {
        world->ops->login_cancel(world, &self->wait);
    }
    if (self->call != NULL) {
        world->ops->script_cancel(world, self->call);
        self->call = NULL;
    }
    if (self->state == FETCHING) {
        self->end.requests += part_has_gone_out(world->ops->fetch_phase(world, &self->fetch));
        world->ops->fetch_cancel(world, &self->fetch);
    }
    permit_return(&self->permit, world);
    self->state = ENDED;
}

static void destroy(struct revalidation *self)
{
    struct ground *ground = self->ground;

    http_request_destroy(&self->request);
    http_response_destroy(&self->fetch.response);
    login_drop(&self->login);
    block_release(&self->end.result);
    block_release(&self->end.hidden);
    block_release(&self->options.facts);
    block_release(&self->options.offer);
    free(self->trouble);
    free(self);
    ground_drop(&ground);
}

static void tell(struct revalidation *self)
{
    self->end.took_us = now_us(self) - self->options.arrival_us;
    self->end.trouble = self->trouble;
    self->options.on_end(self->options.owner, &self->end);
    destroy(self);
}

// Its owner is told from the timer, in a turn of its own.
static void end(struct revalidation *self, enum outcome outcome, const char *words)
{
    struct part_end *end = &self->end.end;

    end->outcome = outcome;
    if (words != NULL && end->detail[0] == '\0') {
        say(end->detail, sizeof(end->detail), text_of(words));
    }
    stop(self);
    tell_health(self, health_of(end));
    tell_auth(self, auth_of(end));
    if (world_of(self)->ops->timer_start(world_of(self), &self->timer, now_us(self)) != STATUS_OK) {
        tell(self); // no memory for a timer: it has none to wait for
    }
}

static void cut(struct revalidation *self)
{
    struct world *world = world_of(self);
    struct part_end *cut_end = &self->end.end;

    switch (self->state) {
    case LOGGING_IN:
        cut_end->phase = PHASE_LOGIN;
        break;
    case FETCHING:
        cut_end->phase = world->ops->fetch_phase(world, &self->fetch);
        self->pending_us = now_us(self) - self->fetch.started_us;
        break;
    default:
        cut_end->phase = world->ops->script_has_begun(world, self->call) ? PHASE_SCRIPT : PHASE_SCRIPT_QUEUE;
        break;
    }
    end(self, OUTCOME_CUT, "its time was over");
}

static void on_timer(struct timer *timer)
{
    struct revalidation *self = CONTAINER_OF(timer, struct revalidation, timer);

    if (self->state == ENDED) {
        tell(self);
    } else {
        cut(self);
    }
}

// ------------------------------------------------------------------------------------------------------- script calls

static void submit(struct revalidation *self, enum revalidation_state state, struct ask_call *ask,
                   void (*on_done)(struct script_call *call))
{
    struct world *world = world_of(self);

    if (ask == NULL) {
        end(self, OUTCOME_FAILED, "out of memory");
        return;
    }
    catalogue_carry(self->options.catalogue, &ask->call);
    ask->call.deadline_us = self->options.end_us;
    ask->call.on_done = on_done;
    ask->call.owner = self;
    ask->account = self->options.account;
    ask->allocation_end_us = self->options.end_us;
    ask->times = (struct script_times){ self->options.arrival_us, self->options.end_us, self->options.arrival_wall_us };
    ask->login = login_hold(&self->login);
    if (world->ops->script_submit(world, &ask->call) != STATUS_OK) {
        script_call_destroy(&ask->call);
        end(self, OUTCOME_SHED, "the script queue is closed");
        return;
    }
    self->call = &ask->call;
    self->state = state;
}

// What a script said when it did not do its work.
static void take_words(struct revalidation *self, struct ask_call *ask)
{
    struct part_end *words = &self->end.end;

    say(words->detail, sizeof(words->detail), text_of(ask->message));
    say(words->code, sizeof(words->code), text_of(ask->code));
    free(self->trouble);
    self->trouble = ask->call.trouble;
    ask->call.trouble = NULL;
}

static void log_in(struct revalidation *self, uint64_t refused);

// True: it goes on with another login.
static bool redo(struct revalidation *self)
{
    struct world *world = world_of(self);
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
    http_request_destroy(&self->request);
    log_in(self, refused);
    return true;
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
    if (verdict == SCRIPT_OK) { // what a script makes of a status is its own to say
        self->end.result = ask->result;
        self->end.hidden = ask->hidden;
        ask->result = NULL;
        ask->hidden = NULL;
        script_call_destroy(call);
        end(self, OUTCOME_ANSWERED, NULL);
        return;
    }
    exchange_note_request(call->trouble, self->request);
    exchange_note_response(call->trouble, ask->response, self->fetch.done_us - self->fetch.started_us, NULL);
    take_words(self, ask);
    script_call_destroy(call);
    self->end.end.rejection = answer.rejection;
    if (verdict == SCRIPT_FAIL_LOGIN && redo(self)) {
        return;
    }
    if (answer.rejection == REJECTION_QUOTA) {
        permit_strained(world_of(self), self->options.account);
    }
    if (answer.rejection == REJECTION_QUOTA || retry_after_ms > 0) {
        self->end.end.retry_after_ms = permit_block(world_of(self), self->options.account, retry_after_ms);
    }
    end(self, verdict == SCRIPT_DROPPED ? OUTCOME_SHED : answer.outcome, "the answer could not be read");
}

// -------------------------------------------------------------------------------------------------------------- fetch

static void on_fetched(struct fetch *fetch)
{
    struct revalidation *self = CONTAINER_OF(fetch, struct revalidation, fetch);

    permit_return(&self->permit, world_of(self));
    self->state = READING; // nothing is out any more
    self->end.requests += part_has_sent(fetch);
    if (fetch->result == FETCH_CONNECT_FAILED) {
        permit_strained(world_of(self), self->options.account);
    }
    if (fetch->result != FETCH_OK) {
        self->end.end.phase = fetch->phase;
        if (fetch->result == FETCH_ENDED) {
            self->pending_us = now_us(self) - fetch->started_us;
        }
        end(self, verdict_of_fetch(fetch->result), fetch->detail);
        return;
    }
    self->arrived_us = fetch->done_us;
    struct ask_call *ask =
        ask_call_create(ASK_REVALIDATE_READ, self->options.facts, self->options.offer, fetch->response);
    if (ask != NULL) {
        fetch->response = NULL;
    }
    submit(self, READING, ask, on_read);
}

// True: an operator has said so, and it ends.
static bool is_switched_off(struct revalidation *self)
{
    struct world *world = world_of(self);
    char why[sizeof(self->end.end.detail)];

    if (world->ops->is_switched_off == NULL ||
        !world->ops->is_switched_off(world, self->options.supplier, self->options.account, why, sizeof(why))) {
        return false;
    }
    end(self, OUTCOME_DISABLED, why);
    return true;
}

static void send(struct revalidation *self)
{
    struct world *world = world_of(self);
    struct permit_refusal refusal;

    if (is_switched_off(self)) { // meanwhile
        return;
    }
    if (now_us(self) >= self->options.end_us) {
        self->end.end.phase = PHASE_SCRIPT; // there is no time left to send in
        end(self, OUTCOME_CUT, "its time was over");
        return;
    }
    if (!permit_take(&self->permit, world, self->options.account, &refusal)) {
        self->end.end.retry_after_ms = refusal.retry_after_ms;
        end(self, refusal.outcome, refusal.detail);
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
        end(self, OUTCOME_FAILED, "the request could not be started");
        return;
    }
    self->state = FETCHING;
    self->began_us = self->began_us != 0 ? self->began_us : now_us(self);
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
    if (verdict != SCRIPT_OK) {
        take_words(self, ask);
        self->end.end.rejection = verdict_rejection(verdict);
    }
    script_call_destroy(call);
    if (verdict == SCRIPT_OK) {
        send(self);
    } else {
        end(self, verdict == SCRIPT_DROPPED ? OUTCOME_SHED : verdict_outcome(verdict), "the request was not built");
    }
}

static void build(struct revalidation *self)
{
    submit(self, BUILDING, ask_call_create(ASK_REVALIDATE_REQUEST, self->options.facts, self->options.offer, NULL),
           on_built);
}

// -------------------------------------------------------------------------------------------------------------- login

static void on_login(struct login_wait *wait)
{
    struct revalidation *self = CONTAINER_OF(wait, struct revalidation, wait);

    self->state = BUILDING; // nobody waits for a login any more
    self->login = wait->login;
    wait->login = (struct login){ 0 };
    if (self->login.value != NULL) {
        build(self);
        return;
    }
    self->end.end = wait->end;
    end(self, wait->end.outcome, NULL);
}

static void log_in(struct revalidation *self, uint64_t refused)
{
    struct world *world = world_of(self);

    login_drop(&self->login);
    switch (world->ops->login_take(world, self->options.account, refused, &self->login, &self->end.end)) {
    case LOGIN_HERE:
        build(self);
        return;
    case LOGIN_FAILED:
        end(self, self->end.end.outcome, NULL);
        return;
    case LOGIN_ABSENT:
        break;
    }
    self->wait = (struct login_wait){ .account = self->options.account, .refused = refused, .on_done = on_login };
    if (world->ops->login_start(world, &self->wait) != STATUS_OK) {
        self->end.end.phase = PHASE_LOGIN;
        end(self, OUTCOME_FAILED, "the login could not be waited for");
        return;
    }
    self->state = LOGGING_IN;
}

// ------------------------------------------------------------------------------------------------------ start and end

// Are its credentials taken, as far as one knows?
static bool is_admitted(struct revalidation *self)
{
    struct world *world = world_of(self);
    uint64_t wait_us = 0;

    if (world->ops->auth_ask == NULL) {
        return true;
    }
    if (world->ops->auth_ask(world, self->options.account, &self->auth, &wait_us)) {
        self->has_auth = true;
        return true;
    }
    self->end.end.rejection = REJECTION_AUTH;
    self->end.end.retry_after_ms = (wait_us + 999) / 1000;
    end(self, OUTCOME_REJECTED, "its credentials were refused too often");
    return false;
}

// A caller's live request is no worse a probe than another: one that is tried out may be asked.
static bool passes(struct revalidation *self)
{
    struct world *world = world_of(self);
    uint64_t wait_us = 0;

    if (!is_admitted(self)) {
        return false;
    }
    if (world->ops->health_ask == NULL) {
        return true;
    }
    enum breaker_answer answer = world->ops->health_ask(world, self->options.account, &self->pass, &wait_us);
    if (answer == BREAKER_PASS || answer == BREAKER_PROBE) {
        self->has_pass = true;
        return true;
    }
    self->end.end.retry_after_ms = (wait_us + 999) / 1000;
    end(self, OUTCOME_BREAKER_OPEN, "failed too often");
    return false;
}

enum status revalidation_start(const struct revalidation_options *options, struct revalidation **revalidation)
{
    struct world *world = options->world;
    struct revalidation *self = calloc(1, sizeof(*self));

    if (self == NULL) {
        return STATUS_NO_MEMORY;
    }
    self->options = *options;
    self->state = BUILDING;
    self->timer.on_due = on_timer;
    if (world->ops->timer_start(world, &self->timer, options->end_us) != STATUS_OK) {
        free(self);
        return STATUS_NO_MEMORY;
    }
    self->ground = ground_hold(options->catalogue->ground);
    self->options.facts = block_acquire(options->facts);
    self->options.offer = block_acquire(options->offer);
    *revalidation = self;
    if (is_switched_off(self) || !passes(self)) {
        return STATUS_OK;
    }
    if (options->account->login != 0) {
        log_in(self, 0);
    } else {
        build(self);
    }
    return STATUS_OK;
}

uint32_t revalidation_cancel(struct revalidation **revalidation)
{
    struct revalidation *self = *revalidation;

    *revalidation = NULL;
    if (self->state == ENDED) {
        world_of(self)->ops->timer_cancel(world_of(self), &self->timer);
    } else {
        stop(self);
    }
    tell_health(self, HEALTH_OURS);
    tell_auth(self, AUTH_UNKNOWN);
    uint32_t requests = self->end.requests;
    destroy(self);
    return requests;
}
