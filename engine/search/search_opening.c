#include "search/search_internal.h"

#include "policy/ceiling.h"

// The one hop at the start of a search: what its call to the workers is made of.

uint64_t search_reserve_within(const struct search_options *options, uint64_t budget_us)
{
    uint64_t wish_us = options->reserve_wish_us != 0 ? options->reserve_wish_us : options->reserve_us;
    return reserve_within(wish_us, budget_us);
}

/// Where each rule for the deadline would end the search, so that its scripts are told the time that they have.
static bool search_foresee(const struct search *search, struct start_call *start)
{
    const struct search_options *options = &search->options;
    const struct rule_set *rules = options->catalogue->rules;

    start->rules = rules;
    start->ceiling_of = ceiling_in_force;
    if (rules == NULL || !rules->has_deadlines) {
        return true;
    }
    start->rule_ends_us = arena_alloc_array(&start->memory, rules->rule_count, sizeof *start->rule_ends_us);
    for (size_t i = 0; start->rule_ends_us != NULL && i < rules->rule_count; i++) {
        uint64_t rule_us = rules->rules[i].values[RULE_DEADLINE];
        if (rule_us != 0) {
            uint64_t budget_us = budget_by_rule(options->budget, rule_us).effective_us;
            start->rule_ends_us[i] = options->arrival_us + budget_us - search_reserve_within(options, budget_us);
        }
    }
    return start->rule_ends_us != NULL;
}

bool search_fill_logins(const struct search *search, struct start_call *start, struct start_candidate *candidate)
{
    struct world *world = search->options.world;
    size_t count = candidate->account_count > 0 ? candidate->account_count : 1;

    if (candidate->account->login == 0) {
        return true;
    }
    candidate->logins = arena_alloc_array(&start->memory, count, sizeof *candidate->logins);
    if (candidate->logins == NULL) {
        return false;
    }
    for (; candidate->login_count < count; candidate->login_count++) {
        candidate->logins[candidate->login_count] =
            world->ops->login_peek(world, &candidate->account[candidate->login_count]);
    }
    return true;
}

static bool search_fill_candidate(const struct search *search, const struct attempt *attempt, struct start_call *start,
                                  struct start_candidate *candidate)
{
    struct world *world = search->options.world;

    candidate->account = attempt->supplier->account;
    candidate->account_count = attempt->supplier->account_count;
    candidate->supplier = (uint32_t)(attempt->supplier - search->options.catalogue->suppliers);
    candidate->terms.settings_us = attempt->supplier->ceiling_us;
    if (world->ops->ceiling_override != NULL) {
        candidate->terms.override_us = world->ops->ceiling_override(world, attempt->supplier);
    }
    candidate->is_of_test = search->options.is_test;
    return search_fill_knowledge(search, start, candidate) && search_fill_logins(search, start, candidate);
}

enum status search_submit_start(struct search *search, size_t candidates)
{
    const struct search_options *options = &search->options;
    struct world *world = options->world;
    struct start_call *start = start_call_create(options->product, options->search_id, options->body, candidates);

    if (start == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (!search_foresee(search, start)) {
        script_call_destroy(&start->call);
        return STATUS_NO_MEMORY;
    }
    start->call.kind = SCRIPT_CALL_START;
    catalogue_carry(options->catalogue, &start->call);
    start->call.deadline_us = search->end_us;
    start->call.on_done = search_on_started;
    start->call.owner = search;
    start->times = (struct script_times){
        .arrival_us = options->arrival_us,
        .end_us = search->end_us,
        .arrival_wall_us = options->arrival_wall_us,
    };
    bool has_memory = true;
    for (size_t i = 0; i < search->attempt_count; i++) {
        const struct attempt *attempt = &search->attempts[i];
        if (attempt->state == ATTEMPT_WAITING) {
            has_memory =
                search_fill_candidate(search, attempt, start, &start->candidates[attempt->candidate]) && has_memory;
            start->eligible -= attempt_is_dark(attempt) ? 1 : 0;
        }
    }
    enum status status = has_memory ? world->ops->script_submit(world, &start->call) : STATUS_NO_MEMORY;
    if (status != STATUS_OK) {
        script_call_destroy(&start->call);
        return status;
    }
    search->start = start;
    return STATUS_OK;
}
