// Equal requests at the same time are one, over the real search/ in a virtual world with many searches.

#include "model/ground.h"
#include "search/search.h"
#include "support/virtual_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000)

enum { SUPPLIERS = 2, ASKED_MAX = 64, PLAYS = 300 };

struct asked {
    struct search *search; // NULL: over
    struct house *house;
    uint16_t status;
    uint64_t replied_us;
    uint32_t requests, answered;
};

struct house {
    struct virtual_world virtual;
    struct catalogue catalogue;
    struct ground ground;
    struct catalogue_supplier suppliers[SUPPLIERS];
    struct script_account accounts[SUPPLIERS];
    struct block *body;
    struct asked asked[ASKED_MAX];
    size_t count;
    uint64_t draws;
};

static void on_ground_end(struct ground *ground)
{
    (void)ground;
}

static void house_open(struct house *house, const struct virtual_supplier *suppliers, size_t count)
{
    memset(house, 0, sizeof(*house));
    for (size_t i = 0; i < count; i++) {
        house->accounts[i] = (struct script_account){
            .serial = i + 1, .supplier = (uint32_t)i, .name = text_of(suppliers[i].name), .limits = suppliers[i].limits
        };
        house->suppliers[i] = (struct catalogue_supplier){ .name = text_of(suppliers[i].name),
                                                           .product = TEXT("flights"),
                                                           .script = TEXT("x@1"),
                                                           .is_enabled = true,
                                                           .signs = suppliers[i].signs,
                                                           .body_cap = 1 << 20,
                                                           .account = &house->accounts[i] };
    }
    virtual_world_init(&house->virtual, suppliers, count);
    ground_init(&house->ground, on_ground_end);
    house->catalogue = (struct catalogue){ .generation = 1,
                                           .ground = &house->ground,
                                           .suppliers = house->suppliers,
                                           .supplier_count = count,
                                           .extra = { .coalesces = true } };
    house->body = block_create(TEXT("{}"));
}

static void on_reply(void *owner, const struct search_reply *reply)
{
    struct asked *asked = owner;

    asked->search = NULL;
    asked->status = reply->status;
    asked->replied_us = asked->house->virtual.now_us;
    struct search_record *record = reply->record;
    for (size_t i = 0; i < record->entry_count; i++) {
        asked->requests += record->entries[i].requests;
        asked->answered += record->entries[i].outcome == OUTCOME_ANSWERED;
    }
    search_record_destroy(&record);
}

static struct asked *ask(struct house *house, uint64_t budget_us)
{
    struct asked *asked = &house->asked[house->count++];
    const struct search_options options = {
        .world = &house->virtual.world,
        .catalogue = &house->catalogue,
        .search_id = TEXT("id"),
        .product = TEXT("flights"),
        .body = house->body,
        .arrival_us = house->virtual.now_us,
        .budget = { .requested_us = budget_us, .effective_us = budget_us },
        .reserve_us = 10 * MS,
        .max_items = 10,
        .max_offers_per_item = 5,
        .wants_record = true,
        .on_reply = on_reply,
        .owner = asked,
    };

    assert_true(house->count <= ASKED_MAX);
    asked->house = house;
    assert_int_equal(search_start(&options, &asked->search), STATUS_OK);
    return asked;
}

static void run(struct house *house, uint64_t for_us)
{
    virtual_world_run(&house->virtual, house->virtual.now_us + for_us);
}

static void house_close(struct house *house)
{
    while (virtual_world_step(&house->virtual)) {
    }
    if (house->virtual.broken_rule != NULL) {
        fail_msg("%s", house->virtual.broken_rule);
    }
    assert_int_equal(house->virtual.fetches_running, 0);
    assert_null(house->virtual.world.shared);
    assert_int_equal(virtual_world_permits(&house->virtual), 0);
    assert_int_equal(virtual_health_untold(&house->virtual), 0);
    assert_int_equal(virtual_world_references(&house->virtual), 0);
    virtual_world_fini(&house->virtual);
    block_release(&house->body);
}

static const struct virtual_supplier plain = { .name = "plain", .offers = 3, .after_us = 200 * 1000 };
static struct house house;

