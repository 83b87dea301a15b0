// A reload that was refused for what passes comes again, ever less often.

#include "app/reload_again.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void nothing_is_due_before_something_was_refused(void **state)
{
    struct reload_again again = { .due_us = 0 };
    (void)state;
    assert_false(reload_again_is_due(&again, 0));
    assert_false(reload_again_is_due(&again, UINT64_MAX));
}

static void what_was_refused_is_due_once_after_its_pause_for_whoever_asked(void **state)
{
    struct reload_again again = { .due_us = 0 };
    (void)state;
    reload_again_later(&again, RELOAD_WATCH, 5000, 1000);
    assert_false(reload_again_is_due(&again, 5999));
    assert_true(reload_again_is_due(&again, 6000));
    assert_int_equal(again.source, RELOAD_WATCH);
    assert_false(reload_again_is_due(&again, 7000));
}

static void the_pause_grows_up_to_a_minute_and_begins_anew_once_the_disk_was_read(void **state)
{
    struct reload_again again = { .due_us = 0 };
    uint64_t pause_us = 5000000;
    (void)state;
    for (int i = 0; i < 10; i++) {
        reload_again_later(&again, RELOAD_SIGNAL, 5000000, 0);
        assert_int_equal(again.due_us, pause_us);
        pause_us = pause_us * 2 < RELOAD_AGAIN_MAX_US ? pause_us * 2 : RELOAD_AGAIN_MAX_US;
    }
    reload_again_forget(&again);
    assert_false(reload_again_is_due(&again, UINT64_MAX));
    reload_again_later(&again, RELOAD_SIGNAL, 5000000, 0);
    assert_int_equal(again.due_us, 5000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_due_before_something_was_refused),
        cmocka_unit_test(what_was_refused_is_due_once_after_its_pause_for_whoever_asked),
        cmocka_unit_test(the_pause_grows_up_to_a_minute_and_begins_anew_once_the_disk_was_read),
    };
    return cmocka_run_group_tests_name("app_reload_again", tests, NULL, NULL);
}
