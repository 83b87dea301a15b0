#include "search/cull.h"

#include "policy/shed.h"
#include "search/search_internal.h"

struct cull {
    struct attempt **attempts;
    double *values;
    bool *is_shed;
    size_t count;
};

/// Would it be asked now?
static bool is_asked(const struct attempt *attempt, const struct start_call *start)
{
    if (attempt->state != ATTEMPT_WAITING) {
        return false;
    }
    const struct start_candidate *candidate = &start->candidates[attempt->candidate];
    return candidate->verdict == SCRIPT_OK && !candidate->is_dark;
}

/// False: no memory, and nobody is left out.
static bool cull_collect(struct cull *cull, struct search *search, const struct start_call *start)
{
    struct world *world = search->options.world;
    size_t most = search->attempt_count;

    cull->attempts = search_alloc(search, most * sizeof(struct attempt *));
    cull->values = search_alloc(search, most * sizeof(*cull->values));
    cull->is_shed = search_alloc(search, most * sizeof(*cull->is_shed));
    if (cull->attempts == NULL || cull->values == NULL || cull->is_shed == NULL) {
        return false;
    }
    for (size_t i = 0; i < most; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (!is_asked(attempt, start)) {
            continue;
        }
        const struct script_account *account = start->candidates[attempt->candidate].account;
        cull->values[cull->count] = world->ops->worth != NULL ? world->ops->worth(world, account) : 1;
        cull->attempts[cull->count++] = attempt;
    }
    return true;
}

void cull_least(struct search *search, const struct start_call *start)
{
    struct world *world = search->options.world;
    double share = world->ops->shed_share != NULL ? world->ops->shed_share(world) : 0;
    struct cull cull = { 0 };

    if (share <= 0 || search->attempt_count == 0 || !cull_collect(&cull, search, start)) {
        return;
    }
    size_t turn = text_hash(search->options.search_id); // equal ones by turns
    (void)shed_choose(cull.values, cull.count, share, turn, cull.is_shed);
    for (size_t i = 0; i < cull.count; i++) {
        if (cull.is_shed[i]) {
            struct attempt *attempt = cull.attempts[i];
            attempt->account = start->candidates[attempt->candidate].account;
            attempt_close_unasked(attempt, OUTCOME_SHED, TEXT("left out: the engine is overloaded"));
        }
    }
}
