// Many searches that wait for one login, over the real search/ in a virtual world; what the status of a login means.

#include "search/search.h"
#include "search/verdict.h"
#include "support/virtual_login.h"
#include "support/virtual_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000)

enum { SEARCHES = 40 };

struct crowd {
    struct virtual_world virtual;
    struct virtual_supplier supplier;
    struct script_account account;
    struct catalogue_supplier catalogue_supplier;
    struct catalogue catalogue;
    struct block *body;
    struct search *searches[SEARCHES];
    size_t replies, complete;
};

static void on_reply(void *owner, const struct search_reply *reply)
{
    struct crowd *crowd = owner;

    crowd->replies++;
    crowd->complete += reply->is_complete;
}

static void crowd_open(struct crowd *crowd, const struct virtual_supplier *supplier)
{
    *crowd = (struct crowd){ .supplier = *supplier, .account = { .serial = 1, .name = TEXT("a"), .login = 1 } };
    crowd->catalogue_supplier = (struct catalogue_supplier){ .name = TEXT("a"),
                                                             .product = TEXT("flights"),
                                                             .script = TEXT("a@1"),
                                                             .is_enabled = true,
                                                             .body_cap = 1 << 20,
                                                             .account = &crowd->account };
    crowd->catalogue = (struct catalogue){
        .generation = 1, .suppliers = &crowd->catalogue_supplier, .supplier_count = 1, .login_count = 1
    };
    crowd->body = block_create(TEXT("{}"));
    virtual_world_init(&crowd->virtual, &crowd->supplier, 1);
}

static void crowd_search(struct crowd *crowd, size_t number, uint64_t budget_us)
{
    const struct search_options options = {
        .world = &crowd->virtual.world,
        .catalogue = &crowd->catalogue,
        .search_id = TEXT("id"),
        .product = TEXT("flights"),
        .body = crowd->body,
        .arrival_us = crowd->virtual.now_us,
        .budget = { .requested_us = budget_us, .effective_us = budget_us },
        .reserve_us = 10 * MS,
        .max_items = 10,
        .max_offers_per_item = 5,
        .on_reply = on_reply,
        .owner = crowd,
    };
    assert_int_equal(search_start(&options, &crowd->searches[number]), STATUS_OK);
}

static void crowd_close(struct crowd *crowd)
{
    while (virtual_world_step(&crowd->virtual)) {
    }
    assert_int_equal(crowd->virtual.fetches_running + crowd->virtual.calls_out + crowd->virtual.timers.count, 0);
    assert_int_equal(virtual_logins_waiting(&crowd->virtual), 0);
    virtual_world_fini(&crowd->virtual);
    block_release(&crowd->body);
}

static const struct virtual_supplier patient = {
    .name = "a", .offers = 2, .after_us = 50 * 1000, .logs_in = true, .login_after_us = 300 * 1000
};

static void forty_searches_that_wait_for_a_login_make_one(void **state)
{
    struct crowd crowd;
    (void)state;

    crowd_open(&crowd, &patient);
    for (size_t i = 0; i < SEARCHES; i++) {
        crowd_search(&crowd, i, 1000 * MS);
        virtual_world_run(&crowd.virtual, crowd.virtual.now_us + MS);
    }
    assert_int_equal(virtual_logins_waiting(&crowd.virtual), SEARCHES);
    virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 900 * MS);
    assert_int_equal(crowd.complete, SEARCHES);
    assert_int_equal(virtual_logins_fetched(&crowd.virtual), 1);
    assert_int_equal(crowd.virtual.fetches_started, SEARCHES);
    crowd_close(&crowd);
}

static void a_login_goes_on_when_all_have_left_and_the_next_search_finds_it(void **state)
{
    struct crowd crowd;
    (void)state;

    crowd_open(&crowd, &patient);
    crowd_search(&crowd, 0, 1000 * MS);
    crowd_search(&crowd, 1, 100 * MS); // its budget ends before the login comes
    virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 50 * MS);
    search_cancel(&crowd.searches[0]);
    virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 150 * MS);
    assert_int_equal(crowd.replies, 1);
    assert_int_equal(virtual_logins_waiting(&crowd.virtual), 0);
    virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 150 * MS); // now it is there
    crowd_search(&crowd, 2, 100 * MS);
    virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 100 * MS);
    assert_int_equal(crowd.complete, 1);
    assert_int_equal(virtual_logins_fetched(&crowd.virtual), 1);
    crowd_close(&crowd);
}

