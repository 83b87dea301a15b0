#include "script/plan_where.h"

#include <stdio.h>

struct where {
    const struct plan_row *row;
    char *place;
    size_t size, length;
};

static void tell_text(struct where *where, const char *mark, struct text text)
{
    size_t room = where->size - where->length;
    int added = snprintf(where->place + where->length, room, "%s%.*s", mark, TEXT_ARGS(text));

    where->length += added < 0 ? 0 : (size_t)added < room ? (size_t)added : room - 1;
}

static void tell_number(struct where *where, long number)
{
    char digits[32];

    (void)snprintf(digits, sizeof digits, "[%ld]", number);
    tell_text(where, "", text_of(digits));
}

/// The declaration that it leads to.
static void tell_steps(struct where *where, const struct declared *from, const struct plan_path *path)
{
    for (uint32_t i = 0; i < path->count && from != NULL; i++) {
        const struct plan_step *step = &path->steps[i];
        if (step->index != 0) {
            tell_number(where, step->index);
            from = from->element;
        } else if (step->place < from->member_count) {
            from = from->members[step->place];
            tell_text(where, ".", from->name);
        } else {
            return;
        }
    }
}

static const struct declared *element_of(const struct plan *plan, uint32_t level)
{
    return level == 0 ? plan->root : plan->levels[level].element;
}

static void tell_level(struct where *where, uint32_t level)
{
    const struct plan *plan = where->row->plan;
    uint32_t chain[PLAN_LEVELS_MAX];
    uint32_t depth = 0;

    for (; level != 0 && depth < PLAN_LEVELS_MAX; level = plan->levels[level].list.level) {
        const struct plan_keys *keys = plan->levels[level].keys;
        level = keys != NULL ? keys->level : level;
        chain[depth++] = level; // a reference's list begins elsewhere than the reference
    }
    tell_text(where, "body", TEXT(""));
    while (depth > 0) {
        const struct plan_level *at = &plan->levels[chain[--depth]];
        tell_steps(where, element_of(plan, at->list.level), &at->list);
        uint32_t node = where->row->at[chain[depth]];
        if (at->is_self) {
            continue;
        }
        if (at->is_map && node > 1) {
            tell_text(where, ".", where->row->tape->nodes[node - 1].text);
        } else {
            tell_number(where, (long)plan_row_number(where->row, chain[depth]));
        }
    }
}

bool plan_where(const struct plan_row *row, int number, char *place, size_t size)
{
    const struct plan_node *node = row->calling;
    struct where where = { .row = row, .place = place, .size = size };

    place[0] = '\0';
    if (node == NULL || number < 1) {
        return false;
    }
    if (node->field_count == 0) {
        tell_level(&where, node->level);
        return number == 1;
    }
    if ((size_t)number > node->field_count || node->fields[number - 1]->op != PLAN_PATH ||
        node->fields[number - 1]->path.is_key) {
        return false;
    }
    plan_where_path(row, &node->fields[number - 1]->path, place, size);
    return true;
}

void plan_where_path(const struct plan_row *row, const struct plan_path *path, char *place, size_t size)
{
    struct where where = { .row = row, .place = place, .size = size };

    place[0] = '\0';
    tell_level(&where, path->level);
    tell_steps(&where, element_of(row->plan, path->level), path);
}
