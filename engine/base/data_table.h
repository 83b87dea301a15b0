/// Data table: rows of text by key, read whole and checked from a file of tab-separated values.
///
/// The first line names the columns. Some of them are the key; a look-up gives the rows that have it, in the order of
/// the file. Strict, because a table that was cut or torn would only show as missing rows: each line has a cell for
/// each column and ends with a line feed, bytes are UTF-8 without control characters, and a key is never empty. The
/// file is copied, not mapped: a mapped file that somebody shortens kills its readers with SIGBUS, and one that is
/// overwritten in place changes under them.
///
/// Threads: loaded by one, read by all; acquire and release from any.
/// Memory:  counted; owns two read-only mappings: the bytes of the file, and an index of 4 bytes a row and at most 36 a
/// key.
#pragma once

#include "base/status.h"
#include "base/text.h"

enum {
    DATA_COLUMNS_MAX = 64,
    DATA_KEYS_MAX = 8,          // columns of a key
    DATA_NAME_MAX = 64,         // bytes of a column's name
    DATA_LINE_MAX = 64 * 1024,  // bytes of a line
    DATA_ROWS_PER_KEY = 10000,  // what a look-up gives at most
    DATA_FILE_MAX = 1024 << 20, // bytes
    DATA_FINDINGS_MAX = 20,     // reported one by one; the others are counted
};

struct data_table;

struct data_table_options {
    const char *path;
    const struct text *keys; // the columns of the key, in the order of look-ups
    size_t key_count;
    const char *keys_file; // where the keys were chosen, for findings; NULL: nowhere
    uint32_t keys_line, keys_column;
};

/// One finding of a load; file, line and remedy in `failure`.
typedef void (*data_table_finding)(void *context, const struct failure *failure);

/// On any finding the result is STATUS_INVALID and `*table` NULL. What is behind the path decides, not its time of day:
/// a file that changes while it is read is a finding too.
MUST_CHECK enum status data_table_load(const struct data_table_options *options, data_table_finding report,
                                       void *context, struct data_table **table);
struct data_table *data_table_acquire(struct data_table *table); // NULL gives NULL
void data_table_release(struct data_table **table);

/// Would a load by these options give the same table? Compares the keys, then the file with the bytes that the table
/// has, a piece at a time. Reports nothing: false also when the file cannot be read.
MUST_CHECK bool data_table_is_current(const struct data_table *table, const struct data_table_options *options);

/// A number that stands for its key and its bytes: other content has another. It reads them all.
uint64_t data_table_digest(const struct data_table *table);

struct data_table_stats {
    size_t rows;
    size_t keys;     // different ones
    size_t repeated; // keys with more than one row
    size_t most;     // rows of the key that has most
    size_t bytes;    // of memory
};
struct data_table_stats data_table_stats(const struct data_table *table);

/// The names of the columns of the key, in the order of look-ups, and of the others, in the order of the file.
/// They live as long as the table.
const struct text *data_table_keys(const struct data_table *table, size_t *count);
const struct text *data_table_values(const struct data_table *table, size_t *count);

/// The rows of one key.
struct data_rows {
    const uint32_t *places;
    size_t count; // 1 to DATA_ROWS_PER_KEY
};

/// `key` has a text for each column of the key. False: there is no such row.
MUST_CHECK bool data_table_find(const struct data_table *table, const struct text *key, struct data_rows *rows);

/// Fills the cells of the value columns of one row; room for DATA_COLUMNS_MAX is enough.
void data_table_cells(const struct data_table *table, const struct data_rows *rows, size_t index, struct text *cells);
