#include "search/attempt.h"

#include "policy/ceiling.h"
#include "search/auth.h"
#include "search/keep.h"
#include "search/say.h"
#include "search/search_internal.h"
#include "search/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//   WAITING --> ASKING (parts open) --> CLOSED(outcome)
//   any --> CLOSED on the end of its allocation, or an error
//
// `open_parts` counts the parts that have not ended, plus one while they are being started, so that parts which end at
// once cannot close the attempt in the middle of that.

struct world *attempt_world(const struct attempt *attempt)
{
    return search_world(attempt->search);
}

uint64_t attempt_body_cap(const struct attempt *attempt)
{
    return attempt->account->body_cap != 0 ? attempt->account->body_cap : attempt->supplier->body_cap;
}

static void attempt_enter(struct attempt *attempt, enum attempt_state state)
{
    require(state > attempt->state);
    attempt->state = state;
}

static void attempt_say(struct attempt *attempt, struct text detail)
{
    say(attempt->end.detail, sizeof(attempt->end.detail), detail);
}

/// What it says of its supplier's health.
static enum health_end attempt_health(const struct attempt *attempt)
{
    // where another one sent its request, that one tells
    return attempt->has_joined ? HEALTH_OURS : verdict_health(attempt->outcome, &attempt->end);
}

/// Tells what became of it, if it asked, once.
static void attempt_tell_health(struct attempt *attempt, enum health_end end)
{
    struct world *world = attempt_world(attempt);
    uint64_t ended_us =
        end == HEALTH_GOOD && attempt->arrived_us != 0 ? attempt->arrived_us : world->ops->now_us(world);
    uint64_t began_us = end == HEALTH_GOOD && attempt->answer_us != 0 ? attempt->answer_us : attempt->began_us;
    struct health_result result = {
        .pass = attempt->pass,
        .end = attempt->began_us != 0 ? end : HEALTH_OURS,
        .took_us = ended_us > began_us ? ended_us - began_us : 0,
        .pending_us = attempt->outcome == OUTCOME_CUT ? attempt->pending_us : 0,
        .by_built_in = attempt->bound == BOUND_CEILING && attempt->ceiling.from == CEILING_FROM_BUILT_IN,
        .value = (double)attempt->stock.live,
        .has_answered = attempt->arrived_us != 0,
        .was_asked = attempt->began_us != 0,
    };

    auth_settle(attempt);
    if (attempt->has_pass) {
        attempt->has_pass = false;
        world->ops->health_tell(world, attempt->account, &result);
    }
}

/// The one way to CLOSED. Whatever ran is over.
static void attempt_close(struct attempt *attempt, enum outcome outcome)
{
    struct world *world = attempt_world(attempt);

    if (timer_is_running(&attempt->ceiling_timer)) {
        world->ops->timer_cancel(world, &attempt->ceiling_timer);
    }
    attempt_enter(attempt, ATTEMPT_CLOSED);
    attempt->outcome = outcome;
    attempt->closed_us = world->ops->now_us(world);
    attempt_tell_health(attempt, attempt_health(attempt));
    search_on_attempt_closed(attempt->search, attempt);
}

void attempt_close_unasked(struct attempt *attempt, enum outcome outcome, struct text why)
{
    attempt_say(attempt, why);
    attempt_close(attempt, outcome);
}

void attempt_close_cached(struct attempt *attempt, const struct start_candidate *candidate, struct offer_batch *offers)
{
    struct search *search = attempt->search;

    attempt->account = candidate->account;
    attempt->mode = attempt->account->mode;
    if (offers != NULL && !stock_add(&attempt->stock, 0, offers, MERGE_ADD, NULL, NULL)) {
        attempt_close_unasked(attempt, OUTCOME_FAILED, TEXT("out of memory"));
        return;
    }
    if (offers != NULL && stream_is_on(&search->stream)) {
        stream_offers(&search->stream, attempt, &attempt->stock.batches[0]);
    }
    attempt_close(attempt, OUTCOME_CACHED);
}

bool attempt_close_switched_off(struct attempt *attempt)
{
    struct world *world = attempt_world(attempt);
    char why[sizeof(attempt->end.detail)];

    if (world->ops->is_switched_off == NULL ||
        !world->ops->is_switched_off(world, attempt->supplier, attempt->account, why, sizeof(why))) {
        return false;
    }
    attempt_close_unasked(attempt, OUTCOME_DISABLED, text_of(why));
    return true;
}

