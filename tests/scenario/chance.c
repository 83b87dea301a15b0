#include "scenario/chance.h"

#include "policy/budget.h"
#include "policy/traffic.h"
#include "scenario/allocations.h"

#include <stdio.h>

enum { MS = 1000, GRID_US = 10 * MS };

struct dice {
    uint64_t state;
};

/// splitmix64
static uint64_t roll(struct dice *dice)
{
    uint64_t mixed = dice->state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

static uint64_t between(struct dice *dice, uint64_t least, uint64_t most)
{
    return least + roll(dice) % (most - least + 1);
}

static bool one_in(struct dice *dice, uint64_t count)
{
    return roll(dice) % count == 0;
}

// ---------------------------------------------------------------------------------------------------------- suppliers

/// What an exchange comes to when time does not cut it.
struct exchange {
    enum fetch_result result;
    enum phase phase;
    uint16_t status;
    enum script_verdict verdict;
    enum outcome outcome;
};

static const struct exchange GOOD[] = {
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_OK, OUTCOME_ANSWERED },
    { FETCH_OK, PHASE_NONE, 201, SCRIPT_OK, OUTCOME_ANSWERED },
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_EMPTY, OUTCOME_EMPTY },
};
static const struct exchange BAD[] = {
    { FETCH_DNS_FAILED, PHASE_DNS, 0, SCRIPT_OK, OUTCOME_FAILED },
    { FETCH_CONNECT_FAILED, PHASE_CONNECT, 0, SCRIPT_OK, OUTCOME_FAILED },
    { FETCH_TLS_FAILED, PHASE_TLS, 0, SCRIPT_OK, OUTCOME_FAILED },
    { FETCH_SEND_FAILED, PHASE_SEND, 0, SCRIPT_OK, OUTCOME_FAILED },
    { FETCH_RECEIVE_FAILED, PHASE_FIRST_BYTE, 0, SCRIPT_OK, OUTCOME_FAILED },
    { FETCH_RECEIVE_FAILED, PHASE_BODY, 0, SCRIPT_OK, OUTCOME_FAILED },
    { FETCH_TOO_LARGE, PHASE_BODY, 0, SCRIPT_OK, OUTCOME_TOO_LARGE },
    { FETCH_REFUSED, PHASE_CONNECT, 0, SCRIPT_OK, OUTCOME_FAILED },
    { FETCH_NO_MEMORY, PHASE_QUEUE, 0, SCRIPT_OK, OUTCOME_FAILED },
    { FETCH_OK, PHASE_NONE, 500, SCRIPT_EMPTY, OUTCOME_FAILED },
    { FETCH_OK, PHASE_NONE, 503, SCRIPT_UNPARSABLE, OUTCOME_FAILED },
    { FETCH_OK, PHASE_NONE, 404, SCRIPT_EMPTY, OUTCOME_REJECTED },
    { FETCH_OK, PHASE_NONE, 429, SCRIPT_EMPTY, OUTCOME_REJECTED },
    { FETCH_OK, PHASE_NONE, 429, SCRIPT_ERROR, OUTCOME_SCRIPT_ERROR },
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_FAIL_QUOTA, OUTCOME_REJECTED },
    { FETCH_OK, PHASE_NONE, 503, SCRIPT_FAIL_BUSY, OUTCOME_REJECTED },
    { FETCH_OK, PHASE_NONE, 401, SCRIPT_FAIL_AUTH, OUTCOME_REJECTED },
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_FAIL_SUPPLIER, OUTCOME_REJECTED },
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_FAIL_UNEXPECTED, OUTCOME_UNPARSABLE },
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_UNPARSABLE, OUTCOME_UNPARSABLE },
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_TOO_LARGE, OUTCOME_TOO_LARGE },
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_ERROR, OUTCOME_SCRIPT_ERROR },
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_TIMEOUT, OUTCOME_SCRIPT_TIMEOUT },
    { FETCH_OK, PHASE_NONE, 200, SCRIPT_MEMORY, OUTCOME_SCRIPT_MEMORY },
};

