// Revalidations over a virtual world: how each thing that can go wrong ends, at each moment, and that nothing is left.

#include "model/ground.h"
#include "search/revalidation.h"
#include "support/virtual_login.h"
#include "support/virtual_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000)

enum { BUDGET_MS = 1000 };

struct desk {
    struct virtual_world virtual;
    struct virtual_supplier supplier;
    struct script_account account;
    struct catalogue_supplier catalogue_supplier;
    struct catalogue catalogue;
    struct block *facts, *offer;
    struct revalidation *revalidation;
    size_t ends;
    bool has_result, is_starting;
    struct part_end end;
    uint64_t took_us;
    uint32_t requests;
};

static void on_end(void *owner, const struct revalidation_end *end)
{
    struct desk *desk = owner;

    assert_false(desk->is_starting);
    desk->ends++;
    desk->revalidation = NULL;
    desk->end = end->end;
    desk->has_result = end->result != NULL;
    desk->took_us = end->took_us;
    desk->requests = end->requests;
    assert_int_equal(end->end.outcome == OUTCOME_ANSWERED, desk->has_result); // a way to book has an answer behind it
}

static void desk_open(struct desk *desk, const struct virtual_supplier *supplier)
{
    *desk = (struct desk){ .supplier = *supplier,
                           .account = { .serial = 1, .name = TEXT("a"), .login = supplier->logs_in ? 1 : 0 } };
    desk->catalogue_supplier = (struct catalogue_supplier){ .name = TEXT("a"),
                                                            .product = TEXT("flights"),
                                                            .is_enabled = true,
                                                            .body_cap = 1 << 20,
                                                            .signs = supplier->signs,
                                                            .account = &desk->account };
    desk->catalogue =
        (struct catalogue){ .generation = 1, .suppliers = &desk->catalogue_supplier, .supplier_count = 1 };
    desk->facts = block_create(TEXT("{}"));
    desk->offer = block_create(TEXT("{\"id\":\"o1\"}"));
    virtual_world_init(&desk->virtual, &desk->supplier, 1);
}

static void desk_start(struct desk *desk, uint64_t budget_us)
{
    const struct revalidation_options options = { .world = &desk->virtual.world,
                                                  .catalogue = &desk->catalogue,
                                                  .supplier = &desk->catalogue_supplier,
                                                  .account = &desk->account,
                                                  .facts = desk->facts,
                                                  .offer = desk->offer,
                                                  .arrival_us = desk->virtual.now_us,
                                                  .end_us = desk->virtual.now_us + budget_us,
                                                  .on_end = on_end,
                                                  .owner = desk };

    desk->is_starting = true;
    assert_int_equal(revalidation_start(&options, &desk->revalidation), STATUS_OK);
    desk->is_starting = false;
}

// Everything was given back, whatever came before; a login may go on.
static void desk_close(struct desk *desk)
{
    assert_null(desk->revalidation);
    assert_int_equal(virtual_logins_waiting(&desk->virtual), 0);
    assert_int_equal(virtual_world_search_calls(&desk->virtual), 0);
    assert_int_equal(virtual_world_permits(&desk->virtual), 0);
    assert_int_equal(virtual_health_untold(&desk->virtual), 0);
    assert_int_equal(desk->virtual.fetches_running, 0);
    while (virtual_world_step(&desk->virtual)) { // what workers are busy with
    }
    assert_int_equal(desk->virtual.calls_out + desk->virtual.timers.count, 0);
    assert_int_equal(virtual_world_references(&desk->virtual), 0);
    if (desk->virtual.broken_rule != NULL) {
        fail_msg("%s", desk->virtual.broken_rule);
    }
    virtual_world_fini(&desk->virtual);
    assert_false(block_is_shared(desk->facts));
    assert_false(block_is_shared(desk->offer));
    block_release(&desk->facts);
    block_release(&desk->offer);
}

// A whole one, to its end.
static void play(struct desk *desk, const struct virtual_supplier *supplier, uint64_t budget_us)
{
    desk_open(desk, supplier);
    desk_start(desk, budget_us);
    virtual_world_run(&desk->virtual, desk->virtual.began_us + budget_us);
    assert_int_equal(desk->ends, 1);
}

