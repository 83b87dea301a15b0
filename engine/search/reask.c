// One snapshot serves all: whoever was not in the last call had read nothing that has changed since the one before.

#include "search/reask.h"

#include "policy/ceiling.h"
#include "search/coverage.h"
#include "search/search_internal.h"

#include <stdio.h>

/// The cheapest offer that an attempt holds and that may win. Batches are sorted: it is the first that is there.
static int64_t cheapest_of(const struct attempt *attempt, int *decimals)
{
    int64_t cheapest = INT64_MAX;

    for (size_t i = 0; i < attempt->stock.count; i++) {
        const struct stock_batch *held = &attempt->stock.batches[i];
        size_t first = 0;
        while (first < held->batch->count && stock_is_gone(held, first)) {
            first++;
        }
        int64_t micros = first < held->batch->count ? offer_comparable_micros(&held->batch->offers[first]) : INT64_MAX;
        if (micros < cheapest) {
            cheapest = micros;
            *decimals = held->batch->decimals;
        }
    }
    return cheapest;
}

void search_progress_of(const struct search *search, struct search_progress *progress)
{
    struct coverage coverage;

    *progress = (struct search_progress){ .cheapest_micros = INT64_MAX };
    coverage_count(&coverage, search->attempts, search->attempt_count);
    progress->answered = (uint32_t)coverage.answered;
    progress->eligible = (uint32_t)coverage.eligible;
    for (size_t i = 0; i < search->attempt_count; i++) {
        const struct attempt *attempt = &search->attempts[i];
        int decimals = 0;
        if (attempt_is_dark(attempt)) {
            continue;
        }
        progress->offers += attempt->stock.live;
        int64_t cheapest = cheapest_of(attempt, &decimals);
        if (cheapest < progress->cheapest_micros) {
            progress->cheapest_micros = cheapest;
            progress->decimals = decimals;
        }
    }
}

/// Those nobody waits for keep what they had.
static bool is_to_ask(const struct attempt *attempt, uint32_t changes)
{
    return attempt->state == ATTEMPT_ASKING && !attempt_is_dark(attempt) && (attempt->progress_reads & changes) != 0;
}

static size_t count_to_ask(const struct search *search, uint32_t changes)
{
    size_t count = 0;

    for (size_t i = 0; i < search->attempt_count; i++) {
        count += is_to_ask(&search->attempts[i], changes);
    }
    return count;
}

static void reask_consider(struct reask *reask, struct search *search);

static void reask_apply(struct search *search, const struct ceiling_ask *ask)
{
    struct attempt *attempt = &search->attempts[ask->attempt];

    if (attempt->state != ATTEMPT_ASKING || ask->verdict == SCRIPT_DROPPED) {
        return;
    }
    if (ask->verdict == SCRIPT_OK) {
        attempt->progress_reads = ask->reads;
        attempt_set_ceiling(attempt, ceiling_in_force(&attempt->terms, ask->script_us));
        return;
    }
    char warning[sizeof(ask->message) + 16];
    snprintf(warning, sizeof(warning), "ceiling: %s", ask->message);
    attempt_warn(attempt, warning);
    search_on_script_trouble(search, attempt, ask->verdict, warning, ask->trouble);
}

static void reask_on_done(struct script_call *call)
{
    struct search *search = call->owner;
    struct reask *reask = &search->reask;
    struct ceiling_call *ceilings = CONTAINER_OF(call, struct ceiling_call, call);
    bool was_dropped = false;

    reask->call = NULL;
    search_hold(search); // a ceiling that is over closes its attempt, and the last one would end the search in here
    for (size_t i = 0; i < ceilings->ask_count; i++) {
        was_dropped = was_dropped || ceilings->asks[i].verdict == SCRIPT_DROPPED;
        reask_apply(search, &ceilings->asks[i]);
    }
    if (!was_dropped) {
        reask->seen = ceilings->progress;
    }
    script_call_destroy(call);
    reask_consider(reask, search);
    search_let_go(search);
}