/// Did anything of it get past the limits of its account?
static bool attempt_has_sent(const struct attempt *attempt)
{
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        const struct part *part = &attempt->parts[i];
        bool is_refused = part->end.outcome == OUTCOME_RATE_LIMITED || part->end.outcome == OUTCOME_SATURATED;
        if (!is_refused || part->step > 1) {
            return true;
        }
    }
    return false;
}

static void attempt_on_offer_gone(void *context, const struct offer *offer)
{
    struct attempt *attempt = context;
    stream_note_gone(&attempt->search->stream, attempt, offer);
}

/// An answer that is absurdly cheap against the last known one is given up whole. True: it is.
static bool attempt_hold_back(struct attempt *attempt)
{
    struct stream *stream = &attempt->search->stream;
    bool is_told = stream_is_on(stream) && !attempt_is_dark(attempt);

    if (attempt->stock.live == 0 || !keep_guards(attempt, attempt->end.detail, sizeof(attempt->end.detail))) {
        return false;
    }
    snprintf(attempt->end.code, sizeof(attempt->end.code), "%s", PRICE_GUARD_CODE);
    stock_drop(&attempt->stock, is_told ? attempt_on_offer_gone : NULL, attempt);
    if (is_told) {
        stream_retract(stream, attempt->search, "gone");
    }
    return true;
}

/// The outcome of all parts together: offers win; without any, a failed part decides over an empty one, the earliest
/// first (contract.md section 3).
static void attempt_settle(struct attempt *attempt)
{
    struct part *decides = NULL;
    bool is_incomplete = false;

    for (uint32_t i = 0; i < attempt->part_count; i++) {
        struct part *part = &attempt->parts[i];
        bool is_good = part_is_good(part);
        attempt->parts_ok += is_good;
        attempt->parts_failed += !is_good;
        is_incomplete = is_incomplete || (is_good && part->is_incomplete);
        if (part->end.outcome == OUTCOME_CUT && attempt->bound == BOUND_NONE && !attempt_is_full(attempt)) {
            attempt->bound = attempt->allocation.bound;
        }
        if (decides == NULL || (part_is_good(decides) && !is_good)) {
            decides = part;
        }
    }
    require(decides != NULL); // an attempt that asks has a part
    if (!attempt_has_sent(attempt)) {
        attempt->began_us = 0; // the limits of its account let nothing out: it was not asked
    }
    attempt->end = decides->end;
    if (attempt->trouble == NULL) {
        attempt->trouble = decides->trouble;
        decides->trouble = NULL;
    }
    bool is_held_back = attempt_hold_back(attempt);
    bool has_answered = !is_held_back && (attempt->stock.live > 0 || part_is_good(decides));
    attempt->is_partial = has_answered && (attempt->parts_failed > 0 || is_incomplete);
    if (attempt->stock.live > 0) {
        attempt_close(attempt, OUTCOME_ANSWERED);
    } else if (is_held_back) {
        attempt_close(attempt, OUTCOME_UNPARSABLE);
    } else {
        attempt_close(attempt, has_answered ? OUTCOME_EMPTY : decides->end.outcome);
    }
}

void attempt_on_part_ended(struct attempt *attempt)
{
    require(attempt->open_parts > 0);
    attempt->open_parts--;
    if (attempt->open_parts == 0) {
        attempt_settle(attempt);
    }
}

void attempt_note_pending(struct attempt *attempt, uint64_t pending_us)
{
    attempt->pending_us = pending_us > attempt->pending_us ? pending_us : attempt->pending_us;
}

static void attempt_cut_parts(struct attempt *attempt)
{
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        struct part *part = &attempt->parts[i];
        if (part->state != PART_ENDED) {
            attempt_note_pending(attempt, part_pending_us(part));
            part_cut(part);
        }
    }
}

