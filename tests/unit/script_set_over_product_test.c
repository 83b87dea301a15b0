// A load over the set that runs, when what suppliers stand on changes: products and airports.

#include "unit/script_over_support.h"

static struct over_world world;

#define SEGMENT "segments = { colour = { \"red\", \"blue\" } }"
#define SELLS "sells = { colours = { \"red\" } }"

static int open_world(void **state)
{
    (void)state;
    over_open(&world);
    over_write_product(&world, "", SEGMENT);
    over_add(&world, "alpha", "", SELLS);
    over_add(&world, "bravo", "", "");
    over_load(&world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    over_close(&world);
    return 0;
}

static bool product_says(const char *word)
{
    return strstr(script_set_product_file(world.set, 0)->source.data, word) != NULL;
}

static void a_changed_product_moves_on_and_its_suppliers_stay_what_they_were(void **state)
{
    (void)state;
    over_write_product(&world, "{ \"size\", \"text\" },", "segments = { colour = { \"blue\", \"red\", \"green\" } }");
    struct script_set *before = over_load(&world);
    assert_true(product_says("size"));
    assert_int_equal(world.changes.count, 1);
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_CHANGED, "");
    // They were held against the new one, which changes nothing of what is known of them.
    assert_true(script_version_equals(over_version(world.set, "alpha"), over_version(before, "alpha")));
    assert_ptr_equal(over_version(world.set, "alpha")->life, over_version(before, "alpha")->life);
    assert_ptr_equal(script_set_drift(world.set, 0), script_set_drift(before, 0));
    script_set_release(&before);
    assert_int_equal(script_set_supplier(world.set, 0)->sells_count, 1);
    size_t count;
    assert_int_equal(script_set_segments(world.set, &count)[0].value_count, 3);
    assert_int_equal(count, 1);
}

static void a_broken_product_is_kept_while_suppliers_move_on(void **state)
{
    (void)state;
    over_write(&world, "scripts/products/shop.lua", "return { name = \"shop\", offer = 7, query = function() end }");
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    struct script_set *before = over_load(&world);
    assert_ptr_equal(script_set_product_version(world.set, 0), script_set_product_version(before, 0));
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_KEPT, "");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED, "");
    script_set_release(&before);
    over_write(&world, "scripts/products/shop.lua", "");
    before = over_load(&world);
    assert_ptr_equal(world.set, before);
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_KEPT, "is empty");
    script_set_release(&before);
}

static void a_product_that_breaks_a_supplier_is_kept_and_everything_else_moves_on(void **state)
{
    (void)state;
    over_write_product(&world, "{ \"size\", \"text\" },", "segments = { shape = { \"round\" } }"); // no colour
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    struct script_set *before = over_load(&world);
    assert_false(product_says("size"));
    assert_ptr_equal(script_set_product_version(world.set, 0), script_set_product_version(before, 0));
    assert_ptr_equal(over_version(world.set, "alpha"), over_version(before, "alpha"));
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_KEPT, "alpha does not go with it: ");
    assert_non_null(strstr(over_change(&world, SCRIPT_KIND_PRODUCT, "shop")->because.file, "alpha.lua"));
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED, "");
    assert_int_equal(world.changes.count, 2);
    script_set_release(&before);
    // The supplier follows: now the product does not break anybody.
    over_write_supplier(&world, "alpha", "", "sells = { shapes = { \"round\" } }");
    over_load_on(&world);
    assert_true(product_says("size"));
    assert_int_equal(world.changes.count, 2);
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_CHANGED, "");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_CHANGED, "");
}

static void a_product_and_a_broken_supplier_that_need_each_other_are_both_kept(void **state)
{
    (void)state;
    over_write_product(&world, "", "segments = { shape = { \"round\" } }");
    over_write_supplier(&world, "alpha", "leak = 1", "sells = { shapes = { \"round\" } }");
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_KEPT, "\"leak\" cannot be set");
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_KEPT, "alpha does not go with it");
    script_set_release(&before);
}