static void reask_submit(struct reask *reask, struct search *search, const struct search_progress *progress,
                         uint32_t changes)
{
    const struct search_options *options = &search->options;
    struct world *world = options->world;
    struct ceiling_call *call = ceiling_call_create(search->facts, search->client_facts, count_to_ask(search, changes));
    size_t next = 0;

    reask->asked_us = world->ops->now_us(world);
    if (call == NULL) {
        return; // the old ceilings hold until something else changes
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        const struct attempt *attempt = &search->attempts[i];
        if (is_to_ask(attempt, changes)) {
            call->asks[next++] = (struct ceiling_ask){ .attempt = (uint32_t)i,
                                                       .supplier = attempt->account->supplier,
                                                       .knowledge = knowledge_hold(attempt->knowledge),
                                                       .began_us = attempt->began_us,
                                                       .verdict = SCRIPT_DROPPED };
        }
    }
    call->progress = *progress;
    call->times = (struct script_times){ .arrival_us = options->arrival_us,
                                         .end_us = search->end_us,
                                         .arrival_wall_us = options->arrival_wall_us };
    catalogue_carry(options->catalogue, &call->call);
    call->call.deadline_us =
        reask->asked_us + REASK_EVERY_US < search->end_us ? reask->asked_us + REASK_EVERY_US : search->end_us;
    call->call.on_done = reask_on_done;
    call->call.owner = search;
    if (world->ops->script_submit(world, &call->call) != STATUS_OK) {
        script_call_destroy(&call->call);
        return;
    }
    reask->call = call;
}

/// Asks those whose reading has changed, or waits until they may be asked.
static void reask_consider(struct reask *reask, struct search *search)
{
    struct world *world = search->options.world;
    struct search_progress progress;

    if (!reask->is_on || reask->call != NULL || search->is_replying || timer_is_running(&reask->timer)) {
        return;
    }
    search_progress_of(search, &progress);
    uint32_t changes = search_progress_changes(&reask->seen, &progress);
    if (count_to_ask(search, changes) == 0) {
        return;
    }
    uint64_t next_us = reask->asked_us + REASK_EVERY_US;
    if (world->ops->now_us(world) >= next_us) {
        reask_submit(reask, search, &progress, changes);
        next_us = reask->asked_us + REASK_EVERY_US;
    }
    if (reask->call == NULL && next_us < search->end_us) {
        (void)!world->ops->timer_start(world, &reask->timer, next_us); // without memory the old ceilings hold
    }
}

static void reask_on_timer(struct timer *timer)
{
    struct reask *reask = CONTAINER_OF(timer, struct reask, timer);
    reask_consider(reask, CONTAINER_OF(reask, struct search, reask));
}

void reask_begin(struct reask *reask, struct search *search, uint32_t eligible)
{
    struct world *world = search->options.world;

    reask->timer.on_due = reask_on_timer;
    reask->seen = (struct search_progress){ .eligible = eligible, .cheapest_micros = INT64_MAX };
    reask->asked_us = world->ops->now_us(world);
    for (size_t i = 0; i < search->attempt_count; i++) {
        reask->is_on = reask->is_on || is_to_ask(&search->attempts[i], UINT32_MAX);
    }
    reask_consider(reask, search);
}

void reask_join(struct reask *reask, struct search *search, const struct attempt *attempt)
{
    reask->is_on = reask->is_on || is_to_ask(attempt, UINT32_MAX);
    reask_consider(reask, search);
}

void reask_note(struct reask *reask, struct search *search)
{
    reask_consider(reask, search);
}

void reask_fini(struct reask *reask, struct search *search)
{
    struct world *world = search->options.world;

    if (timer_is_running(&reask->timer)) {
        world->ops->timer_cancel(world, &reask->timer);
    }
    if (reask->call != NULL) {
        world->ops->script_cancel(world, &reask->call->call);
        reask->call = NULL;
    }
}
