#include "search/dark.h"

#include "policy/ceiling.h"
#include "policy/traffic.h"
#include "search/search_internal.h"

static bool is_waiting(const struct attempt *attempt)
{
    return attempt->state == ATTEMPT_WAITING && attempt_is_dark(attempt);
}

bool dark_close_unreached(const struct search *search, struct attempt *attempt)
{
    const struct catalogue_supplier *supplier = attempt->supplier;

    if (traffic_reaches(search->options.search_id, supplier->name, supplier->traffic)) {
        return false;
    }
    attempt_close_unasked(attempt, OUTCOME_SKIPPED, TEXT("dark, and this search is not in its share"));
    return true;
}

void dark_hide(struct search *search, const struct start_call *start)
{
    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        bool is_found_dark = attempt->state == ATTEMPT_WAITING && start->candidates[attempt->candidate].is_dark;
        if (!is_found_dark || attempt_is_dark(attempt)) {
            continue;
        }
        attempt->mode = MODE_DARK; // by its account: among the shown ones until here
        attempt->account = start->candidates[attempt->candidate].account;
        search->open--;
        (void)dark_close_unreached(search, attempt);
    }
}

static void dark_on_started(struct script_call *call)
{
    struct search *search = call->owner;
    struct start_call *start = CONTAINER_OF(call, struct start_call, call);

    search->dark_start = NULL;
    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (is_waiting(attempt)) {
            attempt_start(attempt, &start->candidates[attempt->candidate]);
        }
    }
    script_call_destroy(call);
}

/// False: no memory.
static bool dark_fill(struct search *search, const struct start_call *first, struct start_call *start)
{
    bool has_memory = true;
    uint32_t next = 0;

    start->facts = block_acquire(search->facts); // the product has spoken
    start->client_facts = block_acquire(search->client_facts);
    start->product_verdict = SCRIPT_OK;
    start->ceiling_of = ceiling_in_force;
    start->asks_dark = true;
    start->eligible = first->eligible;
    catalogue_carry(search->options.catalogue, &start->call);
    start->call.deadline_us = search->end_us;
    start->call.is_last = true;
    start->call.on_done = dark_on_started;
    start->call.owner = search;
    start->times = first->times;
    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (!is_waiting(attempt)) {
            continue;
        }
        const struct start_candidate *known = &first->candidates[attempt->candidate];
        struct start_candidate *candidate = &start->candidates[next];
        candidate->account = known->account;
        candidate->account_count = known->account_count;
        candidate->supplier = known->supplier;
        candidate->terms = known->terms;
        candidate->is_of_test = known->is_of_test;
        attempt->candidate = next++;
        has_memory = search_fill_logins(search, start, candidate) && has_memory;
    }
    return has_memory;
}

void dark_submit(struct search *search, const struct start_call *first)
{
    const struct search_options *options = &search->options;
    struct world *world = options->world;
    size_t count = 0;

    for (size_t i = 0; i < search->attempt_count; i++) {
        count += is_waiting(&search->attempts[i]);
    }
    struct start_call *start =
        count > 0 ? start_call_create(options->product, options->search_id, options->body, count) : NULL;
    if (start != NULL) {
        if (dark_fill(search, first, start) && world->ops->script_submit(world, &start->call) == STATUS_OK) {
            search->dark_start = start;
            return;
        }
        script_call_destroy(&start->call);
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        if (is_waiting(&search->attempts[i])) {
            attempt_close_unasked(&search->attempts[i], OUTCOME_SHED, TEXT("the script queue is closed"));
        }
    }
}

void dark_finish(struct search *search)
{
    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (attempt_is_dark(attempt) && attempt->state != ATTEMPT_CLOSED) {
            attempt_finish_early(attempt);
        }
    }
}

void dark_fini(struct search *search)
{
    struct world *world = search->options.world;

    if (search->dark_start != NULL) {
        world->ops->script_cancel(world, &search->dark_start->call);
        search->dark_start = NULL;
    }
}
