// The levels of a plan over a document: stepping through lists and maps, following references and paths.

#include "script/plan_keys.h"
#include "script/plan_read.h"

#include "script/sandbox.h"

#include <lauxlib.h>
#include <string.h>

enum { REFERENCES_PLAIN = 16 }; // so many elements are looked through one by one

void plan_row_init(struct plan_row *row, lua_State *L, const struct plan *plan, struct tape *tape, int kept)
{
    luaL_checkstack(L, PLAN_LEVELS_MAX + 8, "the plan has too many levels");
    memset(row->at, 0, sizeof row->at);
    memset(row->has_table, 0, sizeof row->has_table);
    memset(row->found, 0, sizeof row->found);
    memset(row->mask, 0, sizeof row->mask);
    memset(row->based, 0, sizeof row->based);
    memset(row->room, 0, sizeof row->room);
    tape->slot_count = 0;
    row->dangling = NULL;
    row->search = 0;
    row->tables = lua_gettop(L) + 1;
    lua_settop(L, lua_gettop(L) + (int)plan->level_count + 1);
    row->argument = NULL;
    row->calling = NULL;
    row->drop = NULL;
    row->has_failed = false;
    row->L = L;
    row->plan = plan;
    row->tape = tape;
    row->kept = kept;
    row->at[0] = 1;
    row->scratch_used = 0;
}

void plan_row_renew(struct plan_row *row)
{
    row->dangling = NULL;
    row->unmapped = NULL;
    row->unasked = NULL;
    row->has_failed = false;
    row->scratch_used = 0;
}

void plan_row_note_failed(struct plan_row *row)
{
    if (!row->has_failed) {
        memcpy(row->failed_at, row->at, sizeof row->failed_at);
        row->has_failed = true;
    }
}

bool plan_is_name(const struct tape_node *node)
{
    return node != NULL && (node->kind == TAPE_TEXT || node->kind == TAPE_NUMBER ||
                            (node->kind == TAPE_OBJECT && node->text.data != NULL)); // an element of XML with a text
}

bool plan_is_list_of(const struct plan_level *level, const struct tape_node *node)
{
    if (level->is_self) {
        return node != NULL && node->kind != TAPE_NONE && node->kind != TAPE_NULL;
    }
    return node != NULL && node->kind == (level->is_map ? TAPE_MAP : TAPE_LIST);
}

/// The value of the first element; of a map it stands behind its key. 0: there is none.
static uint32_t first_value(const struct plan_level *level, const struct tape_node *list)
{
    bool has_any = plan_is_list_of(level, list) && list->first != 0;
    return has_any ? list->first + (level->is_map ? 1 : 0) : 0;
}

static uint32_t next_value(const struct plan_row *row, const struct plan_level *level, uint32_t at)
{
    uint32_t next = row->tape->nodes[at - (level->is_map ? 1 : 0)].next;
    return next != 0 && level->is_map ? next + 1 : next;
}

/// Is the element at `at` called so?
static bool is_called(struct plan_row *row, uint32_t level, uint32_t at, struct text name)
{
    row->at[level] = at;
    const struct tape_node *key = plan_find(row, &row->plan->levels[level].key);
    return plan_is_name(key) && text_equals(key->text, name);
}

/// The slot in which an element of that name is, or would be.
static uint32_t *find_slot(struct plan_row *row, uint32_t level, struct text name)
{
    uint32_t *slots = &row->tape->slots[row->slots[level]];
    uint32_t slot = (uint32_t)(text_hash_on(0, name) >> 7) & row->mask[level];

    while (slots[slot] != 0 && !is_called(row, level, slots[slot], name)) {
        slot = (slot + 1) & row->mask[level];
    }
    return &slots[slot];
}

/// An open hash of names to elements, of equal names to the first. Without memory there is none.
static void index_elements(struct plan_row *row, uint32_t level, const struct tape_node *list)
{
    const struct plan_level *this = &row->plan->levels[level];
    uint32_t size = 4;

    while (size < list->count * 2) {
        size *= 2;
    }
    if (!tape_take_slots(row->tape, size, &row->slots[level])) {
        return;
    }
    row->mask[level] = size - 1;
    for (uint32_t at = first_value(this, list); at != 0; at = next_value(row, this, at)) {
        row->at[level] = at;
        sandbox_stop_here(row->L);
        const struct tape_node *key = plan_find(row, &this->key);
        uint32_t *slot = plan_is_name(key) ? find_slot(row, level, key->text) : NULL;
        if (slot != NULL && *slot == 0) {
            *slot = at;
        }
    }
}