static void a_product_is_added_and_removed_but_not_while_somebody_needs_it(void **state)
{
    (void)state;
    over_write(
        &world, "scripts/products/pets.lua",
        "return { name = \"pets\", query = function() end, offer = { { \"id\", \"text\", required = true }, { "
        "\"price\", { { \"total\", \"money\", required = true }, { \"currency\", \"currency\", required = true } "
        "}, required = true }, { \"pet\", \"text\", item = true, key = true, required = true } }, item_prefix = "
        "\"pe\" }");
    over_load_on(&world);
    assert_int_equal(world.changes.count, 1);
    over_expect(&world, SCRIPT_KIND_PRODUCT, "pets", SCRIPT_ADDED, "");
    over_remove(&world, "scripts/products/shop.lua");
    over_remove(&world, "scripts/products/pets.lua");
    over_load_on(&world);
    assert_int_equal(script_set_product_count(world.set), 1);
    over_expect(&world, SCRIPT_KIND_PRODUCT, "pets", SCRIPT_REMOVED, "");
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_KEPT, "there is no product \"shop\"");
    assert_null(over_change(&world, SCRIPT_KIND_PRODUCT, "shop")->on_disk.data);
    world.count = 0;
    over_load_on(&world);
    assert_int_equal(script_set_product_count(world.set), 0);
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_REMOVED, "");
}

static void a_products_own_modules_are_its_own_in_the_checks_of_suppliers(void **state)
{
    (void)state;
    over_write(&world, "scripts/kinds.lua", "return { \"red\", \"blue\" }\n");
    over_write_product(&world, "", "segments = { colour = { unpack(require(\"kinds\")) } }");
    over_add(&world, "delta", "local kinds = require(\"kinds\")", "display_name = kinds[1]");
    over_load_on(&world);
    // The module goes on for delta, not for the product, which it would break: red is what alpha sells.
    over_write(&world, "scripts/kinds.lua", "return { \"blue\", \"green\" }\n");
    over_load_on(&world);
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_KEPT, "alpha does not go with it");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "delta", SCRIPT_CHANGED, "");
    assert_true(over_module_says(world.set, "delta", "kinds", "green"));
    assert_non_null(
        strstr(script_shelf_find(script_set_product_version(world.set, 0)->file.shelf, TEXT("kinds"))->file.source.data,
               "red"));
    assert_int_equal(script_set_supplier(world.set, 0)->sells_count, 1);
}

static void airports_that_changed_are_taken_and_broken_ones_are_not(void **state)
{
    (void)state;
    assert_null(script_set_places(world.set));
    over_write(&world, "scripts/data/airports.txt", "Europe/London LHR\n");
    over_load_on(&world);
    assert_int_equal(places_count(script_set_places(world.set)), 1);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "airports", SCRIPT_ADDED, "");
    over_write(&world, "scripts/data/airports.txt", "Europe/Nowhere LHR\n");
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "airports", SCRIPT_KEPT, "");
    script_set_release(&before);
    over_write(&world, "scripts/data/airports.txt", "Europe/London LHR LGW\n");
    before = over_load(&world);
    assert_int_equal(places_count(script_set_places(world.set)), 2);
    assert_int_equal(places_count(script_set_places(before)), 1);
    assert_ptr_equal(over_version(world.set, "alpha")->life, over_version(before, "alpha")->life);
    assert_int_equal(world.changes.count, 1);
    script_set_release(&before);
}

/// A product that asks for the zone of an airport, which its example names.
static void write_product_with_airport(void)
{
    over_write(&world, "scripts/products/shop.lua",
               "local function query() if time.zone(\"LGW\") == nil then return nil, { { "
               "pointer = \"/query/at\", code = \"unknown\", detail = \"x\" } } end\n return { product = \"shop\", "
               "currency = \"EUR\" } end\n"
               "return { name = \"shop\", item_prefix = \"th\", query = query, example = { at = \"LGW\" }, " SEGMENT
               ", offer = { { \"id\", \"text\", required = true }, { \"price\", { { \"total\", \"money\", required = "
               "true }, { \"currency\", \"currency\", required = true } }, required = true }, { \"thing\", \"text\", "
               "item = true, key = true, required = true } } }");
}

static void airports_that_break_a_product_are_kept(void **state)
{
    (void)state;
    over_write(&world, "scripts/data/airports.txt", "Europe/London LHR LGW\n");
    write_product_with_airport();
    over_load_on(&world);
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_CHANGED, "");
    over_write(&world, "scripts/data/airports.txt", "Europe/London LHR\n");
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "airports", SCRIPT_KEPT, "shop does not go with it: ");
    assert_int_equal(world.changes.count, 1);
    script_set_release(&before);
}

