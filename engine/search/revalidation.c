#include "search/revalidation.h"

#include "model/ground.h"
#include "search/part_internal.h"
#include "search/revalidation_internal.h"
#include "search/say.h"
#include "search/verdict.h"

#include <stdlib.h>

// A revalidation takes other time than a search: of how long it took nothing is told but that it was cut or answered.
static void tell_health(struct revalidation *self, enum health_end end)
{
    struct health_result result = {
        .pass = self->pass,
        .end = self->began_us == 0 || end == HEALTH_GOOD ? HEALTH_OURS : end,
        .took_us = end == HEALTH_BAD   ? revalidation_now_us(self) - self->began_us
                   : end == HEALTH_CUT ? self->pending_us
                                       : 0,
        .pending_us = end == HEALTH_CUT ? self->pending_us : 0,
        .has_answered = self->arrived_us != 0,
    };

    if (self->has_pass) {
        self->has_pass = false;
        revalidation_world(self)->ops->health_tell(revalidation_world(self), self->options.account, &result);
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
        revalidation_world(self)->ops->auth_tell(revalidation_world(self), self->options.account, &self->auth,
                                                 self->began_us != 0 ? end : AUTH_UNKNOWN);
    }
}

// Gives up whatever is under way.
static void stop(struct revalidation *self)
{
    struct world *world = revalidation_world(self);

    world->ops->timer_cancel(world, &self->timer);
    if (timer_is_running(&self->pause)) {
        world->ops->timer_cancel(world, &self->pause);
    }
    if (self->state == REVALIDATION_LOGGING_IN) {
        world->ops->login_cancel(world, &self->wait);
    }
    if (self->call != NULL) {
        world->ops->script_cancel(world, self->call);
        self->call = NULL;
    }
    if (self->state == REVALIDATION_FETCHING) {
        self->end.requests += part_has_gone_out(world->ops->fetch_phase(world, &self->fetch));
        world->ops->fetch_cancel(world, &self->fetch);
    }
    permit_return(&self->permit, world);
    self->state = REVALIDATION_ENDED;
}

static void destroy(struct revalidation *self)
{
    struct ground *ground = self->ground;

    revalidation_drop_exchanges(self);
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
    self->end.took_us = revalidation_now_us(self) - self->options.arrival_us;
    self->end.trouble = self->trouble;
    self->options.on_end(self->options.owner, &self->end);
    destroy(self);
}

// Its owner is told from the timer, in a turn of its own.
void revalidation_finish(struct revalidation *self, enum outcome outcome, const char *words)
{
    struct part_end *end = &self->end.end;

    end->outcome = outcome;
    if (words != NULL && end->detail[0] == '\0') {
        say(end->detail, sizeof(end->detail), text_of(words));
    }
    stop(self);
    tell_health(self, verdict_health(outcome, end));
    tell_auth(self, auth_of(end));
    if (revalidation_world(self)->ops->timer_start(revalidation_world(self), &self->timer, revalidation_now_us(self)) !=
        STATUS_OK) {
        tell(self); // no memory for a timer: it has none to wait for
    }
}

static void cut(struct revalidation *self)
{
    struct world *world = revalidation_world(self);
    struct part_end *cut_end = &self->end.end;

    switch (self->state) {
    case REVALIDATION_LOGGING_IN:
        cut_end->phase = PHASE_LOGIN;
        break;
    case REVALIDATION_FETCHING:
        cut_end->phase = world->ops->fetch_phase(world, &self->fetch);
        self->pending_us = revalidation_now_us(self) - self->fetch.started_us;
        break;
    case REVALIDATION_PAUSED:
        cut_end->phase = PHASE_PAUSE;
        break;
    default:
        cut_end->phase = world->ops->script_has_begun(world, self->call) ? PHASE_SCRIPT : PHASE_SCRIPT_QUEUE;
        break;
    }
    revalidation_finish(self, OUTCOME_CUT, "its time was over");
}

