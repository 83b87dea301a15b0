#include "model/offer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct offer offer_of(const char *id, uint32_t flag, int64_t units, uint32_t minutes)
{
    return (struct offer){ .id = text_of(id),
                           .item = text_of(id),
                           .flag = flag,
                           .total_micros = units * OFFER_MICROS,
                           .currency = "EUR",
                           .duration_min = minutes };
}

static void fill(struct offer_batch *batch, const struct offer *offers, size_t count)
{
    batch->offers = arena_alloc_array(&batch->arena, count, sizeof(*offers));
    assert_non_null(batch->offers);
    memcpy(batch->offers, offers, count * sizeof(*offers));
    batch->count = count;
    offer_batch_sort(batch);
}

static void a_batch_is_sorted_by_flag_then_by_total(void **state)
{
    struct offer_batch *batch = offer_batch_create(1 << 16);
    const struct offer offers[] = {
        offer_of("d", OFFER_TAXES_UNCLEAR, 1, 9),
        offer_of("c", OFFER_COMPARABLE, 300, 9),
        offer_of("b", OFFER_COMPARABLE, 200, 9),
        offer_of("a", OFFER_COMPARABLE, 200, 9),
    };
    (void)state;
    fill(batch, offers, COUNT_OF(offers));
    for (size_t i = 0; i < batch->count; i++) {
        assert_int_equal(batch->offers[i].id.data[0], 'a' + (int)i);
    }
    offer_batch_release(&batch);
}

static void the_other_order_is_by_duration_with_unknown_ones_last(void **state)
{
    struct offer_batch *batch = offer_batch_create(1 << 16);
    const struct offer offers[] = {
        offer_of("unknown", OFFER_COMPARABLE, 100, UINT32_MAX),
        offer_of("slow", OFFER_COMPARABLE, 200, 500),
        offer_of("dear", OFFER_COMPARABLE, 900, 60),
        offer_of("quick", OFFER_COMPARABLE, 300, 60),
        offer_of("flagged", OFFER_NOT_CONVERTIBLE, 1, 1),
    };
    static const char *const order[] = { "quick", "dear", "slow", "unknown", "flagged" };
    (void)state;
    fill(batch, offers, COUNT_OF(offers));
    assert_non_null(batch->by_duration);
    for (size_t i = 0; i < batch->count; i++) {
        assert_true(text_equals_c(batch->offers[batch->by_duration[i]].id, order[i]));
    }
    offer_batch_release(&batch);
}

// Few and many are sorted in different ways.
static void a_batch_of_any_size_is_in_both_orders(void **state)
{
    static struct offer offers[200];
    char ids[COUNT_OF(offers)][8];
    uint32_t number = 1;
    (void)state;

    for (size_t count = 1; count <= COUNT_OF(offers); count++) {
        struct offer_batch *batch = offer_batch_create(1 << 16);
        for (size_t i = 0; i < count; i++) {
            number = number * 1664525 + 1013904223;
            (void)snprintf(ids[i], sizeof ids[i], "%c%zu", 'a' + (int)(number >> 28), i);
            offers[i] = offer_of(ids[i], number >> 26 & 1, number >> 20 & 7, number >> 16 & 3);
        }
        fill(batch, offers, count);
        for (size_t i = 1; i < count; i++) {
            const struct offer *slower = &batch->offers[batch->by_duration[i]];
            assert_true(offer_compare(&batch->offers[i - 1], &batch->offers[i]) < 0);
            int order = offer_compare_duration(&batch->offers[batch->by_duration[i - 1]], slower);
            assert_true(order < 0 || (order == 0 && batch->by_duration[i - 1] < batch->by_duration[i]));
        }
        offer_batch_release(&batch);
    }
}

static void without_durations_there_is_no_order_by_them(void **state)
{
    struct offer_batch *batch = offer_batch_create(1 << 16);
    const struct offer offers[] = { offer_of("a", 0, 1, UINT32_MAX), offer_of("b", 0, 2, UINT32_MAX) };
    (void)state;
    fill(batch, offers, COUNT_OF(offers));
    assert_null(batch->by_duration);
    offer_batch_release(&batch);
}

static void what_may_not_win_has_no_comparable_total(void **state)
{
    struct offer plain = offer_of("a", OFFER_COMPARABLE, 7, 1);
    struct offer flagged = offer_of("b", OFFER_TAXES_UNCLEAR, 7, 1);
    (void)state;
    assert_int_equal(offer_comparable_micros(&plain), 7 * (int64_t)OFFER_MICROS);
    assert_true(offer_comparable_micros(&flagged) == INT64_MAX);
}

static void a_facet_holds_each_value_once(void **state)
{
    struct offer_batch *batch = offer_batch_create(1 << 20);
    struct facet_table *table = &batch->facets;
    const struct text names[] = { TEXT("makers"), TEXT("sizes") };
    (void)state;
    assert_true(facet_table_open(table, &batch->arena, names, COUNT_OF(names)));
    ptrdiff_t first = facet_table_find(table, &batch->arena, 0, TEXT("AB"), true);
    assert_int_equal(facet_table_find(table, &batch->arena, 0, TEXT("AB"), true), first);
    assert_int_not_equal(facet_table_find(table, &batch->arena, 1, TEXT("AB"), true), first);
    facet_value_count(&table->values[first], 500);
    facet_value_count(&table->values[first], INT64_MAX);
    facet_value_count(&table->values[first], 400);
    assert_int_equal(table->values[first].count, 3);
    assert_int_equal(table->values[first].lowest_micros, 400);
    offer_batch_release(&batch); // the index goes with it, though nobody closed the table
}

static void an_answer_has_only_so_many_values(void **state)
{
    struct offer_batch *batch = offer_batch_create(4 << 20);
    struct facet_table *table = &batch->facets;
    const struct text names[] = { TEXT("makers") };
    char value[16];
    (void)state;
    assert_true(facet_table_open(table, &batch->arena, names, COUNT_OF(names)));
    for (int i = 0; i < FACET_VALUES_MAX; i++) {
        snprintf(value, sizeof value, "%d", i);
        assert_int_equal(facet_table_find(table, &batch->arena, 0, text_of(value), true), i);
    }
    assert_int_equal(facet_table_find(table, &batch->arena, 0, TEXT("one more"), true), -1);
    assert_int_equal(facet_table_find(table, &batch->arena, 0, TEXT("17"), true), 17);
    facet_table_close(table);
    offer_batch_release(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_sorted_by_flag_then_by_total),
        cmocka_unit_test(the_other_order_is_by_duration_with_unknown_ones_last),
        cmocka_unit_test(a_batch_of_any_size_is_in_both_orders),
        cmocka_unit_test(without_durations_there_is_no_order_by_them),
        cmocka_unit_test(what_may_not_win_has_no_comparable_total),
        cmocka_unit_test(a_facet_holds_each_value_once),
        cmocka_unit_test(an_answer_has_only_so_many_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
