#include "bench/policy/stage_known.h"

#include "policy/known.h"

#include <stdlib.h>

// The settings' defaults, where there is one.
static const struct breaker_settings BREAKER = {
    .is_on = true, .window_s = 10, .min_calls = 20, .failure_share = 0.35
};
static const struct extra_settings EXTRA = { .is_on = true, .per_supplier = 0.03, .engine = 0.1 };
static const struct patience_settings PATIENCE = { .finishes_early = true, .least_gain = 0.001, .novelty = 100 };
static const double LINGER_LEARN = 0.01; // the settings' default is none

static struct stage *stage_of(struct world *world)
{
    return CONTAINER_OF(world, struct stage, world);
}

static struct stage_account *account_of(struct world *world, const struct script_account *account)
{
    return &stage_of(world)->known[account->supplier];
}

/// xorshift64* (Vigna 2016).
static uint32_t roll(struct stage_account *known)
{
    known->dice ^= known->dice >> 12;
    known->dice ^= known->dice << 25;
    known->dice ^= known->dice >> 27;
    return (uint32_t)(known->dice * UINT64_C(2685821657736338717) >> 32);
}

static bool has_extra(const struct row *row)
{
    return row->has_retry || row->has_hedge;
}

// -------------------------------------------------------------------------------------------------------------- health

static enum breaker_answer known_ask(struct world *world, const struct script_account *account,
                                     struct breaker_pass *pass, uint64_t *wait_us)
{
    struct stage_account *known = account_of(world, account);
    struct stage *stage = stage_of(world);
    enum breaker_answer answer = health_ask(&known->health, roll(known), stage->now_us, pass);

    *wait_us = breaker_refuses_us(&known->health.breaker, stage->now_us);
    if (answer != BREAKER_PASS) {
        known->refused_at_us = stage->now_us;
        stage->sums.refused += stage->now_us >= stage->trace->incident_us;
    }
    return answer;
}

/// What was read anew is what searches see from now on.
static void publish(const struct stage *stage, struct stage_account *account)
{
    struct known *known = malloc(sizeof(*known));

    require(known != NULL);
    known->curve = account->health.curve;
    known->worth = account->worth;
    known_finish(known, stage->catalogue.patience.held_cost);
    knowledge_drop(&account->knowledge);
    account->knowledge = &known->knowledge;
    account->fits = account->health.fits;
}

static void known_tell(struct world *world, const struct script_account *account, const struct health_result *result)
{
    struct stage_account *known = account_of(world, account);
    struct stage *stage = stage_of(world);

    (void)health_tell(&known->health, &stage->guard, result, roll(known), stage->now_us);
    if (result->end == HEALTH_GOOD) {
        extra_book_value(&known->extra, result->value);
    }
    if (known->health.fits != known->fits) {
        publish(stage, known);
    }
}

static struct knowledge *known_take(struct world *world, const struct script_account *account)
{
    return knowledge_hold(account_of(world, account)->knowledge);
}

static void known_worth(struct world *world, const struct script_account *account, uint64_t kind, double items,
                        bool has_won)
{
    worth_note(&account_of(world, account)->worth, kind, items, has_won, stage_of(world)->now_us);
}

static bool known_linger_wants(struct world *world, const struct script_account *account, uint32_t parts, bool fills)
{
    (void)fills; // this world keeps nothing
    static const double KNOWN = 500;
    static const uint32_t MOST = 32;
    struct stage_account *known = account_of(world, account);
    double samples = known->health.curve.samples, unknown = samples < KNOWN ? 1 - samples / KNOWN : 0;
    double share = LINGER_LEARN * (1 + 4 * unknown);
    bool is_wanted =
        stage_of(world)->row->has_linger && known->lingering + parts <= MOST && roll(known) < share * 4294967296.0;

    known->lingering += is_wanted ? parts : 0;
    return is_wanted;
}

static void known_linger_ended(struct world *world, const struct script_account *account, uint32_t parts)
{
    account_of(world, account)->lingering -= parts;
}

// --------------------------------------------------------------------------------------------------------- extra calls

