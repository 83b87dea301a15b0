#include "search/patience.h"

#include "policy/known.h"
#include "policy/patience.h"
#include "search/search_internal.h"

// A look always comes from the timer, never from within what has changed: it may close attempts and end the search.

enum { PENDING_MOST = 512, CHECKS_OF_A_WAIT = 40 };

static const double MILLIONTHS = 1e-6;

/// All that is out, as policy sees it.
struct outlook {
    struct pending pending[PENDING_MOST];
    size_t count;
    uint64_t now_us, left_us;
    uint64_t last_end_us; // the latest end of an attempt
};

/// An answer is arriving or being read: that is no matter of chance any more.
static bool is_arriving(const struct attempt *attempt)
{
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        const struct part *part = &attempt->parts[i];
        if (part->state == PART_NORMALISING || (part->state == PART_FETCHING && part_phase(part) == PHASE_BODY)) {
            return true;
        }
    }
    return false;
}

double patience_weight(const struct rule *rule, const struct catalogue_supplier *supplier)
{
    uint64_t millionths = rule != NULL ? rule->values[RULE_WEIGHT] : supplier->weight;

    return millionths != 0 ? (double)millionths * MILLIONTHS : 1;
}

/// In ms, because those that began together are to be looked at together.
static uint64_t elapsed_of(const struct attempt *attempt, uint64_t now_us)
{
    return (now_us - attempt->began_us) / 1000 * 1000;
}

/// False: whether it is worth waiting for cannot be said.
static bool outlook_add(struct outlook *outlook, const struct search *search, const struct attempt *attempt)
{
    uint64_t end_us = attempt->allocation.end_us < search->end_us ? attempt->allocation.end_us : search->end_us;

    if (attempt->state != ATTEMPT_ASKING || attempt->knowledge == NULL || outlook->count == PENDING_MOST ||
        attempt->began_us == 0 || is_arriving(attempt)) {
        return false;
    }
    const struct known *known = known_of(attempt->knowledge);
    uint64_t elapsed_us = elapsed_of(attempt, outlook->now_us);
    uint64_t until_us = end_us - attempt->began_us;
    double items = 1; // of whom nobody knows what his answers are worth
    if (!known_reaches(known, elapsed_us, until_us)) {
        return false;
    }
    (void)worth_expect(&known->worth, search->kind, &items);
    outlook->pending[outlook->count++] =
        (struct pending){ .curve = &known->curve,
                          .elapsed_us = elapsed_us,
                          .value = items * patience_weight(attempt->terms.weight, attempt->supplier) *
                                   (1 - recall_share(search, attempt)), // that much of it is held anyway
                          .end_us = until_us };
    outlook->last_end_us = end_us > outlook->last_end_us ? end_us : outlook->last_end_us;
    return true;
}

/// What is held of it: its own offers, or in part those that would stand in for them.
static double held_of(const struct search *search, const struct attempt *attempt)
{
    return attempt->stock.live > 0 ? (double)attempt->stock.live
                                   : recall_share(search, attempt) * attempt->recalled.head.offers;
}

/// False: there is somebody who is waited for, come what may.
static bool outlook_take(struct outlook *outlook, const struct search *search)
{
    struct world *world = search->options.world;
    double held = 0;

    *outlook = (struct outlook){ .now_us = world->ops->now_us(world) };
    if (outlook->now_us >= search->end_us) {
        return false; // it ends by itself
    }
    outlook->left_us = search->end_us - outlook->now_us;
    for (size_t i = 0; i < search->attempt_count; i++) {
        const struct attempt *attempt = &search->attempts[i];
        if (attempt_is_dark(attempt)) {
            continue;
        }
        held += held_of(search, attempt);
        if (attempt->state != ATTEMPT_CLOSED && !outlook_add(outlook, search, attempt)) {
            return false;
        }
    }
    double novelty = patience_novelty(held, search->options.catalogue->patience.novelty);
    for (size_t i = 0; i < outlook->count; i++) {
        outlook->pending[i].value *= novelty;
    }
    return outlook->count > 0;
}

