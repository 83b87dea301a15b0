// How a supplier of the farm behaves as time goes by: latency models, outages, and what can be asked of it.

#include "farm/supplier.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t start_us = 7000000;

static struct supplier supplier_of(enum latency_model model)
{
    struct supplier supplier = { .planned = { .model = model, .median_ms = 100, .cap_ms = 5000 } };
    return supplier;
}

/// The latency of an answer that is begun `at_ms` after the start.
static unsigned latency_ms(struct supplier *supplier, unsigned at_ms)
{
    return (unsigned)(supplier_latency_us(supplier, start_us + at_ms * UINT64_C(1000)) / 1000);
}

static enum fault fault_at(struct supplier *supplier, unsigned at_ms)
{
    return supplier_fault(supplier, FAULT_AT_ANSWER, start_us + at_ms * UINT64_C(1000));
}

static void a_bimodal_latency_has_two_values_in_their_shares(void **state)
{
    (void)state;
    struct supplier supplier = supplier_of(LATENCY_BIMODAL);
    unsigned others = 0;

    supplier.planned.other_ms = 900;
    supplier.planned.other_share = 0.25;
    supplier_reset(&supplier, 3, start_us);
    for (int i = 0; i < 4000; i++) {
        unsigned latency = latency_ms(&supplier, 0);
        assert_true(latency == 100 || latency == 900);
        others += latency == 900 ? 1 : 0;
    }
    assert_in_range(others, 850, 1150);
}

static void a_ramp_rises_to_its_peak_and_stays(void **state)
{
    (void)state;
    struct supplier supplier = supplier_of(LATENCY_RAMP);

    supplier.planned.peak_ms = 1100;
    supplier.planned.over_ms = 2000;
    supplier_reset(&supplier, 3, start_us);
    assert_int_equal(latency_ms(&supplier, 0), 100);
    assert_int_equal(latency_ms(&supplier, 500), 350);
    assert_int_equal(latency_ms(&supplier, 1000), 600);
    assert_int_equal(latency_ms(&supplier, 2000), 1100);
    assert_int_equal(latency_ms(&supplier, 90000), 1100);
    supplier_reset(&supplier, 3, start_us + 1000000);
    assert_int_equal(latency_ms(&supplier, 1000), 100);
}

static void an_outage_is_a_window_in_which_all_answers_play_it(void **state)
{
    (void)state;
    struct supplier supplier = supplier_of(LATENCY_CONSTANT);

    supplier.planned.outage = FAULT_STATUS_503;
    supplier.planned.outage_from_ms = 1000;
    supplier.planned.outage_ms = 500;
    supplier_reset(&supplier, 3, start_us);
    assert_int_equal(fault_at(&supplier, 999), FAULT_NONE);
    assert_int_equal(fault_at(&supplier, 1000), FAULT_STATUS_503);
    assert_int_equal(fault_at(&supplier, 1499), FAULT_STATUS_503);
    assert_int_equal(fault_at(&supplier, 1500), FAULT_NONE);
    assert_int_equal(fault_at(&supplier, 5000), FAULT_NONE);
    assert_int_equal(supplier_fault(&supplier, FAULT_AT_ACCEPT, start_us + 1200000), FAULT_NONE);
}

static void an_outage_may_come_again_in_every_period(void **state)
{
    (void)state;
    struct supplier supplier = supplier_of(LATENCY_CONSTANT);

    supplier.planned.outage = FAULT_STATUS_429;
    supplier.planned.outage_from_ms = 1000;
    supplier.planned.outage_ms = 500;
    supplier.planned.outage_every_ms = 2000;
    supplier_reset(&supplier, 3, start_us);
    for (unsigned period = 0; period < 50; period++) {
        assert_int_equal(fault_at(&supplier, 1000 + 2000 * period), FAULT_STATUS_429);
        assert_int_equal(fault_at(&supplier, 1500 + 2000 * period), FAULT_NONE);
        assert_int_equal(fault_at(&supplier, 2999 + 2000 * period), FAULT_NONE);
    }
}

static void a_forced_fault_goes_before_an_outage(void **state)
{
    (void)state;
    struct supplier supplier = supplier_of(LATENCY_CONSTANT);

    supplier.planned.outage = FAULT_STATUS_503;
    supplier.planned.outage_ms = 500;
    supplier_reset(&supplier, 3, start_us);
    supplier.is_forced = true;
    assert_int_equal(fault_at(&supplier, 100), FAULT_NONE);
    supplier.forced = FAULT_HTML;
    assert_int_equal(fault_at(&supplier, 100), FAULT_HTML);
}

