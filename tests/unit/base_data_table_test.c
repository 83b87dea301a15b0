#include "base/data_table.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { KEPT_MAX = 32 };

struct found {
    struct failure kept[KEPT_MAX];
    size_t count;
};

static void keep(void *context, const struct failure *failure)
{
    struct found *found = context;
    if (found->count < KEPT_MAX) {
        found->kept[found->count] = *failure;
    }
    found->count++;
}

static char path[] = "/tmp/data_table_test.XXXXXX";

static void write_bytes(const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static enum status load_keys(struct found *found, const char *first, const char *second, struct data_table **table)
{
    struct text keys[] = { text_of(first), text_of(second) };
    struct data_table_options options = {
        .path = path, .keys = keys, .key_count = second == NULL ? 1 : 2, .keys_file = "site.yaml", .keys_line = 7
    };
    *found = (struct found){ 0 };
    return data_table_load(&options, keep, found, table);
}

/// Loads a table that must be good.
static struct data_table *load_good(const char *bytes, const char *first, const char *second)
{
    struct found found;
    struct data_table *table = NULL;
    write_bytes(bytes, strlen(bytes));
    enum status status = load_keys(&found, first, second, &table);
    if (found.count > 0) {
        print_message("line %u: %s\n", found.kept[0].line, found.kept[0].message);
    }
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(found.count, 0);
    assert_non_null(table);
    return table;
}

/// The bytes make exactly one finding, at that line, which says `words`.
static void refuses_bytes(const char *bytes, size_t length, uint32_t line, const char *words)
{
    struct found found;
    struct data_table *table = NULL;
    write_bytes(bytes, length);
    assert_int_equal(load_keys(&found, "supplier", NULL, &table), STATUS_INVALID);
    assert_null(table);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.kept[0].line, line);
    if (strstr(found.kept[0].message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, found.kept[0].message);
    }
    assert_true(found.kept[0].help[0] != 0);
}

static void refuses(const char *bytes, uint32_t line, const char *words)
{
    refuses_bytes(bytes, strlen(bytes), line, words);
}

static void expect_rows(const struct data_table *table, const char *first, const char *second, size_t column,
                        const char *const *values, size_t count)
{
    struct text key[] = { text_of(first), text_of(second) };
    struct data_rows rows;
    assert_true(data_table_find(table, key, &rows));
    assert_int_equal(rows.count, count);
    for (size_t i = 0; i < count; i++) {
        struct text cells[DATA_COLUMNS_MAX];
        data_table_cells(table, &rows, i, cells);
        assert_true(text_equals_c(cells[column], values[i]));
    }
}

static void a_key_gives_its_rows_in_the_order_of_the_file(void **state)
{
    (void)state;
    struct data_table *table = load_good("supplier\tproperty\tcity\thotel\n"
                                         "expedia\tp1\tLON\th1\n"
                                         "expedia\tp2\tPAR\th2\n"
                                         "acme\tp1\tLON\th1\n"
                                         "expedia\tp3\tLON\t\n",
                                         "supplier", "city");
    size_t count;
    const struct text *values = data_table_values(table, &count);
    assert_int_equal(count, 2);
    assert_true(text_equals_c(values[0], "property"));
    assert_true(text_equals_c(values[1], "hotel"));
    expect_rows(table, "expedia", "LON", 0, (const char *[]){ "p1", "p3" }, 2);
    expect_rows(table, "expedia", "LON", 1, (const char *[]){ "h1", "" }, 2);
    expect_rows(table, "acme", "LON", 0, (const char *[]){ "p1" }, 1);

    struct data_table_stats stats = data_table_stats(table);
    assert_int_equal(stats.rows, 4);
    assert_int_equal(stats.keys, 3);
    assert_int_equal(stats.repeated, 1);
    assert_int_equal(stats.most, 2);
    assert_true(stats.bytes > 100);
    data_table_release(&table);
    assert_null(table);
}