/// Without changes a gain falls only as time goes by. When waiting costs nothing it stays until the best horizon is
/// near.
static uint64_t next_look_us(const struct patience *patience, const struct outlook *outlook, uint64_t until_us)
{
    uint64_t wait_us = outlook->left_us / CHECKS_OF_A_WAIT;

    if (patience->cost_per_s <= 0) {
        uint64_t step_us = outlook->left_us / PATIENCE_HORIZONS;
        wait_us = until_us > step_us ? until_us - step_us : 0;
    }
    return outlook->now_us + (wait_us > PATIENCE_EVERY_US ? wait_us : PATIENCE_EVERY_US);
}

static void patience_plan(struct patience *patience, struct search *search, uint64_t at_us)
{
    struct world *world = search->options.world;

    if (at_us < search->end_us) { // without memory for the timer the search goes on to its end
        (void)!world->ops->timer_start(world, &patience->timer, at_us);
    }
}

static void patience_on_look(struct timer *timer)
{
    struct patience *patience = CONTAINER_OF(timer, struct patience, timer);
    struct search *search = CONTAINER_OF(patience, struct search, patience);
    struct outlook outlook;
    uint64_t until_us = 0;

    if (!patience->is_on || search->is_replying) {
        return;
    }
    bool is_known = outlook_take(&outlook, search);
    patience->looked_us = outlook.now_us;
    if (!is_known) {
        patience_plan(patience, search, outlook.now_us + 4 * PATIENCE_EVERY_US); // an attempt may outlive its curve
        return;
    }
    double gain = patience_gain(outlook.pending, outlook.count, outlook.left_us, patience->cost_per_s, &until_us);
    if (gain <= search->options.catalogue->patience.least_gain) {
        patience->is_on = false;
        patience->saved_us = outlook.last_end_us - outlook.now_us;
        search_finish_early(search);
        return;
    }
    patience_plan(patience, search, next_look_us(patience, &outlook, until_us));
}

bool search_fill_knowledge(const struct search *search, struct start_call *start, struct start_candidate *candidate)
{
    struct world *world = search->options.world;
    size_t count = candidate->account_count > 0 ? candidate->account_count : 1;

    if (world->ops->knowledge == NULL) {
        return true;
    }
    candidate->knowledges = arena_alloc_array(&start->memory, count, sizeof(void *));
    if (candidate->knowledges == NULL) {
        return false;
    }
    for (; candidate->knowledge_count < count; candidate->knowledge_count++) {
        candidate->knowledges[candidate->knowledge_count] =
            world->ops->knowledge(world, &candidate->account[candidate->knowledge_count]);
    }
    return true;
}

void patience_begin(struct patience *patience, struct search *search, const struct start_call *start)
{
    const struct patience_settings *settings = &search->options.catalogue->patience;
    const struct rule *rule = start->delay_cost_rule;

    patience->timer.on_due = patience_on_look;
    patience->cost_per_s = rule != NULL ? (double)rule->values[RULE_DELAY_COST] * MILLIONTHS : settings->delay_cost;
    patience->is_on =
        settings->finishes_early && !search->options.whole_or_nothing && search->options.world->ops->knowledge != NULL;
    patience_note(patience, search);
}

void patience_note(struct patience *patience, struct search *search)
{
    struct world *world = search->options.world;

    if (!patience->is_on || search->is_replying) {
        return;
    }
    uint64_t now_us = world->ops->now_us(world);
    uint64_t at_us = patience->looked_us != 0 ? patience->looked_us + PATIENCE_EVERY_US : now_us;
    at_us = at_us > now_us ? at_us : now_us;
    if (!timer_is_running(&patience->timer) || patience->timer.at_us > at_us) {
        patience_plan(patience, search, at_us);
    }
}

void patience_fini(struct patience *patience, struct search *search)
{
    struct world *world = search->options.world;

    patience->is_on = false;
    if (timer_is_running(&patience->timer)) {
        world->ops->timer_cancel(world, &patience->timer);
    }
}