static void a_recovery_falls_from_its_peak_after_each_outage(void **state)
{
    (void)state;
    struct supplier supplier = supplier_of(LATENCY_RECOVERY);

    supplier.planned.peak_ms = 1100;
    supplier.planned.over_ms = 1000;
    supplier_reset(&supplier, 3, start_us);
    assert_int_equal(latency_ms(&supplier, 0), 1100);
    assert_int_equal(latency_ms(&supplier, 500), 600);
    assert_int_equal(latency_ms(&supplier, 1000), 100);
    assert_int_equal(latency_ms(&supplier, 9000), 100);
    supplier.planned.outage = FAULT_STATUS_503;
    supplier.planned.outage_from_ms = 2000;
    supplier.planned.outage_ms = 500;
    supplier_reset(&supplier, 3, start_us);
    assert_int_equal(latency_ms(&supplier, 0), 100);
    assert_int_equal(latency_ms(&supplier, 2100), 100);
    assert_int_equal(latency_ms(&supplier, 2500), 1100);
    assert_int_equal(latency_ms(&supplier, 3000), 600);
    assert_int_equal(latency_ms(&supplier, 3500), 100);
}

static void no_latency_is_longer_than_the_cap(void **state)
{
    (void)state;
    struct supplier supplier = supplier_of(LATENCY_LOGNORMAL);

    supplier.planned.sigma = 2;
    supplier.planned.tail = 0.1;
    supplier.planned.cap_ms = 700;
    supplier_reset(&supplier, 3, start_us);
    unsigned capped = 0;
    for (int i = 0; i < 4000; i++) {
        unsigned latency = latency_ms(&supplier, 0);
        assert_true(latency <= 700);
        capped += latency == 700 ? 1 : 0;
    }
    assert_true(capped > 100);
}

static void equal_seeds_draw_equal_latencies(void **state)
{
    (void)state;
    struct supplier first = supplier_of(LATENCY_LOGNORMAL), second = supplier_of(LATENCY_LOGNORMAL);
    unsigned differing = 0;

    first.planned.sigma = second.planned.sigma = 0.5;
    supplier_reset(&first, 3, start_us);
    supplier_reset(&second, 3, start_us);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(latency_ms(&first, 0), latency_ms(&second, 0));
    }
    supplier_reset(&second, 4, start_us);
    for (int i = 0; i < 100; i++) {
        differing += latency_ms(&first, 0) != latency_ms(&second, 0) ? 1 : 0;
    }
    assert_true(differing > 50);
}

static void every_fault_has_a_row_and_is_found_by_its_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        const struct fault_row *row = fault_row((enum fault)i);
        enum fault found;
        assert_non_null(row->name);
        assert_true(strlen(row->about) > 3);
        assert_true(fault_find(text_of(row->name), &found));
        assert_int_equal(found, i);
    }
}

static void a_fault_asks_for_what_it_needs(void **state)
{
    (void)state;
    struct supplier supplier = supplier_of(LATENCY_CONSTANT);

    assert_null(supplier_cannot_play(&supplier, FAULT_GZIP_BOMB));
    assert_non_null(supplier_cannot_play(&supplier, FAULT_CERT_NAME));
    assert_non_null(supplier_cannot_play(&supplier, FAULT_SOURCE_DOWN));
    supplier.speaks_tls = true;
    supplier.shape = SUPPLIER_PARTS;
    assert_null(supplier_cannot_play(&supplier, FAULT_CERT_NAME));
    assert_null(supplier_cannot_play(&supplier, FAULT_SOURCE_DOWN));
}

static void every_number_of_a_behaviour_is_found_by_its_name(void **state)
{
    (void)state;
    struct behaviour behaviour = { 0 };

    for (size_t i = 0; i < BEHAVIOUR_FIELDS; i++) {
        const struct behaviour_field *field = behaviour_find(text_of(behaviour_field(i)->name));
        assert_ptr_equal(field, behaviour_field(i));
        assert_true(*behaviour_number(&behaviour, field) < 1);
        *behaviour_number(&behaviour, field) = 1; // no two are the same
    }
    assert_null(behaviour_find(TEXT("patience_ms")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bimodal_latency_has_two_values_in_their_shares),
        cmocka_unit_test(a_ramp_rises_to_its_peak_and_stays),
        cmocka_unit_test(an_outage_is_a_window_in_which_all_answers_play_it),
        cmocka_unit_test(an_outage_may_come_again_in_every_period),
        cmocka_unit_test(a_forced_fault_goes_before_an_outage),
        cmocka_unit_test(a_recovery_falls_from_its_peak_after_each_outage),
        cmocka_unit_test(no_latency_is_longer_than_the_cap),
        cmocka_unit_test(equal_seeds_draw_equal_latencies),
        cmocka_unit_test(every_fault_has_a_row_and_is_found_by_its_name),
        cmocka_unit_test(a_fault_asks_for_what_it_needs),
        cmocka_unit_test(every_number_of_a_behaviour_is_found_by_its_name),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
