// Two passes over the rows: the first gives each different key a number, the second groups the rows by that number, in
// the order of the file. Helpers live in pages of their own, which go back to the system at the end.

#include "base/data_table_parts.h"

#include <string.h>

enum { SLOTS_LEAST = 64 };

struct index_work {
    struct data_load *load;
    struct pages slots, firsts, counts, keys; // firsts and counts by key, keys by row
    uint32_t *first, *count, *key_of_row;
    uint32_t key_count;
};

static struct data_slot *slots_of(const struct index_work *work)
{
    return (struct data_slot *)(void *)work->slots.data;
}

/// Twice as many slots; each goes where its hash says.
static bool grow_slots(struct index_work *work)
{
    struct data_table *table = work->load->table;
    struct pages old = work->slots;
    size_t old_count = old.size / sizeof(struct data_slot);
    size_t count = old.data == NULL ? SLOTS_LEAST : old_count * 2;

    if (!pages_map(&work->slots, count * sizeof(struct data_slot))) {
        work->slots = old;
        return false;
    }
    struct data_slot *slots = slots_of(work);
    const struct data_slot *before = (const struct data_slot *)(const void *)old.data;
    uint32_t mask = (uint32_t)(count - 1);
    for (size_t i = 0; old.data != NULL && i < old_count; i++) {
        uint32_t at = before[i].hash & mask;
        while (before[i].key != 0 && slots[at].key != 0) {
            at = (at + 1) & mask;
        }
        slots[at] = before[i].key != 0 ? before[i] : slots[at];
    }
    pages_unmap(&old);
    table->slots = slots;
    table->slot_mask = mask;
    return true;
}

static void find_too_many(struct index_work *work, uint32_t row)
{
    data_load_find(work->load, (size_t)row + 2, 0, "a finer key, with one more column, gives shorter lists",
                   "the key of this line has more than %d rows", DATA_ROWS_PER_KEY);
}

/// Gives the row its key's number.
static enum status number_row(struct index_work *work, uint32_t row)
{
    const struct data_table *table = work->load->table;
    struct text cells[DATA_KEYS_MAX];

    data_table_key_cells(table, table->rows[row], cells);
    uint32_t hash = data_table_hash(cells, table->key_part_count);
    uint32_t at = data_table_probe(table, cells, hash);
    struct data_slot *slot = &slots_of(work)[at];
    if (slot->key == 0) {
        work->first[work->key_count++] = row;
        *slot = (struct data_slot){ work->key_count, hash };
        work->key_of_row[row] = work->key_count - 1;
        work->count[work->key_count - 1] = 1;
        return work->key_count <= table->slot_mask / 2 || grow_slots(work) ? STATUS_OK : STATUS_NO_MEMORY;
    }
    uint32_t key = slot->key - 1;
    work->key_of_row[row] = key;
    if (++work->count[key] == DATA_ROWS_PER_KEY + 1) {
        find_too_many(work, row);
    }
    return STATUS_OK;
}

static enum status number_rows(struct index_work *work)
{
    struct data_table *table = work->load->table;
    size_t rows = work->load->row_count;

    if (!pages_map(&work->firsts, rows * sizeof(uint32_t)) || !pages_map(&work->counts, rows * sizeof(uint32_t)) ||
        !pages_map(&work->keys, rows * sizeof(uint32_t)) || !grow_slots(work)) {
        return STATUS_NO_MEMORY;
    }
    work->first = (uint32_t *)(void *)work->firsts.data;
    work->count = (uint32_t *)(void *)work->counts.data;
    work->key_of_row = (uint32_t *)(void *)work->keys.data;
    table->rows = (const uint32_t *)(const void *)work->load->lines.data; // until the index has its own
    table->starts = work->first;
    enum status status = STATUS_OK;
    for (uint32_t row = 0; row < work->load->row_count && status == STATUS_OK; row++) {
        status = number_row(work, row);
    }
    return status;
}

/// The keys' counts become their places; `count` is used up.
static void group_rows(struct index_work *work, uint32_t *starts, uint32_t *rows)
{
    struct data_table *table = work->load->table;
    uint32_t next = 0;

    for (uint32_t key = 0; key < work->key_count; key++) {
        uint32_t count = work->count[key];
        starts[key] = next;
        work->count[key] = next; // where its next row goes
        next += count;
        table->repeated += count > 1;
        table->most = count > table->most ? count : table->most;
    }
    starts[work->key_count] = next;
    for (uint32_t row = 0; row < work->load->row_count; row++) {
        rows[work->count[work->key_of_row[row]]++] = table->rows[row];
    }
}

static enum status finish(struct index_work *work)
{
    struct data_table *table = work->load->table;
    size_t slot_bytes = work->slots.size;
    size_t start_bytes = ((size_t)work->key_count + 1) * sizeof(uint32_t);

    if (!pages_map(&table->index, slot_bytes + start_bytes + work->load->row_count * sizeof(uint32_t))) {
        return STATUS_NO_MEMORY;
    }
    memcpy(table->index.data, work->slots.data, slot_bytes);
    uint32_t *starts = (uint32_t *)(void *)(table->index.data + slot_bytes);
    uint32_t *rows = (uint32_t *)(void *)(table->index.data + slot_bytes + start_bytes);
    group_rows(work, starts, rows);
    table->slots = (const struct data_slot *)(const void *)table->index.data;
    table->starts = starts;
    table->rows = rows;
    table->row_count = work->load->row_count;
    table->key_count = work->key_count;
    pages_protect(&table->index);
    return STATUS_OK;
}

enum status data_load_index(struct data_load *load)
{
    struct index_work work = { .load = load };
    enum status status = number_rows(&work);

    if (status == STATUS_OK && load->findings == 0) {
        status = finish(&work);
    }
    pages_unmap(&work.slots);
    pages_unmap(&work.firsts);
    pages_unmap(&work.counts);
    pages_unmap(&work.keys);
    return status;
}