static void equal_requests_are_one(void **state)
{
    (void)state;
    house_open(&house, &plain, 1);
    for (int i = 0; i < 5; i++) {
        (void)ask(&house, 1000 * MS);
        run(&house, 20 * MS);
    }
    run(&house, 1000 * MS);
    assert_int_equal(house.virtual.fetches_started, 1);
    for (size_t i = 0; i < house.count; i++) {
        assert_int_equal(house.asked[i].status, 200);
        assert_int_equal(house.asked[i].answered, 1);
        assert_int_equal(house.asked[i].requests, i == 0 ? 1 : 0);
    }
    assert_int_equal(house.virtual.health[0].told, 5);
    house_close(&house);
}

static void one_that_is_over_is_not_joined(void **state)
{
    (void)state;
    house_open(&house, &plain, 1);
    (void)ask(&house, 1000 * MS);
    run(&house, 300 * MS);
    (void)ask(&house, 1000 * MS);
    run(&house, 300 * MS);
    assert_int_equal(house.virtual.fetches_started, 2);
    house_close(&house);
}

static void nothing_is_shared_unless_it_is_wanted(void **state)
{
    (void)state;
    house_open(&house, &plain, 1);
    house.catalogue.extra.coalesces = false;
    (void)ask(&house, 1000 * MS);
    (void)ask(&house, 1000 * MS);
    run(&house, 500 * MS);
    assert_int_equal(house.virtual.fetches_started, 2);
    house_close(&house);
}

static void whoever_leaves_takes_nothing_from_the_others(void **state)
{
    (void)state;
    house_open(&house, &plain, 1);
    struct asked *first = ask(&house, 1000 * MS), *second = ask(&house, 1000 * MS);
    run(&house, 100 * MS);
    search_cancel(&first->search);
    assert_int_equal(house.virtual.fetches_running, 1);
    run(&house, 500 * MS);
    assert_int_equal(second->status, 200);
    assert_int_equal(house.virtual.fetches_started, 1);
    assert_int_equal(house.virtual.fetches_cancelled, 0);
    house_close(&house);
}

static void the_last_one_ends_it(void **state)
{
    (void)state;
    house_open(&house, &plain, 1);
    struct asked *first = ask(&house, 1000 * MS), *second = ask(&house, 1000 * MS);
    run(&house, 100 * MS);
    search_cancel(&first->search);
    search_cancel(&second->search);
    assert_int_equal(house.virtual.fetches_running, 0);
    assert_int_equal(house.virtual.fetches_cancelled, 1);
    assert_int_equal(virtual_world_permits(&house.virtual), 0);
    house_close(&house);
}

static void each_leaves_at_its_own_time(void **state)
{
    (void)state;
    house_open(&house, &plain, 1);
    struct asked *patient = ask(&house, 1000 * MS), *hasty = ask(&house, 100 * MS);
    run(&house, 1000 * MS);
    assert_int_equal(hasty->status, 504);
    assert_true(hasty->replied_us <= 1000 * MS + 100 * MS);
    assert_int_equal(patient->status, 200);
    assert_int_equal(house.virtual.fetches_started, 1);
    house_close(&house);
}

static void one_that_would_wait_longer_than_the_request_lasts_sends_its_own(void **state)
{
    (void)state;
    house_open(&house, &plain, 1);
    struct asked *hasty = ask(&house, 100 * MS), *patient = ask(&house, 1000 * MS);
    run(&house, 1000 * MS);
    assert_int_equal(hasty->status, 504);
    assert_int_equal(patient->status, 200);
    assert_int_equal(house.virtual.fetches_started, 2);
    house_close(&house);
}

static void the_first_ones_end_is_not_the_others(void **state)
{
    (void)state;
    house_open(&house, &plain, 1);
    struct asked *hasty = ask(&house, 190 * MS), *patient = ask(&house, 250 * MS);
    run(&house, 1000 * MS);
    assert_int_equal(hasty->status, 504);
    assert_int_equal(patient->status, 200);
    assert_int_equal(house.virtual.fetches_started, 1);
    house_close(&house);
}

static void quotas_count_it_once(void **state)
{
    static const struct virtual_supplier narrow = {
        .name = "narrow", .offers = 3, .after_us = 200 * 1000, .limits = { .per_day = 1, .concurrent = 1 }
    };
    (void)state;
    house_open(&house, &narrow, 1);
    for (int i = 0; i < 4; i++) {
        (void)ask(&house, 1000 * MS);
    }
    run(&house, 500 * MS);
    for (size_t i = 0; i < house.count; i++) {
        assert_int_equal(house.asked[i].status, 200);
    }
    house_close(&house);
}

