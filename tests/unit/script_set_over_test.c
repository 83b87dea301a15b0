// A load over the set that runs: which file moves on, which is kept, and what others notice of it.

#include "unit/script_over_support.h"

#include <glob.h>

static struct over_world world;

static int open_world(void **state)
{
    (void)state;
    over_open(&world);
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-1\" }\n");
    over_add(&world, "alpha", "local tool = require(\"tool\")", "display_name = \"alpha-1 \" .. tool.word");
    over_add(&world, "bravo", "", "display_name = \"bravo-1\"");
    over_add(&world, "delta", "local tool = require 'tool'", "display_name = \"delta-1 \" .. tool.word");
    over_load(&world);
    assert_int_equal(world.changes.count, 0);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    over_close(&world);
    return 0;
}

static bool is_called(const char *name, const char *display_name)
{
    return text_equals_c(over_version(world.set, name)->declared.display_name, display_name);
}

static void a_set_of_which_nothing_changed_is_the_same_set(void **state)
{
    (void)state;
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    assert_int_equal(world.changes.count, 0);
    assert_int_equal(world.findings.count, 0);
    script_set_release(&before);
    assert_false(script_set_is_retired(world.set));
}

static void a_changed_supplier_alone_is_a_new_version(void **state)
{
    (void)state;
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    struct script_set *before = over_load(&world);
    assert_ptr_not_equal(world.set, before);
    assert_ptr_equal(over_version(world.set, "alpha"), over_version(before, "alpha"));
    assert_ptr_equal(over_version(world.set, "delta"), over_version(before, "delta"));
    assert_ptr_equal(script_set_product_version(world.set, 0), script_set_product_version(before, 0));
    assert_ptr_equal(script_set_drift(world.set, 0), script_set_drift(before, 0));
    assert_ptr_not_equal(over_version(world.set, "bravo"), over_version(before, "bravo"));
    assert_ptr_not_equal(script_set_drift(world.set, 1), script_set_drift(before, 1));
    assert_true(is_called("bravo", "bravo-2"));
    assert_int_equal(world.changes.count, 1);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED, "");
    const struct script_change *change = over_change(&world, SCRIPT_KIND_SUPPLIER, "bravo");
    assert_true(text_equals(change->before, over_version(before, "bravo")->label));
    assert_true(text_equals(change->running, over_version(world.set, "bravo")->label));
    assert_false(text_equals(change->before, change->running));
    assert_memory_equal(change->on_disk_digest, script_set_supplier_digest(world.set, 1), SCRIPT_DIGEST);
    script_set_release(&before);
}

static void a_changed_module_changes_those_that_reach_it_and_no_others(void **state)
{
    (void)state;
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-2\" }\n");
    struct script_set *before = over_load(&world);
    assert_true(is_called("alpha", "alpha-1 tool-2"));
    assert_true(is_called("delta", "delta-1 tool-2"));
    assert_ptr_equal(over_version(world.set, "bravo"), over_version(before, "bravo"));
    assert_int_equal(world.changes.count, 3);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "tool", SCRIPT_CHANGED, "");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_CHANGED, "");
    assert_false(text_equals(over_version(world.set, "alpha")->label, over_version(before, "alpha")->label));
    script_set_release(&before);
}

static void a_module_is_reached_through_others_and_by_names_that_nobody_can_tell(void **state)
{
    (void)state;
    over_write(&world, "scripts/outer.lua", "return { tool = require(\"between\").tool }\n");
    over_write(&world, "scripts/between.lua", "return { tool = require(\"inner\") }\n");
    over_write(&world, "scripts/inner.lua", "return require(\"tool\")\n");
    over_add(&world, "echo", "local outer = require(\"outer\")", "display_name = outer.tool.word");
    over_add(&world, "foxtrot", "local name = \"to\" .. \"ol\" local tool = require(name)", "display_name = tool.word");
    over_load_on(&world);
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-2\" }\n");
    over_load_on(&world);
    assert_true(is_called("echo", "tool-2"));
    assert_true(is_called("foxtrot", "tool-2"));
    over_write(&world, "scripts/outer.lua", "return { tool = { word = \"outer\" } }\n");
    struct script_set *before = over_load(&world);
    assert_true(is_called("echo", "outer"));
    assert_ptr_equal(over_version(world.set, "alpha"), over_version(before, "alpha"));
    assert_ptr_not_equal(over_version(world.set, "foxtrot"), over_version(before, "foxtrot"));
    script_set_release(&before);
}

