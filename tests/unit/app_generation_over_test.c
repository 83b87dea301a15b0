#include "unit/app_generation_stage.h"

// Any version of bravo but the one that runs.
static bool refuses_bravo(void *context, enum script_kind kind, struct text name, const unsigned char *digest,
                          struct failure *because)
{
    (void)context;
    if (kind != SCRIPT_KIND_SUPPLIER || digest == NULL || !text_equals_c(name, "bravo") ||
        memcmp(digest, version_of(running, "bravo")->digest, SCRIPT_DIGEST) == 0) {
        return false;
    }
    failure_set(because, "an operator said no");
    return true;
}

static void nothing_changed_is_the_same_generation(void **state)
{
    (void)state;
    struct generation *before = running;
    uint32_t number = generation_number(running);

    assert_builds();
    assert_ptr_equal(running, before);
    write_settings("# a comment that moves lines\n\n");
    assert_builds();
    assert_ptr_equal(running, before);
    write_supplier("acme", "pages = 2", "", "return {}"); // the same once more
    assert_builds();
    assert_ptr_equal(running, before);
    assert_int_equal(generation_number(running), number);
    assert_int_equal(changes.count, 0);
}

static void a_change_of_settings_alone_shares_the_script_set(void **state)
{
    (void)state;
    uint32_t number = generation_number(running);

    write_settings(
        "deadline: { default: 1s }\nsuppliers: { acme: { accounts: { main: { options: { pages: 7 } } } } }\n");
    assert_builds();
    assert_ptr_not_equal(running, previous);
    assert_ptr_equal(generation_catalogue(running)->set, generation_catalogue(previous)->set);
    assert_int_equal(generation_number(running), number + 1);
    assert_int_equal(generation_settings(running)->deadline_default_us, 1000000);
    assert_int_equal(generation_settings(previous)->deadline_default_us, 2000000);
    assert_non_null(strstr(generation_catalogue(running)->suppliers[0].account->context.data, "\"pages\":7"));
    assert_int_equal(changes.count, 0);
}

static void one_changed_file_is_one_new_version(void **state)
{
    (void)state;
    write_supplier("acme", "pages = 3", "", "return {}");
    write_supplier("delta", "", "", "return {}");
    assert_int_equal(remove(path_of("suppliers/bravo.lua")), 0);
    write_supplier("charlie", "", "", "return {}");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_REMOVED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "charlie", SCRIPT_ADDED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "delta", SCRIPT_ADDED);
    assert_int_equal(changes.count, 4);
    const struct catalogue *catalogue = generation_catalogue(running);
    assert_int_equal(catalogue->supplier_count, 3);
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        // Both are sorted by name, and a supplier has the same place in both.
        assert_true(text_equals(catalogue->suppliers[i].name, script_set_supplier(catalogue->set, i)->name));
        assert_int_equal(catalogue->suppliers[i].account->supplier, i);
        assert_true(i == 0 || text_compare(catalogue->suppliers[i - 1].name, catalogue->suppliers[i].name) < 0);
    }
    write_supplier("acme", "pages = 4", "", "return {}");
    assert_builds();
    assert_ptr_equal(version_of(running, "delta"), version_of(previous, "delta"));
    assert_ptr_not_equal(version_of(running, "acme"), version_of(previous, "acme"));
}

static void a_broken_script_keeps_its_version_and_the_others_move_on(void **state)
{
    (void)state;
    write_as("suppliers/acme.lua", "return {");
    write_supplier("bravo", "size = 1", "", "return {}");
    write_as("suppliers/zulu.lua", "return 7\n");
    write_settings("rules:\n  - { supplier: zulu, ceiling: 900ms }\n");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "zulu", SCRIPT_LEFT_OUT); // and a rule about it is no finding
    assert_ptr_equal(version_of(running, "acme"), version_of(previous, "acme"));
    assert_int_equal(generation_catalogue(running)->supplier_count, 2);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.file, "acme.lua"));
}

