// The same offers in a thousand orders of arrival: items, offers and facets are the same bytes every time.

#include "support/play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SHUFFLES = 1000, SHUFFLES_OF_A_CUT = 200, SUPPLIERS = 12, PARTS = 3, STEPS_MAX = SUPPLIERS * PARTS };

/// Numbers from a seed, the same on every machine.
static uint64_t roll(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/// Twelve suppliers of two kinds of items, some in three parts whose ids overlap, with equal prices, unknown durations
/// and every flag among them. Only the times depend on the seed.
static void fill(struct play *play, struct virtual_step steps[STEPS_MAX], uint64_t seed)
{
    static const char *const NAMES[SUPPLIERS] = { "a", "b", "c", "d", "e", "f", "g", "h", "j", "k", "l", "m" };
    size_t used = 0;

    for (size_t i = 0; i < SUPPLIERS; i++) {
        struct virtual_supplier *supplier = play_add(play, NAMES[i], roll(&seed) % 900 * MS, 20);
        supplier->item_prefix = i % 2 == 0 ? "even" : "odd";
        supplier->cheapest_micros = (int64_t)(100 + i % 3) * OFFER_MICROS;
        supplier->minutes = i % 4 == 0 ? 0 : (uint32_t)(700 - 50 * i);
        supplier->flag = i % 5 == 0 ? (uint32_t)(i % 4) : OFFER_COMPARABLE;
        supplier->is_odd = i % 3 == 0;
        if (i % 2 == 0) {
            continue;
        }
        supplier->parts = PARTS;
        supplier->steps = &steps[used];
        supplier->step_count = PARTS;
        for (uint32_t part = 1; part <= PARTS; part++) {
            steps[used++] = (struct virtual_step){ .part = part,
                                                   .step = 1,
                                                   .result = FETCH_OK,
                                                   .status = 200,
                                                   .after_us = roll(&seed) % 900 * MS,
                                                   .normalise = SCRIPT_OK,
                                                   .first_id = 6 * part,
                                                   .offers = 10 };
        }
    }
}

/// From `items` to the end; free it.
static char *result_of(const struct play *play)
{
    const char *items = strstr(play->body, "\"items\":");
    assert_non_null(items);
    assert_non_null(strstr(items, "\"facets\":{\"house\":[{"));
    return strdup(items);
}

static void compare_all(enum sort sort, uint64_t shuffles, uint32_t max_items, uint32_t max_offers_per_item)
{
    struct virtual_step steps[STEPS_MAX];
    char *first = NULL;

    for (uint64_t seed = 1; seed <= shuffles; seed++) {
        struct play play;
        play_init(&play);
        play.sort = sort;
        play.max_items = max_items;
        play.max_offers_per_item = max_offers_per_item;
        fill(&play, steps, seed);
        play_run_once(&play);
        char *result = result_of(&play);
        if (first == NULL) {
            first = result;
        } else {
            if (strcmp(first, result) != 0) {
                fail_msg("seed %llu: other bytes than of seed 1", (unsigned long long)seed);
            }
            free(result);
        }
        if (seed % 100 == 0) {
            play_compare_stream(&play);
        }
        play_finish(&play, 1);
    }
    free(first);
}

static void a_thousand_orders_of_arrival_give_the_same_bytes(void **state)
{
    (void)state;
    compare_all(SORT_BEST, SHUFFLES, 10000, 1000);
}

static void a_cut_reply_is_the_same_in_every_order_of_arrival(void **state)
{
    (void)state;
    compare_all(SORT_BEST, SHUFFLES_OF_A_CUT, 9, 2);
}

static void a_reply_by_price_is_the_same_in_every_order_of_arrival(void **state)
{
    (void)state;
    compare_all(SORT_PRICE, SHUFFLES_OF_A_CUT, 9, 2);
}

static void a_reply_by_duration_is_the_same_in_every_order_of_arrival(void **state)
{
    (void)state;
    compare_all(SORT_DURATION, SHUFFLES_OF_A_CUT, 9, 2);
}

/// Of every third one nothing comes but what it said last, early or late, from a store that takes its time; of some the
/// last answer is fresh.
static void fill_known(struct play *play, uint64_t seed)
{
    play->store = (struct virtual_store_given){ .is_on = true, .key = "q", .spread_us = roll(&seed) % (6 * MS) };
    for (size_t i = 0; i < play->count; i++) {
        struct virtual_supplier *supplier = &play->suppliers[i];
        play->stored[i] = (struct virtual_stored){ .is_there = true, .life_ms = 1000, .first_id = 3, .offers = 9 };
        if (i % 3 == 0) {
            supplier->step_count = 0;
            supplier->parts = 1;
            supplier->hangs = roll(&seed) % 2 == 0;
            supplier->result = FETCH_CONNECT_FAILED;
            supplier->phase = PHASE_CONNECT;
        }
        play->catalogue_suppliers[i].last_known.fresh_for_ms = i % 4 == 1 ? 1000 : 0;
    }
}

static void what_was_known_is_in_its_place_whenever_it_comes(void **state)
{
    struct virtual_step steps[STEPS_MAX];
    char *first = NULL;

    (void)state;
    for (uint64_t seed = 1; seed <= SHUFFLES_OF_A_CUT; seed++) {
        struct play play;
        play_init(&play);
        play.max_items = 30;
        play.max_offers_per_item = 2;
        fill(&play, steps, seed);
        fill_known(&play, seed);
        play_run_once(&play);
        play_expect_body(&play, "\"cached\":3,\"indicative\":3,\"missing\":0");
        char *result = result_of(&play);
        if (first != NULL && strcmp(first, result) != 0) {
            fail_msg("seed %llu: other bytes than of seed 1", (unsigned long long)seed);
        }
        free(first);
        first = result;
        if (seed % 20 == 0) {
            play_compare_stream(&play);
        }
        play_finish(&play, 1);
    }
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_orders_of_arrival_give_the_same_bytes),
        cmocka_unit_test(a_cut_reply_is_the_same_in_every_order_of_arrival),
        cmocka_unit_test(a_reply_by_price_is_the_same_in_every_order_of_arrival),
        cmocka_unit_test(a_reply_by_duration_is_the_same_in_every_order_of_arrival),
        cmocka_unit_test(what_was_known_is_in_its_place_whenever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
