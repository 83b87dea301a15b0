// Outages: minutes of searches in virtual time, with breakers in force, while suppliers die, hang, recover, or are cut
// by us and nobody else.
#include "policy/health.h"
#include "support/town.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)

// How many random plays there are. All of it is one thread, which takes twenty times as long under the thread sanitizer
// and shows it nothing.
#ifdef __SANITIZE_THREAD__
enum { PLAYS_OF_CUTS = 5, PLAYS_OF_CHANGES = 3 };
#else
enum { PLAYS_OF_CUTS = 25, PLAYS_OF_CHANGES = 15 };
#endif

static struct town town;

static void begin(size_t suppliers, uint64_t after_us, uint64_t apart_us, uint64_t budget_us, uint64_t seed)
{
    town_init(&town, suppliers, after_us, seed);
    town.apart_us = apart_us;
    town.budget_us = budget_us;
}

enum way_to_fail { REFUSES, SAYS_503, RESETS, NOT_RESOLVED };

static void break_supplier(size_t which, enum way_to_fail way)
{
    struct virtual_supplier *supplier = &town.suppliers[which];

    supplier->after_us = 3 * MS;
    supplier->status = way == SAYS_503 ? 503 : 0;
    supplier->normalise = way == SAYS_503 ? SCRIPT_UNPARSABLE : SCRIPT_OK;
    supplier->result = way == REFUSES        ? FETCH_CONNECT_FAILED
                       : way == RESETS       ? FETCH_RECEIVE_FAILED
                       : way == NOT_RESOLVED ? FETCH_DNS_FAILED
                                             : FETCH_OK;
    supplier->phase = way == REFUSES        ? PHASE_CONNECT
                      : way == RESETS       ? PHASE_FIRST_BYTE
                      : way == NOT_RESOLVED ? PHASE_DNS
                                            : PHASE_NONE;
}

static void mend_supplier(size_t which, uint64_t after_us)
{
    struct virtual_supplier *supplier = &town.suppliers[which];

    supplier->after_us = after_us;
    supplier->hangs = false;
    supplier->status = 0;
    supplier->normalise = SCRIPT_OK;
    supplier->result = FETCH_OK;
    supplier->phase = PHASE_NONE;
}

// Five minutes, ten searches a second: what goes out are probes, one at a time and ever rarer.
static void a_dead_supplier_costs_nothing_once_its_breaker_is_open(void **state)
{
    (void)state;

    for (enum way_to_fail way = REFUSES; way <= RESETS; way++) {
        begin(1, 100 * MS, 100 * MS, 2 * SECOND, way + 1);
        town_run(&town, 10 * SECOND);
        break_supplier(0, way);
        (void)town_run_until(&town, 0, BREAKER_OPEN, 10 * SECOND);
        town_run(&town, SECOND); // what was under way is over
        town_forget(&town);
        size_t requests = town.virtual.fetches_started;
        uint32_t probes = town.virtual.health[0].lates;
        town_run(&town, 5 * MINUTE);
        assert_int_equal(town.replies, 3000);
        assert_int_equal(town.outcomes[0][OUTCOME_BREAKER_OPEN], 3000);
        assert_int_equal(town.asked[0], 0);
        assert_true(town.longest_us <= 2 * MS); // nobody waits for it, nor for a probe
        probes = town.virtual.health[0].lates - probes;
        assert_int_equal(town.virtual.fetches_started - requests, probes);
        // Three each time, 6 s apart at least once it waits for 8 s.
        assert_in_range(probes, 3, 3 * (300 / 6 + 4));
        town_fini(&town);
    }
}

// The shares of the ramp are counted over 100 searches a second, on several dice.
static void one_that_recovers_is_back_within_thirty_seconds_and_is_not_stormed(void **state)
{
    (void)state;
    static const uint32_t percents[] = { 10, 25, 50, 100 };
    uint32_t passed[4] = { 0 }, came[4] = { 0 };

    for (uint64_t seed = 1; seed <= 5; seed++) {
        begin(1, 100 * MS, 10 * MS, 2 * SECOND, seed);
        town_run(&town, 2 * SECOND);
        break_supplier(0, SAYS_503);
        (void)town_run_until(&town, 0, BREAKER_OPEN, 10 * SECOND);
        town_run(&town, 40 * SECOND + seed * 1700 * MS);
        mend_supplier(0, 100 * MS);
        uint64_t recovered_us = town.virtual.now_us;
        size_t before = town.virtual.fetches_started;
        (void)town_run_until(&town, 0, BREAKER_RAMP, 30 * SECOND);
        // Until then one probe at a time went out, three of them good; up to two were bad when it recovered.
        assert_in_range(town.virtual.fetches_started - before, 2, 5);
        while (town_breaker(&town, 0)->state == BREAKER_RAMP) {
            uint32_t step = town_breaker(&town, 0)->step;
            size_t started = town.virtual.fetches_started;
            town_run(&town, town.apart_us); // its request goes out within
            came[step]++;
            passed[step] += town.virtual.fetches_started > started;
        }
        assert_int_equal(town_breaker(&town, 0)->state, BREAKER_CLOSED);
        assert_true(town.virtual.now_us - recovered_us < 30 * SECOND);
        town_run(&town, SECOND);
        town_forget(&town);
        town_run(&town, 10 * SECOND);
        assert_int_equal(town.outcomes[0][OUTCOME_ANSWERED], town.replies);
        town_fini(&town);
    }
    for (size_t step = 0; step < 4; step++) {
        assert_in_range(came[step], 1400, 1600); // 3 s each
        double share = percents[step] / 100.0, wanted = came[step] * share;
        double deviation = sqrt(came[step] * share * (1 - share));
        assert_true(fabs(passed[step] - wanted) <= 5 * deviation);
    }
}