/// Of the start call, when nothing is sent.
static const struct {
    enum script_verdict verdict;
    enum outcome outcome;
} REFUSALS[] = {
    { SCRIPT_SKIPPED, OUTCOME_SKIPPED },      { SCRIPT_SKIPPED, OUTCOME_SKIPPED },
    { SCRIPT_ERROR, OUTCOME_SCRIPT_ERROR },   { SCRIPT_TIMEOUT, OUTCOME_SCRIPT_TIMEOUT },
    { SCRIPT_MEMORY, OUTCOME_SCRIPT_MEMORY }, { SCRIPT_DROPPED, OUTCOME_TOO_LATE },
};

/// What is fixed for all suppliers of a play.
struct habits {
    uint64_t end_us;   // after arrival
    uint64_t start_us; // until the first request can go out, at the latest
    uint64_t slack_us; // what a machine may add to an exchange
    bool is_on_grid;   // all times are multiples: many things happen in the same tick
    bool has_queue;    // workers may be busy
    uint64_t bad_in;   // one exchange in so many fails
};

static uint64_t some_time(struct dice *dice, const struct habits *habits)
{
    uint64_t most_us = habits->end_us + habits->end_us / 4;
    uint64_t us = one_in(dice, 3) ? between(dice, 0, most_us) : between(dice, 0, habits->end_us / 3);

    if (habits->is_on_grid) {
        return us / GRID_US * GRID_US;
    }
    return one_in(dice, 16) ? habits->end_us - between(dice, 0, 3) : us;
}

/// Fills one exchange; returns what it comes to.
/// A second request of the exchange fares in its own way.
static void fill_second(struct dice *dice, const struct habits *habits, struct virtual_second *second)
{
    const struct exchange *exchange =
        one_in(dice, 3) ? &BAD[roll(dice) % COUNT_OF(BAD)] : &GOOD[roll(dice) % COUNT_OF(GOOD)];

    second->is_given = true;
    second->result = exchange->result;
    second->phase = exchange->phase;
    second->status = exchange->status;
    second->normalise = exchange->verdict;
    second->after_us = some_time(dice, habits) / 2;
    second->connect_us = one_in(dice, 3) ? second->after_us / 2 : 0;
    second->hangs = one_in(dice, 12);
    second->offers = (uint32_t)between(dice, 1, 6);
}

static enum outcome fill_step(struct dice *dice, const struct habits *habits, struct virtual_step *step)
{
    bool is_bad = one_in(dice, habits->bad_in);
    const struct exchange *exchange = is_bad ? &BAD[roll(dice) % COUNT_OF(BAD)] : &GOOD[roll(dice) % COUNT_OF(GOOD)];

    step->result = exchange->result;
    step->phase = exchange->phase;
    step->status = exchange->status;
    step->normalise = exchange->verdict;
    step->after_us = some_time(dice, habits);
    step->hangs = one_in(dice, 24);
    step->normalise_us = habits->is_on_grid ? 0 : between(dice, 0, one_in(dice, 20) ? 200 * MS : 2 * MS);
    step->first_id = (uint32_t)between(dice, 0, 6);
    step->offers = (uint32_t)between(dice, 1, one_in(dice, 20) ? 60 : 6);
    step->merge = one_in(dice, 3) ? (one_in(dice, 2) ? MERGE_REPLACE : MERGE_KEEP) : MERGE_ADD;
    step->is_incomplete = one_in(dice, 6);
    step->is_quota_used = one_in(dice, 12);
    step->retry_after_ms = one_in(dice, 4) ? between(dice, 1, 2000) : 0;
    step->dropped = one_in(dice, 10) ? 2 : 0;
    step->warnings = one_in(dice, 10) ? 1 : 0;
    step->message = one_in(dice, 4) ? "words of the supplier" : NULL;
    step->refused_logins = one_in(dice, 5) ? (uint32_t)between(dice, 1, 3) : 0;
    step->connect_us = one_in(dice, 6) ? step->after_us / 2 : 0;
    if (one_in(dice, 2)) {
        fill_second(dice, habits, &step->second);
    }
    return exchange->outcome;
}

