#include "model/data_set.h"
#include "script/rates.h"
#include "unit/app_generation_stage.h"

#include <time.h>

static const char HOTELS[] = "supplier\tid\tname\nacme\tx\tInn\nacme\ty\tRoyal\n";
static const char RATES[] = "{ \"id\": \"one\", \"as_of\": \"2026-11-29T15:00:00Z\", \"base\": \"EUR\", "
                            "\"rates\": { \"USD\": 1.08 } }\n";

static void declare(void)
{
    char more[4 * PATH_SIZE];
    snprintf(more, sizeof more,
             "data: { hotels: { file: %s/hotels.tsv, key: [supplier, id] } }\nfx: { file: %s/rates.json }\n", folder,
             folder);
    write_settings(more);
}

static int set_up_tables(void **state)
{
    (void)set_up(state);
    write_as("hotels.tsv", HOTELS);
    write_as("rates.json", RATES);
    declare();
    assert_builds();
    return 0;
}

// Reads a cell of the table that the generation has, whatever became of its file.
static void assert_name(const struct generation *generation, const char *id, const char *name)
{
    const struct data_set *data = generation_catalogue(generation)->data;
    const struct text key[] = { TEXT("acme"), text_of(id) };
    struct text cells[DATA_COLUMNS_MAX];
    struct data_rows rows;
    ptrdiff_t index = data_set_find(data, TEXT("hotels"));
    assert_true(index >= 0);
    assert_true(data_table_find(data_set_table(data, (size_t)index), key, &rows));
    data_table_cells(data_set_table(data, (size_t)index), &rows, 0, cells);
    assert_true(text_equals_c(cells[0], name));
}

static void the_same_content_is_the_same_table(void **state)
{
    (void)state;
    struct generation *before = running;
    assert_int_equal(remove(path_of("hotels.tsv")), 0);
    write_as("hotels.tsv", HOTELS);
    write_as("rates.json", RATES);
    assert_builds();
    assert_ptr_equal(running, before);
    // Another setting: a new generation with the same tables.
    declare();
    FILE *file = fopen(path_of("lastcall.yaml"), "a");
    assert_non_null(file);
    assert_true(fputs("deadline: { default: 1s }\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_builds();
    assert_ptr_not_equal(running, before);
    assert_ptr_equal(generation_catalogue(running)->data, generation_catalogue(before)->data);
    assert_ptr_equal(generation_catalogue(running)->rates, generation_catalogue(before)->rates);
}

static void other_content_is_another_table_whose_counts_go_on(void **state)
{
    (void)state;
    data_set_note_hit(generation_catalogue(running)->data, 0);
    write_as("hotels.tsv", "supplier\tid\tname\nacme\tx\tPalace\n");
    write_as("rates.json",
             "{ \"id\": \"two\", \"as_of\": \"2026-11-29T15:00:00Z\", \"base\": \"EUR\", \"rates\": {} }\n");
    assert_builds();
    assert_fate(SCRIPT_KIND_TABLE, "hotels", SCRIPT_CHANGED);
    assert_fate(SCRIPT_KIND_RATES, "fx", SCRIPT_CHANGED);
    assert_name(running, "x", "Palace");
    assert_name(previous, "x", "Inn");
    data_set_note_hit(generation_catalogue(previous)->data, 0); // a search that is still on it
    assert_int_equal(data_set_hits(generation_catalogue(running)->data, 0), 2);
    assert_ptr_equal(generation_catalogue(running)->set, generation_catalogue(previous)->set);
}

static void a_table_that_cannot_be_read_is_kept(void **state)
{
    static const char *const TORN[] = { "", "supplier\tid\tname\nacme\tx",
                                        "supplier\tid\tname\nacme\tx\tInn\textra\n" };
    (void)state;
    struct generation *before = running;
    for (size_t i = 0; i < COUNT_OF(TORN); i++) {
        write_as("hotels.tsv", TORN[i]); // in place: the file that the table came from
        assert_builds();
        assert_ptr_equal(running, before);
        assert_fate(SCRIPT_KIND_TABLE, "hotels", SCRIPT_KEPT);
        assert_true(change_of(SCRIPT_KIND_TABLE, "hotels")->because.message[0] != '\0');
        assert_name(running, "y", "Royal");
    }
    assert_int_equal(remove(path_of("hotels.tsv")), 0);
    assert_int_equal(remove(path_of("rates.json")), 0);
    assert_builds();
    assert_ptr_equal(running, before);
    assert_fate(SCRIPT_KIND_TABLE, "hotels", SCRIPT_KEPT);
    assert_fate(SCRIPT_KIND_RATES, "fx", SCRIPT_KEPT);
    assert_name(running, "y", "Royal");
    // Beside it, what did change moves on.
    write_supplier("acme", "pages = 3", "", "return {}");
    assert_builds();
    assert_ptr_not_equal(running, before);
    assert_name(running, "y", "Royal");
    assert_true(text_equals_c(rates_id(generation_catalogue(running)->rates), "one"));
}

static void write_rates(const char *id, time_t as_of)
{
    char text[256], when[32];
    struct tm parts;
    assert_non_null(gmtime_r(&as_of, &parts));
    assert_int_equal(strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts), 20);
    snprintf(text, sizeof text, "{ \"id\": \"%s\", \"as_of\": \"%s\", \"base\": \"EUR\", \"rates\": {} }\n", id, when);
    write_as("rates.json", text);
}

static void assert_rates(const char *id)
{
    assert_true(text_equals_c(rates_id(generation_catalogue(running)->rates), id));
}

static void rates_that_convert_nothing_do_not_take_the_place_of_better_ones(void **state)
{
    enum { DAY = 86400 };
    const time_t now = time(NULL);
    (void)state;
    write_rates("good", now);
    assert_builds();
    const time_t wrong[] = { 1000000000, now - 20 * DAY, now + 20 * DAY };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct generation *before = running;
        write_rates("wrong", wrong[i]);
        assert_builds();
        assert_ptr_equal(running, before);
        assert_fate(SCRIPT_KIND_RATES, "fx", SCRIPT_KEPT);
        const struct failure *because = &change_of(SCRIPT_KIND_RATES, "fx")->because;
        assert_non_null(strstr(because->file, "rates.json"));
        assert_non_null(strstr(because->message, "`fx.max_age`"));
        assert_found("the rates are of ");
    }
    // Older, but of an age that is allowed, is what the operator wants.
    write_rates("older", now - DAY);
    assert_builds();
    assert_fate(SCRIPT_KIND_RATES, "fx", SCRIPT_CHANGED);
    assert_rates("older");
}