static void airports_whose_file_is_gone_are_kept_and_the_file_is_named(void **state)
{
    (void)state;
    over_write(&world, "scripts/data/airports.txt", "Europe/London LHR LGW\n");
    write_product_with_airport();
    over_load_on(&world);
    over_remove(&world, "scripts/data/airports.txt");
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    script_set_release(&before);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "airports", SCRIPT_KEPT, "cannot be read: No such file");
    const struct script_change *kept = over_change(&world, SCRIPT_KIND_SCRIPTS, "airports");
    assert_non_null(strstr(kept->because.file, "scripts/data/airports.txt"));
    assert_non_null(strstr(kept->because.help, "`shop` needs them"));
    assert_null(kept->on_disk.data);
    assert_true(text_starts_with(kept->running, TEXT("airports@")));
    // Those that are broken are on disk.
    over_write(&world, "scripts/data/airports.txt", "Europe/London LHR\n");
    over_load_on(&world);
    kept = over_change(&world, SCRIPT_KIND_SCRIPTS, "airports");
    assert_true(text_starts_with(kept->on_disk, TEXT("airports@")));
    assert_false(text_equals(kept->on_disk, kept->running));
    // Where nobody needs them they go.
    over_write_product(&world, "", SEGMENT);
    over_load_on(&world);
    over_remove(&world, "scripts/data/airports.txt");
    over_load_on(&world);
    over_expect(&world, SCRIPT_KIND_SCRIPTS, "airports", SCRIPT_REMOVED, "");
}

static bool refuses_products(void *context, enum script_kind kind, struct text name, const unsigned char *digest,
                             struct failure *because)
{
    (void)context, (void)name, (void)digest, (void)because;
    return kind == SCRIPT_KIND_PRODUCT;
}

static void a_product_that_runs_goes_on_though_it_is_refused(void **state)
{
    (void)state;
    world.order.refuses = refuses_products;
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    assert_int_equal(world.changes.count, 0);
    script_set_release(&before);
    over_write_product(&world, "{ \"size\", \"text\" },", SEGMENT);
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    over_load_on(&world);
    assert_false(product_says("size"));
    over_expect(&world, SCRIPT_KIND_PRODUCT, "shop", SCRIPT_KEPT, "shop was refused");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED, "");
}

static void an_older_supplier_is_held_against_the_product_of_today(void **state)
{
    struct script_set *mixed;
    struct script_set *first = script_set_acquire(world.set);

    (void)state;
    over_write_product(&world, "", "segments = { shape = { \"round\" } }");
    over_write_supplier(&world, "alpha", "", "sells = { shapes = { \"round\" } }");
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    over_load_on(&world);
    assert_int_equal(script_set_with(world.set, first, TEXT("alpha"), support_on_finding, &world.findings, &mixed),
                     STATUS_INVALID);
    assert_null(mixed);
    assert_non_null(strstr(world.findings.text, "`sells.colours` is no fact"));
    assert_int_equal(script_set_with(world.set, first, TEXT("bravo"), support_on_finding, &world.findings, &mixed),
                     STATUS_OK);
    assert_true(script_version_equals(over_version(mixed, "bravo"), over_version(first, "bravo")));
    assert_ptr_equal(over_version(mixed, "bravo")->life, over_version(first, "bravo")->life);
    assert_ptr_equal(over_version(mixed, "alpha"), over_version(world.set, "alpha"));
    script_set_release(&mixed);
    script_set_release(&first);
}

int main(void)
{
#define OVER(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)
    const struct CMUnitTest tests[] = {
        OVER(a_changed_product_moves_on_and_its_suppliers_stay_what_they_were),
        OVER(a_broken_product_is_kept_while_suppliers_move_on),
        OVER(a_product_that_breaks_a_supplier_is_kept_and_everything_else_moves_on),
        OVER(a_product_and_a_broken_supplier_that_need_each_other_are_both_kept),
        OVER(a_product_is_added_and_removed_but_not_while_somebody_needs_it),
        OVER(a_products_own_modules_are_its_own_in_the_checks_of_suppliers),
        OVER(a_product_that_runs_goes_on_though_it_is_refused),
        OVER(an_older_supplier_is_held_against_the_product_of_today),
        OVER(airports_that_changed_are_taken_and_broken_ones_are_not),
        OVER(airports_that_break_a_product_are_kept),
        OVER(airports_whose_file_is_gone_are_kept_and_the_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
