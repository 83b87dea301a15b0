// The file is read to the size that it had when it was opened, and asked again at the end: whoever writes it meanwhile
// is found out. Lines are counted first, so that the list of their offsets has its right length at once.

#include "base/data_table_parts.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DATA_PIECE = 64 * 1024 };

// ---- bytes

static void find_unreadable(struct data_load *load, int error)
{
    char words[128];
    data_load_find(load, 0, 0, "a path that does not begin with / counts from the working directory",
                   "the table cannot be read: %s", strerror_r(error, words, sizeof(words)));
}

static bool is_same_file(const struct stat *before, const struct stat *after)
{
    return before->st_size == after->st_size && before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == after->st_mtim.tv_nsec && before->st_ctim.tv_sec == after->st_ctim.tv_sec &&
           before->st_ctim.tv_nsec == after->st_ctim.tv_nsec;
}

/// Fills the pages; returns how much there was, or reports.
static size_t read_all(struct data_load *load, int fd, size_t size)
{
    size_t length = 0;

    while (length < size) {
        ssize_t got = read(fd, load->table->bytes.data + length, size - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            find_unreadable(load, errno);
        }
        if (got <= 0) {
            break;
        }
        length += (size_t)got;
    }
    return length;
}

static enum status read_open(struct data_load *load, int fd)
{
    struct stat before;
    struct stat after;

    if (fstat(fd, &before) != 0) {
        find_unreadable(load, errno);
        return STATUS_OK;
    }
    if (!S_ISREG(before.st_mode)) {
        data_load_find(load, 0, 0, "name a file of tab-separated values", "the table is not a regular file");
        return STATUS_OK;
    }
    if (before.st_size == 0) {
        data_load_find(load, 0, 0, "the first line names the columns, separated by tabs", "the file is empty");
        return STATUS_OK;
    }
    if (before.st_size > DATA_FILE_MAX) {
        data_load_find(load, 0, 0, "split it, or leave out columns that no script reads",
                       "the file is larger than %d MiB", DATA_FILE_MAX >> 20);
        return STATUS_OK;
    }
    size_t size = (size_t)before.st_size;
    if (!pages_map(&load->table->bytes, size)) {
        return STATUS_NO_MEMORY;
    }
    size_t length = read_all(load, fd, size);
    if (load->findings == 0 && (length < size || fstat(fd, &after) != 0 || !is_same_file(&before, &after))) {
        data_load_find(load, 0, 0, "write a new file beside it, then rename it over this one",
                       "the file changed while it was read");
    }
    load->table->length = length;
    return STATUS_OK;
}

enum status data_load_bytes(struct data_load *load)
{
    // A pipe must not make us wait for whoever writes into it.
    int fd = open(load->options->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        find_unreadable(load, errno);
        return STATUS_OK;
    }
    enum status status = read_open(load, fd);
    close(fd);
    return status;
}

// ---- is it still the same?

static bool has_same_keys(const struct data_table *table, const struct data_table_options *options)
{
    bool is_same = table->key_part_count == options->key_count;

    for (size_t i = 0; i < options->key_count && is_same; i++) {
        is_same = text_equals(table->key_names[i], options->keys[i]);
    }
    return is_same;
}

/// Reads on until the bytes differ, or both end.
static bool has_same_bytes(const struct data_table *table, int fd)
{
    char piece[DATA_PIECE];
    size_t length = 0;

    for (;;) {
        ssize_t got = read(fd, piece, sizeof(piece));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got == 0 && length == table->length;
        }
        if ((size_t)got > table->length - length || memcmp(piece, table->bytes.data + length, (size_t)got) != 0) {
            return false;
        }
        length += (size_t)got;
    }
}

