// Versions on trial: what is lost, what goes back to what, and when a trial is over.

#include "app/trials.h"
#include "unit/app_generation_stage.h"

static struct trials trials;
static const struct trial_limits limits = { .calls = 20, .errors = 3 };

static struct script_set *set_of(const struct generation *generation)
{
    return generation_catalogue(generation)->set;
}

/// A new version of acme runs.
static void change_acme(const char *mark)
{
    char options[64];

    snprintf(options, sizeof(options), "pages = 2, mark = \"%s\"", mark);
    write_supplier("acme", options, "", "return {}");
    assert_builds();
    assert_int_equal(trials_begin(&trials, set_of(previous), set_of(running)), STATUS_OK);
}

static void call_acme(size_t times, enum script_verdict verdict)
{
    ptrdiff_t index = script_set_find_supplier(set_of(running), TEXT("acme"));

    for (size_t i = 0; i < times; i++) {
        script_set_note_trial(set_of(running), (struct script_id){ .index = (size_t)index }, verdict,
                              verdict == SCRIPT_ERROR ? "suppliers/acme.lua:12: no field `price`" : NULL);
    }
}

static bool is_lost(struct trial_lost *lost)
{
    return trials_find_lost(&trials, set_of(running), &limits, lost, 1) == 1;
}

/// What runs is taken back, as the reloader does it.
static void go_back(const struct trial_lost *lost)
{
    struct script_set *set = NULL;
    struct generation *built = NULL;

    assert_int_equal(script_set_with(set_of(running), lost->fallback, lost->name, on_finding, NULL, &set), STATUS_OK);
    struct generation_order order = {
        .settings = settings_acquire((struct settings *)(uintptr_t)generation_settings(running)),
        .previous = running,
        .fixed = set,
    };
    assert_int_equal(generation_build_over(&order, on_finding, NULL, &built, NULL), STATUS_OK);
    settings_release(&order.settings);
    script_set_release(&set);
    generation_release(&previous);
    previous = running;
    running = built;
    trials_follow(&trials, set_of(running));
}

static bool has_mark(const char *mark)
{
    char wanted[64];
    ptrdiff_t index = script_set_find_supplier(set_of(running), TEXT("acme"));

    snprintf(wanted, sizeof(wanted), "mark = \"%s\"", mark);
    const struct script_file *file = script_set_supplier_file(set_of(running), (size_t)index);
    return memmem(file->source.data, file->source.length, wanted, strlen(wanted)) != NULL;
}

static void so_many_errors_within_the_first_calls_lose_it(void **state)
{
    struct trial_lost lost;
    (void)state;

    change_acme("first");
    assert_false(is_lost(&lost));
    call_acme(5, SCRIPT_OK);
    call_acme(2, SCRIPT_ERROR);
    assert_false(is_lost(&lost));
    call_acme(1, SCRIPT_TIMEOUT);
    assert_true(is_lost(&lost));
    assert_true(text_equals_c(lost.name, "acme"));
    assert_int_equal(lost.seen.calls, 8);
    assert_string_equal(lost.because.file, "suppliers/acme.lua");
    assert_int_equal(lost.because.line, 12);
    assert_string_equal(lost.because.message, "no field `price`");
    go_back(&lost);
    assert_false(has_mark("first"));
    assert_int_equal(trials.count, 0);
}

static void what_suppliers_do_wrong_does_not_count(void **state)
{
    struct trial_lost lost;
    (void)state;

    change_acme("first");
    call_acme(10, SCRIPT_FAIL_SUPPLIER);
    call_acme(5, SCRIPT_UNPARSABLE);
    assert_false(is_lost(&lost));
    assert_int_equal(trials.count, 1);
}

static void a_trial_that_was_passed_is_over_for_good(void **state)
{
    struct trial_lost lost;
    (void)state;

    change_acme("first");
    call_acme(2, SCRIPT_ERROR);
    call_acme(18, SCRIPT_OK);
    assert_false(is_lost(&lost));
    assert_int_equal(trials.count, 0);
    call_acme(50, SCRIPT_ERROR);
    assert_false(is_lost(&lost));
}

static void a_script_in_quarantine_has_lost_at_once(void **state)
{
    struct trial_lost lost;
    (void)state;

    change_acme("first");
    ptrdiff_t index = script_set_find_supplier(set_of(running), TEXT("acme"));
    assert_true(script_set_quarantine(set_of(running), (struct script_id){ .index = (size_t)index }));
    assert_true(is_lost(&lost));
    assert_non_null(strstr(lost.because.message, "quarantined"));
}

static void a_row_of_bad_ones_goes_back_one_by_one_to_the_last_good_one(void **state)
{
    struct trial_lost lost;
    (void)state;

    change_acme("good");
    call_acme(20, SCRIPT_OK);
    assert_false(is_lost(&lost));
    change_acme("bad");
    call_acme(2, SCRIPT_ERROR);
    change_acme("worse");
    call_acme(3, SCRIPT_ERROR);
    assert_true(is_lost(&lost));
    go_back(&lost);
    assert_true(has_mark("bad"));
    assert_false(is_lost(&lost)); // its own trial goes on where it was
    call_acme(1, SCRIPT_ERROR);
    assert_true(is_lost(&lost));
    go_back(&lost);
    assert_true(has_mark("good"));
    assert_int_equal(trials.count, 0);
}

static void a_version_that_passes_ends_the_trials_of_those_before_it(void **state)
{
    struct trial_lost lost;
    (void)state;

    change_acme("first");
    change_acme("second");
    assert_int_equal(trials.count, 2);
    call_acme(20, SCRIPT_OK);
    assert_false(is_lost(&lost));
    assert_int_equal(trials.count, 0);
}

