// Searches while generations change, over the real search/ in a virtual world: what a search and each of its calls
// stand on, and when it goes. A generation is freed at its last drop, so that whoever looks at it later is found out.

#include "model/ground.h"
#include "search/search.h"
#include "support/virtual_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000)

enum { SUPPLIERS = 5, SEARCHES_MAX = 256, PLAYS = 150, PLAY_SEARCHES = 30 };

struct house;

/// A generation: everything that a catalogue points to lies within it.
struct storey {
    struct ground ground;
    struct house *house;
    uint32_t number;
    struct catalogue catalogue;
    struct catalogue_supplier suppliers[SUPPLIERS];
    struct script_account accounts[SUPPLIERS];
    char names[SUPPLIERS][16];
};

struct asked {
    struct search *search; // NULL: over
    uint32_t number;       // of its generation
    struct house *house;
};

struct house {
    struct virtual_world virtual;
    struct world_ops ops;       // the virtual world's, with our look at each call
    const struct world_ops *of; // the virtual world's own
    const struct virtual_supplier *suppliers;
    struct storey *current;
    uint32_t last_number;
    size_t alive, alive_most;
    size_t calls_of[SCRIPT_CALL_CEILING + 1]; // looked at, by their kind
    size_t calls_of_old;                      // while a newer generation was out already
    struct block *body;
    struct asked asked[SEARCHES_MAX];
    size_t asked_count, replies;
    uint64_t draws;
};

static void storey_end(struct ground *ground)
{
    struct storey *storey = CONTAINER_OF(ground, struct storey, ground);

    storey->house->alive--;
    memset(storey, 0xa5, sizeof(*storey));
    free(storey);
}

static struct storey *storey_of(const struct script_call *call)
{
    return (struct storey *)(void *)call->set; // a set that nobody opens
}

/// Publishes the next one; the house's own hold on the one before is dropped.
static void house_publish(struct house *house)
{
    struct storey *storey = calloc(1, sizeof(*storey));

    assert_non_null(storey);
    ground_init(&storey->ground, storey_end);
    storey->house = house;
    storey->number = ++house->last_number;
    for (size_t i = 0; i < SUPPLIERS; i++) {
        snprintf(storey->names[i], sizeof(storey->names[i]), "%s", house->suppliers[i].name);
        storey->accounts[i] = (struct script_account){ .serial = storey->number * SUPPLIERS + i,
                                                       .supplier = (uint32_t)i,
                                                       .name = text_of(storey->names[i]),
                                                       .login = house->suppliers[i].logs_in ? (uint32_t)i + 1 : 0 };
        storey->suppliers[i] = (struct catalogue_supplier){ .name = text_of(storey->names[i]),
                                                            .product = TEXT("flights"),
                                                            .script = TEXT("x@1"),
                                                            .is_enabled = true,
                                                            .signs = house->suppliers[i].signs,
                                                            .body_cap = 1 << 20,
                                                            .account = &storey->accounts[i],
                                                            .account_count = 1,
                                                            .traffic = 1000000 };
    }
    storey->accounts[SUPPLIERS - 1].mode = storey->suppliers[SUPPLIERS - 1].mode = MODE_DARK;
    storey->catalogue = (struct catalogue){ .generation = storey->number,
                                            .ground = &storey->ground,
                                            .set = (struct script_set *)(void *)storey,
                                            .suppliers = storey->suppliers,
                                            .supplier_count = SUPPLIERS,
                                            .login_count = SUPPLIERS };
    house->alive++;
    house->alive_most = house->alive > house->alive_most ? house->alive : house->alive_most;
    struct ground *before = house->current == NULL ? NULL : &house->current->ground;
    house->current = storey;
    ground_drop(&before);
}

static void assert_account_of(const struct storey *storey, const struct script_account *account)
{
    bool is_own = account >= storey->accounts && account < storey->accounts + SUPPLIERS;
    assert_true(is_own);
}

static void assert_id_of(const struct storey *storey, struct text id)
{
    char wanted[16];
    snprintf(wanted, sizeof(wanted), "g%u", (unsigned)storey->number);
    assert_true(text_equals_c(id, wanted));
}