static void the_key_has_the_order_of_the_settings_not_of_the_file(void **state)
{
    (void)state;
    struct data_table *table = load_good("city\thotel\tsupplier\nLON\th1\tacme\n", "supplier", "city");
    expect_rows(table, "acme", "LON", 0, (const char *[]){ "h1" }, 1);
    assert_false(data_table_find(table, (struct text[]){ TEXT("LON"), TEXT("acme") }, &(struct data_rows){ 0 }));
    data_table_release(&table);
}

static void a_key_that_is_not_there_is_not_found(void **state)
{
    (void)state;
    struct data_table *table = load_good("supplier\tcity\tid\nab\tc\t1\n", "supplier", "city");
    const char *const misses[][2] = { { "a", "bc" }, { "abc", "" },   { "", "" },
                                      { "ab", "C" }, { "ab\tc", "" }, { "ab", "c\n" } };
    for (size_t i = 0; i < COUNT_OF(misses); i++) {
        struct text key[] = { text_of(misses[i][0]), text_of(misses[i][1]) };
        assert_false(data_table_find(table, key, &(struct data_rows){ 0 }));
    }
    data_table_release(&table);
}

static void a_table_may_be_all_key(void **state)
{
    (void)state;
    struct data_table *table = load_good("supplier\nacme\nexpedia\n", "supplier", NULL);
    size_t count;
    (void)data_table_values(table, &count);
    assert_int_equal(count, 0);
    struct data_rows rows;
    assert_true(data_table_find(table, (struct text[]){ TEXT("expedia") }, &rows));
    assert_int_equal(rows.count, 1);
    data_table_cells(table, &rows, 0, NULL); // fills nothing
    data_table_release(&table);
}

static void every_key_of_a_big_table_is_found(void **state)
{
    (void)state;
    enum { KEYS = 50000, SIZE = 4 << 20 };
    char *bytes = malloc(SIZE);
    size_t length = (size_t)sprintf(bytes, "supplier\tid\n");
    for (int i = 0; i < 2 * KEYS; i++) {
        length += (size_t)sprintf(bytes + length, "s%d\t%d\n", i % KEYS, i);
    }
    struct data_table *table = load_good(bytes, "supplier", NULL);
    assert_int_equal(data_table_stats(table).keys, KEYS);
    assert_int_equal(data_table_stats(table).rows, 2 * KEYS);
    for (int i = 0; i < KEYS; i++) {
        char name[16], first[16], second[16];
        snprintf(name, sizeof(name), "s%d", i);
        snprintf(first, sizeof(first), "%d", i);
        snprintf(second, sizeof(second), "%d", i + KEYS);
        expect_rows(table, name, NULL, 0, (const char *[]){ first, second }, 2);
    }
    data_table_release(&table);
    free(bytes);
}

static void a_key_may_have_ten_thousand_rows_and_no_more(void **state)
{
    (void)state;
    char *bytes = malloc(1 << 20);
    for (int extra = 0; extra < 2; extra++) {
        size_t length = (size_t)sprintf(bytes, "supplier\tid\nother\t1\n");
        for (int i = 0; i < DATA_ROWS_PER_KEY + extra; i++) {
            length += (size_t)sprintf(bytes + length, "acme\t%d\n", i);
        }
        if (extra == 0) {
            struct data_table *table = load_good(bytes, "supplier", NULL);
            assert_int_equal(data_table_stats(table).most, DATA_ROWS_PER_KEY);
            data_table_release(&table);
        } else {
            refuses_bytes(bytes, length, DATA_ROWS_PER_KEY + 3, "more than 10000 rows");
        }
    }
    free(bytes);
}

static void a_bad_header_is_refused(void **state)
{
    (void)state;
    refuses("", 0, "is empty");
    refuses("\n", 1, "no script can write");
    refuses("supplier\t\tid\n", 1, "column 2 has a name that no script can write");
    refuses("supplier\t2nd\n", 1, "column 2 has a name");
    refuses("supplier\thotel id\n", 1, "column 2 has a name");
    refuses("supplier\tid\tid\n", 1, "two columns are called `id`");
    refuses("\xEF\xBB\xBFsupplier\tid\na\t1\n", 1, "byte-order mark");
    refuses("supplier\tid\n", 1, "no rows");
    refuses("supplier\r\na\r\n", 1, "carriage return");
}