#define SOUND .name = "a", .rebuild_us = 10 * 1000, .after_us = 50 * 1000, .normalise_us = 20 * 1000
#define LOGS_IN SOUND, .logs_in = true, .login_after_us = 100 * 1000

static void an_answer_in_time_is_a_result(void **state)
{
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ SOUND }, BUDGET_MS * MS);
    assert_true(desk.has_result);
    assert_int_equal(desk.took_us, 80 * MS);
    assert_int_equal(desk.requests, 1);
    desk_close(&desk);
}

static void it_waits_for_a_login_and_renews_one_that_is_refused_once(void **state)
{
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ LOGS_IN }, BUDGET_MS * MS);
    assert_true(desk.has_result);
    assert_int_equal(desk.took_us, 180 * MS);
    desk_close(&desk);
    play(&desk, &(struct virtual_supplier){ LOGS_IN, .has_login = true, .refused_logins = 1 }, BUDGET_MS * MS);
    assert_true(desk.has_result);
    assert_int_equal(desk.requests, 2);
    desk_close(&desk);
    play(&desk, &(struct virtual_supplier){ LOGS_IN, .has_login = true, .refused_logins = 9 }, BUDGET_MS * MS);
    assert_int_equal(desk.end.outcome, OUTCOME_REJECTED);
    assert_int_equal(desk.end.rejection, REJECTION_AUTH);
    assert_int_equal(desk.virtual.fetches_started, 2);
    desk_close(&desk);
}

static void it_is_cut_wherever_it_stands(void **state)
{
    static const struct {
        struct virtual_supplier supplier;
        uint32_t budget_ms;
        enum phase phase;
        uint32_t requests;
    } CUTS[] = {
        { { SOUND }, 5, PHASE_SCRIPT, 0 },
        { { SOUND, .phase = PHASE_FIRST_BYTE }, 30, PHASE_FIRST_BYTE, 1 },
        { { SOUND, .hangs = true, .phase = PHASE_CONNECT }, 30, PHASE_CONNECT, 0 },
        { { SOUND, .hangs = true, .phase = PHASE_BODY }, 900, PHASE_BODY, 1 },
        { { SOUND }, 70, PHASE_SCRIPT, 1 },
        { { LOGS_IN }, 50, PHASE_LOGIN, 0 },
        { { LOGS_IN, .login_hangs = true }, 900, PHASE_LOGIN, 0 },
        { { LOGS_IN, .has_login = true, .refused_logins = 1 }, 120, PHASE_LOGIN, 1 },
    };
    struct desk desk;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(CUTS); i++) {
        play(&desk, &CUTS[i].supplier, CUTS[i].budget_ms * MS);
        assert_int_equal(desk.end.outcome, OUTCOME_CUT);
        assert_int_equal(desk.end.phase, CUTS[i].phase);
        assert_int_equal(desk.requests, CUTS[i].requests);
        assert_int_equal(desk.took_us, CUTS[i].budget_ms * MS);
        desk_close(&desk);
    }
}

static void nobody_is_asked_whom_a_search_would_not_ask(void **state)
{
    static const struct {
        struct virtual_supplier supplier;
        enum outcome outcome;
        enum rejection rejection;
        bool says_when;
    } REFUSED[] = {
        { { SOUND, .breaker = BREAKER_OPEN }, OUTCOME_BREAKER_OPEN, REJECTION_NONE, true },
        { { SOUND, .auth_refusals = 3 }, OUTCOME_REJECTED, REJECTION_AUTH, true },
        { { SOUND, .off = "ann" }, OUTCOME_DISABLED, REJECTION_NONE, false },
        { { LOGS_IN, .off = "ann", .off_after_us = 90 * MS }, OUTCOME_DISABLED, REJECTION_NONE, false },
        { { SOUND, .off = "ann", .off_after_us = 5 * MS }, OUTCOME_DISABLED, REJECTION_NONE, false },
        { { SOUND, .blocked_us = 5000 * MS }, OUTCOME_RATE_LIMITED, REJECTION_NONE, true },
        { { SOUND, .limits = { .per_minute = 2 }, .used = 2 }, OUTCOME_RATE_LIMITED, REJECTION_NONE, true },
        { { SOUND, .rebuilt = SCRIPT_ERROR }, OUTCOME_SCRIPT_ERROR, REJECTION_NONE, false },
        { { LOGS_IN, .login_outcome = OUTCOME_REJECTED }, OUTCOME_REJECTED, REJECTION_NONE, false },
    };
    struct desk desk;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(REFUSED); i++) {
        play(&desk, &REFUSED[i].supplier, BUDGET_MS * MS);
        assert_int_equal(desk.end.outcome, REFUSED[i].outcome);
        assert_int_equal(desk.virtual.fetches_started, 0);
        assert_int_equal(desk.requests, 0);
        if (REFUSED[i].rejection != REJECTION_NONE) {
            assert_int_equal(desk.end.rejection, REFUSED[i].rejection);
        }
        assert_true(!REFUSED[i].says_when || desk.end.retry_after_ms > 0);
        desk_close(&desk);
    }
}

