#include "base/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

static struct histogram histogram;

static void an_empty_histogram_gives_0(void **state)
{
    (void)state;
    histogram_init(&histogram, 0);
    assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
}

static void one_value_comes_back_within_2_percent_and_never_below(void **state)
{
    (void)state;
    for (uint64_t value = 1; value < (1ULL << 40); value = value * 5 / 4 + 1) {
        histogram_init(&histogram, 0);
        histogram_add(&histogram, value, 1);
        uint64_t read = histogram_quantile(&histogram, 0.5);
        assert_true(read >= value);
        assert_true((double)read <= (double)value * 1.0201);
        assert_int_equal(histogram.max, value);
    }
}

static void values_outside_the_range_count_at_its_ends(void **state)
{
    (void)state;
    histogram_init(&histogram, 0);
    histogram_add(&histogram, 0, 1);
    assert_int_equal(histogram_quantile(&histogram, 1), 1);
    histogram_add(&histogram, UINT64_MAX, 1);
    assert_true(histogram_quantile(&histogram, 1) >= 1ULL << 40);
    assert_int_equal(histogram.samples, 2);
}

static void quantiles_of_a_thousand_values_are_where_they_should_be(void **state)
{
    (void)state;
    static const double shares[] = { 0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
    histogram_init(&histogram, 0);
    for (uint64_t value = 1; value <= 1000; value++) {
        histogram_add(&histogram, value * 100, 1);
    }
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        double exact = shares[i] * 100000 < 100 ? 100 : shares[i] * 100000;
        uint64_t read = histogram_quantile(&histogram, shares[i]);
        assert_true((double)read >= exact * 0.98);
        assert_true((double)read <= exact * 1.0201);
    }
}

static void after_a_half_life_old_samples_weigh_half(void **state)
{
    (void)state;
    histogram_init(&histogram, 1000);
    for (int i = 0; i < 100; i++) {
        histogram_add(&histogram, 10, 5000);
    }
    for (int i = 0; i < 49; i++) {
        histogram_add(&histogram, 1000, 6000);
    }
    assert_true(histogram_quantile(&histogram, 0.5) < 20); // 50 against 49
    histogram_add(&histogram, 1000, 6000);
    histogram_add(&histogram, 1000, 6000);
    assert_true(histogram_quantile(&histogram, 0.5) > 900); // 50 against 51
    assert_int_equal(histogram.samples, 151);
}

static void without_a_half_life_nothing_is_forgotten(void **state)
{
    (void)state;
    histogram_init(&histogram, 0);
    for (int i = 0; i < 3; i++) {
        histogram_add(&histogram, 10, 0);
    }
    for (int i = 0; i < 2; i++) {
        histogram_add(&histogram, 1000, UINT64_MAX / 2);
    }
    assert_true(histogram_quantile(&histogram, 0.5) < 20);
}

static void a_day_of_samples_keeps_its_numbers_finite(void **state)
{
    (void)state;
    histogram_init(&histogram, 1000);
    for (uint64_t now = 1; now < 100000; now += 7) {
        histogram_add(&histogram, now < 90000 ? 10 : 500, now);
    }
    assert_true(histogram.total > 0 && histogram.total < 1e15);
    assert_true(histogram_quantile(&histogram, 0.5) > 400);
    assert_true(histogram_quantile(&histogram, 0.0005) < 20 || histogram_quantile(&histogram, 0.0005) > 400);
    histogram_add(&histogram, 77, UINT64_MAX); // a silence of many half-lives leaves only the newest
    assert_true(histogram_quantile(&histogram, 0) >= 77);
    assert_true(histogram_quantile(&histogram, 1) <= 79);
}

// The same stream twice: once from its beginning, long enough to be scaled back on the way, and once only its last 20
// half-lives, short enough never to be.
static void scaling_back_changes_no_quantile(void **state)
{
    (void)state;
    static struct histogram recent;
    unsigned seed = 1;
    histogram_init(&histogram, 1000);
    histogram_init(&recent, 1000);
    for (uint64_t now = 1000; now < 60000; now += 10) {
        uint64_t value = 1 + (uint64_t)(rand_r(&seed) % 100000);
        histogram_add(&histogram, value, now);
        if (now >= 40000) {
            histogram_add(&recent, value, now);
        }
    }
    assert_true(histogram.decayed_at_us > 30000);
    assert_int_equal(recent.decayed_at_us, 40000);
    for (int i = 0; i < 20; i++) {
        double share = 0.0505 + 0.05 * i;
        assert_int_equal(histogram_quantile(&histogram, share), histogram_quantile(&recent, share));
    }
}

static void time_that_goes_back_stands_still(void **state)
{
    (void)state;
    histogram_init(&histogram, 1000);
    histogram_add(&histogram, 10, 1000000);
    histogram_add(&histogram, 20, 5);
    assert_true(histogram.total > 1.99 && histogram.total < 2.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_histogram_gives_0),
        cmocka_unit_test(one_value_comes_back_within_2_percent_and_never_below),
        cmocka_unit_test(values_outside_the_range_count_at_its_ends),
        cmocka_unit_test(quantiles_of_a_thousand_values_are_where_they_should_be),
        cmocka_unit_test(after_a_half_life_old_samples_weigh_half),
        cmocka_unit_test(without_a_half_life_nothing_is_forgotten),
        cmocka_unit_test(a_day_of_samples_keeps_its_numbers_finite),
        cmocka_unit_test(scaling_back_changes_no_quantile),
        cmocka_unit_test(time_that_goes_back_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
