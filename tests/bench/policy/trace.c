#include "bench/policy/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Every draw has a purpose, so that no two share their bits.
enum purpose { OF_ARRIVAL, OF_PERIOD, OF_CALL, OF_AGAIN, OF_BASE_PRICE, OF_NUMBER, OF_ITEM, OF_PRICE };

struct dice {
    uint64_t state;
};

/// splitmix64 (Steele, Lea, Flood 2014).
static uint64_t dice_next(struct dice *dice)
{
    uint64_t mixed = dice->state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

static struct dice dice_of(uint64_t seed, enum purpose purpose, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t words[] = { purpose, a, b, c };
    struct dice dice = { seed };

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        dice.state = dice_next(&dice) ^ words[i] * 0xd1342543de82ef95u;
    }
    return dice;
}

/// Above 0, below 1.
static double dice_roll(struct dice *dice)
{
    return ((double)(dice_next(dice) >> 11) + 0.5) / 9007199254740992.0;
}

static double dice_exponential(struct dice *dice, double mean)
{
    return -log(dice_roll(dice)) * mean;
}

/// Standard normal (Box and Muller 1958).
static double dice_normal(struct dice *dice)
{
    double radius = sqrt(-2 * log(dice_roll(dice)));
    return radius * cos(6.283185307179586 * dice_roll(dice));
}

// --------------------------------------------------------------------------------------------------------------- calls

static bool is_slow(const struct trace_periods *periods, uint64_t at_us)
{
    bool is_in = false;

    for (size_t i = 0; i < periods->count && periods->edges_us[i] <= at_us; i++) {
        is_in = !is_in;
    }
    return is_in;
}

static struct trace_draw draw_call(const struct trace *trace, size_t search, size_t supplier, uint32_t endpoint,
                                   uint32_t number)
{
    static const double MOST_US = 6e7, LEAST_US = 1000;
    const struct population_supplier *who = &trace->population->suppliers[supplier];
    struct dice dice = dice_of(trace->seed, OF_CALL, search, supplier, (uint64_t)endpoint * TRACE_CALLS + number);
    double fate = dice_roll(&dice), us;

    if (fate < who->hang_share) {
        return (struct trace_draw){ TRACE_HANGS, UINT64_MAX };
    }
    if (fate < who->hang_share + who->error_share) {
        return (struct trace_draw){ TRACE_FAILS, (uint64_t)(who->median_us / 5) };
    }
    if (dice_roll(&dice) < who->tail_share) {
        us = 2 * who->median_us * pow(dice_roll(&dice), -1 / who->tail_alpha);
    } else {
        us = who->median_us * exp(who->sigma * dice_normal(&dice));
    }
    us = fmin(fmax(us, LEAST_US), MOST_US);
    return (struct trace_draw){ TRACE_ANSWERS, (uint64_t)us };
}

/// What has befallen the supplier when the search came.
static struct trace_draw draw_in_time(const struct trace *trace, size_t search, size_t supplier, uint32_t endpoint,
                                      struct trace_draw draw)
{
    const struct population *population = trace->population;
    const struct population_supplier *who = &population->suppliers[supplier];
    uint64_t at_us = trace->arrival_us[search];
    bool is_after = search >= trace->first;
    double factor = is_slow(&trace->slow[supplier][endpoint], at_us) ? who->slow_factor : 1;

    if (is_after && supplier == population->dead && at_us < trace->incident_us + population->dead_us) {
        return (struct trace_draw){ TRACE_DROPS, UINT64_MAX };
    }
    if (is_after && who->hangs) {
        return (struct trace_draw){ TRACE_HANGS, UINT64_MAX };
    }
    factor *= is_after ? population->slower : 1;
    if (draw.fate == TRACE_ANSWERS) {
        draw.after_us = (uint64_t)((double)draw.after_us * factor);
    }
    return draw;
}

struct trace_draw trace_draw(const struct trace *trace, size_t search, size_t supplier, uint32_t endpoint,
                             uint32_t number)
{
    struct trace_draw draw;

    require(search < trace->count && supplier < trace->population->count && endpoint < POPULATION_ENDPOINTS_MAX);
    number = number < TRACE_CALLS ? number : TRACE_CALLS - 1;
    struct dice again = dice_of(trace->seed, OF_AGAIN, search, supplier, (uint64_t)endpoint * TRACE_CALLS + number);
    if ((number > 0 || endpoint > 0) && dice_roll(&again) < trace->population->same_again) {
        draw = draw_call(trace, search, supplier, 0, 0);
    } else {
        draw = draw_call(trace, search, supplier, endpoint, number);
    }
    return draw_in_time(trace, search, supplier, endpoint, draw);
}

