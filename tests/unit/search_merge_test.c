// How much of very many offers a merge looks at.
#include "search/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SUPPLIERS = 40, EACH = 1500, BATCH = 750, BATCH_CEILING = 1 << 20, NAME_MAX = 32, MERGE_CEILING = 32 << 20 };

static struct text name_of(struct arena *arena, const char *format, size_t number)
{
    char name[NAME_MAX];
    snprintf(name, sizeof(name), format, number);
    return arena_copy(arena, text_of(name));
}

/// `first` is the place of its cheapest offer among all; the offer at place P costs P and is the thing P.
static void fill(struct stock *stock, size_t first)
{
    struct offer_batch *batch = offer_batch_create(BATCH_CEILING);

    assert_non_null(batch);
    batch->offers = arena_alloc_array(&batch->arena, BATCH, sizeof(*batch->offers));
    assert_non_null(batch->offers);
    for (size_t i = 0; i < BATCH; i++) {
        struct offer *offer = &batch->offers[batch->count++];
        size_t place = first + i * SUPPLIERS;
        offer->total_micros = (int64_t)place;
        offer->duration_min = UINT32_MAX;
        offer->item = name_of(&batch->arena, "thing %zu", place);
        offer->id = name_of(&batch->arena, "%zu", place);
    }
    offer_batch_sort(batch);
    assert_true(stock_add(stock, 1, batch, MERGE_ADD, NULL, NULL));
    offer_batch_release(&batch);
}

static void of_very_many_offers_the_cheapest_are_looked_at(void **state)
{
    static struct attempt attempts[SUPPLIERS];
    static struct catalogue_supplier suppliers[SUPPLIERS];
    struct merge_limits limits = { .max_items = UINT32_MAX, .max_offers_per_item = 5, .sort = SORT_PRICE };
    struct merge_result result;
    struct arena arena;
    (void)state;
    arena_init(&arena, MERGE_CEILING);
    for (size_t i = 0; i < SUPPLIERS; i++) {
        suppliers[i].name = name_of(&arena, "s%zu", i);
        attempts[i].supplier = &suppliers[i];
        stock_init(&attempts[i].stock);
        fill(&attempts[i].stock, i);
        fill(&attempts[i].stock, i + (size_t)BATCH * SUPPLIERS);
    }
    assert_true(merge_offers(&arena, attempts, SUPPLIERS, limits, &result));
    assert_int_equal(result.found, SUPPLIERS * EACH);
    assert_int_equal(result.pick_count, MERGE_MAX_LOOKS);
    for (size_t i = 0; i < result.pick_count; i++) {
        assert_int_equal(result.picks[i].offer->total_micros, i);
    }
    for (size_t i = 0; i < SUPPLIERS; i++) {
        stock_fini(&attempts[i].stock);
    }
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_very_many_offers_the_cheapest_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