void attempt_cut(struct attempt *attempt, enum bound bound, enum phase phase_if_waiting)
{
    attempt->bound = bound;
    if (attempt->state == ATTEMPT_WAITING) {
        attempt->end.phase = phase_if_waiting;
        attempt_close(attempt, OUTCOME_CUT);
        return;
    }
    if (!linger_begin(attempt->search, attempt, OUTCOME_CUT)) {
        attempt_cut_parts(attempt);
    }
    attempt->open_parts = 0;
    attempt_settle(attempt);
}

void attempt_finish_early(struct attempt *attempt)
{
    attempt->is_finished_early = true;
    if (attempt->state == ATTEMPT_WAITING) {
        attempt->end.phase = PHASE_SCRIPT_QUEUE;
        attempt_close(attempt, OUTCOME_FINISHED_EARLY);
        return;
    }
    if (attempt_is_dark(attempt) || !linger_begin(attempt->search, attempt, OUTCOME_FINISHED_EARLY)) {
        for (uint32_t i = 0; i < attempt->part_count; i++) {
            if (attempt->parts[i].state != PART_ENDED) {
                part_cut(&attempt->parts[i]);
                attempt->parts[i].end.outcome = OUTCOME_FINISHED_EARLY;
            }
        }
    }
    attempt->open_parts = 0;
    attempt_settle(attempt);
}

void attempt_set_ceiling(struct attempt *attempt, struct ceiling ceiling)
{
    struct world *world = attempt_world(attempt);
    struct allocation allocation = search_allocation(attempt->search, ceiling.us);
    bool is_over = allocation.us == 0;

    if (is_over && allocation.bound == BOUND_BUDGET) {
        return; // the search ends now
    }
    if (allocation.bound != BOUND_CEILING) {
        world->ops->timer_cancel(world, &attempt->ceiling_timer);
    } else if (!is_over && world->ops->timer_start(world, &attempt->ceiling_timer, allocation.end_us) != STATUS_OK) {
        is_over = true; // without its timer nothing would end it in time
    }
    attempt->ceiling = ceiling;
    attempt->allocation = allocation;
    attempt->allocation.us = allocation.end_us > attempt->began_us ? allocation.end_us - attempt->began_us : 0;
    if (is_over) {
        attempt_cut(attempt, BOUND_CEILING, PHASE_SCRIPT_QUEUE);
    }
}

void attempt_warn(struct attempt *attempt, const char *warning)
{
    say(attempt->warning, sizeof(attempt->warning), text_of(warning)); // before those of the script
    attempt->warning_count++;
}

bool attempt_is_full(const struct attempt *attempt)
{
    return attempt->stock.limit != STOCK_HAS_ROOM;
}

void attempt_stop_others(struct attempt *attempt, const struct part *noticed)
{
    char warning[96];

    if (attempt->stock.limit == STOCK_FULL_OF_OFFERS) {
        snprintf(warning, sizeof(warning), "stopped at %d offers, the most of one supplier", STOCK_MAX_OFFERS);
    } else {
        snprintf(warning, sizeof(warning), "stopped at %d MiB of offers, the most of one supplier",
                 STOCK_MAX_BYTES >> 20);
    }
    attempt_warn(attempt, warning);
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        struct part *part = &attempt->parts[i];
        if (part != noticed && part->state != PART_ENDED) {
            part_cut(part);
            attempt->open_parts--;
        }
    }
}

static void attempt_on_ceiling(struct timer *timer)
{
    attempt_cut(CONTAINER_OF(timer, struct attempt, ceiling_timer), BOUND_CEILING, PHASE_SCRIPT_QUEUE);
}

bool attempt_take_offers(struct attempt *attempt, uint32_t part, struct normalise_call *normalise)
{
    struct offer_batch *batch = normalise->offers;
    struct search *search = attempt->search;
    bool is_told = stream_is_on(&search->stream) && !attempt_is_dark(attempt);
    stock_gone on_gone = is_told ? attempt_on_offer_gone : NULL;

    attempt->stock.is_kept_elsewhere = is_told;
    if (!stock_add(&attempt->stock, part, batch, normalise->merge, on_gone, attempt)) {
        return false;
    }
    if (is_told) {
        stream_retract(&search->stream, search, "replaced");
    }
    if (attempt->stock.live > 0) {
        recall_supersede(attempt);
    }
    if (normalise->warning_count > 0 && attempt->warning_count == 0) {
        say(attempt->warning, sizeof(attempt->warning), text_of(normalise->warning));
    }
    attempt->warning_count += normalise->warning_count;
    if (batch != NULL && normalise->merge != MERGE_KEEP) {
        if (batch->dropped > 0 && attempt->dropped == 0) {
            say(attempt->dropped_first, sizeof(attempt->dropped_first), text_of(batch->dropped_first));
        }
        attempt->dropped += batch->dropped;
        attempt->unmapped += batch->unmapped;
        const struct stock_batch *held = stock_find(&attempt->stock, batch);
        if (is_told && held != NULL) {
            stream_offers(&search->stream, attempt, held);
        }
    }
    if (!attempt->is_lingering) {
        reask_note(&search->reask, search);
        patience_note(&search->patience, search);
    }
    return true;
}