static void it_may_use_what_searches_leave_of_the_rates(void **state)
{
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ SOUND, .limits = { .per_minute = 20, .kept_share = 100000 }, .used = 18 },
         BUDGET_MS * MS);
    assert_true(desk.has_result);
    desk_close(&desk);
}

static void one_that_is_tried_out_may_be_asked(void **state)
{
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ SOUND, .breaker = BREAKER_HALF_OPEN }, BUDGET_MS * MS);
    assert_true(desk.has_result);
    desk_close(&desk);
    play(&desk, &(struct virtual_supplier){ SOUND, .auth_refusals = 3, .is_tried_out = true }, BUDGET_MS * MS);
    assert_true(desk.has_result);
    assert_false(auth_park_is_parked(&desk.virtual.health[0].auth)); // its answer ends the park
    desk_close(&desk);
}

static void what_the_supplier_says_of_itself_is_passed_on(void **state)
{
    static const struct virtual_step QUOTA = {
        .part = 1, .step = 1, .after_us = 50 * 1000, .normalise = SCRIPT_FAIL_QUOTA, .retry_after_ms = 37000
    };
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ SOUND, .steps = &QUOTA, .step_count = 1 }, BUDGET_MS * MS);
    assert_int_equal(desk.end.rejection, REJECTION_QUOTA);
    assert_int_equal(desk.end.retry_after_ms, 37000);
    assert_in_range(quota_blocked_us(&desk.virtual.quotas[0], desk.virtual.now_us), 30000 * MS, 37000 * MS);
    desk_close(&desk);

    desk_open(&desk, &(struct virtual_supplier){ SOUND, .normalise = SCRIPT_FAIL_AUTH });
    for (size_t i = 1; i <= AUTH_PARK_REFUSALS; i++) {
        desk_start(&desk, BUDGET_MS * MS);
        virtual_world_run(&desk.virtual, desk.virtual.now_us + BUDGET_MS * MS);
        assert_int_equal(desk.ends, i);
    }
    assert_true(auth_park_is_parked(&desk.virtual.health[0].auth));
    desk_close(&desk);
}

static void failures_are_outcomes(void **state)
{
    static const struct {
        struct virtual_supplier supplier;
        enum outcome outcome;
    } FAILURES[] = {
        { { SOUND, .result = FETCH_CONNECT_FAILED, .phase = PHASE_CONNECT }, OUTCOME_FAILED },
        { { SOUND, .result = FETCH_RECEIVE_FAILED, .phase = PHASE_BODY }, OUTCOME_FAILED },
        { { SOUND, .result = FETCH_TOO_LARGE, .phase = PHASE_BODY }, OUTCOME_TOO_LARGE },
        { { SOUND, .normalise = SCRIPT_ERROR }, OUTCOME_SCRIPT_ERROR },
        { { SOUND, .normalise = SCRIPT_ERROR, .status = 503 }, OUTCOME_FAILED },
        { { SOUND, .normalise = SCRIPT_TIMEOUT }, OUTCOME_SCRIPT_TIMEOUT },
        { { SOUND, .normalise = SCRIPT_UNPARSABLE }, OUTCOME_UNPARSABLE },
        { { SOUND, .normalise = SCRIPT_FAIL_BUSY }, OUTCOME_REJECTED },
    };
    struct desk desk;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(FAILURES); i++) {
        play(&desk, &FAILURES[i].supplier, BUDGET_MS * MS);
        assert_int_equal(desk.end.outcome, FAILURES[i].outcome);
        desk_close(&desk);
    }
}

