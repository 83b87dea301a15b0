// Requests that the start call did not make, or that are made once more.
//
//   LOGGING_IN --> BUILDING --> (send)         no login was there, or the one that was used is refused
//   (send) --> SIGNING --> FETCHING            the signature is missing or old
//
// Scripts are pure functions, so a request is made anew by calling the function that made it with the new login: the
// first step's is built, a later one's comes of the answer to the step before, whose offers are not taken again.

#include "search/part_internal.h"

#include "search/attempt.h"
#include "search/say.h"
#include "search/search_internal.h"
#include "search/verdict.h"

static const struct script_account *account_of(const struct part *part)
{
    return part->attempt->account;
}

bool part_submit(struct part *part, struct script_call *call, void (*on_done)(struct script_call *call))
{
    struct world *world = attempt_world(part->attempt);

    // A request is worth making for as long as the attempt's end may yet be moved to.
    bool may_move = call->kind == SCRIPT_CALL_REQUEST && part->attempt->progress_reads != 0;
    call->deadline_us = may_move ? part->attempt->search->end_us : part->attempt->allocation.end_us;
    call->is_last = attempt_is_dark(part->attempt);
    call->on_done = on_done;
    call->owner = part;
    if (world->ops->script_submit(world, call) != STATUS_OK) {
        script_call_destroy(call);
        part_finish_saying(part, OUTCOME_SHED, "the script queue is closed");
        return false;
    }
    return true;
}

/// Ends it by what a worker made of its request.
static void part_take_verdict(struct part *part, enum script_verdict verdict, const char *message)
{
    part->end.rejection = verdict_rejection(verdict);
    part->end.phase = verdict == SCRIPT_DROPPED ? PHASE_SCRIPT_QUEUE : part->end.phase;
    part_finish_saying(part, verdict_outcome(verdict), message);
}

void part_describe_request(const struct part *part, struct request_call *call)
{
    call->account = account_of(part);
    call->allocation_end_us = part->attempt->allocation.end_us;
    call->part = part->index;
    call->parts = part->attempt->part_count;
    call->step = part->step;
    call->attempt = part->attempt_number;
}

static void part_submit_request(struct part *part, struct request_call *call, enum part_state state,
                                void (*on_done)(struct script_call *call))
{
    if (call == NULL) {
        part_finish_saying(part, OUTCOME_FAILED, "out of memory");
        return;
    }
    part_describe_request(part, call);
    if (part_submit(part, &call->call, on_done)) {
        part->making = &call->call;
        part_enter(part, state);
    }
}

// --------------------------------------------------------------------------------------------------------------- build

/// Takes its own request out of those of all parts. False: there is none for it.
static bool part_take_request(struct part *part, struct request_call *call)
{
    struct http_request **place = &call->request;

    for (uint32_t i = 1; i < part->index && *place != NULL; i++) {
        place = &(*place)->next;
    }
    struct http_request *own = *place;
    if (own == NULL) {
        return false;
    }
    *place = own->next;
    own->next = NULL;
    http_request_destroy(&part->request);
    part->request = own;
    return true;
}

static void part_on_built(struct script_call *call)
{
    struct part *part = call->owner;
    struct request_call *built = CONTAINER_OF(call, struct request_call, call);
    bool is_first = part->request == NULL; // its attempt does not know yet how many parts there are

    part->making = NULL;
    if (built->verdict != SCRIPT_OK) {
        say(part->end.code, sizeof(part->end.code), text_of(built->code));
        part->end.retry_after_ms = built->retry_after_ms;
        part_take_trouble(part, call);
        part_take_verdict(part, built->verdict, built->message);
    } else if (!part_take_request(part, built)) {
        part_finish_saying(part, OUTCOME_SCRIPT_ERROR, "build_request gave fewer requests than before");
    } else if (is_first) {
        attempt_on_built(part->attempt, part, &built->request);
    } else {
        part_send(part);
    }
    script_call_destroy(call);
}

/// The step before has asked for its next one once more.
static void part_on_remade(struct script_call *call)
{
    struct part *part = call->owner;
    struct normalise_call *remade = CONTAINER_OF(call, struct normalise_call, call);
    struct http_request *request = remade->next.request;

    part->making = NULL;
    if (remade->verdict != SCRIPT_OK && remade->verdict != SCRIPT_EMPTY) {
        part_take_trouble(part, call);
        part_take_verdict(part, remade->verdict, remade->message);
    } else if (request == NULL) {
        part_finish_saying(part, OUTCOME_SCRIPT_ERROR, "normalise asked for no further step when asked once more");
    } else {
        http_request_destroy(&part->request);
        block_release(&part->state_block);
        part->request = request;
        part->state_block = remade->next.state;
        remade->next = (struct next_step){ 0 };
        part_send(part);
    }
    script_call_destroy(call);
}