// --------------------------------------------------------------------------------------------------------------- start

/// Parts for a chain of requests, which are taken.
static void attempt_add_parts(struct attempt *attempt, struct http_request **requests, const struct login *login)
{
    while (*requests != NULL && attempt->part_count < ATTEMPT_MAX_PARTS) {
        struct http_request *request = *requests;
        struct part *part = &attempt->parts[attempt->part_count++];
        *requests = request->next;
        request->next = NULL;
        part_init(part, attempt, attempt->part_count, request);
        part->login = login_hold(login);
    }
}

/// The login that its requests were built with is in use now.
static void attempt_use_login(struct attempt *attempt)
{
    struct world *world = attempt_world(attempt);
    struct login login = { 0 };
    struct part_end end;

    (void)world->ops->login_take(world, attempt->account, 0, &login, &end);
    login_drop(&login);
}

static bool attempt_make_parts(struct attempt *attempt, struct start_candidate *candidate)
{
    static const struct login none = { NULL, 0 };
    const struct login *login = candidate->login != NULL ? candidate->login : &none;
    uint32_t count = 0;

    for (const struct http_request *request = candidate->request; request != NULL; request = request->next) {
        count++;
    }
    count = count == 0 ? ATTEMPT_MAX_PARTS : count; // how many there will be, its script will say
    attempt->parts = search_alloc(attempt->search, count * sizeof(*attempt->parts));
    if (attempt->parts == NULL) {
        return false;
    }
    if (candidate->request == NULL) {
        part_init(&attempt->parts[0], attempt, 1, NULL);
        attempt->part_count = 1;
    } else if (login->value != NULL) {
        attempt_use_login(attempt);
    }
    attempt_add_parts(attempt, &candidate->request, login);
    return true;
}

void attempt_on_built(struct attempt *attempt, struct part *first, struct http_request **others)
{
    uint32_t known = attempt->part_count;

    attempt_add_parts(attempt, others, &first->login);
    attempt->open_parts += attempt->part_count - known + 1;
    part_start(first);
    for (uint32_t i = known; i < attempt->part_count; i++) {
        part_start(&attempt->parts[i]);
    }
    attempt_on_part_ended(attempt); // the count of this function
}

void attempt_ask(struct attempt *attempt, struct start_candidate *candidate)
{
    struct world *world = attempt_world(attempt);
    bool has_ceiling = attempt->allocation.bound == BOUND_CEILING;

    attempt->began_us = world->ops->now_us(world);
    if (!attempt_make_parts(attempt, candidate) ||
        (has_ceiling &&
         world->ops->timer_start(world, &attempt->ceiling_timer, attempt->allocation.end_us) != STATUS_OK)) {
        attempt_close_unasked(attempt, OUTCOME_FAILED, TEXT("out of memory"));
        return;
    }
    attempt_enter(attempt, ATTEMPT_ASKING);
    attempt->open_parts = attempt->part_count + 1;
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        part_start(&attempt->parts[i]);
    }
    attempt_on_part_ended(attempt); // the start's own count
}