static void fill_one_exchange(struct dice *dice, const struct habits *habits, struct play *play,
                              struct play_supplier *supplier)
{
    struct virtual_step *step = play_add_step(play, 1, 1);
    uint64_t ceiling_us = supplier->rule_us != 0 ? supplier->rule_us : supplier->behaviour.ceiling_us;
    uint64_t end_us = ceiling_us != 0 && ceiling_us < habits->end_us ? ceiling_us : habits->end_us;

    supplier->expected = fill_step(dice, habits, step);
    step->merge = MERGE_ADD;
    uint64_t done_us = habits->start_us + step->after_us + step->normalise_us + habits->slack_us;
    supplier->is_in_time = !habits->has_queue && !step->hangs && done_us < end_us;
    if (step->hangs) {
        supplier->expected = OUTCOME_CUT;
    }
}

static void fill_exchanges(struct dice *dice, const struct habits *habits, struct play *play)
{
    uint32_t parts = (uint32_t)between(dice, 1, one_in(dice, 4) ? 5 : 2);

    for (uint32_t part = 1; part <= parts; part++) {
        uint32_t steps = one_in(dice, 2) ? 1 : (uint32_t)between(dice, 1, 4);
        for (uint32_t number = 1; number <= steps; number++) {
            struct virtual_step *step = play_add_step(play, part, number);
            (void)fill_step(dice, habits, step);
            step->has_next = number < steps;
            step->next_after_us = one_in(dice, 3) ? 0 : some_time(dice, habits) / 2;
        }
    }
}

/// Narrow limits of the account, some of which are used up before the search. A supplier of one exchange is then not
/// asked; of one of several nobody knows how far it comes.
static void fill_limits(struct dice *dice, struct play_supplier *supplier)
{
    struct virtual_supplier *behaviour = &supplier->behaviour;
    uint32_t most = (uint32_t)between(dice, 1, 6);
    bool is_used = one_in(dice, 4);

    behaviour->limits = (struct request_limits){
        .per_second = one_in(dice, 2) ? most : 0,
        .per_minute = one_in(dice, 3) ? most : 0,
        .per_day = one_in(dice, 3) ? most : 0,
        .concurrent = one_in(dice, 2) ? (uint32_t)between(dice, 1, 3) : 0,
    };
    bool has_rate = behaviour->limits.per_second + behaviour->limits.per_minute + behaviour->limits.per_day > 0;
    if (is_used && has_rate) {
        behaviour->used = most;
    } else if (is_used) {
        behaviour->blocked_us = 4000 * MS;
    }
    // A second's window may be free again before a late request; the other rates and a long block are not.
    bool is_sure = is_used && (behaviour->limits.per_minute + behaviour->limits.per_day > 0 || !has_rate);
    if (is_used && supplier->expected != OUTCOME_COUNT) {
        supplier->expected = is_sure ? OUTCOME_RATE_LIMITED : OUTCOME_COUNT;
        supplier->is_in_time = false;
    }
}

/// A login that may be slow, missing, denied or refused: how such an attempt ends is not foretold.
static void fill_login(struct dice *dice, const struct habits *habits, struct play_supplier *supplier)
{
    static const enum outcome ENDS[] = { OUTCOME_FAILED, OUTCOME_REJECTED, OUTCOME_SCRIPT_ERROR };
    struct virtual_supplier *behaviour = &supplier->behaviour;

    behaviour->logs_in = true;
    behaviour->has_login = one_in(dice, 2);
    behaviour->login_hangs = one_in(dice, 10);
    behaviour->login_after_us = some_time(dice, habits) / 2;
    behaviour->login_life_us = one_in(dice, 4) ? some_time(dice, habits) + 1 : 0;
    behaviour->login_outcome = one_in(dice, 6) ? ENDS[roll(dice) % COUNT_OF(ENDS)] : OUTCOME_ANSWERED;
    behaviour->rebuilt = one_in(dice, 12) ? SCRIPT_ERROR : SCRIPT_OK;
    behaviour->rebuild_us = habits->is_on_grid ? 0 : between(dice, 0, 2 * MS);
    supplier->is_in_time = false;
    supplier->expected = OUTCOME_COUNT;
}