/// A call's set, accounts and search are of one generation, which it holds.
static void look_at_call(struct house *house, struct script_call *call)
{
    const struct storey *storey = storey_of(call);

    assert_ptr_equal(call->ground, &storey->ground);
    house->calls_of[call->kind]++;
    house->calls_of_old += storey != house->current;
    if (call->kind == SCRIPT_CALL_START) {
        const struct start_call *start = CONTAINER_OF(call, struct start_call, call);
        assert_id_of(storey, start->search_id);
        for (size_t i = 0; i < start->candidate_count; i++) {
            assert_account_of(storey, start->candidates[i].account);
        }
    } else if (call->kind == SCRIPT_CALL_NORMALISE) {
        const struct normalise_call *normalise = CONTAINER_OF(call, struct normalise_call, call);
        assert_id_of(storey, normalise->search_id);
        assert_account_of(storey, normalise->account);
    } else if (call->kind == SCRIPT_CALL_REQUEST) {
        assert_account_of(storey, script_call_account(call));
    }
}

static enum status submit_looking(struct world *world, struct script_call *call)
{
    struct virtual_world *virtual = CONTAINER_OF(world, struct virtual_world, world);
    struct house *house = CONTAINER_OF(virtual, struct house, virtual);

    look_at_call(house, call);
    virtual->is_reasking = false; // that world knows one search; here are many
    virtual->reasks = 0;
    return house->of->script_submit(world, call);
}

static void house_open(struct house *house, const struct virtual_supplier *suppliers)
{
    memset(house, 0, sizeof(*house));
    house->suppliers = suppliers;
    virtual_world_init(&house->virtual, suppliers, SUPPLIERS);
    house->of = house->virtual.world.ops;
    house->ops = *house->of;
    house->ops.script_submit = submit_looking;
    house->virtual.world.ops = &house->ops;
    house->body = block_create(TEXT("{}"));
    house_publish(house);
}

static void on_reply(void *owner, const struct search_reply *reply)
{
    struct asked *asked = owner;
    struct text body = block_text(reply->body);
    char wanted[32];

    snprintf(wanted, sizeof(wanted), "\"generation\":%u,", (unsigned)asked->number);
    char *told = strndup(body.data, body.length);
    if (reply->status == 200 && strstr(told, wanted) == NULL) {
        fail_msg("%s is not in %s", wanted, told);
    }
    free(told);
    asked->search = NULL;
    asked->house->replies++;
}

/// A search on the current generation; its number among the searches.
static size_t house_search(struct house *house, uint64_t budget_us)
{
    struct asked *asked = &house->asked[house->asked_count];
    char id[16];

    assert_true(house->asked_count < SEARCHES_MAX);
    *asked = (struct asked){ .number = house->current->number, .house = house };
    snprintf(id, sizeof(id), "g%u", (unsigned)asked->number);
    const struct search_options options = {
        .world = &house->virtual.world,
        .catalogue = &house->current->catalogue,
        .search_id = text_of(id),
        .product = TEXT("flights"),
        .body = house->body,
        .arrival_us = house->virtual.now_us,
        .budget = { .requested_us = budget_us, .effective_us = budget_us },
        .reserve_us = 10 * MS,
        .max_items = 10,
        .max_offers_per_item = 5,
        .on_reply = on_reply,
        .owner = asked,
    };
    assert_int_equal(search_start(&options, &asked->search), STATUS_OK);
    return house->asked_count++;
}

static void house_run(struct house *house, uint64_t for_us)
{
    virtual_world_run(&house->virtual, house->virtual.now_us + for_us);
}

/// All that was asked is over, and of all generations only the current one is left; then none.
static void house_close(struct house *house)
{
    while (virtual_world_step(&house->virtual)) {
    }
    assert_int_equal(house->virtual.fetches_running + house->virtual.calls_out, 0);
    if (house->virtual.broken_rule != NULL) {
        fail_msg("%s", house->virtual.broken_rule);
    }
    assert_int_equal(house->alive, 1);
    struct ground *last = &house->current->ground;
    ground_drop(&last);
    assert_int_equal(house->alive, 0);
    virtual_world_fini(&house->virtual);
    block_release(&house->body);
}