static void all_that_are_lost_are_found_at_once(void **state)
{
    struct trial_lost lost[3];
    (void)state;

    write_supplier("bravo", "mark = 1", "", "return {}");
    change_acme("first");
    assert_int_equal(trials.count, 2);
    call_acme(3, SCRIPT_ERROR);
    assert_int_equal(trials_find_lost(&trials, set_of(running), &limits, lost, 3), 1);
    ptrdiff_t index = script_set_find_supplier(set_of(running), TEXT("bravo"));
    assert_true(script_set_quarantine(set_of(running), (struct script_id){ .index = (size_t)index }));
    assert_int_equal(trials_find_lost(&trials, set_of(running), &limits, lost, 3), 2);
    assert_false(text_equals(lost[0].name, lost[1].name));
    assert_int_equal(trials_find_lost(&trials, set_of(running), &limits, lost, 1), 1);
}

static void call_twin(size_t times, enum script_verdict verdict)
{
    ptrdiff_t index = script_set_find_supplier(set_of(running), TEXT("twin"));

    for (size_t i = 0; i < times; i++) {
        script_set_note_trial(set_of(running), (struct script_id){ .index = (size_t)index }, verdict, NULL);
    }
}

static void what_one_supplier_of_a_file_loses_is_lost_for_all_of_it(void **state)
{
    struct trial_lost lost[4];
    (void)state;

    write_settings("suppliers: { twin: { uses: acme } }\n");
    assert_builds();
    change_acme("first");
    assert_int_equal(trials.count, 2);
    call_acme(3, SCRIPT_ERROR);
    call_twin(2, SCRIPT_OK);
    assert_int_equal(trials_find_lost(&trials, set_of(running), &limits, lost, 4), 2);
    assert_true(text_equals_c(lost[0].name, "acme"));
    assert_true(text_equals_c(lost[1].name, "twin"));
    assert_int_equal(lost[1].seen.calls, 2);
    assert_ptr_equal(lost[1].fallback, lost[0].fallback);
    assert_string_equal(lost[1].because.message, "acme, of the same file, failed: no field `price`");
    assert_int_equal(lost[1].because.line, 12);
    assert_non_null(strstr(lost[1].because.help, "--retry twin"));
}

static void who_has_passed_does_not_lose_with_others_of_the_file(void **state)
{
    struct trial_lost lost[4];
    (void)state;

    write_settings("suppliers: { twin: { uses: acme } }\n");
    assert_builds();
    change_acme("first");
    call_twin(20, SCRIPT_OK);
    assert_int_equal(trials_find_lost(&trials, set_of(running), &limits, lost, 4), 0);
    call_acme(3, SCRIPT_ERROR);
    assert_int_equal(trials_find_lost(&trials, set_of(running), &limits, lost, 4), 1);
    assert_true(text_equals_c(lost[0].name, "acme"));
}

static void only_the_last_ones_are_remembered(void **state)
{
    char mark[16];
    (void)state;

    for (int i = 0; i < 3 * TRIALS_DEEP; i++) {
        snprintf(mark, sizeof(mark), "%d", i);
        change_acme(mark);
    }
    assert_int_equal(trials.count, TRIALS_DEEP);
}

static void a_supplier_that_is_new_or_gone_is_not_on_trial(void **state)
{
    (void)state;

    write_supplier("charlie", "", "", "return {}");
    assert_builds();
    assert_int_equal(trials_begin(&trials, set_of(previous), set_of(running)), STATUS_OK);
    assert_int_equal(trials.count, 0);
    change_acme("first");
    assert_int_equal(trials.count, 1);
    assert_int_equal(remove(path_of("suppliers/acme.lua")), 0);
    assert_builds();
    assert_int_equal(trials_begin(&trials, set_of(previous), set_of(running)), STATUS_OK);
    assert_int_equal(trials.count, 0);
}

static void without_trial_calls_there_are_no_trials(void **state)
{
    const struct trial_limits none = { .calls = 0, .errors = 1 };
    struct trial_lost lost;
    (void)state;

    change_acme("first");
    call_acme(5, SCRIPT_ERROR);
    assert_int_equal(trials_find_lost(&trials, set_of(running), &none, &lost, 1), 0);
    assert_int_equal(trials.count, 0);
}

static int begin(void **state)
{
    trials_init(&trials);
    return set_up(state);
}

static int end(void **state)
{
    trials_fini(&trials);
    return tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(so_many_errors_within_the_first_calls_lose_it, begin, end),
        cmocka_unit_test_setup_teardown(what_suppliers_do_wrong_does_not_count, begin, end),
        cmocka_unit_test_setup_teardown(a_trial_that_was_passed_is_over_for_good, begin, end),
        cmocka_unit_test_setup_teardown(a_script_in_quarantine_has_lost_at_once, begin, end),
        cmocka_unit_test_setup_teardown(a_row_of_bad_ones_goes_back_one_by_one_to_the_last_good_one, begin, end),
        cmocka_unit_test_setup_teardown(a_version_that_passes_ends_the_trials_of_those_before_it, begin, end),
        cmocka_unit_test_setup_teardown(all_that_are_lost_are_found_at_once, begin, end),
        cmocka_unit_test_setup_teardown(what_one_supplier_of_a_file_loses_is_lost_for_all_of_it, begin, end),
        cmocka_unit_test_setup_teardown(who_has_passed_does_not_lose_with_others_of_the_file, begin, end),
        cmocka_unit_test_setup_teardown(only_the_last_ones_are_remembered, begin, end),
        cmocka_unit_test_setup_teardown(a_supplier_that_is_new_or_gone_is_not_on_trial, begin, end),
        cmocka_unit_test_setup_teardown(without_trial_calls_there_are_no_trials, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