/// What strangers see instead of the names below.
static const char *const DISPLAYS[] = { "A & Co", "B-s",  "C",  "D.",  "E-E", "F F", "G/", "H~", "I's",
                                        "J",      "K, L", "LL", "M M", "N",   "O!",  "P+", "Q",  "R",
                                        "S",      "T",    "U",  "V",   "W",   "X",   "Y",  "Z" };

/// Ceilings that are asked again, about anything.
static void fill_again(struct dice *dice, const struct habits *habits, struct play_supplier *supplier)
{
    supplier->again_count = one_in(dice, 4) ? between(dice, 1, PLAY_AGAIN_MAX) : 0;
    for (size_t i = 0; i < supplier->again_count; i++) {
        supplier->again[i] = (struct virtual_ceiling){
            .after_us = one_in(dice, 2) ? some_time(dice, habits) : 0,
            .offers = one_in(dice, 3) ? (uint32_t)between(dice, 1, 12) : 0,
            .answered = one_in(dice, 3) ? (uint32_t)between(dice, 1, 3) : 0,
            .ceiling_us = one_in(dice, 5) ? 0 : some_time(dice, habits) + 1,
            .fails = one_in(dice, 6),
        };
    }
}

/// What is known of it, and what it says of calls made twice. How it ends when one is made is not foretold.
static void fill_extra(struct dice *dice, const struct habits *habits, struct play_supplier *supplier)
{
    struct virtual_supplier *behaviour = &supplier->behaviour;

    behaviour->terms.may_hedge = one_in(dice, 2);
    behaviour->terms.call_cost = one_in(dice, 4) ? (double)between(dice, 1, 12) : 0;
    behaviour->extra = (struct virtual_extra_given){
        .is_known = !one_in(dice, 4),
        .median_us = some_time(dice, habits) / 4 + 1,
        .connect_us = one_in(dice, 2) ? some_time(dice, habits) / 8 + 1 : 0,
        .value = (double)between(dice, 1, 20),
        .calls = (uint32_t)between(dice, 1, 120),
        .has_quota = one_in(dice, 8),
        .is_not_closed = one_in(dice, 8),
        .running = one_in(dice, 8) ? (uint32_t)between(dice, 1, 3) : 0,
    };
    behaviour->extra.early_us = one_in(dice, 2) ? behaviour->extra.median_us / 8 + 1 : 0;
    behaviour->extra.late_us = behaviour->extra.median_us * between(dice, 1, 3);
    supplier->expected = OUTCOME_COUNT;
    supplier->is_in_time = false;
}

static void fill_mode(struct dice *dice, struct play_supplier *supplier)
{
    enum mode mode = (enum mode)between(dice, MODE_DARK, MODE_TEST);

    supplier->mode = one_in(dice, 8) ? mode : MODE_LIVE;
    supplier->account_mode = one_in(dice, 12) ? mode : MODE_LIVE;
    supplier->traffic = one_in(dice, 2) ? between(dice, 0, TRAFFIC_ALL) : TRAFFIC_ALL;
}

/// Credentials that were refused before: three times, and the account is left alone, or tried out now.
static void fill_auth(struct dice *dice, struct play_supplier *supplier)
{
    struct virtual_supplier *behaviour = &supplier->behaviour;

    behaviour->auth_refusals = (uint32_t)between(dice, 1, AUTH_PARK_REFUSALS);
    behaviour->is_tried_out = one_in(dice, 2);
    if (behaviour->auth_refusals == AUTH_PARK_REFUSALS && !behaviour->is_tried_out) {
        supplier->expected = supplier->expected == OUTCOME_COUNT ? OUTCOME_COUNT : OUTCOME_REJECTED;
        supplier->is_in_time = false;
    }
}