static const struct virtual_step pages[] = {
    { .part = 1, .step = 1, .after_us = 60 * 1000, .offers = 2, .has_next = true, .next_after_us = 40 * 1000 },
    { .part = 1, .step = 2, .after_us = 60 * 1000, .offers = 2, .has_next = true, .next_after_us = 40 * 1000 },
    { .part = 1, .step = 3, .after_us = 60 * 1000, .offers = 2 },
};

static const struct virtual_ceiling later[] = { { .after_us = 1, .ceiling_us = 700 * 1000 } };

/// One of each kind: pages, a login, signatures, a ceiling that is asked again, a dark one.
static const struct virtual_supplier one_of_each[SUPPLIERS] = {
    { .name = "pages", .steps = pages, .step_count = 3, .normalise_us = 20 * 1000 },
    { .name = "login",
      .offers = 1,
      .after_us = 50 * 1000,
      .logs_in = true,
      .login_after_us = 80 * 1000,
      .rebuild_us = 9 * 1000,
      .normalise_us = 5 * 1000 },
    { .name = "signs",
      .steps = pages,
      .step_count = 3,
      .signs = true,
      .rebuild_us = 15 * 1000,
      .normalise_us = 5 * 1000 },
    { .name = "again",
      .offers = 3,
      .after_us = 350 * 1000,
      .ceiling_us = 600 * 1000,
      .again = later,
      .again_count = 1,
      .normalise_us = 30 * 1000 },
    { .name = "zdark", .offers = 1, .after_us = 90 * 1000, .normalise_us = 40 * 1000 },
};

static void every_step_of_a_search_is_of_the_generation_it_began_on(void **state)
{
    struct house *house = malloc(sizeof(*house));
    (void)state;

    assert_non_null(house);
    house_open(house, one_of_each);
    house->virtual.reask_us = 15 * MS;
    for (size_t i = 0; i < 40; i++) { // each search meets about 16 publishes
        (void)house_search(house, 1000 * MS);
        house_run(house, 15 * MS);
        (void)house_search(house, 1000 * MS);
        house_run(house, 10 * MS);
        house_publish(house);
    }
    house_run(house, 2000 * MS);
    assert_int_equal(house->replies, 80);
    assert_in_range(house->alive_most, 10, 40);
    assert_in_range(house->calls_of_old, 100, SIZE_MAX);
    assert_in_range(house->calls_of[SCRIPT_CALL_START], 2 * 80, SIZE_MAX); // the dark ones have one of their own
    assert_in_range(house->calls_of[SCRIPT_CALL_NORMALISE], 80 * 3, SIZE_MAX);
    assert_in_range(house->calls_of[SCRIPT_CALL_REQUEST], 80, SIZE_MAX);
    assert_in_range(house->calls_of[SCRIPT_CALL_CEILING], 80, SIZE_MAX);
    house_close(house);
    free(house);
}

static void a_generation_that_nobody_stands_on_goes_when_the_next_one_is_published(void **state)
{
    struct house *house = malloc(sizeof(*house));
    (void)state;

    assert_non_null(house);
    house_open(house, one_of_each);
    for (size_t i = 0; i < 5; i++) {
        house_publish(house);
        assert_int_equal(house->alive, 1);
    }
    (void)house_search(house, 1000 * MS);
    house_publish(house);
    house_publish(house);
    assert_int_equal(house->alive, 2);
    house_run(house, 2000 * MS);
    assert_int_equal(house->alive, 1);
    house_close(house);
    free(house);
}