static void one_broken_of_three_is_kept_with_its_old_module_while_the_others_move_on(void **state)
{
    (void)state;
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-2\" }\n");
    over_write_supplier(&world, "alpha", "local tool = require(\"tool\")", "display_name = \"alpha-2 \" .. tool.word");
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    over_write_supplier(&world, "delta", "local tool = require 'tool'", "display_name = 7");
    struct script_set *before = over_load(&world);
    assert_true(is_called("alpha", "alpha-2 tool-2"));
    assert_true(is_called("bravo", "bravo-2"));
    assert_true(is_called("delta", "delta-1 tool-1"));
    assert_true(over_module_says(world.set, "alpha", "tool", "tool-2"));
    assert_true(over_module_says(world.set, "delta", "tool", "tool-1"));
    assert_ptr_equal(over_version(world.set, "delta"), over_version(before, "delta"));
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "delta", SCRIPT_KEPT, "field `display_name` must be a string");
    const struct script_change *change = over_change(&world, SCRIPT_KIND_SUPPLIER, "delta");
    assert_int_equal(change->because.line, 4);
    assert_true(text_equals(change->running, over_version(before, "delta")->label));
    assert_false(text_equals(change->on_disk, change->running));
    assert_int_equal(world.findings.count, 1);
    script_set_release(&before);
    // Nothing changed since: it is still kept, and still told.
    before = over_load(&world);
    assert_ptr_equal(world.set, before);
    assert_int_equal(world.changes.count, 1);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "delta", SCRIPT_KEPT, "display_name");
    script_set_release(&before);
}

static void a_module_and_a_supplier_that_need_each_other_change_as_one(void **state)
{
    static const char more[] = "local tool = require(\"tool\")";
    (void)state;
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-2\", other = function() return \"new\" end }\n");
    over_write_supplier(&world, "alpha", more, "display_name = \"alpha-2 \" .. tool.other()");
    over_load_on(&world);
    assert_true(is_called("alpha", "alpha-2 new"));
    // With the module broken both stay, although the file would load with the old one.
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-3\", other = function( }\n");
    over_write_supplier(&world, "alpha", more, "display_name = \"alpha-3 \" .. tool.other()");
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-3\"");
    over_load_on(&world);
    assert_true(is_called("alpha", "alpha-2 new"));
    assert_true(over_module_says(world.set, "alpha", "tool", "tool-2"));
    assert_true(is_called("delta", "delta-1 tool-2"));
    assert_true(is_called("bravo", "bravo-3"));
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "tool", SCRIPT_KEPT, "expected near");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_KEPT, "expected near");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "delta", SCRIPT_KEPT, "expected near");
    assert_non_null(strstr(over_change(&world, SCRIPT_KIND_SUPPLIER, "alpha")->because.file, "scripts/tool.lua"));
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "tool", SCRIPT_KEPT, "expected near");
    script_set_release(&before);
    // And both move on once it is mended.
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-4\", other = function() return \"newer\" end }\n");
    over_load_on(&world);
    assert_true(is_called("alpha", "alpha-3 newer"));
    assert_true(is_called("delta", "delta-1 tool-4"));
}

static void a_broken_module_alone_changes_nothing(void **state)
{
    (void)state;
    over_write(&world, "scripts/tool.lua", "");
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "tool", SCRIPT_KEPT, "is empty");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_KEPT, "is empty");
    script_set_release(&before);
}