static void ports_that_refuse_are_outcomes(void **state)
{
    struct desk desk;
    (void)state;

    for (uint32_t which = 0; which < 3; which++) {
        desk_open(&desk, &(struct virtual_supplier){ SOUND });
        desk.virtual.machine.refused_call = which == 0 ? 1 : which == 1 ? 2 : 0;
        desk.virtual.machine.refused_fetch = which == 2 ? 1 : 0;
        desk_start(&desk, BUDGET_MS * MS);
        virtual_world_run(&desk.virtual, desk.virtual.began_us + BUDGET_MS * MS);
        assert_int_equal(desk.ends, 1);
        assert_false(desk.has_result);
        desk_close(&desk);
    }
}

static const struct virtual_step POLLS[] = {
    { .part = 1, .step = 1, .after_us = 50 * 1000, .has_next = true, .next_after_us = 200 * 1000 },
    { .part = 1, .step = 2, .after_us = 50 * 1000, .has_next = true },
    { .part = 1, .step = 3, .after_us = 50 * 1000 },
};
static const struct virtual_step PARTS[] = {
    { .part = 1, .step = 1, .after_us = 50 * 1000 },
    { .part = 2, .step = 1, .after_us = 50 * 1000, .has_next = true },
    { .part = 2, .step = 2, .after_us = 50 * 1000 },
    { .part = 3, .step = 1, .after_us = 50 * 1000 },
};
static const struct virtual_step FAILS_LATER[] = {
    { .part = 1, .step = 1, .after_us = 50 * 1000 },
    { .part = 2, .step = 1, .after_us = 50 * 1000, .normalise = SCRIPT_FAIL_BUSY },
};
static const struct virtual_step LOGIN_LATER[] = {
    { .part = 1, .step = 1, .after_us = 50 * 1000, .has_next = true },
    { .part = 1, .step = 2, .after_us = 50 * 1000, .refused_logins = 1 },
};
#define STEPS(which) .steps = which, .step_count = COUNT_OF(which)

static void steps_and_parts_lead_to_one_result(void **state)
{
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ SOUND, STEPS(POLLS) }, BUDGET_MS * MS);
    assert_true(desk.has_result);
    assert_int_equal(desk.requests, 3);
    assert_int_equal(desk.took_us, (10 + 3 * 70 + 200 + 10) * MS); // a step that wants no pause has a short one
    desk_close(&desk);
    play(&desk, &(struct virtual_supplier){ SOUND, .parts = 3, STEPS(PARTS) }, BUDGET_MS * MS);
    assert_true(desk.has_result);
    assert_int_equal(desk.requests, 4);
    desk_close(&desk);
}

static void one_step_that_fails_ends_it_and_what_would_follow_is_not_sent(void **state)
{
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ SOUND, .parts = 3, STEPS(FAILS_LATER) }, BUDGET_MS * MS);
    assert_false(desk.has_result);
    assert_int_equal(desk.end.rejection, REJECTION_BUSY);
    assert_int_equal(desk.requests, 2);
    desk_close(&desk);
}

static void a_step_that_would_come_too_late_is_not_waited_for(void **state)
{
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ SOUND, STEPS(POLLS) }, 250 * MS);
    assert_int_equal(desk.end.outcome, OUTCOME_CUT);
    assert_int_equal(desk.end.phase, PHASE_PAUSE);
    assert_int_equal(desk.took_us, 80 * MS);
    desk_close(&desk);
}

static void a_login_refused_at_a_later_step_begins_it_anew_once(void **state)
{
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ LOGS_IN, .has_login = true, STEPS(LOGIN_LATER) }, BUDGET_MS * MS);
    assert_true(desk.has_result);
    assert_int_equal(desk.requests, 4);
    desk_close(&desk);
}

