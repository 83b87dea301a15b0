// Any bytes as a table: it is loaded or refused with findings, and in a loaded one each row is found by its own key, as
// often as it is there.
#include "base/data_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_finding(void *context, const struct failure *failure)
{
    size_t *findings = context;
    require(failure->message[0] != 0);
    (*findings)++;
}

static const char *make_file(const uint8_t *data, size_t size)
{
    static char path[64];
    if (path[0] == 0) {
        snprintf(path, sizeof(path), "/dev/shm/fuzz_data_table.%d", getpid());
    }
    FILE *file = fopen(path, "w");
    require(file != NULL);
    require(fwrite(data, 1, size, file) == size);
    require(fclose(file) == 0);
    return path;
}

/// Walks the bytes on its own: the key is the first column, so the rows that it gives can be counted by hand.
static void check_rows(const struct data_table *table, struct text rest)
{
    size_t rows = 0;
    size_t values;
    (void)data_table_values(table, &values);
    (void)text_split(rest, '\n', &rest);
    while (rest.length > 0) {
        struct text line = text_split(rest, '\n', &rest);
        struct text tail;
        struct text key = text_split(line, '\t', &tail);
        struct text cells[DATA_COLUMNS_MAX];
        struct data_rows found;
        bool is_there = false;
        require(data_table_find(table, &key, &found));
        for (size_t i = 0; i < found.count && !is_there; i++) {
            data_table_cells(table, &found, i, cells);
            is_there = values == 0 || cells[0].data == tail.data ||
                       text_equals(cells[0], text_split(tail, '\t', &(struct text){ 0 }));
        }
        require(is_there);
        rows++;
    }
    struct data_table_stats stats = data_table_stats(table);
    require(stats.rows == rows && stats.keys <= rows && stats.most <= rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text bytes = { (const char *)data, size };
    struct text rest;
    struct text header = text_split(bytes, '\n', &rest);
    struct text key = text_split(header, '\t', &rest);
    struct data_table_options options = { .path = make_file(data, size), .keys = &key, .key_count = 1 };
    struct data_table *table;
    size_t findings = 0;

    if (key.length == 0 || key.length > 200) {
        key = TEXT("key");
    }
    enum status status = data_table_load(&options, on_finding, &findings, &table);
    require(status == STATUS_OK ? findings == 0 : findings > 0);
    if (status == STATUS_OK) {
        require(text_is_utf8(bytes));
        check_rows(table, bytes);
        require(!data_table_find(table, &(struct text){ "\t", 1 }, &(struct data_rows){ 0 }));
    }
    data_table_release(&table);
    unlink(options.path);
    return 0;
}
