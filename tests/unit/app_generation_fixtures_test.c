#include "app/generation_fixtures.h"

#include "model/data_set.h"
#include "unit/app_generation_stage.h"

struct failed {
    char names[REFUSED_MAX][64];
    unsigned char digests[REFUSED_MAX][SCRIPT_DIGEST];
    struct failure firsts[REFUSED_MAX];
    size_t count;
};

static struct failed failed;

static void on_failure(void *context, struct text supplier, const unsigned char *digest, const struct failure *first)
{
    (void)context;
    assert_true(failed.count < REFUSED_MAX);
    snprintf(failed.names[failed.count], sizeof failed.names[0], "%.*s", TEXT_ARGS(supplier));
    memcpy(failed.digests[failed.count], digest, SCRIPT_DIGEST);
    failed.firsts[failed.count++] = *first;
}

static bool refuses_failed(void *context, enum script_kind kind, struct text name, const unsigned char *digest,
                           struct failure *because)
{
    (void)context;
    for (size_t i = 0; i < failed.count && kind == SCRIPT_KIND_SUPPLIER && digest != NULL; i++) {
        if (text_equals_c(name, failed.names[i]) && memcmp(digest, failed.digests[i], SCRIPT_DIGEST) == 0) {
            *because = failed.firsts[i];
            return true;
        }
    }
    return false;
}

// A fixture whose answer is empty; a script that finds something in it, or raises, fails it.
static void write_fixture(const char *name, const char *outcome)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{ \"about\": \"nothing\", \"search\": { \"product\": \"flights\", \"query\": {} },\n"
             "  \"now\": \"2026-11-29T09:00:00Z\",\n"
             "  \"exchanges\": [{ \"response\": { \"status\": 200, \"json\": {} } }],\n"
             "  \"expect\": { \"outcome\": \"%s\" } }\n",
             outcome);
    write_as(name, text);
}

static int set_up_fixtures(void **state)
{
    (void)set_up(state);
    failed.count = 0;
    assert_int_equal(mkdir(path_of("suppliers/acme.test"), 0700), 0);
    assert_int_equal(mkdir(path_of("suppliers/bravo.test"), 0700), 0);
    write_fixture("suppliers/acme.test/ok-empty.json", "empty");
    write_fixture("suppliers/bravo.test/ok-empty.json", "empty");
    return 0;
}

// Builds, tries, and builds again with those refused that failed, as a reload does.
static size_t build_and_try(void)
{
    struct generation *was = generation_acquire(running);
    failed.count = 0;
    assert_builds();
    size_t count = generation_try_fixtures(running, &changes, on_failure, NULL);
    assert_int_equal(count, failed.count);
    if (count > 0) {
        struct script_set *tried = script_set_acquire(generation_catalogue(running)->set);
        generation_release(&running);
        generation_release(&previous);
        running = generation_acquire(was);
        assert_int_equal(build_by((struct generation_order){ .candidate = tried, .refuses = refuses_failed }),
                         STATUS_OK);
        script_set_release(&tried);
    }
    generation_release(&was);
    return count;
}

static void fixtures_of_what_changed_are_run_and_those_that_fail_keep_their_version(void **state)
{
    (void)state;
    const struct script_version *acme = version_of(running, "acme");
    write_supplier("acme", "pages = 3", "", "error(\"oh\")");
    write_supplier("bravo", "size = 1", "", "return {}");
    assert_int_equal(build_and_try(), 1);
    assert_string_equal(failed.names[0], "acme");
    assert_non_null(strstr(failed.firsts[0].message, "oh"));
    assert_non_null(strstr(failed.firsts[0].file, "suppliers/acme.lua"));
    assert_true(failed.firsts[0].line > 0);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    assert_ptr_equal(version_of(running, "acme"), acme);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.message, "oh"));
    // The script is as it was, its fixture is mended.
    assert_int_equal(remove(path_of("suppliers/acme.test/ok-empty.json")), 0);
    write_fixture("suppliers/acme.test/odd-error.json", "script_error");
    assert_int_equal(build_and_try(), 0);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
}