static void a_step_that_has_waited_is_signed_anew(void **state)
{
    struct desk desk;
    (void)state;

    play(&desk, &(struct virtual_supplier){ SOUND, .signs = true, STEPS(POLLS) }, BUDGET_MS * MS);
    assert_true(desk.has_result);
    assert_int_equal(desk.requests, 3);
    assert_int_equal(desk.took_us, (10 + 3 * 70 + 200 + 10 + 2 * 10) * MS); // two signatures more
    desk_close(&desk);
}

// Each moment of each kind of course: the caller leaves there, or the budget ends there.
static void it_may_end_at_any_moment(void **state)
{
    static const struct virtual_supplier COURSES[] = {
        { SOUND },
        { LOGS_IN },
        { LOGS_IN, .has_login = true, .refused_logins = 1 },
        { LOGS_IN, .has_login = true, .refused_logins = 9 },
        { SOUND, .breaker = BREAKER_OPEN },
        { SOUND, .breaker = BREAKER_HALF_OPEN, .auth_refusals = 3, .is_tried_out = true },
        { SOUND, .hangs = true, .phase = PHASE_FIRST_BYTE },
        { SOUND, .limits = { .concurrent = 1 }, .normalise = SCRIPT_FAIL_QUOTA },
        { SOUND, .signs = true, STEPS(POLLS) },
        { SOUND, .parts = 3, STEPS(PARTS) },
        { LOGS_IN, .has_login = true, STEPS(LOGIN_LATER) },
    };
    struct desk desk;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(COURSES); i++) {
        for (uint64_t at_ms = 0; at_ms <= 480; at_ms += 5) {
            desk_open(&desk, &COURSES[i]);
            desk_start(&desk, BUDGET_MS * MS);
            virtual_world_run(&desk.virtual, desk.virtual.began_us + at_ms * MS);
            assert_true(desk.ends == 1 || desk.revalidation != NULL);
            if (desk.revalidation != NULL) {
                assert_in_range(revalidation_cancel(&desk.revalidation), 0, 4);
            }
            desk_close(&desk);
            play(&desk, &COURSES[i], at_ms * MS);
            desk_close(&desk);
        }
    }
}

static void the_callers_memory_may_go_as_soon_as_it_has_left(void **state)
{
    struct desk desk;
    (void)state;

    desk_open(&desk, &(struct virtual_supplier){ SOUND });
    desk_start(&desk, BUDGET_MS * MS);
    assert_int_equal(revalidation_cancel(&desk.revalidation), 0); // in the very turn, its build is with a worker
    desk_close(&desk);
    desk_open(&desk, &(struct virtual_supplier){ SOUND, .breaker = BREAKER_OPEN });
    desk_start(&desk, BUDGET_MS * MS);
    assert_int_equal(revalidation_cancel(&desk.revalidation), 0); // it has ended and is not told yet
    assert_int_equal(desk.ends, 0);
    desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_in_time_is_a_result),
        cmocka_unit_test(it_waits_for_a_login_and_renews_one_that_is_refused_once),
        cmocka_unit_test(it_is_cut_wherever_it_stands),
        cmocka_unit_test(nobody_is_asked_whom_a_search_would_not_ask),
        cmocka_unit_test(it_may_use_what_searches_leave_of_the_rates),
        cmocka_unit_test(one_that_is_tried_out_may_be_asked),
        cmocka_unit_test(what_the_supplier_says_of_itself_is_passed_on),
        cmocka_unit_test(failures_are_outcomes),
        cmocka_unit_test(ports_that_refuse_are_outcomes),
        cmocka_unit_test(steps_and_parts_lead_to_one_result),
        cmocka_unit_test(one_step_that_fails_ends_it_and_what_would_follow_is_not_sent),
        cmocka_unit_test(a_step_that_would_come_too_late_is_not_waited_for),
        cmocka_unit_test(a_login_refused_at_a_later_step_begins_it_anew_once),
        cmocka_unit_test(a_step_that_has_waited_is_signed_anew),
        cmocka_unit_test(it_may_end_at_any_moment),
        cmocka_unit_test(the_callers_memory_may_go_as_soon_as_it_has_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