static void check_never_left_alone(uint64_t searches)
{
    town_forget(&town);
    town_run(&town, searches * town.apart_us);
    town_run(&town, 0);
    assert_int_equal(town_breaker(&town, 0)->state, BREAKER_CLOSED);
    assert_int_equal(town_breaker(&town, 0)->openings, 0);
    assert_int_equal(town.outcomes[0][OUTCOME_BREAKER_OPEN], 0);
}

static void a_thousand_searches_shorter_than_a_healthy_supplier_never_open_it(void **state)
{
    (void)state;

    for (int is_known = 0; is_known < 2; is_known++) {
        for (int lingers = 0; lingers < 2; lingers++) {
            begin(1, 500 * MS, 100 * MS, 300 * MS, 7);
            town.suppliers[0].lingers = lingers;
            if (is_known) {
                town.budget_us = 2 * SECOND;
                town_run(&town, 30 * SECOND);
                assert_true(town.outcomes[0][OUTCOME_ANSWERED] > 250);
                town.budget_us = 300 * MS;
                town_run(&town, SECOND);
            }
            check_never_left_alone(1000);
            assert_int_equal(town.outcomes[0][OUTCOME_CUT], town.replies);
            town_fini(&town);
        }
    }
}

static void nor_do_a_thousand_with_its_ceiling_lowered(void **state)
{
    (void)state;

    for (int lingers = 0; lingers < 2; lingers++) {
        begin(1, 500 * MS, 100 * MS, 2 * SECOND, 7);
        town_run(&town, 30 * SECOND);
        town.suppliers[0].ceiling_us = 300 * MS;
        town.suppliers[0].lingers = lingers;
        town_run(&town, SECOND);
        check_never_left_alone(1000);
        assert_int_equal(town.outcomes[0][OUTCOME_CUT], town.replies);
        town_fini(&town);
    }
}

static void one_that_hangs_opens_though_every_cut_was_the_budgets(void **state)
{
    (void)state;
    static const enum phase phases[] = { PHASE_CONNECT, PHASE_TLS, PHASE_FIRST_BYTE, PHASE_BODY };

    for (size_t i = 0; i < COUNT_OF(phases); i++) {
        begin(1, 200 * MS, 100 * MS, 2 * SECOND, i + 1);
        town_run(&town, 30 * SECOND);
        town.suppliers[0].hangs = true;
        town.suppliers[0].phase = phases[i];
        town_run(&town, 2 * SECOND);
        town_forget(&town);
        (void)town_run_until(&town, 0, BREAKER_OPEN, 30 * SECOND);
        assert_int_equal(town.outcomes[0][OUTCOME_CUT] + town.outcomes[0][OUTCOME_ANSWERED], town.replies);
        town_run(&town, 2 * MINUTE); // probes hang, too, and it stays left alone
        assert_true(town_breaker(&town, 0)->openings > 2);
        mend_supplier(0, 200 * MS);
        assert_true(town_run_until(&town, 0, BREAKER_CLOSED, MINUTE) < 45 * SECOND); // 6 s of it a probe that hung
        town_fini(&town);
    }
}

static uint32_t count_not_closed(void)
{
    uint32_t count = 0;

    for (size_t i = 0; i < town.count; i++) {
        count += town_breaker(&town, i)->state != BREAKER_CLOSED;
    }
    return count;
}

// Forty suppliers, ten seconds without a name server, without a way out, without anything.
static void when_we_are_to_blame_the_guard_holds_and_nobody_has_to_mend_it(void **state)
{
    (void)state;

    for (enum way_to_fail way = REFUSES; way <= NOT_RESOLVED; way += NOT_RESOLVED - REFUSES) {
        begin(TOWN_SUPPLIERS, 100 * MS, 200 * MS, SECOND, way + 1);
        town_run(&town, 5 * SECOND);
        for (size_t i = 0; i < TOWN_SUPPLIERS; i++) {
            break_supplier(i, way);
        }
        for (int second = 0; second < 10; second++) {
            town_run(&town, SECOND);
            assert_true(count_not_closed() <= 12); // 30 % of them
        }
        assert_int_equal(count_not_closed(), 12);
        assert_true(town.virtual.guard.alarm_us != 0);
        for (size_t i = 0; i < TOWN_SUPPLIERS; i++) {
            mend_supplier(i, 100 * MS);
        }
        uint32_t openings = 0;
        for (int second = 0; second < 30; second++) {
            town_run(&town, SECOND);
            assert_true(count_not_closed() <= 12);
        }
        assert_int_equal(count_not_closed(), 0);
        for (size_t i = 0; i < TOWN_SUPPLIERS; i++) {
            openings += town_breaker(&town, i)->openings > 0;
        }
        assert_int_equal(openings, 12);
        town_forget(&town);
        town_run(&town, MINUTE); // nor does any open when the guard lets go
        assert_int_equal(count_not_closed(), 0);
        for (size_t i = 0; i < TOWN_SUPPLIERS; i++) {
            assert_int_equal(town.outcomes[i][OUTCOME_ANSWERED], town.replies);
        }
        town_fini(&town);
    }
}