static void a_script_that_does_not_go_with_the_settings_is_kept_back(void **state)
{
    (void)state;
    write_settings("suppliers: { acme: { accounts: { main: { options: { pages: 7 } } } } }\n");
    assert_builds();
    write_supplier("acme", "sheets = 2", "", "return {}"); // what the settings name is gone
    write_supplier("bravo", "size = 1", "", "return {}");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    const struct script_change *kept = change_of(SCRIPT_KIND_SUPPLIER, "acme");
    assert_non_null(strstr(kept->because.message, "has no option `pages`"));
    assert_non_null(strstr(kept->because.file, "lastcall.yaml"));
    assert_int_equal(kept->because.line, 3);
    assert_ptr_equal(version_of(running, "acme"), version_of(previous, "acme"));
    assert_non_null(strstr(generation_catalogue(running)->suppliers[0].account->context.data, "\"pages\":7"));
    // Nothing else to do: what is kept stays so, and that is no new generation.
    assert_builds();
    assert_ptr_equal(running, previous);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    // A new one that does not go with them is left out.
    write_supplier("charlie", "", "", "return {}");
    write_settings("suppliers: { charlie: { accounts: { main: { options: { pages: 7 } } } } }\n");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "charlie", SCRIPT_LEFT_OUT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
    assert_null(version_of(running, "charlie"));
}

static void what_is_wrong_with_the_settings_refuses_the_whole(void **state)
{
    static const char *const WRONG[][2] = {
        { "rules:\n  - { supplier: nobody, ceiling: 900ms }\n", "there is no supplier `nobody`" },
        { "rules:\n  - { when: { tier: gold }, deadline: 900ms }\n", "" },
        { "suppliers: { acme: { accounts: { main: { options: { sheets: 1 } } } } }\n", "has no option `sheets`" },
        { "suppliers: { nobody: {} }\n", "no file plays the supplier `nobody`" },
        { "data: { hotels: { file: /nowhere/hotels.tsv, key: [id] } }\n", "cannot be read" },
        { "fx: { file: /nowhere/rates.json }\n", "cannot be read" },
        { "deadlines: 7\n", "" },
    };
    (void)state;
    struct generation *before = running;
    uint32_t number = generation_number(running);

    write_supplier("bravo", "size = 1", "", "return {}"); // a good change does not get through beside it
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        write_settings(WRONG[i][0]);
        assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
        assert_true(findings.count > 0);
        assert_found(WRONG[i][1]);
        assert_ptr_equal(running, before);
    }
    write_settings("");
    assert_builds();
    assert_int_equal(generation_number(running), number + 1); // what was refused took no number
}

static void a_file_of_settings_that_is_half_written_is_refused(void **state)
{
    (void)state;
    write_as("lastcall.yaml", "");
    assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
    assert_found("sets nothing any more");
    write_as("lastcall.yaml", "# being written\n\n");
    assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
    assert_found("sets nothing any more");
    char text[DOCUMENT_MAX];
    snprintf(text, sizeof text, "suppliers_dir: %s/suppliers\nscripts_dir: %s/scripts\nsuppliers: { acme: {} }", folder,
             folder);
    write_as("lastcall.yaml", text);
    assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
    assert_found("the last line has no end");
    assert_int_equal(remove(path_of("lastcall.yaml")), 0);
    assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
    assert_found("the file cannot be read");
}

static void a_suppliers_directory_that_is_gone_or_empty_takes_nobody_away(void **state)
{
    char there[2 * PATH_SIZE], aside[2 * PATH_SIZE];
    (void)state;
    snprintf(there, sizeof there, "%s", path_of("suppliers"));
    snprintf(aside, sizeof aside, "%s", path_of("aside"));
    assert_int_equal(rename(there, aside), 0);
    assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
    assert_found("the suppliers directory cannot be read");
    assert_int_equal(mkdir(there, 0700), 0);
    assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
    assert_found("the suppliers directory is empty, and 2 of those that run came from it");
    assert_int_equal(rmdir(there), 0);
    assert_int_equal(rename(aside, there), 0);
    struct generation *before = running;
    assert_builds();
    assert_ptr_equal(running, before);
}

static void a_vanished_file_that_the_settings_still_name_keeps_its_supplier(void **state)
{
    (void)state;
    write_settings("suppliers: { acme: { display_name: Acme }, white: { uses: acme } }\n");
    assert_builds();
    assert_int_equal(remove(path_of("suppliers/acme.lua")), 0);
    write_supplier("bravo", "size = 1", "", "return {}");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "white", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.message, "no file plays"));
    assert_int_equal(generation_catalogue(running)->supplier_count, 3);
    assert_true(text_equals_c(generation_catalogue(running)->suppliers[0].display_name, "Acme"));
    // A rule is a mention as well.
    write_settings("rules:\n  - { supplier: acme, ceiling: 900ms }\n");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "white", SCRIPT_REMOVED);
    write_settings("");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_REMOVED);
}

