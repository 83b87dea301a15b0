// Shadows in a set: a changed file that does not run, beside the version that does.

#include "unit/script_over_support.h"

static const struct text names[] = { TEXT("bravo") };
static struct over_world world;

static int open_world(void **state)
{
    (void)state;
    over_open(&world);
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-1\" }\n");
    over_add(&world, "alpha", "", "display_name = \"alpha-1\"");
    over_add(&world, "bravo", "local tool = require(\"tool\")", "display_name = \"bravo-1 \" .. tool.word");
    over_add(&world, "charlie", "", "display_name = \"charlie-1\"");
    over_load(&world);
    world.order.shadows = names;
    world.order.shadow_count = COUNT_OF(names);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    over_close(&world);
    return 0;
}

static const struct script_version *shadow_of(const struct script_set *set, const char *name)
{
    ptrdiff_t index = script_set_find_shadow(set, text_of(name));
    return index < 0 ? NULL : script_set_supplier_version(set, (size_t)index);
}

static void write_bravo(const char *word)
{
    char fields[128];
    snprintf(fields, sizeof fields, "display_name = \"bravo-%s \" .. tool.word", word);
    over_write_supplier(&world, "bravo", "local tool = require(\"tool\")", fields);
}

static void a_file_that_is_what_runs_has_no_shadow(void **state)
{
    (void)state;
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    assert_int_equal(script_set_shadow_count(world.set), 0);
    assert_int_equal(world.changes.count, 0);
    script_set_release(&before);
}

static void a_changed_file_is_a_shadow_and_what_ran_runs_on(void **state)
{
    (void)state;
    write_bravo("2");
    struct script_set *before = over_load(&world);
    assert_ptr_not_equal(world.set, before);
    assert_ptr_equal(over_version(world.set, "bravo"), over_version(before, "bravo"));
    assert_int_equal(script_set_supplier_count(world.set), 3);
    assert_int_equal(script_set_find_shadow(world.set, TEXT("bravo")), 3);
    assert_int_equal(script_set_find_shadow(world.set, TEXT("alpha")), -1);
    assert_true(text_equals_c(shadow_of(world.set, "bravo")->declared.display_name, "bravo-2 tool-1"));
    assert_true(text_equals_c(script_set_payer(world.set, 3), "bravo (shadow)"));
    assert_true(text_equals_c(script_set_payer(world.set, 1), "bravo"));
    assert_int_equal(world.changes.count, 1);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_SHADOW, "");
    const struct script_change *change = over_change(&world, SCRIPT_KIND_SUPPLIER, "bravo");
    assert_true(text_equals(change->running, over_version(world.set, "bravo")->label));
    assert_true(text_equals(change->on_disk, shadow_of(world.set, "bravo")->label));
    script_set_release(&before);
}

static void what_a_shadow_meets_is_counted_of_it_alone(void **state)
{
    struct script_trial trial;
    (void)state;
    script_set_note_trial(world.set, (struct script_id){ .index = 3 }, SCRIPT_ERROR, "it raised");
    assert_true(script_set_quarantine(world.set, (struct script_id){ .index = 3 }));
    script_set_trial(world.set, (struct script_id){ .index = 1 }, &trial);
    assert_int_equal(trial.errors, 0);
    assert_false(script_set_is_quarantined(world.set, (struct script_id){ .index = 1 }));
    assert_true(script_set_is_quarantined(world.set, (struct script_id){ .index = 3 }));
}

static void a_shadow_is_the_same_version_while_others_change(void **state)
{
    (void)state;
    over_write_supplier(&world, "alpha", "", "display_name = \"alpha-2\"");
    struct script_set *before = over_load(&world);
    assert_ptr_not_equal(world.set, before);
    assert_ptr_equal(shadow_of(world.set, "bravo"), shadow_of(before, "bravo"));
    script_set_release(&before);
    before = over_load(&world);
    assert_ptr_equal(world.set, before);
    script_set_release(&before);
}

static void a_set_with_another_version_keeps_the_shadows_and_one_made_again_does_not(void **state)
{
    struct script_set *made = NULL;
    (void)state;
    assert_int_equal(script_set_with(world.set, world.set, TEXT("alpha"), support_on_finding, &world.findings, &made),
                     STATUS_OK);
    assert_ptr_equal(shadow_of(made, "bravo"), shadow_of(world.set, "bravo"));
    script_set_release(&made);
    made = script_set_again(world.set);
    assert_int_equal(script_set_shadow_count(made), 0);
    script_set_release(&made);
}

static void a_shadow_with_a_finding_is_not_loaded(void **state)
{
    (void)state;
    over_write_supplier(&world, "bravo", "", "display_name = 3");
    over_load_on(&world);
    assert_int_equal(script_set_shadow_count(world.set), 0);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_KEPT, "display_name");
    assert_true(text_equals_c(over_version(world.set, "bravo")->declared.display_name, "bravo-1 tool-1"));
}

static void a_changed_module_makes_a_shadow_of_who_reaches_it(void **state)
{
    (void)state;
    write_bravo("1");
    over_load_on(&world);
    assert_int_equal(script_set_shadow_count(world.set), 0);
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-2\" }\n");
    over_load_on(&world);
    assert_true(text_equals_c(shadow_of(world.set, "bravo")->declared.display_name, "bravo-1 tool-2"));
    assert_true(text_equals_c(over_version(world.set, "bravo")->declared.display_name, "bravo-1 tool-1"));
}

static void a_shadow_that_is_to_run_begins_a_new_life(void **state)
{
    (void)state;
    write_bravo("3");
    over_load_on(&world);
    assert_true(script_set_quarantine(world.set, (struct script_id){ .index = 3 }));
    world.order.shadow_count = 0;
    struct script_set *before = over_load(&world);
    assert_int_equal(script_set_shadow_count(world.set), 0);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED, "");
    assert_memory_equal(over_version(world.set, "bravo")->digest, shadow_of(before, "bravo")->digest, SCRIPT_DIGEST);
    assert_false(script_set_is_quarantined(world.set, (struct script_id){ .index = 1 }));
    script_set_release(&before);
    world.order.shadow_count = COUNT_OF(names);
}

static void a_shadow_goes_with_its_supplier(void **state)
{
    (void)state;
    write_bravo("4");
    over_load_on(&world);
    assert_int_equal(script_set_shadow_count(world.set), 1);
    world.sources[1] = world.sources[2];
    world.count = 2;
    over_load_on(&world);
    assert_int_equal(script_set_find_supplier(world.set, TEXT("bravo")), -1);
    assert_int_equal(script_set_shadow_count(world.set), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_what_runs_has_no_shadow),
        cmocka_unit_test(a_changed_file_is_a_shadow_and_what_ran_runs_on),
        cmocka_unit_test(what_a_shadow_meets_is_counted_of_it_alone),
        cmocka_unit_test(a_shadow_is_the_same_version_while_others_change),
        cmocka_unit_test(a_set_with_another_version_keeps_the_shadows_and_one_made_again_does_not),
        cmocka_unit_test(a_shadow_with_a_finding_is_not_loaded),
        cmocka_unit_test(a_changed_module_makes_a_shadow_of_who_reaches_it),
        cmocka_unit_test(a_shadow_that_is_to_run_begins_a_new_life),
        cmocka_unit_test(a_shadow_goes_with_its_supplier),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
