#include "app/login_errand.h"

#include "model/exchange_note.h"
#include "model/ground.h"
#include "policy/quota.h"
#include "search/say.h"
#include "search/verdict.h"

//   IDLE --> BUILDING --> FETCHING --> READING --> IDLE (on_end)
//   any --> IDLE on an error

static void errand_end(struct login_errand *errand, struct block *value, uint64_t life_us, const struct part_end *end)
{
    struct ground *ground = errand->ground;

    errand->state = ERRAND_IDLE;
    errand->ground = NULL;
    http_request_destroy(&errand->request);
    errand->on_end(errand, value, life_us, end);
    ground_drop(&ground);
}

static void errand_fail(struct login_errand *errand, struct part_end *end, enum outcome outcome, const char *detail)
{
    end->outcome = outcome;
    end->phase = PHASE_LOGIN;
    if (end->detail[0] == '\0') {
        say(end->detail, sizeof(end->detail), text_of(detail));
    }
    errand_end(errand, NULL, 0, end);
}

/// What a script said when it did not do its work.
static struct part_end errand_take_words(const struct login_call *call, uint16_t http_status)
{
    struct part_end end = { .http_status = http_status, .retry_after_ms = call->retry_after_ms };

    say(end.detail, sizeof(end.detail), text_of(call->message));
    say(end.code, sizeof(end.code), text_of(call->code));
    return end;
}

/// False: it ended.
static bool errand_submit(struct login_errand *errand, struct login_call *call, void (*on_done)(struct script_call *))
{
    struct world *world = errand->world;
    const struct catalogue *catalogue = errand->catalogue;

    if (call == NULL) {
        return false;
    }
    catalogue_carry(catalogue, &call->call);
    call->call.deadline_us = call->end_us = errand->began_us + LOGIN_LIMIT_US;
    call->call.on_done = on_done;
    call->call.owner = errand;
    call->account = errand->account;
    call->body_cap = errand->supplier->body_cap;
    call->began_us = errand->began_us;
    call->began_wall_us = errand->began_wall_us;
    if (world->ops->script_submit(world, &call->call) != STATUS_OK) {
        script_call_destroy(&call->call);
        return false;
    }
    errand->call = &call->call;
    return true;
}

static void errand_on_read(struct script_call *call)
{
    struct login_errand *errand = call->owner;
    struct login_call *read = CONTAINER_OF(call, struct login_call, call);
    struct verdict_answer answer = verdict_of_login(read->verdict, read->response->status);
    struct block *value = read->value;

    errand->call = NULL;
    read->value = NULL;
    exchange_note_request(call->trouble, errand->request);
    exchange_note_response(call->trouble, read->response, errand->fetch.done_us - errand->fetch.started_us, NULL);
    errand->trouble = call->trouble;
    if (answer.outcome == OUTCOME_ANSWERED) {
        errand_end(errand, value, read->life_us, NULL);
    } else {
        struct part_end end = errand_take_words(read, read->response->status);
        end.rejection = answer.rejection;
        if (answer.rejection == REJECTION_QUOTA) {
            end.retry_after_ms = permit_block(errand->world, errand->account, read->retry_after_ms);
        } else if (read->retry_after_ms > 0) { // it is busy; who holds a login still goes on with it
            end.retry_after_ms = quota_block_us(read->retry_after_ms * 1000) / 1000;
        }
        block_release(&value);
        errand_fail(errand, &end, answer.outcome, "the login was not granted");
    }
    script_call_destroy(call);
}

static void errand_on_fetched(struct fetch *fetch)
{
    struct login_errand *errand = CONTAINER_OF(fetch, struct login_errand, fetch);
    struct part_end end = { .outcome = OUTCOME_FAILED };

    permit_return(&errand->permit, errand->world);
    if (fetch->result != FETCH_OK) {
        bool is_late = fetch->result == FETCH_ENDED;
        enum outcome outcome = fetch->result == FETCH_TOO_LARGE ? OUTCOME_TOO_LARGE : OUTCOME_FAILED;
        errand_fail(errand, &end, outcome, is_late ? "the login took longer than 10 s" : fetch->detail);
        return;
    }
    struct login_call *call = login_call_create(fetch->response);
    if (call != NULL) {
        fetch->response = NULL;
    }
    errand->state = ERRAND_READING;
    if (!errand_submit(errand, call, errand_on_read)) {
        http_response_destroy(&fetch->response);
        errand_fail(errand, &end, OUTCOME_SHED, "the answer to the login could not be read");
    }
}

static void errand_on_built(struct script_call *call)
{
    struct login_errand *errand = call->owner;
    struct login_call *built = CONTAINER_OF(call, struct login_call, call);
    struct world *world = errand->world;
    struct part_end end = errand_take_words(built, 0);
    enum script_verdict verdict = built->verdict;

    errand->call = NULL;
    errand->request = built->request;
    built->request = NULL;
    if (verdict != SCRIPT_OK) {
        errand->trouble = call->trouble;
        end.rejection = verdict_rejection(verdict);
        enum outcome outcome = verdict == SCRIPT_DROPPED ? OUTCOME_SHED : verdict_outcome(verdict);
        errand_fail(errand, &end, outcome, "the login's request was not built");
        script_call_destroy(call);
        return;
    }
    script_call_destroy(call);
    errand->fetch = (struct fetch){
        .request = errand->request,
        .route = errand->account->route,
        .ground = errand->ground,
        .end_us = errand->began_us + LOGIN_LIMIT_US,
        .body_cap = errand->supplier->body_cap,
        .on_done = errand_on_fetched,
    };
    struct permit_refusal refusal;
    if (!permit_take_kept(&errand->permit, world, errand->account, &refusal)) {
        end.retry_after_ms = refusal.retry_after_ms;
        errand_fail(errand, &end, refusal.outcome, refusal.detail);
        return;
    }
    errand->state = ERRAND_FETCHING;
    if (world->ops->fetch_start(world, &errand->fetch) != STATUS_OK) {
        permit_return(&errand->permit, world);
        errand_fail(errand, &end, OUTCOME_FAILED, "the login's request could not be started");
    }
}

bool login_errand_start(struct login_errand *errand, bool is_renewal, uint64_t wall_us, struct part_end *end)
{
    require(errand->state == ERRAND_IDLE);
    errand->began_us = errand->world->ops->now_us(errand->world);
    errand->began_wall_us = wall_us;
    errand->is_renewal = is_renewal;
    errand->trouble = NULL;
    errand->ground = ground_hold(errand->catalogue->ground);
    errand->state = ERRAND_BUILDING;
    if (errand_submit(errand, login_call_create(NULL), errand_on_built)) {
        return true;
    }
    errand->state = ERRAND_IDLE;
    ground_drop(&errand->ground);
    *end = (struct part_end){ .outcome = OUTCOME_SHED, .phase = PHASE_LOGIN };
    say(end->detail, sizeof(end->detail), TEXT("the login could not be begun"));
    return false;
}

void login_errand_cancel(struct login_errand *errand)
{
    struct world *world = errand->world;

    if (errand->call != NULL) {
        world->ops->script_cancel(world, errand->call);
        errand->call = NULL;
    }
    if (errand->state == ERRAND_FETCHING) {
        world->ops->fetch_cancel(world, &errand->fetch);
        permit_return(&errand->permit, world);
    }
    http_request_destroy(&errand->request);
    http_response_destroy(&errand->fetch.response);
    errand->state = ERRAND_IDLE;
    ground_drop(&errand->ground);
}
