#include "search/cull.h"

#include "policy/known.h"
#include "policy/shed.h"
#include "search/search_internal.h"

// The value of an answer is the items that it will add to this kind of search (policy/worth), times the chance that it
// comes, times the supplier's weight. Of whom nobody knows what he adds is taken to add what the others do on average:
// who is new is neither kept nor left out for it.

static const double YOUNG_COUNTS = 1e-9;

struct cull {
    struct attempt **attempts;
    double *values, *items; // items: below 0 are not known
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

/// Below 0: nobody knows.
static double items_of(const struct search *search, const struct start_candidate *candidate)
{
    double items = 0;
    bool is_known =
        candidate->knowledge != NULL && worth_expect(&known_of(candidate->knowledge)->worth, search->kind, &items);

    return is_known ? items : -1;
}

static double mean_of_known(const struct cull *cull)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < cull->count; i++) {
        sum += cull->items[i] >= 0 ? cull->items[i] : 0;
        known += cull->items[i] >= 0;
    }
    return known > 0 ? sum / (double)known : 1;
}

/// False: no memory, and nobody is left out.
static bool cull_collect(struct cull *cull, struct search *search, const struct start_call *start)
{
    struct world *world = search->options.world;
    size_t most = search->attempt_count;

    cull->attempts = search_alloc(search, most * sizeof(struct attempt *));
    cull->values = search_alloc(search, most * sizeof(*cull->values));
    cull->items = search_alloc(search, most * sizeof(*cull->items));
    cull->is_shed = search_alloc(search, most * sizeof(*cull->is_shed));
    if (cull->attempts == NULL || cull->values == NULL || cull->items == NULL || cull->is_shed == NULL) {
        return false;
    }
    for (size_t i = 0; i < most; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (!is_asked(attempt, start)) {
            continue;
        }
        const struct start_candidate *candidate = &start->candidates[attempt->candidate];
        double chance = world->ops->worth != NULL ? world->ops->worth(world, candidate->account) : 1;
        cull->values[cull->count] = chance * patience_weight(candidate->terms.weight, attempt->supplier);
        cull->items[cull->count] = items_of(search, candidate);
        cull->attempts[cull->count++] = attempt;
    }
    double mean = mean_of_known(cull);
    for (size_t i = 0; i < cull->count; i++) {
        cull->values[i] *= cull->items[i] >= 0 ? cull->items[i] : mean;
        // What it said last is nearly as good: such ones go first, among themselves by value.
        cull->values[i] *= recall_is_young(search, cull->attempts[i]) ? YOUNG_COUNTS : 1;
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