static void part_remake(struct part *part)
{
    struct attempt *attempt = part->attempt;
    struct normalise_call *call = search_normalise_call(attempt->search, attempt->supplier, part->before);

    if (call == NULL) {
        part_finish_saying(part, OUTCOME_FAILED, "out of memory");
        return;
    }
    part->before = NULL;
    call->account = attempt->account;
    call->allocation_end_us = attempt->allocation.end_us;
    call->body_cap = attempt_body_cap(attempt);
    call->part = part->index;
    call->parts = attempt->part_count;
    call->step = part->step - 1;
    call->state = block_acquire(part->before_state);
    call->login = login_hold(&part->login);
    if (part_submit(part, &call->call, part_on_remade)) {
        part->making = &call->call;
        part_enter(part, PART_BUILDING);
    }
}

/// Makes its request with the login that it has now.
static void part_make(struct part *part)
{
    struct attempt *attempt = part->attempt;
    struct world *world = attempt_world(attempt);

    if (world->ops->now_us(world) >= attempt->allocation.end_us) {
        part->end.phase = PHASE_LOGIN; // it came too late to be of use here
        part_finish(part, OUTCOME_CUT);
        return;
    }
    if (part->step > 1) {
        part_remake(part);
        return;
    }
    struct request_call *call =
        search_request_call(attempt->search, attempt->supplier, REQUEST_BUILD, &part->login, NULL);
    part_submit_request(part, call, PART_BUILDING, part_on_built);
}

void part_build_again(struct part *part)
{
    part_make(part);
}

// --------------------------------------------------------------------------------------------------------------- login

static void part_on_login(struct login_wait *wait)
{
    struct part *part = CONTAINER_OF(wait, struct part, wait);

    part_enter(part, PART_IDLE);
    part->login = wait->login;
    wait->login = (struct login){ 0 };
    if (part->login.value == NULL) {
        part->end = wait->end;
        part_finish(part, wait->end.outcome);
        return;
    }
    part_make(part);
}

void part_log_in(struct part *part, uint64_t refused)
{
    struct world *world = attempt_world(part->attempt);

    login_drop(&part->login);
    switch (world->ops->login_take(world, account_of(part), refused, &part->login, &part->end)) {
    case LOGIN_HERE:
        part_make(part);
        return;
    case LOGIN_FAILED:
        part_finish(part, part->end.outcome);
        return;
    case LOGIN_ABSENT:
        break;
    }
    part->wait = (struct login_wait){ .account = account_of(part), .refused = refused, .on_done = part_on_login };
    if (world->ops->login_start(world, &part->wait) != STATUS_OK) {
        part->end.phase = PHASE_LOGIN;
        part_finish_saying(part, OUTCOME_FAILED, "the login could not be waited for");
        return;
    }
    part_enter(part, PART_LOGGING_IN);
}

bool part_redo(struct part *part)
{
    struct world *world = attempt_world(part->attempt);
    uint64_t refused = part->login.number;

    if (account_of(part)->login == 0) {
        return false;
    }
    if (part->is_redone || (part->step > 1 && part->before == NULL)) {
        struct part_end end = part->end;
        end.outcome = OUTCOME_REJECTED;
        end.phase = PHASE_LOGIN;
        world->ops->login_refuse(world, account_of(part), refused, &end);
        return false;
    }
    part->is_redone = true;
    part->end = (struct part_end){ 0 };
    part_log_in(part, refused);
    return true;
}

void part_keep_answer(struct part *part, struct normalise_call *normalise)
{
    if (account_of(part)->login == 0 || part->is_redone) {
        return;
    }
    http_response_destroy(&part->before);
    block_release(&part->before_state);
    part->before = normalise->response;
    part->before_state = normalise->state;
    normalise->response = NULL;
    normalise->state = NULL;
}

// ---------------------------------------------------------------------------------------------------------------- sign

bool part_is_signed(const struct part *part)
{
    struct world *world = attempt_world(part->attempt);
    uint64_t signed_us = part->request->signed_us;

    return !part->attempt->supplier->signs ||
           (signed_us != 0 && world->ops->now_us(world) <= signed_us + PART_SIGNED_FRESH_US);
}

static void part_on_signed(struct script_call *call)
{
    struct part *part = call->owner;
    struct request_call *signed_call = CONTAINER_OF(call, struct request_call, call);

    part->making = NULL;
    part->request = signed_call->request;
    signed_call->request = NULL;
    if (signed_call->verdict != SCRIPT_OK) {
        part_take_trouble(part, call);
        part_take_verdict(part, signed_call->verdict, signed_call->message);
    } else {
        part_fetch(part);
    }
    script_call_destroy(call);
}

void part_sign(struct part *part)
{
    struct attempt *attempt = part->attempt;
    struct request_call *call =
        search_request_call(attempt->search, attempt->supplier, REQUEST_SIGN, &part->login, part->request);

    if (call != NULL) {
        part->request = NULL;
    }
    part_submit_request(part, call, PART_SIGNING, part_on_signed);
}