static void fill_supplier(struct dice *dice, const struct habits *habits, struct play *play, const char *name)
{
    struct play_supplier *supplier = play_add_supplier(play, name);
    struct virtual_supplier *behaviour = &supplier->behaviour;

    behaviour->item_prefix = one_in(dice, 2) ? "i" : NULL;
    behaviour->cheapest_micros = (int64_t)between(dice, 50, 53) * OFFER_MICROS;
    behaviour->is_odd = one_in(dice, 5);
    behaviour->minutes = one_in(dice, 2) ? (uint32_t)between(dice, 1, 4) * 60 : 0;
    behaviour->flag = one_in(dice, 6) ? (uint32_t)between(dice, 1, 3) : OFFER_COMPARABLE;
    supplier->is_left_out = one_in(dice, 6);
    if (one_in(dice, 3)) {
        uint64_t us = some_time(dice, habits);
        behaviour->ceiling_us = one_in(dice, 8) ? habits->end_us : us;
        supplier->rule_us = one_in(dice, 4) ? some_time(dice, habits) : 0;
    }
    fill_again(dice, habits, supplier);
    fill_mode(dice, supplier);
    if (one_in(dice, 12)) {
        size_t which = roll(dice) % COUNT_OF(REFUSALS);
        behaviour->start = REFUSALS[which].verdict;
        supplier->expected = REFUSALS[which].outcome;
        behaviour->steps = play_add_step(play, 1, 1);
    } else if (one_in(dice, 2)) {
        fill_exchanges(dice, habits, play);
    } else {
        fill_one_exchange(dice, habits, play, supplier);
    }
    behaviour->signs = one_in(dice, 6);
    if (behaviour->start == SCRIPT_OK && one_in(dice, 4)) {
        fill_login(dice, habits, supplier);
    }
    if (behaviour->start == SCRIPT_OK && one_in(dice, 4)) {
        fill_limits(dice, supplier);
    }
    supplier->is_in_time = supplier->is_in_time && supplier->again_count == 0;
    behaviour->lingers = one_in(dice, 3);
    if (behaviour->start == SCRIPT_OK && one_in(dice, 12)) {
        behaviour->breaker = one_in(dice, 2) ? BREAKER_OPEN : BREAKER_HALF_OPEN;
        supplier->expected = supplier->expected == OUTCOME_COUNT ? OUTCOME_COUNT : OUTCOME_BREAKER_OPEN;
        supplier->is_in_time = false;
    }
    if (behaviour->start == SCRIPT_OK && one_in(dice, 8)) {
        fill_auth(dice, supplier);
    }
    behaviour->worth = (uint32_t)between(dice, 0, 3);
    supplier->display = one_in(dice, 3) ? DISPLAYS[name[0] - 'a'] : NULL;
    if (one_in(dice, 20)) {
        supplier->is_disabled = true;
        supplier->expected = OUTCOME_DISABLED;
    } else if (one_in(dice, 20)) {
        behaviour->off = "by somebody";
        behaviour->off_after_us = one_in(dice, 2) ? 0 : between(dice, 1, 500000);
        supplier->expected = behaviour->off_after_us == 0 ? OUTCOME_DISABLED : OUTCOME_COUNT;
    }
}

// ------------------------------------------------------------------------------------------------------------- machine