static void a_bad_line_is_refused_with_its_number(void **state)
{
    (void)state;
    refuses("supplier\tid\na\t1\nb\n", 3, "1 cells, but the first line names 2 columns");
    refuses("supplier\tid\na\t1\t2\n", 2, "3 cells");
    refuses("supplier\tid\na\t1\n\nb\t2\n", 3, "is empty");
    refuses("supplier\tid\n\t1\n", 2, "`supplier` is empty");
    refuses("supplier\tid\na\t\xC3\n", 2, "not UTF-8");
    refuses("supplier\tid\na\tcaf\xE9s\n", 2, "not UTF-8");
    refuses("supplier\tid\na\t1\r\nb\t2\n", 2, "carriage return");
    refuses("supplier\tid\na\t1\x07\n", 2, "control character, byte 7");
    refuses_bytes("supplier\tid\na\t\0\nb\t2\n", 20, 2, "control character, byte 0");
}

static void a_file_without_a_last_line_feed_may_have_been_cut(void **state)
{
    (void)state;
    refuses("supplier\tid\na\t1\nb\t2", 3, "may have been cut");
    refuses("supplier\tid", 1, "may have been cut");
}

static void a_line_longer_than_64_kib_is_refused(void **state)
{
    (void)state;
    char *bytes = malloc(DATA_LINE_MAX + 64);
    size_t length = (size_t)sprintf(bytes, "supplier\tid\na\t");
    memset(bytes + length, 'x', DATA_LINE_MAX);
    length += DATA_LINE_MAX;
    bytes[length++] = '\n';
    write_bytes(bytes, length);
    struct found found;
    struct data_table *table;
    assert_int_equal(load_keys(&found, "supplier", NULL, &table), STATUS_INVALID);
    assert_non_null(strstr(found.kept[0].message, "longer than 64 KiB"));
    free(bytes);
}

static void all_findings_are_told_up_to_a_cap(void **state)
{
    (void)state;
    char bytes[4096] = "supplier\tid\n";
    size_t length = strlen(bytes);
    struct found found;
    struct data_table *table = NULL;
    for (int i = 0; i < 3; i++) {
        length += (size_t)sprintf(bytes + length, "bad\n");
    }
    write_bytes(bytes, length);
    assert_int_equal(load_keys(&found, "supplier", NULL, &table), STATUS_INVALID);
    assert_int_equal(found.count, 3);
    assert_int_equal(found.kept[2].line, 4);
    for (int i = 3; i < 25; i++) {
        length += (size_t)sprintf(bytes + length, "bad\n");
    }
    write_bytes(bytes, length);
    assert_int_equal(load_keys(&found, "supplier", NULL, &table), STATUS_INVALID);
    assert_int_equal(found.count, DATA_FINDINGS_MAX + 1);
    assert_non_null(strstr(found.kept[DATA_FINDINGS_MAX].message, "5 more"));
}

static void a_key_column_that_is_missing_is_told_where_it_was_chosen(void **state)
{
    (void)state;
    struct found found;
    struct data_table *table = NULL;
    write_bytes("supplier\tcity\na\tb\n", 18);
    assert_int_equal(load_keys(&found, "suplier", "nowhere", &table), STATUS_INVALID);
    assert_int_equal(found.count, 2);
    assert_string_equal(found.kept[0].file, "site.yaml");
    assert_int_equal(found.kept[0].line, 7);
    assert_string_equal(found.kept[0].help, "did you mean `supplier`?");
    assert_non_null(strstr(found.kept[1].message, "`nowhere`"));
}