static void a_product_that_breaks_a_rule_is_kept_back(void **state)
{
    (void)state;
    write_product("segments = { tier = \"text\" },");
    write_settings("segments: [product, tier]\nrules:\n  - { when: { tier: gold }, deadline: 900ms }\n");
    assert_builds();
    write_product("segments = { class = \"text\" },");
    write_supplier("bravo", "size = 1", "", "return {}");
    assert_builds();
    assert_fate(SCRIPT_KIND_PRODUCT, "flights", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    assert_non_null(strstr(change_of(SCRIPT_KIND_PRODUCT, "flights")->because.message, "tier"));
    assert_non_null(generation_catalogue(running)->rules);
}

static void a_look_up_in_an_undeclared_table_keeps_the_script_back(void **state)
{
    (void)state;
    write_supplier("acme", "pages = 2", "", "return lookup(\"hotels\", \"x\") or {}");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.message, "no table \"hotels\""));
    write_as("hotels.tsv", "id\tname\nx\tInn\n");
    char more[2 * PATH_SIZE];
    snprintf(more, sizeof more, "data: { hotels: { file: %s, key: [id] } }\n", path_of("hotels.tsv"));
    write_settings(more);
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
}

static void a_file_that_becomes_a_pipe_or_a_folder_keeps_its_supplier(void **state)
{
    (void)state;
    struct generation *before = running;
    assert_int_equal(remove(path_of("suppliers/acme.lua")), 0);
    assert_int_equal(mkfifo(path_of("suppliers/acme.lua"), 0600), 0);
    assert_int_equal(mkdir(path_of("suppliers/charlie.lua"), 0700), 0);
    assert_builds();
    assert_ptr_equal(running, before);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "charlie", SCRIPT_LEFT_OUT);
    const struct script_change *kept = change_of(SCRIPT_KIND_SUPPLIER, "acme");
    assert_non_null(strstr(kept->because.message, "it is not a regular file"));
    assert_non_null(strstr(kept->because.file, "suppliers/acme.lua"));
    assert_null(kept->on_disk.data);
    assert_int_equal(remove(path_of("suppliers/acme.lua")), 0);
    assert_int_equal(mkdir(path_of("suppliers/acme.lua"), 0700), 0);
    write_supplier("bravo", "size = 1", "", "return {}");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.message, "it is a directory"));
}

static void write_two_directories(const char *more)
{
    char text[DOCUMENT_MAX];
    snprintf(text, sizeof text, "suppliers_dir: [%s/suppliers, %s/more]\nscripts_dir: %s/scripts\n%s", folder, folder,
             folder, more);
    write_as("lastcall.yaml", text);
}

static void two_files_of_one_supplier_cost_nobody_else(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of("more"), 0700), 0);
    write_two_directories("suppliers: { acme: { display_name: Acme }, white: { uses: acme } }\n");
    assert_builds();
    write_as("more/acme.lua", "return {}\n");
    write_supplier("acme", "pages = 7", "", "return {}"); // whichever is meant
    write_supplier("bravo", "size = 1", "", "return {}");
    write_supplier("charlie", "", "", "return {}"); // new, and twice
    write_as("more/charlie.lua", "return {}\n");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "white", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "charlie", SCRIPT_LEFT_OUT);
    assert_int_equal(changes.count, 4);
    const struct failure *because = &change_of(SCRIPT_KIND_SUPPLIER, "acme")->because;
    assert_non_null(strstr(because->file, "more/acme.lua"));
    assert_non_null(strstr(because->message, "a supplier `acme` is already there: "));
    assert_non_null(strstr(because->message, "suppliers/acme.lua"));
    assert_ptr_equal(version_of(running, "acme"), version_of(previous, "acme"));
    assert_null(version_of(running, "charlie"));
    assert_true(text_equals_c(generation_catalogue(running)->suppliers[0].display_name, "Acme"));
    // Still so, and no new generation; then the two move on.
    assert_builds();
    assert_ptr_equal(running, previous);
    assert_int_equal(changes.count, 3);
    assert_int_equal(remove(path_of("more/acme.lua")), 0);
    assert_int_equal(remove(path_of("suppliers/charlie.lua")), 0);
    assert_int_equal(remove(path_of("more/charlie.lua")), 0);
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "white", SCRIPT_CHANGED);
    assert_int_equal(changes.count, 2);
}