/// The caller leaves after so long; the one who is asked is in the middle of a call then, and comes back later.
static void leave_within_a_call(uint64_t leaves_after_us, enum script_call_kind kind)
{
    struct house *house = malloc(sizeof(*house));

    assert_non_null(house);
    house_open(house, one_of_each);
    house->virtual.reask_us = 400 * MS;
    house->virtual.start_us = 30 * MS;
    size_t number = house_search(house, 1000 * MS);
    house_run(house, leaves_after_us);
    assert_in_range(house->calls_of[kind], 1, SIZE_MAX);
    assert_in_range(house->virtual.calls_out, 1, SIZE_MAX);
    search_cancel(&house->asked[number].search);
    house_publish(house);
    assert_int_equal(house->alive, 2); // nothing of the search is left but a call
    while (house->virtual.calls_out > 0) {
        assert_int_equal(house->alive, 2);
        assert_true(virtual_world_step(&house->virtual));
    }
    assert_int_equal(house->alive, 1);
    house_close(house);
    free(house);
}

static void a_call_that_comes_back_when_its_search_is_gone_keeps_its_generation_until_then(void **state)
{
    (void)state;

    leave_within_a_call(10 * MS, SCRIPT_CALL_START);
    leave_within_a_call(140 * MS, SCRIPT_CALL_CEILING);
    leave_within_a_call(115 * MS, SCRIPT_CALL_REQUEST);
    leave_within_a_call(100 * MS, SCRIPT_CALL_NORMALISE);
}

static void a_search_that_is_cut_leaves_its_calls_behind_and_they_keep_its_generation(void **state)
{
    struct virtual_supplier slow[SUPPLIERS];
    struct house *house = malloc(sizeof(*house));
    (void)state;

    assert_non_null(house);
    memcpy(slow, one_of_each, sizeof(slow));
    slow[3].normalise_us = 3000 * MS;
    house_open(house, slow);
    (void)house_search(house, 500 * MS);
    house_run(house, 500 * MS);
    assert_int_equal(house->replies, 1);
    house_publish(house);
    assert_int_equal(house->alive, 2);
    house_run(house, 2000 * MS);
    assert_int_equal(house->alive, 2);
    house_run(house, 1000 * MS);
    assert_int_equal(house->alive, 1);
    house_close(house);
    free(house);
}

// ------------------------------------------------------------------------------------------------------------- chance

static uint64_t draw(struct house *house, uint64_t most)
{
    uint64_t mixed = ++house->draws * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return (mixed ^ (mixed >> 31)) % (most + 1);
}

/// Searches come, are cut, and are left, generations come, all by chance.
static void play_by_chance(uint64_t seed)
{
    struct house *house = malloc(sizeof(*house));

    assert_non_null(house);
    house_open(house, one_of_each);
    house->draws = seed << 32;
    house->virtual.machine = (struct virtual_machine){ .seed = seed,
                                                       .workers = (uint32_t)draw(house, 3),
                                                       .late_us = draw(house, 2 * MS),
                                                       .turn_us = draw(house, 200),
                                                       .script_percent = 100,
                                                       .fetch_ends_first = draw(house, 1) == 0 };
    house->virtual.reask_us = draw(house, 50 * MS);
    house->virtual.start_us = draw(house, 50 * MS);
    while (house->asked_count < PLAY_SEARCHES) {
        switch (draw(house, 3)) {
        case 0:
            house_publish(house);
            break;
        case 1: {
            struct asked *asked = &house->asked[draw(house, SEARCHES_MAX) % (house->asked_count + 1)];
            search_cancel(&asked->search);
            break;
        }
        default:
            (void)house_search(house, 20 * MS + draw(house, 1000 * MS));
            break;
        }
        house_run(house, draw(house, 60 * MS));
    }
    house_close(house);
    free(house);
}

static void whatever_comes_in_whatever_order_no_generation_is_left_behind(void **state)
{
    (void)state;

    for (uint64_t seed = 1; seed <= PLAYS; seed++) {
        play_by_chance(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_of_a_search_is_of_the_generation_it_began_on),
        cmocka_unit_test(a_generation_that_nobody_stands_on_goes_when_the_next_one_is_published),
        cmocka_unit_test(a_call_that_comes_back_when_its_search_is_gone_keeps_its_generation_until_then),
        cmocka_unit_test(a_search_that_is_cut_leaves_its_calls_behind_and_they_keep_its_generation),
        cmocka_unit_test(whatever_comes_in_whatever_order_no_generation_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