static void what_did_not_change_is_not_run(void **state)
{
    (void)state;
    write_fixture("suppliers/acme.test/ok-empty.json", "answered"); // fails, but nobody asks
    write_supplier("bravo", "size = 1", "", "return {}");
    assert_int_equal(build_and_try(), 0);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    assert_int_equal(changes.count, 1);
}

static void a_new_supplier_whose_fixtures_fail_is_left_out_and_one_without_any_passes(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of("suppliers/charlie.test"), 0700), 0);
    write_fixture("suppliers/charlie.test/ok-a.json", "answered");
    write_supplier("charlie", "", "", "return {}");
    write_supplier("delta", "", "", "return {}");
    assert_int_equal(build_and_try(), 1);
    assert_fate(SCRIPT_KIND_SUPPLIER, "charlie", SCRIPT_LEFT_OUT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "delta", SCRIPT_ADDED);
    assert_non_null(strstr(failed.firsts[0].file, "charlie.test/ok-a.json"));
}

static void names_that_a_file_plays_fail_with_it(void **state)
{
    (void)state;
    write_settings("suppliers: { white: { uses: acme } }\n");
    assert_builds();
    write_supplier("acme", "pages = 3", "", "error(\"oh\")");
    assert_int_equal(build_and_try(), 2);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "white", SCRIPT_KEPT);
}

static void a_fixture_that_cannot_be_read_fails(void **state)
{
    (void)state;
    write_as("suppliers/acme.test/ok-empty.json", "{");
    write_supplier("acme", "pages = 3", "", "return {}");
    assert_int_equal(build_and_try(), 1);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
}

static void fixtures_leave_no_trace_in_what_goes_live(void **state)
{
    char more[2 * PATH_SIZE];
    struct script_trial trial;
    (void)state;
    write_as("hotels.tsv", "id\tname\nx\tInn\n");
    snprintf(more, sizeof more, "data: { hotels: { file: %s/hotels.tsv, key: [id] } }\n", folder);
    write_settings(more);
    write_supplier("acme", "pages = 3", "", "if lookup(\"hotels\", \"y\") == nil then error(\"oh\") end return {}");
    assert_int_equal(remove(path_of("suppliers/acme.test/ok-empty.json")), 0);
    write_fixture("suppliers/acme.test/odd-error.json", "script_error");
    assert_int_equal(build_and_try(), 0);
    const struct catalogue *catalogue = generation_catalogue(running);
    ptrdiff_t index = script_set_find_supplier(catalogue->set, TEXT("acme"));
    script_set_trial(catalogue->set, (struct script_id){ .index = (size_t)index }, &trial);
    assert_int_equal(trial.calls, 0);
    assert_int_equal(trial.errors, 0);
    assert_int_equal(data_set_misses(catalogue->data, 0), 0);
    size_t live = script_version_count_live();
    assert_int_equal(generation_try_fixtures(running, &changes, on_failure, NULL), 0);
    assert_int_equal(script_version_count_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fixtures_of_what_changed_are_run_and_those_that_fail_keep_their_version,
                                        set_up_fixtures, tear_down),
        cmocka_unit_test_setup_teardown(what_did_not_change_is_not_run, set_up_fixtures, tear_down),
        cmocka_unit_test_setup_teardown(a_new_supplier_whose_fixtures_fail_is_left_out_and_one_without_any_passes,
                                        set_up_fixtures, tear_down),
        cmocka_unit_test_setup_teardown(names_that_a_file_plays_fail_with_it, set_up_fixtures, tear_down),
        cmocka_unit_test_setup_teardown(a_fixture_that_cannot_be_read_fails, set_up_fixtures, tear_down),
        cmocka_unit_test_setup_teardown(fixtures_leave_no_trace_in_what_goes_live, set_up_fixtures, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