// A product that never required the module stands on the shelf of the start for ever.
static void the_module_that_is_told_of_is_the_one_that_runs(void **state)
{
    char path[96];
    (void)state;
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-2\" }\n");
    over_load_on(&world);
    const struct text running = over_change(&world, SCRIPT_KIND_SCRIPTS, "tool")->running;
    char label[SCRIPT_LABEL_SIZE];
    snprintf(label, sizeof label, "%.*s", TEXT_ARGS(running));
    over_remove(&world, "scripts/tool.lua");
    over_load_on(&world);
    snprintf(path, sizeof path, "%s/scripts/tool.lua", world.folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    over_load_on(&world);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "tool", SCRIPT_KEPT, "not a regular file");
    assert_true(text_equals_c(over_change(&world, SCRIPT_KIND_SCRIPTS, "tool")->running, label));
    assert_true(is_called("alpha", "alpha-1 tool-2"));
    // One that nobody requires runs nowhere, whatever shelves it lies on.
    over_write(&world, "scripts/spare.lua", "return {}\n");
    over_load_on(&world);
    over_write(&world, "scripts/spare.lua", "return {\n");
    over_load_on(&world);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "spare", SCRIPT_LEFT_OUT, "");
    assert_null(over_change(&world, SCRIPT_KIND_SCRIPTS, "spare")->running.data);
}

static void a_new_supplier_is_added_or_left_out_when_it_is_broken(void **state)
{
    (void)state;
    over_add(&world, "echo", "", "display_name = \"echo-1\"");
    over_add(&world, "foxtrot", "leak = 1", "");
    over_load_on(&world);
    assert_int_equal(script_set_supplier_count(world.set), 4);
    assert_true(is_called("echo", "echo-1"));
    assert_int_equal(script_set_find_supplier(world.set, TEXT("foxtrot")), -1);
    assert_int_equal(world.changes.count, 2);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "echo", SCRIPT_ADDED, "");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "foxtrot", SCRIPT_LEFT_OUT, "\"leak\" cannot be set");
    assert_null(over_change(&world, SCRIPT_KIND_SUPPLIER, "foxtrot")->running.data);
}

static void a_supplier_that_vanished_is_removed(void **state)
{
    (void)state;
    world.sources[1] = world.sources[2]; // bravo
    world.count = 2;
    over_load_on(&world);
    assert_int_equal(script_set_supplier_count(world.set), 2);
    assert_int_equal(script_set_find_supplier(world.set, TEXT("bravo")), -1);
    assert_int_equal(world.changes.count, 1);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_REMOVED, "");
}

static void a_file_that_is_empty_half_written_or_gone_keeps_its_supplier(void **state)
{
    (void)state;
    over_write(&world, "suppliers/alpha.lua", "");
    over_write(&world, "suppliers/bravo.lua", "local hosts = { \"a.example\" }\n"); // a valid half
    over_remove(&world, "suppliers/delta.lua");                                     // but it is still asked for
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_KEPT, "is empty");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_KEPT, "must return a table");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "delta", SCRIPT_KEPT, "cannot be read: No such file");
    assert_null(over_change(&world, SCRIPT_KIND_SUPPLIER, "alpha")->on_disk.data);
    script_set_release(&before);
}

static void folders_that_cannot_be_read_keep_what_was_in_them(void **state)
{
    char from[96];
    char to[96];

    (void)state;
    snprintf(from, sizeof from, "%s/scripts", world.folder);
    snprintf(to, sizeof to, "%s/away", world.folder);
    assert_int_equal(rename(from, to), 0);
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    over_load_on(&world);
    assert_int_equal(script_set_product_count(world.set), 1);
    assert_true(is_called("bravo", "bravo-2"));
    assert_true(is_called("alpha", "alpha-1 tool-1"));
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "scripts", SCRIPT_KEPT, "cannot be read");
    assert_int_equal(rename(to, from), 0);
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    assert_int_equal(world.changes.count, 0);
    script_set_release(&before);
}