static void forty_searches_that_are_refused_the_same_login_make_one_more(void **state)
{
    struct virtual_supplier stale = patient;
    struct crowd crowd;
    (void)state;

    stale.has_login = true;
    stale.refused_logins = 1;
    crowd_open(&crowd, &stale);
    for (size_t i = 0; i < SEARCHES; i++) {
        crowd_search(&crowd, i, 2000 * MS);
        virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 10 * MS); // the last ones find the new one
    }
    virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 2000 * MS);
    assert_int_equal(crowd.complete, SEARCHES);
    assert_int_equal(virtual_logins_fetched(&crowd.virtual), 1);
    assert_in_range(crowd.virtual.fetches_started, SEARCHES + 1, 2 * SEARCHES);
    crowd_close(&crowd);
}

static void after_a_failure_nobody_asks_for_a_while(void **state)
{
    struct virtual_supplier broken = patient;
    struct crowd crowd;
    (void)state;

    broken.login_outcome = OUTCOME_REJECTED;
    crowd_open(&crowd, &broken);
    for (size_t i = 0; i < SEARCHES; i++) { // for 1.2 s: one login, a second of pause, and the next one
        crowd_search(&crowd, i, 1000 * MS);
        virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 30 * MS);
    }
    assert_int_equal(virtual_logins_fetched(&crowd.virtual), 1);
    virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 1000 * MS);
    crowd_search(&crowd, 0, 1000 * MS);
    virtual_world_run(&crowd.virtual, crowd.virtual.now_us + 1000 * MS);
    assert_int_equal(virtual_logins_fetched(&crowd.virtual), 2);
    assert_int_equal(crowd.replies, SEARCHES + 1);
    assert_int_equal(crowd.complete, 0);
    crowd_close(&crowd);
}

static void what_a_login_came_to_is_told_by_its_script_or_its_status(void **state)
{
    static const struct {
        enum script_verdict verdict;
        uint16_t status;
        enum outcome outcome;
        enum rejection rejection;
    } rows[] = {
        { SCRIPT_OK, 200, OUTCOME_ANSWERED, REJECTION_NONE },
        { SCRIPT_OK, 201, OUTCOME_ANSWERED, REJECTION_NONE },
        { SCRIPT_OK, 302, OUTCOME_REJECTED, REJECTION_SUPPLIER },
        { SCRIPT_OK, 500, OUTCOME_FAILED, REJECTION_NONE },
        { SCRIPT_ERROR, 200, OUTCOME_SCRIPT_ERROR, REJECTION_NONE },
        { SCRIPT_ERROR, 401, OUTCOME_REJECTED, REJECTION_AUTH },
        { SCRIPT_ERROR, 403, OUTCOME_REJECTED, REJECTION_AUTH },
        { SCRIPT_ERROR, 404, OUTCOME_REJECTED, REJECTION_SUPPLIER },
        { SCRIPT_ERROR, 429, OUTCOME_REJECTED, REJECTION_QUOTA },
        { SCRIPT_ERROR, 503, OUTCOME_FAILED, REJECTION_NONE },
        { SCRIPT_UNPARSABLE, 200, OUTCOME_UNPARSABLE, REJECTION_NONE },
        { SCRIPT_UNPARSABLE, 401, OUTCOME_REJECTED, REJECTION_AUTH },
        { SCRIPT_FAIL_AUTH, 200, OUTCOME_REJECTED, REJECTION_AUTH },
        { SCRIPT_FAIL_LOGIN, 200, OUTCOME_REJECTED, REJECTION_AUTH },
        { SCRIPT_FAIL_QUOTA, 401, OUTCOME_REJECTED, REJECTION_QUOTA },
        { SCRIPT_TIMEOUT, 200, OUTCOME_SCRIPT_TIMEOUT, REJECTION_NONE },
        { SCRIPT_DROPPED, 200, OUTCOME_SHED, REJECTION_NONE },
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct verdict_answer answer = verdict_of_login(rows[i].verdict, rows[i].status);
        if (answer.outcome != rows[i].outcome || answer.rejection != rows[i].rejection) {
            fail_msg("%s with %u is %s", script_verdict_name(rows[i].verdict), rows[i].status,
                     outcome_name(answer.outcome));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forty_searches_that_wait_for_a_login_make_one),
        cmocka_unit_test(a_login_goes_on_when_all_have_left_and_the_next_search_finds_it),
        cmocka_unit_test(forty_searches_that_are_refused_the_same_login_make_one_more),
        cmocka_unit_test(after_a_failure_nobody_asks_for_a_while),
        cmocka_unit_test(what_a_login_came_to_is_told_by_its_script_or_its_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
