#include "model/facet.h"

#include <string.h>

enum { CAPACITY_FIRST = 32 };

bool facet_table_open(struct facet_table *table, struct arena *arena, const struct text *names, size_t count)
{
    require(count <= FACETS_MAX);
    *table = (struct facet_table){ .name_count = count };
    for (size_t i = 0; i < count; i++) {
        text_map_init(&table->index[i]);
        table->names[i] = arena_copy(arena, names[i]);
        if (table->names[i].data == NULL) {
            return false;
        }
    }
    return true;
}

static bool has_room(struct facet_table *table, struct arena *arena)
{
    if (table->value_count < table->capacity) {
        return true;
    }
    size_t capacity = table->capacity == 0 ? CAPACITY_FIRST : 2 * table->capacity;
    struct facet_value *grown =
        capacity <= FACET_VALUES_MAX ? arena_alloc_array(arena, capacity, sizeof(*grown)) : NULL;
    if (grown == NULL) {
        return false;
    }
    if (table->value_count > 0) {
        memcpy(grown, table->values, table->value_count * sizeof(*grown));
    }
    table->values = grown;
    table->capacity = capacity;
    return true;
}

ptrdiff_t facet_table_find(struct facet_table *table, struct arena *arena, uint8_t facet, struct text value,
                           bool is_text)
{
    const struct text_map_slot *known = text_map_find(&table->index[facet], value);

    if (known != NULL) {
        return known->number;
    }
    struct text copy = arena_copy(arena, value);
    if (copy.data == NULL || !has_room(table, arena)) {
        return -1;
    }
    struct text_map_slot *slot = text_map_insert(&table->index[facet], copy);
    if (slot == NULL) {
        return -1;
    }
    slot->number = (uint32_t)table->value_count;
    table->values[table->value_count] =
        (struct facet_value){ .value = copy, .lowest_micros = INT64_MAX, .facet = facet, .is_text = is_text };
    return (ptrdiff_t)table->value_count++;
}

void facet_table_close(struct facet_table *table)
{
    for (size_t i = 0; i < table->name_count; i++) {
        text_map_fini(&table->index[i]);
    }
}