static uint64_t dice_state;

static uint64_t dice(uint64_t below)
{
    dice_state = dice_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (dice_state >> 33) % below;
}

// Budgets, ceilings, callers who leave, attempts that linger, all at random; suppliers that answer always, each within
// twice its usual time. Whatever we cut, none is ever left alone, and all is given back.
static void our_own_cuts_never_open_a_breaker(void **state)
{
    (void)state;

    for (uint64_t seed = 1; seed <= PLAYS_OF_CUTS; seed++) {
        uint64_t usual_us[4];

        dice_state = seed;
        begin(COUNT_OF(usual_us), 0, 50 * MS + dice(300) * MS, SECOND, seed);
        for (size_t i = 0; i < COUNT_OF(usual_us); i++) {
            usual_us[i] = (10 + dice(dice(2) == 0 ? 200 : 4000)) * MS;
        }
        town.leave_each = dice(3) == 0 ? 2 + dice(20) : 0;
        uint64_t usual_budget_us = (50 + dice(2000)) * MS;
        for (int search = 0; search < 800; search++) {
            bool is_usual = dice(4) != 0;
            town.budget_us = is_usual ? usual_budget_us : (50 + dice(4000)) * MS;
            for (size_t i = 0; i < COUNT_OF(usual_us); i++) {
                struct virtual_supplier *supplier = &town.suppliers[i];
                supplier->after_us = usual_us[i] / 2 + dice(usual_us[i]);
                supplier->ceiling_us = dice(5) == 0 ? (20 + dice(3000)) * MS : 0;
                supplier->lingers = dice(30) == 0;
            }
            town_run(&town, town.apart_us);
        }
        for (size_t i = 0; i < COUNT_OF(usual_us); i++) {
            if (town_breaker(&town, i)->openings != 0) {
                fail_msg("seed %u: the breaker of %s opened", (unsigned)seed, town.names[i]);
            }
        }
        town_fini(&town);
    }
}

// The same with suppliers that die, hang and recover at random: permits, leases and lingering ones come
// back to nothing, and whoever is well in the end is asked again.
static void whatever_happens_everything_comes_back(void **state)
{
    (void)state;

    for (uint64_t seed = 1; seed <= PLAYS_OF_CHANGES; seed++) {
        dice_state = seed;
        begin(4, 100 * MS, 50 * MS, SECOND, seed);
        town.leave_each = dice(2) == 0 ? 2 + dice(20) : 0;
        for (int change = 0; change < 30; change++) {
            size_t which = dice(4);
            mend_supplier(which, 10 * MS + dice(3000) * MS);
            town.suppliers[which].lingers = dice(2) == 0;
            if (dice(3) == 0) {
                break_supplier(which, (enum way_to_fail)dice(4));
            } else if (dice(3) == 0) {
                town.suppliers[which].hangs = true;
                town.suppliers[which].phase = PHASE_FIRST_BYTE;
            }
            town.budget_us = (50 + dice(3000)) * MS;
            town_run(&town, dice(5000) * MS);
        }
        for (size_t i = 0; i < 4; i++) {
            mend_supplier(i, 100 * MS);
        }
        town.budget_us = SECOND;
        town_run(&town, MINUTE + 30 * SECOND);
        assert_int_equal(count_not_closed(), 0);
        town_forget(&town);
        town.leave_each = 0;
        town_run(&town, 10 * SECOND);
        for (size_t i = 0; i < 4; i++) {
            assert_true(town.outcomes[i][OUTCOME_ANSWERED] > 0);
            assert_int_equal(town.outcomes[i][OUTCOME_BREAKER_OPEN], 0);
        }
        town_fini(&town);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dead_supplier_costs_nothing_once_its_breaker_is_open),
        cmocka_unit_test(one_that_recovers_is_back_within_thirty_seconds_and_is_not_stormed),
        cmocka_unit_test(a_thousand_searches_shorter_than_a_healthy_supplier_never_open_it),
        cmocka_unit_test(nor_do_a_thousand_with_its_ceiling_lowered),
        cmocka_unit_test(one_that_hangs_opens_though_every_cut_was_the_budgets),
        cmocka_unit_test(when_we_are_to_blame_the_guard_holds_and_nobody_has_to_mend_it),
        cmocka_unit_test(our_own_cuts_never_open_a_breaker),
        cmocka_unit_test(whatever_happens_everything_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
