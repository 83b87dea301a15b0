// Facets of an offer in hand: which values it has, each once, as numbers of the answer's table. Neighbours in an answer
// have mostly the same values, so the one seen last is tried before the table is asked.

#include "script/offers_walk.h"

#include <stdio.h>

static ptrdiff_t find_value(struct walk *walk, int8_t facet, struct text value, bool is_text)
{
    int32_t recent = walk->recent[facet];

    if (recent >= 0 && text_equals(walk->facets->values[recent].value, value)) {
        return recent;
    }
    return facet_table_find(walk->facets, walk->arena, (uint8_t)facet, value, is_text);
}

bool walk_mark(struct walk *walk, int8_t facet, struct text value, bool is_text)
{
    ptrdiff_t number = find_value(walk, facet, value, is_text);

    if (number < 0) {
        return true; // the table is full: the offer stays, its value is not counted
    }
    walk->recent[facet] = (int32_t)number;
    for (size_t i = 0; i < walk->mark_count; i++) {
        if (walk->marks[i] == number) {
            return true;
        }
    }
    if (walk->mark_count == FACET_MARKS_MAX) {
        return walk_failed(walk, "more than %d different values to filter by", FACET_MARKS_MAX);
    }
    walk->marks[walk->mark_count++] = (uint16_t)number;
    return true;
}

bool walk_mark_lists(struct walk *walk)
{
    char digits[24];

    for (size_t i = 0; i < walk->schema->facet_count; i++) {
        if (walk->longest[i] < 0) {
            continue;
        }
        int length = 1;
        digits[0] = (char)('0' + walk->longest[i] % 10);
        if (walk->longest[i] > 9) {
            length = snprintf(digits, sizeof digits, "%lld", (long long)walk->longest[i]);
        }
        if (!walk_mark(walk, (int8_t)i, (struct text){ digits, (size_t)length }, false)) {
            return false;
        }
    }
    return true;
}