// --------------------------------------------------------------------------------------------------------------- worth

const struct trace_offer *trace_offers(const struct trace *trace, size_t search, size_t supplier, size_t *count)
{
    size_t place = search * trace->population->count + supplier;

    *count = trace->offers_at[place + 1] - trace->offers_at[place];
    return &trace->offers[trace->offers_at[place]];
}

static uint32_t worth_of(const struct trace *trace, size_t search, uint64_t answered)
{
    const struct population *population = trace->population;
    const uint8_t *cheapest = &trace->cheapest[search * population->items];
    bool has[POPULATION_ITEMS_MAX] = { false };
    uint32_t worth = 0;

    for (size_t supplier = 0; supplier < population->count; supplier++) {
        size_t count = 0;
        const struct trace_offer *offers = trace_offers(trace, search, supplier, &count);
        for (size_t i = 0; (answered >> supplier & 1) != 0 && i < count; i++) {
            worth += !has[offers[i].item];
            worth += cheapest[offers[i].item] == supplier;
            has[offers[i].item] = true;
        }
    }
    return worth;
}

double trace_worth(const struct trace *trace, size_t search, uint64_t answered)
{
    return (double)worth_of(trace, search, answered) / trace->worth[search];
}

bool trace_has_best(const struct trace *trace, size_t search, uint64_t answered)
{
    return (answered >> trace->best[search] & 1) != 0;
}

// -------------------------------------------------------------------------------------------------------------- create

/// Different items, those with small numbers more often; offered at the item's price, more or less.
static void make_offers(struct trace *trace, size_t search, size_t supplier, const double *base, uint32_t *at)
{
    const struct population *population = trace->population;
    struct dice number = dice_of(trace->seed, OF_NUMBER, search, supplier, 0);
    struct dice item = dice_of(trace->seed, OF_ITEM, search, supplier, 0);
    struct dice price = dice_of(trace->seed, OF_PRICE, search, supplier, 0);
    uint32_t count = (uint32_t)(population->suppliers[supplier].offers * (0.5 + dice_roll(&number)));
    bool has[POPULATION_ITEMS_MAX] = { false };

    for (count = count > 0 ? count : 1; count > 0; count--) {
        uint32_t which;
        do {
            which = (uint32_t)(population->items * pow(dice_roll(&item), 1.5));
        } while (has[which]);
        has[which] = true;
        double cents = base[which] * exp(population->price_spread * dice_normal(&price));
        trace->offers[(*at)++] = (struct trace_offer){ which, (uint32_t)cents };
    }
    trace->offers_at[search * population->count + supplier + 1] = *at;
}

static void rate_search(struct trace *trace, size_t search)
{
    const struct population *population = trace->population;
    uint8_t *cheapest = &trace->cheapest[search * population->items];
    uint32_t lowest[POPULATION_ITEMS_MAX], least = UINT32_MAX;

    memset(cheapest, UINT8_MAX, population->items);
    memset(lowest, UINT8_MAX, sizeof(lowest));
    for (size_t supplier = 0; supplier < population->count; supplier++) {
        size_t count;
        const struct trace_offer *offers = trace_offers(trace, search, supplier, &count);
        for (size_t i = 0; i < count; i++) {
            if (offers[i].cents < lowest[offers[i].item]) {
                lowest[offers[i].item] = offers[i].cents;
                cheapest[offers[i].item] = (uint8_t)supplier;
            }
            if (offers[i].cents < least) {
                least = offers[i].cents;
                trace->best[search] = (uint8_t)supplier;
            }
        }
    }
    trace->worth[search] = worth_of(trace, search, UINT64_MAX);
}

static void make_search(struct trace *trace, size_t search, uint32_t *at)
{
    static const double MEDIAN_CENTS = 30000, SIGMA = 0.5;
    const struct population *population = trace->population;
    struct dice dice = dice_of(trace->seed, OF_BASE_PRICE, search, 0, 0);
    double base[POPULATION_ITEMS_MAX];

    for (uint32_t i = 0; i < population->items; i++) {
        base[i] = MEDIAN_CENTS * exp(SIGMA * dice_normal(&dice));
    }
    for (size_t supplier = 0; supplier < population->count; supplier++) {
        make_offers(trace, search, supplier, base, at);
    }
    rate_search(trace, search);
}