/// Costs that a right engine can bear within its reserve: each is a share of it.
static void fill_machine(struct dice *dice, struct play *play, bool is_on_grid)
{
    struct virtual_machine *machine = &play->machine;
    // A rule may halve the budget, and then less is kept.
    uint64_t reserve_us = reserve_within(play->reserve_wish_us, play->budget_us / 2);

    machine->seed = roll(dice);
    machine->fetch_ends_first = one_in(dice, 2);
    machine->workers = one_in(dice, 3) ? (uint32_t)between(dice, 1, 4) : 0;
    if (!is_on_grid) {
        machine->late_us = between(dice, 0, reserve_us / 5);
        machine->turn_us = between(dice, 0, reserve_us / 400);
        machine->long_turn_us = between(dice, 0, reserve_us / 5);
        machine->script_percent = (uint32_t)between(dice, 0, 100);
    }
    machine->rung = one_in(dice, 6) ? (uint32_t)between(dice, 1, ADMISSION_RUNGS) : 0;
    machine->offer_ns = between(dice, 0, reserve_us / 10);
    machine->byte_ns = between(dice, 0, 2);
    if (one_in(dice, 8)) {
        machine->refused_call = one_in(dice, 2) ? (uint32_t)between(dice, 1, 12) : 0;
        machine->refused_fetch = one_in(dice, 2) ? (uint32_t)between(dice, 1, 12) : 0;
        machine->refused_timer = one_in(dice, 2) ? (uint32_t)between(dice, 1, 12) : 0;
    }
}

/// Rules of which some fit: for the deadline, the one fact being a digit, and for ceilings of anybody.
static void fill_rules(struct dice *dice, const struct habits *habits, struct play *play)
{
    static const char *const DIGITS[] = { "0", "1", "2", "3" };

    play->segments[0] = TEXT("digit");
    play->facts[0] = rule_fact_of(text_of(DIGITS[roll(dice) % COUNT_OF(DIGITS)]));
    play->segment_count = 1;
    play->has_default_budget = one_in(dice, 2);
    play->rule_count = between(dice, 1, 5);
    for (size_t i = 0; i < play->rule_count; i++) {
        struct play_rule *rule = &play->rules[i];
        int64_t least = (int64_t)between(dice, 0, 3);
        *rule = (struct play_rule){ .rule = { .place = TEXT("rules:1"), .conditions = rule->conditions } };
        rule->values[0][0] = (struct rule_value){ .least = least, .most = least + (int64_t)between(dice, 0, 2) };
        rule->conditions[0] = (struct rule_condition){ .values = rule->values[0], .value_count = 1 };
        rule->rule.condition_count = one_in(dice, 3) ? 0 : 1;
        rule->rule.values[RULE_CEILING] = one_in(dice, 3) ? some_time(dice, habits) : 0;
        rule->rule.values[RULE_CEILING_SCALE] = one_in(dice, 3) ? between(dice, 1, 100) * 10000 : 0;
        rule->rule.values[RULE_CEILING_MAX] = one_in(dice, 3) ? some_time(dice, habits) : 0;
        if (one_in(dice, 3) && play->supplier_count > 0) {
            rule->suppliers[rule->supplier_count++] = play->suppliers[roll(dice) % play->supplier_count].behaviour.name;
        } else if (one_in(dice, 2)) {
            rule->rule.values[RULE_DEADLINE] = between(dice, play->budget_us / 2, 2 * play->budget_us);
        }
    }
    for (size_t i = 0; i < play->supplier_count; i++) {
        play->suppliers[i].is_in_time = false; // that is for rules to say
    }
}

/// Searches that may end early, about suppliers that were or were not as they are now.
static void fill_patience(struct dice *dice, const struct habits *habits, struct play *play)
{
    play->patience.finishes_early = !one_in(dice, 4);
    play->patience.delay_cost = one_in(dice, 2) ? (double)between(dice, 0, 20) : 0;
    play->patience.novelty = one_in(dice, 2) ? (double)between(dice, 1, 50) : 0;
    play->patience.held_cost = one_in(dice, 2) ? (double)between(dice, 1, 300) / 100 : 0;
    for (size_t i = 0; i < play->supplier_count; i++) {
        struct play_supplier *supplier = &play->suppliers[i];
        uint64_t from_us = some_time(dice, habits);
        supplier->is_in_time = false; // that is for patience to say
        supplier->weight = one_in(dice, 4) ? between(dice, 1, 3000000) : 0;
        if (one_in(dice, 5) || supplier->behaviour.breaker != BREAKER_CLOSED) {
            continue;
        }
        supplier->behaviour.past = (struct virtual_past){ .calls = (uint32_t)between(dice, 1, 200),
                                                          .arrive_percent = (uint32_t)between(dice, 0, 100),
                                                          .from_us = from_us,
                                                          .to_us = from_us + some_time(dice, habits) / 4,
                                                          .gave_up_us = some_time(dice, habits) + 1,
                                                          .items = one_in(dice, 3) ? -1 : (double)between(dice, 0, 9) };
    }
}

