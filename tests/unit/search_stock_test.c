// What an attempt may hold: the number of its offers, and their size.
#include "search/stock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MIB = 1 << 20, BATCH_CEILING = 40 * MIB, IDS_MAX = 32 };

/// Offers first .. first + count - 1, each dearer than the one before, in a batch that takes at least `size`.
static struct offer_batch *batch_of(size_t first, size_t count, size_t size)
{
    struct offer_batch *batch = offer_batch_create(BATCH_CEILING);

    assert_non_null(batch);
    batch->offers = arena_alloc_array(&batch->arena, count, sizeof(*batch->offers));
    assert_non_null(batch->offers);
    for (size_t i = first; i < first + count; i++) {
        struct offer *offer = &batch->offers[batch->count++];
        char id[IDS_MAX];
        snprintf(id, sizeof(id), "%06zu", i);
        offer->id = arena_copy(&batch->arena, text_of(id));
        offer->total_micros = (int64_t)i;
    }
    assert_true(size == 0 || arena_alloc(&batch->arena, size) != NULL);
    return batch;
}

static void add(struct stock *stock, uint32_t part, struct offer_batch *batch, enum merge_kind merge)
{
    assert_true(stock_add(stock, part, batch, merge, NULL, NULL));
    offer_batch_release(&batch);
}

static bool holds(const struct stock *stock, size_t number)
{
    char id[IDS_MAX];
    size_t found = 0;

    snprintf(id, sizeof(id), "%06zu", number);
    for (size_t i = 0; i < stock->count; i++) {
        const struct stock_batch *held = &stock->batches[i];
        for (size_t j = 0; j < held->batch->count; j++) {
            found += !stock_is_gone(held, j) && text_equals(held->batch->offers[j].id, text_of(id));
        }
    }
    assert_true(found <= 1);
    return found == 1;
}

static void the_batch_that_fills_it_gives_its_best_offers_only(void **state)
{
    struct stock stock;
    (void)state;
    stock_init(&stock);
    add(&stock, 1, batch_of(0, 1000, 0), MERGE_ADD);
    add(&stock, 2, batch_of(5000, STOCK_MAX_OFFERS - 1010, 0), MERGE_ADD);
    assert_int_equal(stock.limit, STOCK_HAS_ROOM);
    add(&stock, 1, batch_of(990, 100, 0), MERGE_ADD);
    assert_int_equal(stock.limit, STOCK_FULL_OF_OFFERS);
    assert_int_equal(stock.live, STOCK_MAX_OFFERS);
    assert_true(holds(&stock, 989) && holds(&stock, 999)); // replaced ones need no place
    assert_true(holds(&stock, 1009));
    assert_false(holds(&stock, 1010));
    stock_fini(&stock);
}

static void the_dearest_offers_stay_when_they_replace(void **state)
{
    struct stock stock;
    (void)state;
    stock_init(&stock);
    add(&stock, 1, batch_of(1000, 1000, 0), MERGE_ADD);
    add(&stock, 1, batch_of(2000, STOCK_MAX_OFFERS - 1000, 0), MERGE_ADD);
    add(&stock, 1, batch_of(900, 200, 0), MERGE_ADD); // the first hundred is new
    assert_int_equal(stock.live, STOCK_MAX_OFFERS);
    assert_true(holds(&stock, 1000) && holds(&stock, 1099));
    assert_false(holds(&stock, 900));
    stock_fini(&stock);
}

static void what_replaces_a_part_fits_into_its_place(void **state)
{
    struct stock stock;
    (void)state;
    stock_init(&stock);
    for (size_t i = 0; i < 10; i++) {
        add(&stock, 1, batch_of(i * 1000, 1000, 20 * MIB), MERGE_REPLACE);
        assert_int_equal(stock.live, 1000);
    }
    assert_int_equal(stock.limit, STOCK_HAS_ROOM);
    stock_fini(&stock);
}

static void a_batch_over_the_size_is_not_taken(void **state)
{
    struct stock stock;
    (void)state;
    stock_init(&stock);
    add(&stock, 1, batch_of(0, 10, 20 * MIB), MERGE_ADD);
    add(&stock, 2, batch_of(5, 10, 20 * MIB), MERGE_REPLACE);
    assert_int_equal(stock.limit, STOCK_FULL_OF_BYTES);
    assert_int_equal(stock.live, 10);
    assert_true(stock.bytes <= STOCK_MAX_BYTES);
    assert_true(holds(&stock, 5));
    assert_false(holds(&stock, 10));
    stock_fini(&stock);
}

static void what_a_stream_keeps_counts_after_it_is_replaced(void **state)
{
    struct stock stock;
    (void)state;
    stock_init(&stock);
    stock.is_kept_elsewhere = true;
    add(&stock, 1, batch_of(0, 10, 20 * MIB), MERGE_REPLACE);
    add(&stock, 1, batch_of(0, 10, 10 * MIB), MERGE_REPLACE);
    assert_int_equal(stock.limit, STOCK_HAS_ROOM);
    add(&stock, 1, batch_of(0, 10, 10 * MIB), MERGE_REPLACE);
    assert_int_equal(stock.limit, STOCK_FULL_OF_BYTES);
    stock_fini(&stock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_batch_that_fills_it_gives_its_best_offers_only),
        cmocka_unit_test(the_dearest_offers_stay_when_they_replace),
        cmocka_unit_test(what_replaces_a_part_fits_into_its_place),
        cmocka_unit_test(a_batch_over_the_size_is_not_taken),
        cmocka_unit_test(what_a_stream_keeps_counts_after_it_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