static void a_file_for_somebody_who_uses_another_one_costs_nobody_else(void **state)
{
    (void)state;
    write_settings("suppliers: { white: { uses: acme } }\n");
    assert_builds();
    write_supplier("white", "", "", "return {}");
    write_supplier("bravo", "size = 1", "", "return {}");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "white", SCRIPT_KEPT);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "white")->because.message, "it uses `acme`"));
    assert_ptr_equal(version_of(running, "white"), version_of(previous, "white"));
    assert_true(text_equals_c(generation_catalogue(running)->suppliers[2].display_name, "white"));
    // Without `uses` the file is what is meant; with `uses` over a file that runs, the settings are wrong.
    write_settings("");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "white", SCRIPT_CHANGED);
    write_settings("suppliers: { white: { uses: acme } }\n");
    assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
    assert_found("`white` has a file of its own");
}

static void a_file_with_a_name_that_is_none_is_left_out(void **state)
{
    (void)state;
    write_as("suppliers/No Name.lua", "return {}\n");
    write_supplier("bravo", "size = 1", "", "return {}");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "No Name", SCRIPT_LEFT_OUT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
}

static void what_the_caller_refuses_is_kept_back(void **state)
{
    (void)state;
    write_supplier("acme", "pages = 3", "", "return {}");
    write_supplier("bravo", "size = 1", "", "return {}");
    assert_int_equal(build_by((struct generation_order){ .refuses = refuses_bravo }), STATUS_OK);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_KEPT);
    assert_string_equal(change_of(SCRIPT_KIND_SUPPLIER, "bravo")->because.message, "an operator said no");
    assert_ptr_equal(version_of(running, "bravo"), version_of(previous, "bravo"));
}

static void fixed_scripts_run_whatever_is_on_disk(void **state)
{
    (void)state;
    struct script_set *old = script_set_hold(generation_catalogue(running)->set);
    const struct script_version *acme = version_of(running, "acme");
    write_supplier("acme", "pages = 3", "", "return {}");
    assert_int_equal(remove(path_of("suppliers/bravo.lua")), 0);
    assert_builds();
    assert_builds(); // the first is gone now, but for the hold
    struct script_set *again = script_set_again(old);
    assert_non_null(again);
    write_as("suppliers/acme.lua", "return {");
    write_settings("rules:\n  - { supplier: zulu, ceiling: 900ms }\n"); // whose script was left out when they ran
    assert_int_equal(build_by((struct generation_order){ .fixed = again }), STATUS_OK);
    script_set_release(&again);
    script_set_drop(&old);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_ADDED);
    assert_ptr_equal(version_of(running, "acme"), acme);
    assert_int_equal(generation_catalogue(running)->supplier_count, 2);
}

static void a_secret_that_changed_is_a_change(void **state)
{
    (void)state;
    setenv("OVER_TEST_KEY", "one", 1);
    write_supplier("acme", "pages = 2", "secrets = { \"OVER_TEST_KEY\" },", "return {}");
    assert_builds();
    assert_builds();
    assert_ptr_equal(running, previous);
    setenv("OVER_TEST_KEY", "two", 1);
    assert_builds();
    assert_ptr_not_equal(running, previous);
    assert_ptr_equal(generation_catalogue(running)->set, generation_catalogue(previous)->set);
    assert_non_null(strstr(generation_catalogue(running)->suppliers[0].account->context.data, "two"));
    unsetenv("OVER_TEST_KEY");
}

static void assert_secret_is(const char *value)
{
    const struct catalogue_supplier *acme = &generation_catalogue(running)->suppliers[0];
    char field[64];
    snprintf(field, sizeof field, "\"KEY_OF_ACME\":\"%s\"", value);
    assert_true(acme->is_enabled);
    assert_non_null(strstr(acme->account->context.data, field));
}