/// Do its credentials and its supplier's breaker let it ask? False: it is closed, and a probe may have gone out
/// instead.
static bool attempt_passes(struct attempt *attempt, struct start_candidate *candidate)
{
    struct world *world = attempt_world(attempt);
    struct breaker_pass pass;
    uint64_t wait_us = 0;

    if (!auth_admits(attempt)) {
        return false;
    }
    if (world->ops->health_ask == NULL) {
        return true;
    }
    enum breaker_answer answer = world->ops->health_ask(world, attempt->account, &pass, &wait_us);
    if (answer == BREAKER_PASS) {
        attempt->pass = pass;
        attempt->has_pass = true;
        return true;
    }
    if (answer == BREAKER_PROBE) {
        linger_probe(attempt->search, attempt, candidate, pass);
    }
    attempt->end.retry_after_ms = (wait_us + 999) / 1000;
    attempt_close_unasked(attempt, OUTCOME_BREAKER_OPEN,
                          answer == BREAKER_PROBE ? TEXT("failed too often; it is being tried out")
                                                  : TEXT("failed too often"));
    return false;
}

/// The built-in ceiling counts from here, others from the search's arrival.
static void attempt_place_ceiling(struct attempt *attempt)
{
    struct world *world = attempt_world(attempt);
    uint64_t elapsed_us = world->ops->now_us(world) - attempt->search->options.arrival_us;

    attempt->terms.built_in_us += attempt->terms.built_in_us != 0 ? elapsed_us : 0;
    if (attempt->ceiling.from == CEILING_FROM_BUILT_IN) {
        attempt->ceiling = ceiling_in_force(&attempt->terms, 0);
    }
}

void attempt_start(struct attempt *attempt, struct start_candidate *candidate)
{
    attempt->account = candidate->has_no_account ? NULL : candidate->account;
    if (attempt->account != NULL && !attempt_is_dark(attempt)) {
        attempt->mode = attempt->account->mode;
    }
    attempt->ceiling = candidate->ceiling;
    attempt->terms = candidate->terms;
    attempt->knowledge = knowledge_hold(candidate->knowledge);
    attempt_place_ceiling(attempt);
    attempt->progress_reads = candidate->progress_reads;
    attempt->allocation = search_allocation(attempt->search, attempt->ceiling.us);
    if (candidate->verdict == SCRIPT_DROPPED || (candidate->verdict == SCRIPT_OK && attempt->allocation.us == 0)) {
        attempt->bound = attempt->allocation.bound;
        attempt_close(attempt, OUTCOME_TOO_LATE);
        return;
    }
    if (candidate->verdict != SCRIPT_OK) {
        attempt->end.rejection = verdict_rejection(candidate->verdict);
        attempt->trouble = candidate->trouble;
        candidate->trouble = NULL;
        attempt_close_unasked(attempt, verdict_outcome(candidate->verdict), candidate->message);
        return;
    }
    if (!attempt_close_switched_off(attempt) && attempt_passes(attempt, candidate)) {
        attempt_ask(attempt, candidate);
    }
}

enum outcome attempt_spoiled(const struct attempt *attempt)
{
    bool is_in_part = attempt->is_partial && attempt->trouble != NULL;
    enum outcome spoiled = is_in_part ? attempt->end.outcome : attempt->outcome;
    bool is_spoiled = attempt->state == ATTEMPT_CLOSED && outcome_row(spoiled)->breaker == BREAKER_SCRIPT;

    return is_spoiled ? spoiled : OUTCOME_COUNT;
}

void attempt_init(struct attempt *attempt, struct search *search, const struct catalogue_supplier *supplier)
{
    *attempt = (struct attempt){
        .search = search,
        .supplier = supplier,
        .account = supplier->account_count > 1 ? NULL : supplier->account,
        .state = ATTEMPT_WAITING,
        .mode = supplier->mode,
        .ceiling = { .us = UINT64_MAX },
    };
    attempt->ceiling_timer.on_due = attempt_on_ceiling;
    stock_init(&attempt->stock);
    stock_init(&attempt->recalled.stock);
}

void attempt_fini(struct attempt *attempt)
{
    struct world *world = attempt_world(attempt);

    if (timer_is_running(&attempt->ceiling_timer)) {
        world->ops->timer_cancel(world, &attempt->ceiling_timer);
    }
    attempt_tell_health(attempt, HEALTH_CUT); // given up without a verdict: it took at least so long
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        part_fini(&attempt->parts[i]);
    }
    stock_fini(&attempt->stock);
    stock_fini(&attempt->recalled.stock);
    knowledge_drop(&attempt->knowledge);
    free(attempt->trouble);
    attempt->trouble = NULL;
}