static struct extra_state state_of(const struct stage_account *known)
{
    return (struct extra_state){ .curve = &known->health.curve,
                                 .is_closed = known->health.breaker.state == BREAKER_CLOSED };
}

static struct extra_times known_extra_call(struct world *world, const struct script_account *account,
                                           const struct extra_call *call)
{
    struct stage_account *known = account_of(world, account);
    struct extra_state state = state_of(known);

    return extra_book_call(&known->extra, &stage_of(world)->extra, &state, call, stage_of(world)->now_us);
}

static void known_extra_connected(struct world *world, const struct script_account *account, uint64_t us)
{
    extra_book_connected(&account_of(world, account)->extra, us, stage_of(world)->now_us);
}

static enum extra_answer known_extra_ask(struct world *world, const struct script_account *account,
                                         const struct extra_question *question)
{
    struct stage_account *known = account_of(world, account);
    struct stage *stage = stage_of(world);
    struct extra_state state = state_of(known);
    bool is_retry = question->kind == EXTRA_RETRY;

    if (is_retry ? !stage->row->has_retry : !stage->row->has_hedge) {
        return EXTRA_ALLOWANCE; // the row does not have it
    }
    enum extra_answer answer = extra_book_ask(&known->extra, &stage->extra, &state, question, stage->now_us);
    bool is_granted = answer == EXTRA_YES && stage->now_us >= stage->trace->incident_us;
    stage->sums.retries += is_granted && is_retry;
    stage->sums.hedges += is_granted && !is_retry;
    return answer;
}

static void known_extra_tell(struct world *world, const struct script_account *account,
                             const struct extra_result *result)
{
    struct stage_account *known = account_of(world, account);

    extra_book_tell(&known->extra, &stage_of(world)->extra, &known->health.latency, result, stage_of(world)->now_us);
}

// --------------------------------------------------------------------------------------------------------------- stage

/// What a search can bring at the most, in items: an item counts twice in what a trace is worth, once for its cheapest
/// offer.
static double full_value(const struct trace *trace)
{
    double sum = 0;

    for (size_t i = 0; i < trace->count; i++) {
        sum += trace->worth[i] / 2;
    }
    return sum / (double)trace->count;
}

void stage_known_init(struct stage *stage)
{
    const struct row *row = stage->row;
    struct breaker_settings breaker = BREAKER;
    struct catalogue *catalogue = &stage->catalogue;

    breaker.is_on = row->has_breaker;
    catalogue->breaker = breaker;
    catalogue->patience = PATIENCE;
    catalogue->patience.finishes_early = row->has_early;
    catalogue->patience.held_cost = row->held_cost;
    catalogue->patience.delay_cost = row->delay * full_value(stage->trace);
    catalogue->extra = EXTRA;
    catalogue->extra.is_on = has_extra(row);
    extra_engine_init(&stage->extra);
    extra_engine_set(&stage->extra, catalogue->extra);
    for (size_t i = 0; i < stage->trace->population->count; i++) {
        struct stage_account *known = &stage->known[i];
        health_init(&known->health, breaker, 0);
        known->health.breaker.supplier = i + 1;
        known->dice = stage->trace->seed * 0x9e3779b97f4a7c15u + i + 1;
        extra_book_init(&known->extra);
    }
    stage->guard.suppliers = (uint32_t)stage->trace->population->count;
}

void stage_known_fini(struct stage *stage)
{
    for (size_t i = 0; i < POPULATION_SUPPLIERS_MAX; i++) {
        knowledge_drop(&stage->known[i].knowledge);
    }
}

void stage_known_ops(const struct row *row, struct world_ops *ops)
{
    ops->health_ask = known_ask;
    ops->health_tell = known_tell;
    ops->linger_wants = known_linger_wants;
    ops->linger_ended = known_linger_ended;
    ops->knowledge = known_take;
    ops->worth_tell = known_worth;
    if (has_extra(row)) {
        ops->extra_call = known_extra_call;
        ops->extra_connected = known_extra_connected;
        ops->extra_ask = known_extra_ask;
        ops->extra_tell = known_extra_tell;
    }
}