/// Slow and well by turns, each for a time drawn around its mean.
static bool make_periods(struct trace *trace, size_t supplier, uint32_t endpoint, uint64_t until_us)
{
    const struct population_supplier *who = &trace->population->suppliers[supplier];
    struct trace_periods *periods = &trace->slow[supplier][endpoint];
    struct dice dice = dice_of(trace->seed, OF_PERIOD, supplier, endpoint, 0);
    double well_us = who->slow_us * (1 - who->slow_share) / fmax(who->slow_share, 1e-9), at_us = 0;

    if (who->slow_share <= 0) {
        return true;
    }
    while (at_us < (double)until_us) {
        uint64_t *more = realloc(periods->edges_us, (periods->count + 2) * sizeof(*more));
        if (more == NULL) {
            return false;
        }
        periods->edges_us = more;
        at_us += dice_exponential(&dice, well_us);
        periods->edges_us[periods->count++] = (uint64_t)at_us;
        at_us += dice_exponential(&dice, who->slow_us);
        periods->edges_us[periods->count++] = (uint64_t)at_us;
    }
    return true;
}

/// Searches come by themselves (Poisson). False: no memory.
static bool make_arrivals(struct trace *trace, uint32_t searches)
{
    const struct population *population = trace->population;
    double at_us = TRACE_BEGIN_US;
    size_t capacity = 0;

    trace->incident_us = TRACE_BEGIN_US + population->warm_up_us;
    for (trace->first = SIZE_MAX; trace->first == SIZE_MAX || trace->count < trace->first + searches; trace->count++) {
        if (trace->count == capacity) {
            capacity = capacity == 0 ? 4096 : 2 * capacity;
            uint64_t *more = realloc(trace->arrival_us, capacity * sizeof(*more));
            if (more == NULL) {
                return false;
            }
            trace->arrival_us = more;
        }
        struct dice dice = dice_of(trace->seed, OF_ARRIVAL, trace->count, 0, 0);
        at_us += dice_exponential(&dice, 1e6 / population->rate_per_s);
        trace->arrival_us[trace->count] = (uint64_t)at_us;
        if (trace->first == SIZE_MAX && trace->arrival_us[trace->count] >= trace->incident_us) {
            trace->first = trace->count;
        }
    }
    return true;
}

static bool make_room(struct trace *trace)
{
    const struct population *population = trace->population;
    size_t offers = 0;

    for (size_t i = 0; i < population->count; i++) {
        offers += population->suppliers[i].offers * 3 / 2 + 1;
    }
    require(trace->count > 0 && offers > 0 && population->items > 0);
    trace->offers = calloc(trace->count * offers, sizeof(*trace->offers));
    trace->offers_at = calloc(trace->count * population->count + 1, sizeof(*trace->offers_at));
    trace->cheapest = calloc(trace->count, population->items);
    trace->best = calloc(trace->count, 1);
    trace->worth = calloc(trace->count, sizeof(*trace->worth));
    return trace->offers != NULL && trace->offers_at != NULL && trace->cheapest != NULL && trace->best != NULL &&
           trace->worth != NULL;
}

enum status trace_create(const struct population *population, uint64_t seed, uint32_t searches, struct trace **result)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    uint32_t at = 0;

    *result = NULL;
    if (trace == NULL) {
        return STATUS_NO_MEMORY;
    }
    trace->population = population;
    trace->seed = seed;
    bool has_memory = make_arrivals(trace, searches != 0 ? searches : population->searches) && make_room(trace);
    for (size_t i = 0; has_memory && i < population->count; i++) {
        for (uint32_t endpoint = 0; endpoint < population->suppliers[i].endpoints; endpoint++) {
            has_memory = make_periods(trace, i, endpoint, trace->arrival_us[trace->count - 1]) && has_memory;
        }
    }
    if (!has_memory) {
        trace_destroy(&trace);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < trace->count; i++) {
        make_search(trace, i, &at);
    }
    *result = trace;
    return STATUS_OK;
}

void trace_destroy(struct trace **gone)
{
    struct trace *trace = *gone;

    *gone = NULL;
    if (trace == NULL) {
        return;
    }
    for (size_t i = 0; i < POPULATION_SUPPLIERS_MAX; i++) {
        for (size_t j = 0; j < POPULATION_ENDPOINTS_MAX; j++) {
            free(trace->slow[i][j].edges_us);
        }
    }
    free(trace->arrival_us);
    free(trace->offers);
    free(trace->offers_at);
    free(trace->cheapest);
    free(trace->best);
    free(trace->worth);
    free(trace);
}
