/// Data table parts: what reading, indexing and finding share.
///
/// Threads: as data_table.h.
/// Memory:  the table owns its pages; helpers of a load own theirs until it ends.
#pragma once

#include "base/data_table.h"

#include <stdatomic.h>

/// Memory from the system, zeroed; what was never touched costs nothing.
struct pages {
    char *data; // NULL: none
    size_t size;
};

/// False: no memory.
MUST_CHECK bool pages_map(struct pages *pages, size_t size);
void pages_unmap(struct pages *pages);
/// From now on a write is a crash of the writer, not a wrong table.
void pages_protect(const struct pages *pages);

/// Where a look-up begins to search; `key` is one above the key's number, 0: empty.
struct data_slot {
    uint32_t key;
    uint32_t hash;
};

struct data_table {
    atomic_uint references;
    struct pages bytes; // the file
    size_t length;
    struct pages index; // slots, starts and rows behind each other
    const struct data_slot *slots;
    uint32_t slot_mask;
    const uint32_t *starts; // by key: its first place in `rows`; one more at the end
    const uint32_t *rows;   // offsets of lines, grouped by key
    size_t row_count, key_count;
    size_t repeated, most;

    struct text columns[DATA_COLUMNS_MAX]; // within `bytes`
    size_t column_count;
    uint8_t keys[DATA_KEYS_MAX]; // columns of the key
    struct text key_names[DATA_KEYS_MAX];
    size_t key_part_count;
    struct text values[DATA_COLUMNS_MAX]; // names of the other columns
    uint8_t value_columns[DATA_COLUMNS_MAX];
    size_t value_count;
    size_t last_key; // no column of the key is behind it
};

/// A load in progress.
struct data_load {
    struct data_table *table;
    const struct data_table_options *options;
    data_table_finding report;
    void *context;
    size_t findings;
    struct pages lines; // uint32_t: the offset of each row
    uint32_t row_count;
};

/// Reports a finding at a line of the table's file (0: none) unless there were many; always counts it.
void data_load_find(struct data_load *load, size_t line, size_t column, const char *help, const char *format, ...)
    PRINTF_LIKE(5, 6);

/// Reads the file into `table->bytes`; what goes wrong with the file is a finding.
MUST_CHECK enum status data_load_bytes(struct data_load *load);

/// Checks header and lines; fills columns, `lines` and `row_count`.
MUST_CHECK enum status data_load_lines(struct data_load *load);

/// Builds the index over rows that were checked.
MUST_CHECK enum status data_load_index(struct data_load *load);

/// The cells of the key of the line that begins at `line`.
void data_table_key_cells(const struct data_table *table, uint32_t line, struct text *cells);
uint32_t data_table_hash(const struct text *cells, size_t count);

/// The number of the slot of that key, or of the empty one where it belongs. While the index is built, `starts` and
/// `rows` tell each key's first row only; that is all this needs.
uint32_t data_table_probe(const struct data_table *table, const struct text *key, uint32_t hash);