static void of_two_tables_that_are_too_old_the_newer_one_runs(void **state)
{
    const time_t long_ago = 1000000000;
    (void)state;
    generation_release(&running); // at a start anything that can be read is taken
    write_rates("old", long_ago);
    assert_builds();
    assert_rates("old");
    write_rates("older", long_ago - 1);
    assert_builds();
    assert_fate(SCRIPT_KIND_RATES, "fx", SCRIPT_KEPT);
    assert_rates("old");
    write_rates("newer", long_ago + 1);
    assert_builds();
    assert_fate(SCRIPT_KIND_RATES, "fx", SCRIPT_CHANGED);
    assert_rates("newer");
}

static void other_settings_of_a_table_that_cannot_be_read_refuse_the_whole(void **state)
{
    char more[2 * PATH_SIZE];
    (void)state;
    write_as("hotels.tsv", "");
    snprintf(more, sizeof more, "data: { hotels: { file: %s/hotels.tsv, key: [id] } }\n", folder);
    write_settings(more);
    assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
    assert_found("the file is empty");
    // A key that the table does not have is the settings' fault also when its file is as it was.
    write_as("hotels.tsv", HOTELS);
    snprintf(more, sizeof more, "data: { hotels: { file: %s/hotels.tsv, key: [ident] } }\n", folder);
    write_settings(more);
    assert_int_equal(build_by((struct generation_order){ 0 }), STATUS_INVALID);
    assert_found("no such column");
}

static void a_key_of_other_columns_is_another_table(void **state)
{
    char more[2 * PATH_SIZE];
    (void)state;
    snprintf(more, sizeof more, "data: { hotels: { file: %s/hotels.tsv, key: [id] } }\n", folder);
    write_settings(more);
    assert_builds();
    const struct text key[] = { TEXT("x") };
    struct data_rows rows;
    assert_true(data_table_find(data_set_table(generation_catalogue(running)->data, 0), key, &rows));
    assert_null(generation_catalogue(running)->rates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_content_is_the_same_table, set_up_tables, tear_down),
        cmocka_unit_test_setup_teardown(other_content_is_another_table_whose_counts_go_on, set_up_tables, tear_down),
        cmocka_unit_test_setup_teardown(a_table_that_cannot_be_read_is_kept, set_up_tables, tear_down),
        cmocka_unit_test_setup_teardown(other_settings_of_a_table_that_cannot_be_read_refuse_the_whole, set_up_tables,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rates_that_convert_nothing_do_not_take_the_place_of_better_ones, set_up_tables,
                                        tear_down),
        cmocka_unit_test_setup_teardown(of_two_tables_that_are_too_old_the_newer_one_runs, set_up_tables, tear_down),
        cmocka_unit_test_setup_teardown(a_key_of_other_columns_is_another_table, set_up_tables, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