static void requests_of_different_accounts_are_not_equal(void **state)
{
    static const struct virtual_supplier two[] = { { .name = "a", .offers = 3, .after_us = 200 * 1000 },
                                                   { .name = "b", .offers = 3, .after_us = 200 * 1000 } };
    (void)state;
    house_open(&house, two, 2);
    (void)ask(&house, 1000 * MS);
    (void)ask(&house, 1000 * MS);
    run(&house, 500 * MS);
    assert_int_equal(house.virtual.fetches_started, 2);
    house_close(&house);
}

static void a_failure_is_that_of_all_that_wait(void **state)
{
    static const struct virtual_supplier fails = {
        .name = "fails", .result = FETCH_RECEIVE_FAILED, .phase = PHASE_FIRST_BYTE, .after_us = 100 * 1000
    };
    (void)state;
    house_open(&house, &fails, 1);
    (void)ask(&house, 1000 * MS);
    (void)ask(&house, 1000 * MS);
    run(&house, 500 * MS);
    assert_int_equal(house.asked[0].status, 504);
    assert_int_equal(house.asked[1].status, 504);
    assert_int_equal(house.virtual.fetches_started, 1);
    house_close(&house);
}

static uint64_t draw(uint64_t most)
{
    uint64_t mixed = ++house.draws * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return (mixed ^ (mixed >> 31)) % (most + 1);
}

static void whatever_comes_and_goes_nothing_is_left(void **state)
{
    static const struct virtual_step pages[] = {
        { .part = 1, .step = 1, .after_us = 60 * 1000, .offers = 2, .has_next = true, .next_after_us = 20 * 1000 },
        { .part = 1, .step = 2, .after_us = 60 * 1000, .offers = 2, .connect_us = 20 * 1000 },
        { .part = 2, .step = 1, .after_us = 90 * 1000, .offers = 2, .status = 503 },
    };
    static const struct virtual_supplier two[] = {
        { .name = "a", .steps = pages, .step_count = 3, .parts = 2, .normalise_us = 3000 },
        { .name = "b", .offers = 3, .after_us = 80 * 1000, .signs = true, .rebuild_us = 2000, .lingers = true }
    };
    uint64_t draws = 0, fetches = 0, searches = 0;

    (void)state;
    for (int play = 0; play < PLAYS; play++) {
        house_open(&house, two, 2);
        house.draws = draws;
        house.catalogue.linger_us = 400 * MS;
        house.catalogue.extra =
            (struct extra_settings){ .is_on = play % 2 == 0, .per_supplier = 0.5, .engine = 0.5, .coalesces = true };
        virtual_extra_begin(&house.virtual, house.catalogue.extra, false);
        for (int i = 0; i < 12; i++) {
            (void)ask(&house, (40 + draw(300)) * MS);
            run(&house, draw(40) * MS);
            struct asked *other = &house.asked[draw(house.count - 1)];
            if (draw(3) == 0 && other->search != NULL) {
                search_cancel(&other->search);
            }
        }
        run(&house, 2000 * MS);
        fetches += house.virtual.fetches_started;
        searches += house.count;
        draws = house.draws;
        assert_int_equal(virtual_extra_untold(&house.virtual), 0);
        house_close(&house);
    }
    assert_true(fetches < 3 * searches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_requests_are_one),
        cmocka_unit_test(one_that_is_over_is_not_joined),
        cmocka_unit_test(nothing_is_shared_unless_it_is_wanted),
        cmocka_unit_test(whoever_leaves_takes_nothing_from_the_others),
        cmocka_unit_test(the_last_one_ends_it),
        cmocka_unit_test(each_leaves_at_its_own_time),
        cmocka_unit_test(one_that_would_wait_longer_than_the_request_lasts_sends_its_own),
        cmocka_unit_test(the_first_ones_end_is_not_the_others),
        cmocka_unit_test(quotas_count_it_once),
        cmocka_unit_test(requests_of_different_accounts_are_not_equal),
        cmocka_unit_test(a_failure_is_that_of_all_that_wait),
        cmocka_unit_test(whatever_comes_and_goes_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
