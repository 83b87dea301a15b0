// The accounts of shadows: what settings make of them, and whose fault it is when they make nothing.

#include "unit/app_generation_stage.h"

static const struct text names[] = { TEXT("acme") };

static enum status build_shadowed(void)
{
    return build_by((struct generation_order){ .shadows = names, .shadow_count = COUNT_OF(names) });
}

static const struct catalogue_supplier *acme(void)
{
    return &generation_catalogue(running)->suppliers[0];
}

static const struct script_version *shadow_of_acme(void)
{
    const struct script_set *set = generation_catalogue(running)->set;
    ptrdiff_t index = script_set_find_shadow(set, TEXT("acme"));
    return index < 0 ? NULL : script_set_supplier_version(set, (size_t)index);
}

static void a_shadow_has_the_accounts_of_its_supplier_with_its_own_options(void **state)
{
    (void)state;
    write_settings("suppliers:\n  acme: { accounts: { one: { when: { market: DE } }, two: {} } }\n");
    assert_builds();
    write_supplier("acme", "pages = 3", "", "return {}");
    assert_int_equal(build_shadowed(), STATUS_OK);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_SHADOW);
    assert_non_null(acme()->shadow);
    assert_int_equal(acme()->account_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(text_equals(acme()->account[i].name, acme()->shadow[i].name));
        assert_non_null(strstr(acme()->account[i].context.data, "\"pages\":2"));
        assert_non_null(strstr(acme()->shadow[i].context.data, "\"pages\":3"));
        assert_ptr_equal(script_set_supplier_version(generation_catalogue(running)->set, acme()->shadow[i].supplier),
                         shadow_of_acme());
        assert_int_equal(acme()->shadow[i].login, 0);
    }
    assert_null(generation_catalogue(running)->suppliers[1].shadow);
}

static void the_same_once_more_is_the_same_generation(void **state)
{
    struct generation *before = generation_acquire(running);
    (void)state;

    assert_int_equal(build_shadowed(), STATUS_OK);
    assert_ptr_equal(running, before);
    generation_release(&before);
}

static void a_secret_that_only_the_shadow_lacks_is_its_own_affair(void **state)
{
    (void)state;
    write_supplier("acme", "pages = 4", "secrets = { \"NO_SUCH_SECRET_HERE\" },", "return {}");
    assert_int_equal(build_shadowed(), STATUS_OK);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.message, "NO_SUCH_SECRET_HERE"));
    assert_null(acme()->shadow);
    assert_null(shadow_of_acme());
    assert_true(acme()->is_enabled);
    assert_int_equal(generation_missing_secrets(running, on_finding, NULL), 0);
}

static void a_look_up_that_only_the_shadow_makes_is_its_own_affair(void **state)
{
    (void)state;
    write_supplier("acme", "pages = 5", "", "return lookup(\"no_such_table\", \"x\") and {} or {}");
    assert_int_equal(build_shadowed(), STATUS_OK);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.message, "no_such_table"));
    assert_null(acme()->shadow);
}

static void an_option_that_the_shadow_does_not_know_is_its_own_affair(void **state)
{
    (void)state;
    write_supplier("acme", "pages = 2", "", "return {}");
    write_settings("suppliers:\n  acme: { accounts: { one: { options: { pages: 7 } } } }\n");
    assert_int_equal(build_shadowed(), STATUS_OK);
    write_supplier("acme", "sheets = 2", "", "return {}");
    assert_int_equal(build_shadowed(), STATUS_OK);
    assert_fate(SCRIPT_KIND_SUPPLIER, "acme", SCRIPT_KEPT);
    assert_non_null(strstr(change_of(SCRIPT_KIND_SUPPLIER, "acme")->because.message, "pages"));
    assert_non_null(strstr(acme()->account[0].context.data, "\"pages\":7"));
    write_supplier("acme", "pages = 2, sheets = 2", "", "return {}");
    assert_int_equal(build_shadowed(), STATUS_OK);
    assert_non_null(acme()->shadow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shadow_has_the_accounts_of_its_supplier_with_its_own_options),
        cmocka_unit_test(the_same_once_more_is_the_same_generation),
        cmocka_unit_test(a_secret_that_only_the_shadow_lacks_is_its_own_affair),
        cmocka_unit_test(a_look_up_that_only_the_shadow_makes_is_its_own_affair),
        cmocka_unit_test(an_option_that_the_shadow_does_not_know_is_its_own_affair),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
