#include "model/outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void every_outcome_has_a_name_and_a_meaning_of_its_own(void **state)
{
    (void)state;
    for (int a = 0; a < OUTCOME_COUNT; a++) {
        const struct outcome_row *row = outcome_row((enum outcome)a);
        assert_non_null(row->name);
        assert_true(strlen(row->meaning) > 3);
        assert_ptr_equal(outcome_name((enum outcome)a), row->name);
        assert_int_equal(strspn(row->name, "abcdefghijklmnopqrstuvwxyz_"), strlen(row->name));
        for (int b = a + 1; b < OUTCOME_COUNT; b++) {
            assert_string_not_equal(row->name, outcome_name((enum outcome)b));
        }
    }
}

// Contract section 3, said once more and independently of the table.
static void the_columns_are_those_of_the_contract(void **state)
{
    (void)state;
    static const struct {
        enum outcome outcome;
        const char *name;
        enum outcome_breaker breaker;
        bool last_known;
        enum outcome_group group;
        const char *seen;
    } rows[] = {
        { OUTCOME_ANSWERED, "answered", BREAKER_SUCCESS, false, GROUP_ANSWERED, "answered" },
        { OUTCOME_EMPTY, "empty", BREAKER_SUCCESS, false, GROUP_EMPTY, "none" },
        { OUTCOME_CACHED, "cached", BREAKER_IGNORED, false, GROUP_CACHED, "answered" },
        { OUTCOME_CUT, "cut", BREAKER_SLOW, true, GROUP_MISSING, "late" },
        { OUTCOME_FINISHED_EARLY, "finished_early", BREAKER_IGNORED, true, GROUP_MISSING, "late" },
        { OUTCOME_FAILED, "failed", BREAKER_FAILURE, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_REJECTED, "rejected", BREAKER_BY_KIND, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_UNPARSABLE, "unparsable", BREAKER_SCRIPT, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_TOO_LARGE, "too_large", BREAKER_IGNORED, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_SCRIPT_ERROR, "script_error", BREAKER_SCRIPT, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_SCRIPT_TIMEOUT, "script_timeout", BREAKER_SCRIPT, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_SCRIPT_MEMORY, "script_memory", BREAKER_SCRIPT, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_BREAKER_OPEN, "breaker_open", BREAKER_IGNORED, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_RATE_LIMITED, "rate_limited", BREAKER_IGNORED, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_SATURATED, "saturated", BREAKER_IGNORED, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_TOO_LATE, "too_late", BREAKER_IGNORED, true, GROUP_MISSING, "late" },
        { OUTCOME_SHED, "shed", BREAKER_IGNORED, true, GROUP_MISSING, "unavailable" },
        { OUTCOME_SKIPPED, "skipped", BREAKER_IGNORED, false, GROUP_NOT_ELIGIBLE, "none" },
        { OUTCOME_DISABLED, "disabled", BREAKER_IGNORED, false, GROUP_NOT_ELIGIBLE, "unavailable" },
        { OUTCOME_CANCELLED, "cancelled", BREAKER_IGNORED, false, GROUP_NOT_ELIGIBLE, "unavailable" },
    };
    assert_int_equal(COUNT_OF(rows), OUTCOME_COUNT);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct outcome_row *row = outcome_row(rows[i].outcome);
        assert_string_equal(row->name, rows[i].name);
        assert_int_equal(row->breaker, rows[i].breaker);
        assert_int_equal(row->last_known_may_fill, rows[i].last_known);
        assert_int_equal(row->group, rows[i].group);
        assert_string_equal(seen_name(row->seen), rows[i].seen);
    }
}

static void bounds_and_phases_have_the_names_of_the_contract(void **state)
{
    (void)state;
    static const char *const phases[] = { NULL,  "login", "queue",      "pause", "dns",          "connect",
                                          "tls", "send",  "first_byte", "body",  "script_queue", "script" };
    assert_null(bound_name(BOUND_NONE));
    assert_string_equal(bound_name(BOUND_CEILING), "ceiling");
    assert_string_equal(bound_name(BOUND_BUDGET), "budget");
    assert_int_equal(COUNT_OF(phases), PHASE_COUNT);
    assert_null(phase_name(PHASE_NONE));
    for (int i = 1; i < PHASE_COUNT; i++) {
        assert_string_equal(phase_name((enum phase)i), phases[i]);
    }
}

static void rejections_have_the_kinds_of_the_contract(void **state)
{
    (void)state;
    assert_null(rejection_name(REJECTION_NONE));
    assert_string_equal(rejection_name(REJECTION_AUTH), "auth");
    assert_string_equal(rejection_name(REJECTION_QUOTA), "quota");
    assert_string_equal(rejection_name(REJECTION_BUSY), "busy");
    assert_string_equal(rejection_name(REJECTION_SUPPLIER), "supplier");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_outcome_has_a_name_and_a_meaning_of_its_own),
        cmocka_unit_test(the_columns_are_those_of_the_contract),
        cmocka_unit_test(bounds_and_phases_have_the_names_of_the_contract),
        cmocka_unit_test(rejections_have_the_kinds_of_the_contract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