/// The element of that name; 0: there is none. A list of more than a few is indexed once.
static uint32_t look_up(struct plan_row *row, uint32_t level, const struct tape_node *list, struct text name)
{
    const struct plan_level *this = &row->plan->levels[level];

    if (row->mask[level] == 0 && list->count > REFERENCES_PLAIN) {
        index_elements(row, level, list);
    }
    if (row->mask[level] != 0) {
        return *find_slot(row, level, name);
    }
    for (uint32_t at = first_value(this, list); at != 0; at = next_value(row, this, at)) {
        if (is_called(row, level, at, name)) {
            return at;
        }
    }
    return 0;
}

/// The element that the reference in hand means. References mostly come in the order of what they mean, or several name
/// the same, so the element found last and the one behind it are tried first.
uint32_t plan_row_refer(struct plan_row *row, uint32_t level)
{
    const struct plan_level *this = &row->plan->levels[level];

    if (this->keys != NULL) {
        return plan_keys_find(row, level);
    }
    const struct tape_node *name = plan_find(row, &this->reference);
    const struct tape_node *list = plan_find(row, &this->list);

    sandbox_stop_here(row->L); // a long list, and many references
    if (!plan_is_name(name) || !plan_is_list_of(this, list)) {
        return 0;
    }
    uint32_t last = row->found[level];
    uint32_t next = last != 0 ? next_value(row, this, last) : first_value(this, list);
    uint32_t at = 0;
    if (next != 0 && is_called(row, level, next, name->text)) {
        at = next;
    } else if (last != 0 && is_called(row, level, last, name->text)) {
        at = last;
    } else {
        at = look_up(row, level, list, name->text);
    }
    row->found[level] = at;
    row->at[level] = at;
    return at;
}

/// The first element of a level, seen from the one further out that is in hand; 0: there is none.
static uint32_t first_element(struct plan_row *row, uint32_t level)
{
    const struct plan_level *this = &row->plan->levels[level];

    if (this->is_reference) {
        uint32_t found = plan_row_refer(row, level);
        row->dangling = found == 0 ? this : row->dangling;
        return found != 0 ? found : row->at[this->outer]; // it counts, so that nothing is left out in silence
    }
    if (this->is_self) {
        return row->at[this->outer];
    }
    return first_value(this, plan_find(row, &this->list));
}

bool plan_row_next(struct plan_row *row, uint32_t level, uint32_t stop)
{
    const struct plan_level *this = &row->plan->levels[level];
    uint32_t next =
        row->at[level] != 0 && !this->is_reference && !this->is_self ? next_value(row, this, row->at[level]) : 0;
    bool is_new = row->at[level] == 0;

    row->has_table[level] = false;
    while (next == 0) {
        if (this->outer == stop ? !is_new : !plan_row_next(row, this->outer, stop)) {
            row->at[level] = 0;
            return false;
        }
        next = first_element(row, level);
        is_new = false;
    }
    row->at[level] = next;
    return true;
}

const struct tape_node *plan_find_element(const struct tape *tape, const struct tape_node *list, int index)
{
    int64_t steps = index > 0 ? index - 1 : (int64_t)list->count + index;
    uint32_t at = list->first;

    if (list->kind != TAPE_LIST || steps < 0 || steps >= (int64_t)list->count) {
        return NULL;
    }
    for (; steps > 0; steps--) {
        at = tape->nodes[at].next;
    }
    return &tape->nodes[at];
}

uint32_t plan_row_number(const struct plan_row *row, uint32_t level)
{
    const struct plan_level *this = &row->plan->levels[level];
    uint32_t number = 1;

    if (this->is_self) {
        return row->at[level] != 0 ? 1 : 0;
    }
    for (uint32_t at = first_value(this, plan_find(row, &this->list)); at != 0; at = next_value(row, this, at)) {
        if (at == row->at[level]) {
            return number;
        }
        number++;
    }
    return 0;
}

void plan_row_rewind(struct plan_row *row)
{
    memset(row->at, 0, sizeof row->at);
    memset(row->has_table, 0, sizeof row->has_table);
    row->at[0] = 1;
}

void plan_row_leave(struct plan_row *row, const struct plan_node *list)
{
    for (uint32_t level = list->level; level != list->outer; level = row->plan->levels[level].outer) {
        row->at[level] = 0;
    }
}
