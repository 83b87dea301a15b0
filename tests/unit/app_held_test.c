// Versions that must not run: refused by what they are, until their file changes or somebody says so.

#include "app/held.h"
#include "unit/app_generation_stage.h"

static struct held held;

static const struct script_set *set_of_running(void)
{
    return generation_catalogue(running)->set;
}

static void hold(const char *name, const unsigned char *digest)
{
    struct failure because = { 0 };

    failure_set(&because, "%s was rolled back", name);
    assert_int_equal(held_add(&held, SCRIPT_KIND_SUPPLIER, text_of(name), digest, &because), STATUS_OK);
}

/// The version of acme with these pages is held back, and the one before it runs.
static void hold_acme(const char *options)
{
    struct generation *before = generation_acquire(running);

    write_supplier("acme", options, "", "return {}");
    assert_builds();
    hold("acme", version_of(running, "acme")->digest);
    generation_release(&running);
    running = before;
}

static enum status build_held(void)
{
    return build_by((struct generation_order){ .refuses = held_refuses, .refuses_context = &held });
}

static void a_version_is_told_by_kind_name_and_digest(void **state)
{
    unsigned char one[SCRIPT_DIGEST] = { 1 }, other[SCRIPT_DIGEST] = { 2 };
    struct failure because = { 0 };
    (void)state;

    hold("acme", one);
    assert_true(held_refuses(&held, SCRIPT_KIND_SUPPLIER, TEXT("acme"), one, &because));
    assert_string_equal(because.message, "acme was rolled back");
    assert_false(held_refuses(&held, SCRIPT_KIND_SUPPLIER, TEXT("acme"), other, &because));
    assert_false(held_refuses(&held, SCRIPT_KIND_SUPPLIER, TEXT("bravo"), one, &because));
    assert_false(held_refuses(&held, SCRIPT_KIND_PRODUCT, TEXT("acme"), one, &because));
    assert_false(held_refuses(&held, SCRIPT_KIND_SUPPLIER, TEXT("acme"), NULL, &because));
    hold("acme", other); // beside it
    hold("acme", other);
    assert_int_equal(held.count, 2);
    assert_true(held_refuses(&held, SCRIPT_KIND_SUPPLIER, TEXT("acme"), one, &because));
    assert_true(held_refuses(&held, SCRIPT_KIND_SUPPLIER, TEXT("acme"), other, &because));
    assert_true(held_retry(&held, TEXT("acme")));
    assert_int_equal(held.count, 0);
}

static void of_one_script_the_last_few_are_remembered(void **state)
{
    unsigned char digest[SCRIPT_DIGEST] = { 0 };
    struct failure because = { 0 };
    (void)state;

    for (unsigned char i = 1; i <= HELD_DEEP + 3; i++) {
        digest[0] = i;
        hold("acme", digest);
        hold("bravo", digest);
    }
    assert_int_equal(held.count, 2 * HELD_DEEP);
    digest[0] = 3;
    assert_false(held_refuses(&held, SCRIPT_KIND_SUPPLIER, TEXT("acme"), digest, &because));
    digest[0] = 4;
    assert_true(held_refuses(&held, SCRIPT_KIND_SUPPLIER, TEXT("acme"), digest, &because));
}

static void what_runs_again_because_somebody_said_so_is_not_held(void **state)
{
    struct failure because = { 0 };
    (void)state;

    hold("acme", version_of(running, "acme")->digest);
    hold("acme", NULL);
    held_add_settings(&held, 77, &because);
    held_forget_running(&held, set_of_running(), 77);
    assert_int_equal(held.count, 1);
    assert_false(
        held_refuses(&held, SCRIPT_KIND_SUPPLIER, TEXT("acme"), version_of(running, "acme")->digest, &because));
    assert_false(held_refuses_settings(&held, 77, &because));
}

