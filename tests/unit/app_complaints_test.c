// What of a failing script is told, in a time of the test's own.

#include "app/complaints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint64_t SECOND = 1000000;

static void the_first_is_told_at_once_and_then_one_a_minute_with_the_number_in_between(void **state)
{
    struct complaints complaints = { .count = 0 };
    uint64_t kept_quiet = 77;
    (void)state;

    assert_int_equal(complaints_init(&complaints, 2), STATUS_OK);
    assert_true(complaints_admit(&complaints, 0, 5 * SECOND, &kept_quiet));
    assert_int_equal(kept_quiet, 0);
    for (uint64_t i = 0; i < 59; i++) {
        assert_false(complaints_admit(&complaints, 0, (6 + i) * SECOND, &kept_quiet));
    }
    assert_true(complaints_admit(&complaints, 0, 65 * SECOND, &kept_quiet));
    assert_int_equal(kept_quiet, 59);
    assert_false(complaints_admit(&complaints, 0, 66 * SECOND, &kept_quiet));
    assert_true(complaints_admit(&complaints, 0, 1000 * SECOND, &kept_quiet));
    assert_int_equal(kept_quiet, 1);
    complaints_fini(&complaints);
}

static void one_supplier_does_not_silence_another(void **state)
{
    struct complaints complaints = { .count = 0 };
    uint64_t kept_quiet;
    (void)state;

    assert_int_equal(complaints_init(&complaints, 2), STATUS_OK);
    assert_true(complaints_admit(&complaints, 0, 5 * SECOND, &kept_quiet));
    assert_true(complaints_admit(&complaints, 1, 5 * SECOND, &kept_quiet));
    assert_false(complaints_admit(&complaints, 1, 6 * SECOND, &kept_quiet));
    complaints_fini(&complaints);
    complaints_fini(&complaints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_told_at_once_and_then_one_a_minute_with_the_number_in_between),
        cmocka_unit_test(one_supplier_does_not_silence_another),
    };
    return cmocka_run_group_tests_name("complaints", tests, NULL, NULL);
}