static void what_is_no_file_is_a_finding(void **state)
{
    (void)state;
    struct found found;
    struct data_table *table = NULL;
    unlink(path);
    assert_int_equal(load_keys(&found, "supplier", NULL, &table), STATUS_INVALID);
    assert_non_null(strstr(found.kept[0].message, "No such file"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(load_keys(&found, "supplier", NULL, &table), STATUS_INVALID);
    assert_non_null(strstr(found.kept[0].message, "not a regular file"));
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(load_keys(&found, "supplier", NULL, &table), STATUS_INVALID);
    assert_non_null(strstr(found.kept[0].message, "not a regular file"));
    assert_int_equal(rmdir(path), 0);
}

static void a_file_that_is_cut_or_overwritten_later_changes_nothing(void **state)
{
    (void)state;
    struct data_table *table = load_good("supplier\tid\nacme\t1\n", "supplier", NULL);
    write_bytes("x", 1);
    assert_int_equal(truncate(path, 0), 0);
    expect_rows(table, "acme", NULL, 0, (const char *[]){ "1" }, 1);
    data_table_release(&table);
}

static void a_table_is_current_while_its_file_says_the_same_to_the_last_byte(void **state)
{
    enum { BIG = 200000 };
    static const char LINE[] = "acme\t1\n";
    struct text keys[] = { TEXT("supplier"), TEXT("id") };
    struct data_table_options options = { .path = path, .keys = keys, .key_count = 1 };
    (void)state;
    char *bytes = calloc(1, BIG); // more than is compared at once
    assert_non_null(bytes);
    size_t length = (size_t)snprintf(bytes, BIG, "supplier\tid\n");
    for (int i = 0; i < 9999; i++, length += sizeof(LINE) - 1) {
        memcpy(bytes + length, LINE, sizeof(LINE) - 1);
    }
    struct data_table *table = load_good(bytes, "supplier", NULL);
    assert_true(data_table_is_current(table, &options));
    options.key_count = 2;
    assert_false(data_table_is_current(table, &options));
    options.key_count = 1;
    bytes[length - 2] = '2';
    write_bytes(bytes, length);
    assert_false(data_table_is_current(table, &options));
    bytes[length - 2] = '1';
    write_bytes(bytes, length - (sizeof(LINE) - 1)); // shorter by a line
    assert_false(data_table_is_current(table, &options));
    write_bytes(bytes, length);
    assert_true(data_table_is_current(table, &options));
    options.path = "/tmp";
    assert_false(data_table_is_current(table, &options));
    options.path = "/nowhere/table.tsv";
    assert_false(data_table_is_current(table, &options));
    struct data_table *held = data_table_acquire(table);
    data_table_release(&table);
    assert_int_equal(data_table_stats(held).rows, 9999);
    data_table_release(&held);
    free(bytes);
}

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    close(fd);
    return fd < 0 ? -1 : 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_gives_its_rows_in_the_order_of_the_file),
        cmocka_unit_test(the_key_has_the_order_of_the_settings_not_of_the_file),
        cmocka_unit_test(a_key_that_is_not_there_is_not_found),
        cmocka_unit_test(a_table_may_be_all_key),
        cmocka_unit_test(every_key_of_a_big_table_is_found),
        cmocka_unit_test(a_key_may_have_ten_thousand_rows_and_no_more),
        cmocka_unit_test(a_bad_header_is_refused),
        cmocka_unit_test(a_bad_line_is_refused_with_its_number),
        cmocka_unit_test(a_file_without_a_last_line_feed_may_have_been_cut),
        cmocka_unit_test(a_line_longer_than_64_kib_is_refused),
        cmocka_unit_test(all_findings_are_told_up_to_a_cap),
        cmocka_unit_test(a_key_column_that_is_missing_is_told_where_it_was_chosen),
        cmocka_unit_test(what_is_no_file_is_a_finding),
        cmocka_unit_test(a_file_that_is_cut_or_overwritten_later_changes_nothing),
        cmocka_unit_test(a_table_is_current_while_its_file_says_the_same_to_the_last_byte),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
