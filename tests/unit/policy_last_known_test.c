#include "policy/last_known.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

static const struct last_known_settings SETTINGS = { .max_age_ms = 1000, .empty_max_age_ms = 100 };
static const struct last_known_terms NONE;

static struct last_known_head head_of(uint64_t observed_ms, uint32_t offers)
{
    return (struct last_known_head){ .observed_ms = observed_ms, .until_ms = UINT64_MAX, .offers = offers };
}

static void an_answer_stands_in_until_it_is_too_old(void **state)
{
    (void)state;
    struct last_known_terms longer = { .max_age_ms = 5000 };
    struct last_known_head head = head_of(10000, 3);

    assert_true(last_known_is_usable(&head, &SETTINGS, &NONE, 10000));
    assert_true(last_known_is_usable(&head, &SETTINGS, &NONE, 11000));
    assert_false(last_known_is_usable(&head, &SETTINGS, &NONE, 11001));
    assert_true(last_known_is_usable(&head, &SETTINGS, &longer, 15000));
    assert_false(last_known_is_usable(&head, &SETTINGS, &longer, 15001));
    head.until_ms = 10500;
    assert_true(last_known_is_usable(&head, &SETTINGS, &NONE, 10499));
    assert_false(last_known_is_usable(&head, &SETTINGS, &NONE, 10500));
}

static void an_empty_answer_is_soon_too_old(void **state)
{
    (void)state;
    struct last_known_terms longer = { .max_age_ms = 5000 }, shorter = { .max_age_ms = 50 };
    struct last_known_head head = head_of(10000, 0);

    assert_true(last_known_is_usable(&head, &SETTINGS, &NONE, 10100));
    assert_false(last_known_is_usable(&head, &SETTINGS, &NONE, 10101));
    assert_false(last_known_is_usable(&head, &SETTINGS, &longer, 10101));
    assert_false(last_known_is_usable(&head, &SETTINGS, &shorter, 10051));
}

static void an_answer_from_another_clock_s_future_is_new(void **state)
{
    (void)state;
    struct last_known_head head = head_of(10000, 3);

    assert_int_equal(last_known_age_ms(&head, 9000), 0);
    assert_true(last_known_is_usable(&head, &SETTINGS, &NONE, 9000));
}

static void only_a_fresh_answer_spares_asking(void **state)
{
    (void)state;
    struct last_known_terms fresh = { .fresh_for_ms = 300 }, all = { .fresh_for_ms = UINT64_MAX };
    struct last_known_head head = head_of(10000, 3);

    assert_false(last_known_is_fresh(&head, &SETTINGS, &NONE, 10000));
    assert_true(last_known_is_fresh(&head, &SETTINGS, &fresh, 10299));
    assert_false(last_known_is_fresh(&head, &SETTINGS, &fresh, 10300));
    assert_false(last_known_is_fresh(&head, &SETTINGS, &all, 11001));
    head.expires_ms = 10200;
    assert_true(last_known_is_fresh(&head, &SETTINGS, &fresh, 10199));
    assert_false(last_known_is_fresh(&head, &SETTINGS, &fresh, 10200));
}

static void a_young_answer_need_not_be_had_anew(void **state)
{
    (void)state;
    struct last_known_head head = head_of(10000, 3), empty = head_of(10000, 0);

    assert_true(last_known_is_young(&head, &SETTINGS, &NONE, 10100));
    assert_false(last_known_is_young(&head, &SETTINGS, &NONE, 10101));
    assert_true(last_known_is_young(&empty, &SETTINGS, &NONE, 10010));
    assert_false(last_known_is_young(&empty, &SETTINGS, &NONE, 10011));
}

static void an_old_offer_counts_less_than_a_new_one(void **state)
{
    (void)state;
    assert_true(fabs(last_known_share(0, 1000) - 0.85) < 1e-9);
    assert_true(fabs(last_known_share(250, 1000) - 0.85 * 0.367879441) < 1e-6);
    assert_true(last_known_share(1000, 1000) < 0.02);
    assert_true(fabs(last_known_share(0, 0)) < 1e-9);
}

static void an_answer_that_lost_more_than_a_tenth_is_suspicious(void **state)
{
    (void)state;
    assert_false(last_known_is_suspicious(10, 0));
    assert_false(last_known_is_suspicious(9, 1));
    assert_true(last_known_is_suspicious(8, 1));
    assert_false(last_known_is_suspicious(0, 0));
    assert_true(last_known_is_suspicious(0, 1));
}

static void a_median_that_falls_too_far_is_guarded(void **state)
{
    (void)state;
    assert_false(last_known_is_guarded(1, 100, 0));
    assert_false(last_known_is_guarded(50, 100, 500000));
    assert_true(last_known_is_guarded(49, 100, 500000));
    assert_false(last_known_is_guarded(1000, 100, 500000));
    assert_false(last_known_is_guarded(1, 0, 500000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_stands_in_until_it_is_too_old),
        cmocka_unit_test(an_empty_answer_is_soon_too_old),
        cmocka_unit_test(an_answer_from_another_clock_s_future_is_new),
        cmocka_unit_test(only_a_fresh_answer_spares_asking),
        cmocka_unit_test(a_young_answer_need_not_be_had_anew),
        cmocka_unit_test(an_old_offer_counts_less_than_a_new_one),
        cmocka_unit_test(an_answer_that_lost_more_than_a_tenth_is_suspicious),
        cmocka_unit_test(a_median_that_falls_too_far_is_guarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