static void a_file_that_went_and_came_back_as_it_was_is_still_held(void **state)
{
    (void)state;

    hold_acme("pages = 3");
    assert_int_equal(remove(path_of("suppliers/acme.lua")), 0);
    assert_int_equal(build_held(), STATUS_OK);
    assert_null(version_of(running, "acme"));
    held_forget_changed(&held, &changes, set_of_running(), 0);
    write_supplier("acme", "pages = 3", "", "return {}");
    assert_int_equal(build_held(), STATUS_OK);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_LEFT_OUT);
    held_forget_changed(&held, &changes, set_of_running(), 0);
    write_supplier("acme", "pages = 4", "", "return {}");
    assert_int_equal(build_held(), STATUS_OK);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_ADDED);
    held_forget_changed(&held, &changes, set_of_running(), 0);
    assert_int_equal(held.count, 0);
}

static void it_stays_for_as_long_as_the_file_does(void **state)
{
    (void)state;

    hold_acme("pages = 3");
    const struct script_version *before = version_of(running, "acme");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(build_held(), STATUS_OK);
        assert_ptr_equal(version_of(running, "acme"), before);
        assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
        assert_string_equal(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.message, "acme was rolled back");
        held_forget_changed(&held, &changes, set_of_running(), 0);
        assert_int_equal(held.count, 1);
    }
}

static void a_changed_file_runs_and_the_old_one_may_come_back(void **state)
{
    (void)state;

    hold_acme("pages = 3");
    write_supplier("acme", "pages = 4", "", "return {}");
    assert_int_equal(build_held(), STATUS_OK);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
    held_forget_changed(&held, &changes, set_of_running(), 0);
    assert_int_equal(held.count, 0);
    write_supplier("acme", "pages = 3", "", "return {}");
    assert_int_equal(build_held(), STATUS_OK);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
}

static void a_file_that_is_gone_is_a_version_too(void **state)
{
    (void)state;

    assert_int_equal(remove(path_of("suppliers/acme.lua")), 0);
    hold("acme", NULL);
    assert_int_equal(build_held(), STATUS_OK);
    assert_non_null(version_of(running, "acme"));
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    held_forget_changed(&held, &changes, set_of_running(), 0);
    assert_int_equal(held.count, 1);
    assert_true(held_retry(&held, TEXT("acme")));
    assert_int_equal(build_held(), STATUS_OK);
    assert_null(version_of(running, "acme"));
}

static void somebody_may_say_that_it_be_tried_again(void **state)
{
    struct failure because = { 0 };
    (void)state;

    hold_acme("pages = 3");
    failure_set(&because, "rolled back");
    held_add_settings(&held, 77, &because);
    assert_false(held_retry(&held, TEXT("bravo")));
    assert_true(held_retry(&held, TEXT("acme")));
    assert_int_equal(held.count, 0);
    assert_true(held_refuses_settings(&held, 77, &because));
    assert_false(held_refuses_settings(&held, 78, &because));
    assert_true(held_retry(&held, TEXT("settings")));
    assert_false(held_refuses_settings(&held, 77, &because));
}

static void settings_are_forgotten_when_their_files_change(void **state)
{
    struct failure because = { 0 };
    (void)state;

    held_add_settings(&held, 77, &because);
    held_forget_changed(&held, &changes, set_of_running(), 77);
    assert_true(held_refuses_settings(&held, 77, &because));
    held_forget_changed(&held, &changes, set_of_running(), 78);
    assert_false(held_refuses_settings(&held, 77, &because));
}

static int begin(void **state)
{
    held_init(&held);
    return set_up(state);
}

static int end(void **state)
{
    held_fini(&held);
    return tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_version_is_told_by_kind_name_and_digest, begin, end),
        cmocka_unit_test_setup_teardown(of_one_script_the_last_few_are_remembered, begin, end),
        cmocka_unit_test_setup_teardown(what_runs_again_because_somebody_said_so_is_not_held, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_went_and_came_back_as_it_was_is_still_held, begin, end),
        cmocka_unit_test_setup_teardown(it_stays_for_as_long_as_the_file_does, begin, end),
        cmocka_unit_test_setup_teardown(a_changed_file_runs_and_the_old_one_may_come_back, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_is_gone_is_a_version_too, begin, end),
        cmocka_unit_test_setup_teardown(somebody_may_say_that_it_be_tried_again, begin, end),
        cmocka_unit_test_setup_teardown(settings_are_forgotten_when_their_files_change, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