/// A store that is quick or slow, whole or faulty, and has something of some suppliers, of any age.
static void fill_store(struct dice *dice, const struct habits *habits, struct play *play)
{
    uint64_t max_age_ms = between(dice, 1000, 100000);

    play->store = (struct virtual_store_given){ .is_on = true,
                                                .key = one_in(dice, 10) ? NULL : "q",
                                                .after_us = one_in(dice, 4) ? some_time(dice, habits) : 1 * MS,
                                                .spread_us = one_in(dice, 3) ? between(dice, 0, 30 * MS) : 0,
                                                .reading_us = one_in(dice, 4) ? some_time(dice, habits) + 1 : 0,
                                                .faults_in = one_in(dice, 3) ? (uint32_t)between(dice, 1, 6) : 0,
                                                .hangs = one_in(dice, 12) };
    play->last_known = (struct last_known_settings){ .is_on = true,
                                                     .fills = one_in(dice, 2),
                                                     .slice_us = between(dice, 1, 20) * MS,
                                                     .max_age_ms = max_age_ms,
                                                     .empty_max_age_ms = max_age_ms / between(dice, 1, 5) };
    play->indicative = (enum indicative)between(dice, INDICATIVE_AT_END, INDICATIVE_NONE);
    for (size_t i = 0; i < play->supplier_count; i++) {
        struct play_supplier *supplier = &play->suppliers[i];
        supplier->last_known = (struct last_known_terms){
            .max_age_ms = one_in(dice, 4) ? between(dice, 1000, 100000) : 0,
            .fresh_for_ms = one_in(dice, 3) ? between(dice, 1, max_age_ms) : 0,
            .price_guard = one_in(dice, 6) ? between(dice, 1, 99) * 10000 : 0,
        };
        supplier->stored = (struct virtual_stored){
            .is_there = one_in(dice, 2),
            .is_of_other = one_in(dice, 8),
            .age_ms = between(dice, 0, 120000),
            .life_ms = between(dice, 1000, 200000),
            .first_id = (uint32_t)between(dice, 0, 4),
            .offers = one_in(dice, 5) ? 0 : (uint32_t)between(dice, 1, 8),
            .dearer_micros = (int64_t)between(dice, 0, 50) * OFFER_MICROS,
            .has_expired = one_in(dice, 6),
        };
        if (supplier->last_known.fresh_for_ms + supplier->last_known.price_guard > 0 || play->machine.rung > 0) {
            supplier->is_in_time = false; // that is for the store to say
            supplier->expected = OUTCOME_COUNT;
        }
    }
}

/// What calls cost.
static void fill_scripts(struct dice *dice, struct play *play)
{
    play->reask_us = one_in(dice, 6) ? between(dice, 0, 300 * MS) : between(dice, 0, 1 * MS);
    play->start_us = one_in(dice, 40) ? 50 * MS : between(dice, 0, 2 * MS);
    play->queue_us = one_in(dice, 40) ? 50 * MS : between(dice, 0, 1 * MS);
}

static const char *const NAMES[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
                                     "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z" };

