// Everything at once, over the real search/ in a virtual world: equal requests that are shared, extra calls, early
// ends, attempts that go on, breakers, limits, overload, switches, callers who leave, and revalidations between them.
// LASTCALL_TOWNS sets the number of worlds, LASTCALL_TOWN_SEED the first one's seed.

#include "model/ground.h"
#include "search/revalidation.h"
#include "support/town.h"
#include "support/virtual_extra.h"
#include "support/virtual_supplier.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000)

enum { TOWNS = 12, ROUNDS = 60, SUPPLIERS_MOST = 8, ASKED_MOST = 16 };

struct asked {
    struct crowd *crowd;
    struct revalidation *revalidation; // NULL: it is free
};

struct crowd {
    struct town town;
    struct ground ground;
    struct block *facts, *offer;
    struct asked asked[ASKED_MOST];
    size_t started, ended, cancelled, answered;
    uint64_t extra, lates; // calls made twice; attempts that went on
    uint64_t dice;
};

static uint64_t roll(struct crowd *crowd, uint64_t below)
{
    crowd->dice = crowd->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (crowd->dice >> 33) % below;
}

static bool one_in(struct crowd *crowd, uint64_t count)
{
    return roll(crowd, count) == 0;
}

// Any of them may be another one from now on.
static void change(struct crowd *crowd, struct virtual_supplier *supplier)
{
    static const enum phase PHASES[] = { PHASE_CONNECT, PHASE_FIRST_BYTE, PHASE_BODY };
    static const enum fetch_result RESULTS[] = { FETCH_CONNECT_FAILED, FETCH_RECEIVE_FAILED, FETCH_TOO_LARGE };
    static const enum script_verdict VERDICTS[] = { SCRIPT_EMPTY,      SCRIPT_FAIL_BUSY, SCRIPT_FAIL_QUOTA,
                                                    SCRIPT_FAIL_AUTH,  SCRIPT_ERROR,     SCRIPT_UNPARSABLE,
                                                    SCRIPT_FAIL_QUOTA, SCRIPT_TIMEOUT };

    supplier->after_us = roll(crowd, one_in(crowd, 4) ? 1500 : 300) * MS;
    supplier->offers = (uint32_t)roll(crowd, 5) + 1;
    supplier->hangs = one_in(crowd, 8);
    supplier->phase = PHASES[roll(crowd, COUNT_OF(PHASES))];
    supplier->result = one_in(crowd, 6) ? RESULTS[roll(crowd, COUNT_OF(RESULTS))] : FETCH_OK;
    supplier->status = one_in(crowd, 8) ? 503 : 0;
    supplier->normalise = one_in(crowd, 6) ? VERDICTS[roll(crowd, COUNT_OF(VERDICTS))] : SCRIPT_OK;
    supplier->normalise_us = roll(crowd, 5) * MS;
    supplier->rebuild_us = roll(crowd, 5) * MS;
    supplier->ceiling_us = one_in(crowd, 4) ? roll(crowd, 800) * MS + 1 : 0;
    supplier->lingers = one_in(crowd, 2);
    supplier->off = one_in(crowd, 12) ? "by somebody" : NULL;
}

static void on_ground_end(struct ground *ground)
{
    (void)ground;
}

static void crowd_open(struct crowd *crowd, uint64_t seed)
{
    struct town *town = &crowd->town;

    *crowd = (struct crowd){ .dice = seed };
    size_t count = roll(crowd, SUPPLIERS_MOST) + 1;
    town_init(town, count, 50 * MS, seed);
    town->virtual.machine.workers = one_in(crowd, 2) ? 2 : 0;
    town->virtual.machine.fetch_ends_first = one_in(crowd, 2);
    town->virtual.learns = true;
    town->virtual.held_cost = one_in(crowd, 2) ? 0.05 : 0;
    virtual_health_remember(&town->virtual);
    ground_init(&crowd->ground, on_ground_end);
    town->catalogue.ground = &crowd->ground;
    town->catalogue.extra = (struct extra_settings){ .is_on = true, .per_supplier = 1, .engine = 1, .coalesces = true };
    town->catalogue.patience = (struct patience_settings){ .finishes_early = true,
                                                           .delay_cost = (double)roll(crowd, 20),
                                                           .novelty = (double)roll(crowd, 30),
                                                           .held_cost = town->virtual.held_cost };
    for (size_t i = 0; i < count; i++) {
        struct virtual_supplier *supplier = &town->suppliers[i];
        supplier->terms.may_hedge = one_in(crowd, 2);
        supplier->extra = (struct virtual_extra_given){
            .is_known = !one_in(crowd, 4), .median_us = 20 * MS, .late_us = 60 * MS, .connect_us = 5 * MS, .value = 5
        };
        if (one_in(crowd, 3)) {
            supplier->limits = (struct request_limits){ .concurrent = (uint32_t)roll(crowd, 4) + 1,
                                                        .per_second = one_in(crowd, 2) ? 20 : 0 };
            quota_init(&town->virtual.quotas[i], supplier->limits);
        }
        change(crowd, supplier);
    }
    virtual_extra_begin(&town->virtual, town->catalogue.extra, false);
    crowd->facts = block_create(TEXT("{}"));
    crowd->offer = block_create(TEXT("{\"id\":\"o1\"}"));
}

