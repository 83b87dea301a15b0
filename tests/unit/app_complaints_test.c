// What of a failing script is told, in a time of the test's own.

#include "app/complaints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const uint64_t SECOND = 1000000;

static void the_first_is_told_at_once_and_then_one_a_minute_with_the_number_in_between(void **state)
{
    struct complaints complaints;
    uint64_t kept_quiet = 77;
    (void)state;

    complaints_init(&complaints);
    assert_true(complaints_admit(&complaints, TEXT("acme@1111"), 5 * SECOND, &kept_quiet));
    assert_int_equal(kept_quiet, 0);
    for (uint64_t i = 0; i < 59; i++) {
        assert_false(complaints_admit(&complaints, TEXT("acme@1111"), (6 + i) * SECOND, &kept_quiet));
    }
    assert_true(complaints_admit(&complaints, TEXT("acme@1111"), 65 * SECOND, &kept_quiet));
    assert_int_equal(kept_quiet, 59);
    assert_false(complaints_admit(&complaints, TEXT("acme@1111"), 66 * SECOND, &kept_quiet));
    assert_true(complaints_admit(&complaints, TEXT("acme@1111"), 1000 * SECOND, &kept_quiet));
    assert_int_equal(kept_quiet, 1);
    complaints_fini(&complaints);
}

static void one_supplier_does_not_silence_another(void **state)
{
    struct complaints complaints;
    uint64_t kept_quiet;
    (void)state;

    complaints_init(&complaints);
    assert_true(complaints_admit(&complaints, TEXT("acme@1111"), 5 * SECOND, &kept_quiet));
    assert_true(complaints_admit(&complaints, TEXT("omni@1111"), 5 * SECOND, &kept_quiet));
    assert_false(complaints_admit(&complaints, TEXT("omni@1111"), 6 * SECOND, &kept_quiet));
    complaints_fini(&complaints);
    complaints_fini(&complaints);
}

static void a_changed_script_is_heard_at_once(void **state)
{
    struct complaints complaints;
    uint64_t kept_quiet = 77;
    (void)state;

    complaints_init(&complaints);
    assert_true(complaints_admit(&complaints, TEXT("acme@1111"), 5 * SECOND, &kept_quiet));
    assert_false(complaints_admit(&complaints, TEXT("acme@1111"), 6 * SECOND, &kept_quiet));
    assert_true(complaints_admit(&complaints, TEXT("acme@2222"), 6 * SECOND, &kept_quiet));
    assert_int_equal(kept_quiet, 0);
    assert_false(complaints_admit(&complaints, TEXT("acme@1111"), 7 * SECOND, &kept_quiet)); // a search of before
    assert_false(complaints_admit(&complaints, TEXT("acme@2222"), 7 * SECOND, &kept_quiet));
    complaints_fini(&complaints);
}

static void many_scripts_take_no_more_room(void **state)
{
    struct complaints complaints;
    uint64_t kept_quiet = 77;
    char name[32];
    (void)state;

    complaints_init(&complaints);
    for (uint64_t i = 0; i < COMPLAINTS_MAX * 3; i++) {
        snprintf(name, sizeof(name), "s%llu@1111", (unsigned long long)i);
        assert_true(complaints_admit(&complaints, text_of(name), SECOND + i, &kept_quiet));
        assert_int_equal(kept_quiet, 0);
    }
    for (unsigned i = 1; i <= COMPLAINTS_MAX; i++) { // the newest are remembered
        snprintf(name, sizeof(name), "s%u@1111", COMPLAINTS_MAX * 3 - i);
        assert_false(complaints_admit(&complaints, text_of(name), 2 * SECOND, &kept_quiet));
    }
    assert_true(complaints_admit(&complaints, TEXT("s0@1111"), 2 * SECOND, &kept_quiet));
    complaints_fini(&complaints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_told_at_once_and_then_one_a_minute_with_the_number_in_between),
        cmocka_unit_test(one_supplier_does_not_silence_another),
        cmocka_unit_test(a_changed_script_is_heard_at_once),
        cmocka_unit_test(many_scripts_take_no_more_room),
    };
    return cmocka_run_group_tests_name("complaints", tests, NULL, NULL);
}