static void on_timer(struct timer *timer)
{
    struct revalidation *self = CONTAINER_OF(timer, struct revalidation, timer);

    if (self->state == REVALIDATION_ENDED) {
        tell(self);
    } else {
        cut(self);
    }
}

// -------------------------------------------------------------------------------------------------------------- login

static void on_login(struct login_wait *wait)
{
    struct revalidation *self = CONTAINER_OF(wait, struct revalidation, wait);

    self->state = REVALIDATION_BUILDING; // nobody waits for a login any more
    self->login = wait->login;
    wait->login = (struct login){ 0 };
    if (self->login.value != NULL) {
        revalidation_build(self);
        return;
    }
    self->end.end = wait->end;
    revalidation_finish(self, wait->end.outcome, NULL);
}

void revalidation_log_in(struct revalidation *self, uint64_t refused)
{
    struct world *world = revalidation_world(self);

    login_drop(&self->login);
    switch (world->ops->login_take(world, self->options.account, refused, &self->login, &self->end.end)) {
    case LOGIN_HERE:
        revalidation_build(self);
        return;
    case LOGIN_FAILED:
        revalidation_finish(self, self->end.end.outcome, NULL);
        return;
    case LOGIN_ABSENT:
        break;
    }
    self->wait = (struct login_wait){ .account = self->options.account, .refused = refused, .on_done = on_login };
    if (world->ops->login_start(world, &self->wait) != STATUS_OK) {
        self->end.end.phase = PHASE_LOGIN;
        revalidation_finish(self, OUTCOME_FAILED, "the login could not be waited for");
        return;
    }
    self->state = REVALIDATION_LOGGING_IN;
}

// ------------------------------------------------------------------------------------------------------ start and end

bool revalidation_is_switched_off(struct revalidation *self)
{
    struct world *world = revalidation_world(self);
    char why[sizeof(self->end.end.detail)];

    if (world->ops->is_switched_off == NULL ||
        !world->ops->is_switched_off(world, self->options.supplier, self->options.account, why, sizeof(why))) {
        return false;
    }
    revalidation_finish(self, OUTCOME_DISABLED, why);
    return true;
}

// Are its credentials taken, as far as one knows?
static bool is_admitted(struct revalidation *self)
{
    struct world *world = revalidation_world(self);
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
    revalidation_finish(self, OUTCOME_REJECTED, "its credentials were refused too often");
    return false;
}

// A caller's live request is no worse a probe than another: one that is tried out may be asked.
static bool passes(struct revalidation *self)
{
    struct world *world = revalidation_world(self);
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
    revalidation_finish(self, OUTCOME_BREAKER_OPEN, "failed too often");
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
    self->state = REVALIDATION_BUILDING;
    self->timer.on_due = on_timer;
    self->pause.on_due = revalidation_on_pause_over;
    if (world->ops->timer_start(world, &self->timer, options->end_us) != STATUS_OK) {
        free(self);
        return STATUS_NO_MEMORY;
    }
    self->ground = ground_hold(options->catalogue->ground);
    self->options.facts = block_acquire(options->facts);
    self->options.offer = block_acquire(options->offer);
    *revalidation = self;
    if (revalidation_is_switched_off(self) || !passes(self)) {
        return STATUS_OK;
    }
    if (options->account->login != 0) {
        revalidation_log_in(self, 0);
    } else {
        revalidation_build(self);
    }
    return STATUS_OK;
}

uint32_t revalidation_cancel(struct revalidation **revalidation)
{
    struct revalidation *self = *revalidation;

    *revalidation = NULL;
    if (self->state == REVALIDATION_ENDED) {
        revalidation_world(self)->ops->timer_cancel(revalidation_world(self), &self->timer);
    } else {
        stop(self);
    }
    tell_health(self, HEALTH_OURS);
    tell_auth(self, AUTH_UNKNOWN);
    uint32_t requests = self->end.requests;
    destroy(self);
    return requests;
}