static void on_end(void *owner, const struct revalidation_end *end)
{
    struct asked *asked = owner;

    asked->revalidation = NULL;
    asked->crowd->ended++;
    asked->crowd->answered += end->result != NULL;
    assert_int_equal(end->result != NULL, end->end.outcome == OUTCOME_ANSWERED);
}

static void revalidate(struct crowd *crowd)
{
    struct asked *asked = &crowd->asked[roll(crowd, ASKED_MOST)];
    size_t which = roll(crowd, crowd->town.count);

    if (asked->revalidation != NULL) { // its caller leaves
        crowd->cancelled++;
        (void)revalidation_cancel(&asked->revalidation);
        return;
    }
    asked->crowd = crowd;
    const struct revalidation_options options = { .world = &crowd->town.virtual.world,
                                                  .catalogue = &crowd->town.catalogue,
                                                  .supplier = &crowd->town.listed[which],
                                                  .account = &crowd->town.accounts[which],
                                                  .facts = crowd->facts,
                                                  .offer = crowd->offer,
                                                  .arrival_us = crowd->town.virtual.now_us,
                                                  .end_us = crowd->town.virtual.now_us + roll(crowd, 800) * MS,
                                                  .on_end = on_end,
                                                  .owner = asked };
    crowd->started++;
    assert_int_equal(revalidation_start(&options, &asked->revalidation), STATUS_OK);
}

static void crowd_close(struct crowd *crowd)
{
    town_fini(&crowd->town); // nothing of searches, nor of revalidations, is left
    assert_int_equal(crowd->ended + crowd->cancelled, crowd->started);
    assert_int_equal(atomic_load(&crowd->ground.holds), 1); // the catalogue's own
    assert_false(block_is_shared(crowd->facts));
    assert_false(block_is_shared(crowd->offer));
    block_release(&crowd->facts);
    block_release(&crowd->offer);
}

static void live(struct crowd *crowd, uint64_t seed)
{
    struct town *town = &crowd->town;

    crowd_open(crowd, seed);
    for (int round = 0; round < ROUNDS; round++) {
        town->apart_us = (roll(crowd, 40) + 1) * MS;
        town->budget_us = (roll(crowd, 900) + 60) * MS;
        town->leave_each = roll(crowd, 6);
        town->virtual.machine.rung = one_in(crowd, 8) ? (uint32_t)roll(crowd, ADMISSION_RUNGS) + 1 : 0;
        town->virtual.is_extra_overloaded = one_in(crowd, 10);
        change(crowd, &town->suppliers[roll(crowd, town->count)]);
        town_run(town, 80 * MS);
        for (uint64_t i = roll(crowd, 4); i > 0; i--) {
            revalidate(crowd);
        }
        if (town->virtual.broken_rule != NULL) {
            fail_msg("seed %llu, round %d: %s", (unsigned long long)seed, round, town->virtual.broken_rule);
        }
    }
    while (virtual_world_step(&town->virtual)) {
    }
    assert_int_equal(town->open, 0);
    assert_int_equal(virtual_extra_untold(&town->virtual), 0);
    assert_null(town->virtual.world.shared);
    for (size_t i = 0; i < town->count; i++) {
        crowd->lates += town->virtual.health[i].lates;
        for (enum extra_kind kind = EXTRA_RETRY; kind < EXTRA_KINDS; kind++) {
            crowd->extra += town->virtual.extra[i].granted[kind];
        }
    }
    assert_true(town->replies > 0);
    crowd_close(crowd);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *said = getenv(name);

    return said != NULL ? strtoull(said, NULL, 10) : otherwise;
}

static void everything_at_once_leaves_nothing_behind(void **state)
{
    static struct crowd crowd;
    uint64_t first = number_of("LASTCALL_TOWN_SEED", 1), answered = 0, searches = 0, extra = 0, lates = 0;
    (void)state;

    for (uint64_t i = 0; i < number_of("LASTCALL_TOWNS", TOWNS); i++) {
        live(&crowd, first + i);
        answered += crowd.answered;
        searches += crowd.town.searches;
        extra += crowd.extra;
        lates += crowd.lates;
    }
    assert_true(answered > 0 && extra > 0 && lates > 0); // else it shows little
    print_message("%llu searches, %llu offers confirmed, %llu calls made twice, %llu attempts that went on\n",
                  (unsigned long long)searches, (unsigned long long)answered, (unsigned long long)extra,
                  (unsigned long long)lates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_at_once_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