static void a_secret_that_cannot_be_read_is_kept(void **state)
{
    static const char *const TORN[] = { "", "\n", "\xff\xfe" };
    const char *settings = "secrets_dir: %s/secrets\nsuppliers: { acme: { accounts: { main: { secrets: { KEY_OF_ACME: "
                           "%s } } } } }\n";
    char more[4 * PATH_SIZE];
    (void)state;
    assert_int_equal(mkdir(path_of("secrets"), 0700), 0);
    write_as("secrets/KEY", "\"one\"");
    snprintf(more, sizeof more, settings, folder, "KEY");
    write_settings(more);
    write_supplier("acme", "pages = 2", "secrets = { \"KEY_OF_ACME\" },", "return {}");
    assert_builds();
    assert_secret_is("\\\"one\\\"");
    struct generation *before = running;
    for (size_t i = 0; i < COUNT_OF(TORN); i++) {
        write_as("secrets/KEY", TORN[i]);
        assert_builds();
        assert_ptr_equal(running, before);
        assert_fate(SCRIPT_KIND_SECRETS, "acme", SCRIPT_KEPT);
        const struct failure *because = &change_of(SCRIPT_KIND_SECRETS, "acme")->because;
        assert_non_null(strstr(because->message, "account `main`: secret KEY_OF_ACME "));
        assert_non_null(strstr(because->file, "lastcall.yaml"));
        assert_true(because->help[0] != '\0');
    }
    assert_int_equal(remove(path_of("secrets/KEY")), 0);
    write_supplier("acme", "pages = 3", "secrets = { \"KEY_OF_ACME\" },", "return {}"); // a new version has it too
    assert_builds();
    assert_fate(SCRIPT_KIND_SECRETS, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
    assert_secret_is("\\\"one\\\"");
    assert_int_equal(generation_missing_secrets(running, on_finding, NULL), 0);
    write_as("secrets/KEY", "two\n");
    assert_builds();
    assert_secret_is("two");
    assert_int_equal(changes.count, 0);
    // At another place in the settings it is another secret.
    snprintf(more, sizeof more, settings, folder, "OTHER");
    write_settings(more);
    assert_builds();
    assert_false(generation_catalogue(running)->suppliers[0].is_enabled);
    assert_fate(SCRIPT_KIND_SECRETS, "acme", SCRIPT_LEFT_OUT);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SECRETS, "acme")->because.message, "KEY_OF_ACME is not set"));
    assert_builds(); // nothing new
    assert_ptr_equal(running, previous);
    assert_int_equal(changes.count, 0);
}

static void a_script_that_wants_a_secret_which_is_not_there_is_kept_back(void **state)
{
    (void)state;
    write_supplier("acme", "pages = 3", "secrets = { \"NO_KEY_OF_ACME\" },", "return {}");
    write_supplier("bravo", "size = 1", "", "return {}");
    write_supplier("charlie", "", "secrets = { \"NO_KEY_OF_CHARLIE\" },", "return {}");
    assert_builds();
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.message, "NO_KEY_OF_ACME is not set"));
    assert_ptr_equal(version_of(running, "acme"), version_of(previous, "acme"));
    assert_true(generation_catalogue(running)->suppliers[0].is_enabled);
    // A new one takes nothing away: it is there, off, and that is said.
    assert_fate(SCRIPT_KIND_SUPPLIER, "charlie", SCRIPT_ADDED);
    assert_fate(SCRIPT_KIND_SECRETS, "charlie", SCRIPT_LEFT_OUT);
    assert_false(generation_catalogue(running)->suppliers[2].is_enabled);
    // One that was off goes on to another version that is off.
    write_supplier("charlie", "size = 1", "secrets = { \"NO_KEY_OF_CHARLIE\" },", "return {}");
    setenv("NO_KEY_OF_ACME", "key", 1);
    assert_builds();
    unsetenv("NO_KEY_OF_ACME");
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_CHANGED);
    assert_fate(SCRIPT_KIND_SUPPLIER, "charlie", SCRIPT_CHANGED);
    assert_int_equal(changes.count, 2);
}

static void a_thousand_builds_over_each_other_leave_two_generations_of_versions(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        char options[64];
        snprintf(options, sizeof options, "pages = %d", i % 7);
        if (i % 10 == 9) {
            write_as("suppliers/acme.lua", "return {");
        } else {
            write_supplier("acme", options, "", "return {}");
        }
        assert_builds();
    }
    // Two suppliers and a product of each, most of them shared.
    assert_true(script_version_count_live() <= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_changed_is_the_same_generation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_change_of_settings_alone_shares_the_script_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_changed_file_is_one_new_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_broken_script_keeps_its_version_and_the_others_move_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_script_that_does_not_go_with_the_settings_is_kept_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wrong_with_the_settings_refuses_the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_of_settings_that_is_half_written_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_suppliers_directory_that_is_gone_or_empty_takes_nobody_away, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_vanished_file_that_the_settings_still_name_keeps_its_supplier, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_product_that_breaks_a_rule_is_kept_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_look_up_in_an_undeclared_table_keeps_the_script_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_becomes_a_pipe_or_a_folder_keeps_its_supplier, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_files_of_one_supplier_cost_nobody_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_for_somebody_who_uses_another_one_costs_nobody_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_with_a_name_that_is_none_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_the_caller_refuses_is_kept_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fixed_scripts_run_whatever_is_on_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_secret_that_changed_is_a_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_secret_that_cannot_be_read_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_script_that_wants_a_secret_which_is_not_there_is_kept_back, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_thousand_builds_over_each_other_leave_two_generations_of_versions, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
