// A look-up hashes the cells of the key, walks the slots from there (linear probing, at most half of them are taken)
// and compares the key with the one in the first row that has it: the file itself is the store of the keys.

#include "base/data_table_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool pages_map(struct pages *pages, size_t size)
{
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *pages = data == MAP_FAILED ? (struct pages){ 0 } : (struct pages){ data, size };
    return data != MAP_FAILED;
}

void pages_unmap(struct pages *pages)
{
    if (pages->data != NULL) {
        munmap(pages->data, pages->size);
        *pages = (struct pages){ 0 };
    }
}

void pages_protect(const struct pages *pages)
{
    (void)mprotect(pages->data, pages->size, PROT_READ); // a guard only: without it nothing writes either
}

void data_load_find(struct data_load *load, size_t line, size_t column, const char *help, const char *format, ...)
{
    char message[sizeof(((struct failure *)0)->message)];
    struct failure failure = { 0 };
    va_list arguments;

    load->findings++;
    if (load->findings > DATA_FINDINGS_MAX) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    failure_code(&failure, CODE_DATA_FILE);
    failure_set(&failure, "%s", message);
    failure_help(&failure, "%s", help);
    failure_at(&failure, load->options->path, (uint32_t)line, (uint32_t)column);
    load->report(load->context, &failure);
}

static void data_load_tell_rest(struct data_load *load)
{
    struct failure failure = { 0 };

    if (load->findings <= DATA_FINDINGS_MAX) {
        return;
    }
    failure_code(&failure, CODE_DATA_FILE);
    failure_set(&failure, "%zu more findings in this file are not shown", load->findings - DATA_FINDINGS_MAX);
    failure_at(&failure, load->options->path, 0, 0);
    load->report(load->context, &failure);
}

static void data_table_free(struct data_table *table)
{
    if (table != NULL) {
        pages_unmap(&table->bytes);
        pages_unmap(&table->index);
        free(table);
    }
}

enum status data_table_load(const struct data_table_options *options, data_table_finding report, void *context,
                            struct data_table **table)
{
    struct data_table *made = calloc(1, sizeof(*made));
    struct data_load load = { .table = made, .options = options, .report = report, .context = context };
    enum status status = made == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    *table = NULL;
    if (status == STATUS_OK) {
        status = data_load_bytes(&load);
    }
    if (status == STATUS_OK && load.findings == 0) {
        status = data_load_lines(&load);
    }
    if (status == STATUS_OK && load.findings == 0) {
        status = data_load_index(&load);
    }
    pages_unmap(&load.lines);
    data_load_tell_rest(&load);
    if (status == STATUS_OK && load.findings > 0) {
        status = STATUS_INVALID;
    }
    if (status != STATUS_OK) {
        data_table_free(made);
        return status;
    }
    pages_protect(&made->bytes);
    atomic_init(&made->references, 1);
    *table = made;
    return STATUS_OK;
}

struct data_table *data_table_acquire(struct data_table *table)
{
    if (table != NULL) {
        atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
    }
    return table;
}

void data_table_release(struct data_table **table)
{
    struct data_table *released = *table;
    *table = NULL;
    if (released != NULL && atomic_fetch_sub_explicit(&released->references, 1, memory_order_acq_rel) == 1) {
        data_table_free(released);
    }
}

uint64_t data_table_digest(const struct data_table *table)
{
    uint64_t digest = text_hash_on(0, (struct text){ table->bytes.data, table->length });

    for (size_t i = 0; i < table->key_part_count; i++) {
        digest = text_hash_on(digest, table->key_names[i]);
    }
    return digest;
}

struct data_table_stats data_table_stats(const struct data_table *table)
{
    return (struct data_table_stats){ .rows = table->row_count,
                                      .keys = table->key_count,
                                      .repeated = table->repeated,
                                      .most = table->most,
                                      .bytes = sizeof(*table) + table->bytes.size + table->index.size };
}

const struct text *data_table_keys(const struct data_table *table, size_t *count)
{
    *count = table->key_part_count;
    return table->key_names;
}

const struct text *data_table_values(const struct data_table *table, size_t *count)
{
    *count = table->value_count;
    return table->values;
}

/// The cell that begins at `at`; moves `at` behind its tab or line feed.
static struct text take_cell(const struct data_table *table, size_t *at)
{
    const char *begin = table->bytes.data + *at;
    const char *end = begin;

    while (*end != '\t' && *end != '\n') {
        end++;
    }
    *at += (size_t)(end - begin) + 1;
    return (struct text){ begin, (size_t)(end - begin) };
}

void data_table_key_cells(const struct data_table *table, uint32_t line, struct text *cells)
{
    size_t at = line;

    for (size_t column = 0; column <= table->last_key; column++) {
        struct text cell = take_cell(table, &at);
        for (size_t i = 0; i < table->key_part_count; i++) {
            if (table->keys[i] == column) {
                cells[i] = cell;
            }
        }
    }
}

uint32_t data_table_hash(const struct text *cells, size_t count)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ text_hash(cells[i])) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return (uint32_t)(hash >> 32);
}

static bool is_key_of(const struct data_table *table, uint32_t line, const struct text *key)
{
    struct text cells[DATA_KEYS_MAX] = { 0 };
    bool is_equal = true;

    data_table_key_cells(table, line, cells);
    for (size_t i = 0; i < table->key_part_count && is_equal; i++) {
        is_equal = text_equals(cells[i], key[i]);
    }
    return is_equal;
}

uint32_t data_table_probe(const struct data_table *table, const struct text *key, uint32_t hash)
{
    uint32_t at = hash & table->slot_mask;

    for (;; at = (at + 1) & table->slot_mask) {
        const struct data_slot *slot = &table->slots[at];
        if (slot->key == 0 ||
            (slot->hash == hash && is_key_of(table, table->rows[table->starts[slot->key - 1]], key))) {
            return at;
        }
    }
}

bool data_table_find(const struct data_table *table, const struct text *key, struct data_rows *rows)
{
    const struct data_slot *slot =
        &table->slots[data_table_probe(table, key, data_table_hash(key, table->key_part_count))];

    if (slot->key == 0) {
        return false;
    }
    uint32_t start = table->starts[slot->key - 1];
    *rows = (struct data_rows){ table->rows + start, table->starts[slot->key] - start };
    return true;
}

void data_table_cells(const struct data_table *table, const struct data_rows *rows, size_t index, struct text *cells)
{
    size_t at = rows->places[index];
    size_t found = 0;

    require(index < rows->count);
    for (size_t column = 0; found < table->value_count; column++) {
        struct text cell = take_cell(table, &at);
        if (table->value_columns[found] == column) {
            cells[found++] = cell;
        }
    }
}