bool data_table_is_current(const struct data_table *table, const struct data_table_options *options)
{
    struct stat info;

    if (!has_same_keys(table, options)) {
        return false;
    }
    int fd = open(options->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    bool is_current = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (size_t)info.st_size == table->length &&
                      has_same_bytes(table, fd);
    close(fd);
    return is_current;
}

// ---- the header

static bool is_column_name(struct text name)
{
    bool is_good = name.length > 0 && name.length <= DATA_NAME_MAX && !(name.data[0] >= '0' && name.data[0] <= '9');

    for (size_t i = 0; i < name.length && is_good; i++) {
        char byte = name.data[i];
        is_good =
            (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_';
    }
    return is_good;
}

static size_t column_of(const struct data_table *table, struct text name)
{
    size_t column = 0;

    while (column < table->column_count && !text_equals(table->columns[column], name)) {
        column++;
    }
    return column;
}

static void take_column(struct data_load *load, struct text name)
{
    struct data_table *table = load->table;
    char shown[DATA_NAME_MAX + 1];

    if (!is_column_name(name)) {
        data_load_find(load, 1, 0, "letters, digits and _, beginning with no digit, at most 64 of them",
                       "column %zu has a name that no script can write", table->column_count + 1);
    } else if (column_of(table, name) < table->column_count) {
        snprintf(shown, sizeof(shown), "%.*s", TEXT_ARGS(name));
        data_load_find(load, 1, 0, "give each column a name of its own", "two columns are called `%s`", shown);
    }
    table->columns[table->column_count++] = name;
}

static void find_key_missing(struct data_load *load, struct text key)
{
    const struct data_table *table = load->table;
    const struct data_table_options *options = load->options;
    char names[DATA_COLUMNS_MAX][DATA_NAME_MAX + 1];
    const char *candidates[DATA_COLUMNS_MAX];
    struct failure failure = { 0 };

    for (size_t i = 0; i < table->column_count; i++) {
        size_t length = table->columns[i].length < DATA_NAME_MAX ? table->columns[i].length : DATA_NAME_MAX;
        memcpy(names[i], table->columns[i].data, length);
        names[i][length] = 0;
        candidates[i] = names[i];
    }
    const char *nearest = text_nearest(key, candidates, table->column_count);
    load->findings++;
    failure_code(&failure, CODE_DATA_FILE);
    failure_set(&failure, "the key names `%.*s`, but %s has no such column", TEXT_ARGS(key), options->path);
    failure_help(&failure, nearest == NULL ? "its first line names the columns%s" : "did you mean `%s`?",
                 nearest == NULL ? "" : nearest);
    failure_at(&failure, options->keys_file == NULL ? options->path : options->keys_file, options->keys_line,
               options->keys_column);
    load->report(load->context, &failure);
}

static void choose_keys(struct data_load *load)
{
    struct data_table *table = load->table;
    const struct data_table_options *options = load->options;
    bool is_key[DATA_COLUMNS_MAX] = { false };

    require(options->key_count > 0 && options->key_count <= DATA_KEYS_MAX);
    for (size_t i = 0; i < options->key_count; i++) {
        size_t column = column_of(table, options->keys[i]);
        if (column == table->column_count) {
            find_key_missing(load, options->keys[i]);
            continue;
        }
        table->key_names[table->key_part_count] = table->columns[column];
        table->keys[table->key_part_count++] = (uint8_t)column;
        table->last_key = column > table->last_key ? column : table->last_key;
        is_key[column] = true;
    }
    for (size_t column = 0; column < table->column_count; column++) {
        if (!is_key[column]) {
            table->values[table->value_count] = table->columns[column];
            table->value_columns[table->value_count++] = (uint8_t)column;
        }
    }
}

static void read_header(struct data_load *load, struct text line)
{
    struct text rest = line;

    if (text_starts_with(line, TEXT("\xEF\xBB\xBF"))) {
        data_load_find(load, 1, 0, "save it as UTF-8 without it", "the file begins with a byte-order mark");
        return;
    }
    while (rest.data != NULL && load->table->column_count < DATA_COLUMNS_MAX) {
        take_column(load, text_split(rest, '\t', &rest));
    }
    if (rest.data != NULL) {
        data_load_find(load, 1, 0, "leave out those that no script reads", "there are more than %d columns",
                       DATA_COLUMNS_MAX);
    }
    if (load->findings == 0) {
        choose_keys(load);
    }
}

// ---- the lines

/// Counts the tabs; reports bytes that no cell may hold. False: they were reported.
static bool check_bytes(struct data_load *load, struct text line, size_t number, size_t *tabs)
{
    *tabs = 0;
    for (size_t i = 0; i < line.length; i++) {
        unsigned char byte = (unsigned char)line.data[i];
        if (byte == '\t') {
            (*tabs)++;
        } else if (byte == '\r' && i + 1 == line.length) {
            data_load_find(load, number, 0, "convert the file to line feeds alone, as with `sed -i 's/\\r$//'`",
                           "the line ends with a carriage return");
            return false;
        } else if (byte < 0x20 || byte == 0x7F) {
            data_load_find(load, number, i + 1, "cells are plain text, without quoting or escapes",
                           "a control character, byte %u", byte);
            return false;
        }
    }
    if (!text_is_utf8(line)) {
        size_t i = 0;
        for (size_t length = 1; i < line.length && length > 0; i += length) {
            length = utf8_length(line.data + i, line.length - i);
        }
        data_load_find(load, number, i + 1, "convert the file to UTF-8, as with `iconv -t UTF-8`",
                       "bytes that are not UTF-8");
        return false;
    }
    return true;
}

static void check_line(struct data_load *load, struct text line, size_t number)
{
    const struct data_table *table = load->table;
    struct text cells[DATA_KEYS_MAX];
    size_t tabs;

    if (line.length == 0) {
        data_load_find(load, number, 0, "delete it", "the line is empty");
        return;
    }
    if (line.length > DATA_LINE_MAX) {
        data_load_find(load, number, 0, "", "the line is longer than %d KiB", DATA_LINE_MAX >> 10);
        return;
    }
    if (!check_bytes(load, line, number, &tabs)) {
        return;
    }
    if (tabs + 1 != table->column_count) {
        data_load_find(load, number, 0, "cells are separated by one tab each, an empty cell has nothing between two",
                       "the line has %zu cells, but the first line names %zu columns", tabs + 1, table->column_count);
        return;
    }
    data_table_key_cells(table, (uint32_t)(line.data - table->bytes.data), cells);
    for (size_t i = 0; i < table->key_part_count; i++) {
        if (cells[i].length == 0) {
            data_load_find(load, number, 0, "fill it, or delete the line", "`%.*s` is empty, and it is part of the key",
                           TEXT_ARGS(table->columns[table->keys[i]]));
        }
    }
}

static size_t count_lines(struct text bytes)
{
    size_t count = 0;
    const char *at = bytes.data;
    const char *end = bytes.data + bytes.length;

    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        count++;
        at++;
    }
    return count;
}

enum status data_load_lines(struct data_load *load)
{
    struct text rest = { load->table->bytes.data, load->table->length };
    size_t count = count_lines(rest);
    size_t number = 1;

    if (rest.data[rest.length - 1] != '\n') {
        data_load_find(load, count + 1, 0, "write the file anew; if it is whole, end it with a line feed",
                       "the last line has no end: the file may have been cut");
        return STATUS_OK;
    }
    if (!pages_map(&load->lines, (count + 1) * sizeof(uint32_t))) {
        return STATUS_NO_MEMORY;
    }
    uint32_t *lines = (uint32_t *)(void *)load->lines.data;
    struct text header = text_split(rest, '\n', &rest);
    size_t tabs;
    if (check_bytes(load, header, 1, &tabs)) {
        read_header(load, header);
    }
    bool has_columns = load->findings == 0;
    for (; has_columns && rest.length > 0; number++) {
        struct text line = text_split(rest, '\n', &rest);
        check_line(load, line, number + 1);
        lines[load->row_count++] = (uint32_t)(line.data - load->table->bytes.data);
    }
    if (has_columns && load->row_count == 0) {
        data_load_find(load, 1, 0, "every look-up would miss: write the rows, or take the table out of `data`",
                       "the table has no rows");
    }
    return STATUS_OK;
}