static size_t count_threads(void)
{
    glob_t found;
    size_t count = glob("/proc/self/task/*", 0, NULL, &found) == 0 ? found.gl_pathc : 0;

    globfree(&found);
    return count;
}

static void a_file_that_hangs_while_it_is_loaded_is_kept_and_told(void **state)
{
    (void)state;
    over_write_supplier(&world, "alpha", "local x = (\"a\"):rep(40):find((\"a-\"):rep(40) .. \"b\")", "");
    over_write_supplier(&world, "bravo", "local x = stick(1e12)", ""); // its thread is lost
    over_write_supplier(&world, "delta", "", "display_name = \"delta-2\"");
    over_load_on(&world);
    assert_true(is_called("alpha", "alpha-1 tool-1"));
    assert_true(is_called("bravo", "bravo-1"));
    assert_true(is_called("delta", "delta-2"));
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_KEPT, "runs for more than 2 s");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_KEPT, "gets stuck inside a function of C");
    // Nobody waits for them again, nor loses another thread.
    size_t threads = count_threads();
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_KEPT, "runs for more than 2 s");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_KEPT, "gets stuck inside a function of C");
    assert_true(count_threads() <= threads);
    script_set_release(&before);
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-3\"");
    over_load_on(&world);
    assert_true(is_called("bravo", "bravo-3"));
}

static void a_set_is_made_again_with_one_supplier_as_it_was(void **state)
{
    struct script_set *mixed;

    (void)state;
    over_write_supplier(&world, "alpha", "", "display_name = \"alpha-2\"");
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    struct script_set *before = over_load(&world);
    struct script_set *held = script_set_hold(before);
    script_set_release(&before);
    assert_true(script_set_is_retired(held));
    assert_int_equal(script_set_with(world.set, held, TEXT("alpha"), support_on_finding, &world.findings, &mixed),
                     STATUS_OK);
    assert_ptr_equal(over_version(mixed, "alpha"), over_version(held, "alpha"));
    assert_ptr_equal(over_version(mixed, "bravo"), over_version(world.set, "bravo"));
    script_set_release(&mixed);
    assert_int_equal(script_set_with(world.set, held, TEXT("nobody"), support_on_finding, &world.findings, &mixed),
                     STATUS_NOT_FOUND);
    struct script_set *again = script_set_again(held);
    assert_non_null(again);
    assert_false(script_set_is_retired(again));
    assert_ptr_equal(over_version(again, "bravo"), over_version(held, "bravo"));
    assert_int_equal(script_changes_between(world.set, again, &world.changes), STATUS_OK);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED, "");
    script_set_drop(&held);
    script_set_release(&again);
}

int main(void)
{
#define OVER(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)
    const struct CMUnitTest tests[] = {
        OVER(a_set_of_which_nothing_changed_is_the_same_set),
        OVER(a_changed_supplier_alone_is_a_new_version),
        OVER(a_changed_module_changes_those_that_reach_it_and_no_others),
        OVER(a_module_is_reached_through_others_and_by_names_that_nobody_can_tell),
        OVER(one_broken_of_three_is_kept_with_its_old_module_while_the_others_move_on),
        OVER(a_module_and_a_supplier_that_need_each_other_change_as_one),
        OVER(a_broken_module_alone_changes_nothing),
        OVER(the_module_that_is_told_of_is_the_one_that_runs),
        OVER(a_new_supplier_is_added_or_left_out_when_it_is_broken),
        OVER(a_supplier_that_vanished_is_removed),
        OVER(a_file_that_is_empty_half_written_or_gone_keeps_its_supplier),
        OVER(folders_that_cannot_be_read_keep_what_was_in_them),
        OVER(a_file_that_hangs_while_it_is_loaded_is_kept_and_told),
        OVER(a_set_is_made_again_with_one_supplier_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
