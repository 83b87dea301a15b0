// What a search gives to the shadow of a supplier, over the real search/ in a virtual world.

#include "search/search.h"
#include "support/virtual_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000)

enum { TAKEN_MAX = 16 };

struct stage {
    struct virtual_world virtual;
    struct world_ops ops; // the virtual world's, and our shadow
    struct virtual_supplier supplier;
    struct script_account accounts[2], shadows[2];
    struct catalogue_supplier catalogue_supplier;
    struct catalogue catalogue;
    struct block *body;
    struct search *search;
    size_t replies, requests;
    struct {
        const struct script_account *account;
        uint32_t part, step;
        size_t offers;
        enum script_verdict verdict;
        bool has_body;
    } taken[TAKEN_MAX];
    size_t taken_count;
};

static struct stage stage;

static void on_reply(void *owner, const struct search_reply *reply)
{
    (void)owner;
    (void)reply;
    stage.replies++;
}

static void on_shadow(struct world *world, const struct script_account *account, const struct normalise_call *normalise)
{
    (void)world;
    assert_true(stage.taken_count < TAKEN_MAX);
    stage.taken[stage.taken_count].account = account;
    stage.taken[stage.taken_count].part = normalise->part;
    stage.taken[stage.taken_count].step = normalise->step;
    stage.taken[stage.taken_count].verdict = normalise->verdict;
    stage.taken[stage.taken_count].offers = normalise->offers == NULL ? 0 : normalise->offers->count;
    stage.taken[stage.taken_count].has_body = normalise->response != NULL;
    stage.taken_count++;
}

static void stage_open(const struct virtual_supplier *supplier, bool has_shadow)
{
    stage = (struct stage){ .supplier = *supplier };
    for (uint32_t i = 0; i < COUNT_OF(stage.accounts); i++) {
        stage.accounts[i] = (struct script_account){ .serial = i + 1, .name = TEXT("a") };
        stage.shadows[i] = (struct script_account){ .serial = i + 11, .name = TEXT("a") };
    }
    stage.catalogue_supplier = (struct catalogue_supplier){ .name = TEXT("a"),
                                                            .product = TEXT("flights"),
                                                            .script = TEXT("a@1"),
                                                            .is_enabled = true,
                                                            .body_cap = 1 << 20,
                                                            .account = stage.accounts,
                                                            .account_count = 2,
                                                            .shadow = has_shadow ? stage.shadows : NULL };
    stage.catalogue =
        (struct catalogue){ .generation = 1, .suppliers = &stage.catalogue_supplier, .supplier_count = 1 };
    stage.body = block_create(TEXT("{}"));
    virtual_world_init(&stage.virtual, &stage.supplier, 1);
    stage.ops = *stage.virtual.world.ops;
    stage.ops.shadow = on_shadow;
    stage.virtual.world.ops = &stage.ops;
}

static void stage_run(uint64_t budget_us)
{
    const struct search_options options = {
        .world = &stage.virtual.world,
        .catalogue = &stage.catalogue,
        .search_id = TEXT("id"),
        .product = TEXT("flights"),
        .body = stage.body,
        .arrival_us = stage.virtual.now_us,
        .budget = { .requested_us = budget_us, .effective_us = budget_us },
        .reserve_us = 10 * MS,
        .max_items = 10,
        .max_offers_per_item = 5,
        .on_reply = on_reply,
        .owner = &stage,
    };
    assert_int_equal(search_start(&options, &stage.search), STATUS_OK);
    while (virtual_world_step(&stage.virtual)) {
    }
    assert_int_equal(stage.replies, 1);
    stage.requests = stage.virtual.fetches_started;
    virtual_world_fini(&stage.virtual);
    block_release(&stage.body);
}

static void an_answer_goes_to_the_account_of_the_shadow_that_was_asked(void **state)
{
    static const struct virtual_supplier supplier = { .name = "a", .offers = 3, .after_us = 50 * 1000 };
    (void)state;

    stage_open(&supplier, true);
    stage.accounts[0].markets = &(struct text){ "nowhere", 7 };
    stage.accounts[0].market_count = 1;
    stage_run(1000 * MS);
    assert_int_equal(stage.taken_count, 1);
    assert_ptr_equal(stage.taken[0].account, &stage.shadows[1]);
    assert_int_equal(stage.taken[0].offers, 3);
    assert_int_equal(stage.taken[0].verdict, SCRIPT_OK);
    assert_true(stage.taken[0].has_body);
    assert_int_equal(stage.requests, 1);
}

static void each_step_goes_there_and_none_is_asked_for_it(void **state)
{
    static const struct virtual_step steps[] = {
        { .part = 1, .step = 1, .after_us = 10 * 1000, .offers = 2, .has_next = true, .next_after_us = 10 * 1000 },
        { .part = 1, .step = 2, .after_us = 10 * 1000, .offers = 1, .first_id = 2 },
    };
    static const struct virtual_supplier supplier = { .name = "a", .steps = steps, .step_count = 2 };
    (void)state;

    stage_open(&supplier, true);
    stage_run(1000 * MS);
    assert_int_equal(stage.taken_count, 2);
    assert_int_equal(stage.taken[0].step, 1);
    assert_int_equal(stage.taken[1].step, 2);
    assert_int_equal(stage.requests, 2);
}

static void a_failure_of_the_script_goes_there_and_a_cut_answer_does_not(void **state)
{
    static const struct virtual_supplier fails = { .name = "a", .after_us = 10 * 1000, .normalise = SCRIPT_FAIL_BUSY };
    static const struct virtual_supplier late = { .name = "a", .offers = 3, .after_us = 2000 * 1000 };
    (void)state;

    stage_open(&fails, true);
    stage_run(1000 * MS);
    assert_int_equal(stage.taken_count, 1);
    assert_int_equal(stage.taken[0].verdict, SCRIPT_FAIL_BUSY);
    stage_open(&late, true);
    stage_run(1000 * MS);
    assert_int_equal(stage.taken_count, 0);
}

static void a_supplier_without_a_shadow_gives_nothing(void **state)
{
    static const struct virtual_supplier supplier = { .name = "a", .offers = 3, .after_us = 50 * 1000 };
    (void)state;

    stage_open(&supplier, false);
    stage_run(1000 * MS);
    assert_int_equal(stage.taken_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_goes_to_the_account_of_the_shadow_that_was_asked),
        cmocka_unit_test(each_step_goes_there_and_none_is_asked_for_it),
        cmocka_unit_test(a_failure_of_the_script_goes_there_and_a_cut_answer_does_not),
        cmocka_unit_test(a_supplier_without_a_shadow_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