void chance_fill(struct play *play, uint64_t seed)
{
    struct dice dice = { seed * 0xd1342543de82ef95u + 1 };
    struct reserve reserve;
    bool is_on_grid = one_in(&dice, 3);

    play_init(play);
    reserve_init(&reserve);
    play->budget_us = one_in(&dice, 8) ? 40 * MS : between(&dice, 40, 3000) * MS;
    play->reserve_us = reserve_for(&reserve, play->budget_us);
    play->reserve_wish_us = reserve_wish(&reserve);
    play->max_items = one_in(&dice, 4) ? (uint32_t)between(&dice, 1, 6) : 200;
    play->max_offers_per_item = one_in(&dice, 4) ? (uint32_t)between(&dice, 1, 3) : 5;
    play->sort = (enum sort)between(&dice, SORT_BEST, SORT_DURATION);
    play->whole_or_nothing = one_in(&dice, 16);
    play->has_choice = one_in(&dice, 4);
    play->is_public = one_in(&dice, 4);
    play->is_test = one_in(&dice, 4);
    fill_scripts(&dice, play);
    if (one_in(&dice, 40)) {
        play->product = one_in(&dice, 2) ? SCRIPT_FAIL_UNEXPECTED : SCRIPT_ERROR;
    }
    fill_machine(&dice, play, is_on_grid);
    const struct habits habits = {
        .end_us = play->budget_us - play->reserve_us,
        .start_us = 2 * play->start_us + play->queue_us,
        .slack_us = play->queue_us + 3 * play->reserve_us + (play->machine.script_percent > 0 ? 400 * MS : 0),
        .is_on_grid = is_on_grid,
        .has_queue = play->machine.workers > 0,
        .bad_in = between(&dice, 2, 10),
    };
    size_t count = one_in(&dice, 50) ? COUNT_OF(NAMES) : between(&dice, 0, 9);
    for (size_t i = 0; i < count; i++) {
        fill_supplier(&dice, &habits, play, NAMES[i]);
    }
    for (size_t i = 0; i < play->supplier_count && play->machine.rung >= ADMISSION_SHEDS_AT; i++) {
        struct play_supplier *supplier = &play->suppliers[i];
        bool may_be_shed = supplier->behaviour.start == SCRIPT_OK && !supplier->is_disabled;
        supplier->expected = may_be_shed ? OUTCOME_COUNT : supplier->expected;
    }
    if (one_in(&dice, 2)) {
        play->extra = (struct extra_settings){ .is_on = true, .per_supplier = 0.03, .engine = 0.1 };
        play->is_overloaded = one_in(&dice, 10);
        for (size_t i = 0; i < count; i++) {
            fill_extra(&dice, &habits, &play->suppliers[i]);
        }
    }
    play->extra.coalesces = one_in(&dice, 4);
    if (one_in(&dice, 4)) {
        fill_rules(&dice, &habits, play);
    }
    if (one_in(&dice, 3)) {
        fill_patience(&dice, &habits, play);
    }
    if (one_in(&dice, 3)) {
        fill_store(&dice, &habits, play);
    }
    if (one_in(&dice, 5)) {
        play->leaves_us = is_on_grid ? some_time(&dice, &habits) : between(&dice, 0, play->budget_us);
    }
}

static void note(struct buffer *violations, struct play_result *result, const char *kind)
{
    struct text left = buffer_text(&result->violations);

    while (left.length > 0) {
        struct text line = text_split(left, '\n', &left);
        if (line.length > 0) {
            buffer_printf(violations, "%s: %.*s\n", kind, TEXT_ARGS(line));
        }
    }
}

void chance_play(struct play *play, uint64_t seed, struct buffer *violations)
{
    struct play_result single, stream;

    chance_fill(play, seed);
    long before = allocations_live();
    play_run(play, false, &single);
    play_run(play, true, &stream);
    play_compare(&single, &stream);
    note(violations, &single, "single reply");
    note(violations, &stream, "stream");
    play_result_fini(&single);
    play_result_fini(&stream);
    if (violations->length == 0 && allocations_live() != before) {
        buffer_printf(violations, "%ld pieces of memory were lost\n", allocations_live() - before);
    }
}
