/// Plan, reading: the values that a plan finds in a document, row by row.
///
/// Threads: those of the lua_State.
/// Memory:  a row borrows tape and plan; texts that it makes live in its scratch until the next offer.
#pragma once

#include "base/buffer.h"
#include "script/plan.h"
#include "script/schema.h"
#include "script/value.h"

enum { PLAN_SCRATCH = 4096 };

enum { PLAN_GIVEN_MAX = 8 };

struct plan_row {
    lua_State *L;
    const struct plan *plan;
    struct tape *tape;
    int kept;                            // stack index of the plan's environment
    int search;                          // … of the search; 0: there is none
    uint32_t at[PLAN_LEVELS_MAX];        // the node of each level's element; 0: none
    uint32_t found[PLAN_LEVELS_MAX];     // of a level of references: the element found last
    uint32_t slots[PLAN_LEVELS_MAX];     // … where its index begins in the tape's slots
    uint32_t mask[PLAN_LEVELS_MAX];      // … and its size less 1; 0: there is none yet
    uint32_t based[PLAN_LEVELS_MAX];     // … of one by plan_keys: the element that its list begins at; 0: none yet
    uint32_t room[PLAN_LEVELS_MAX];      // … and how many slots it has taken
    const struct plan_node *unmapped;    // the map that lacked a key last, in this offer; NULL: none
    struct text unmapped_key;            // … and the key
    const struct plan_node *unasked;     // the map with an `otherwise` that had no value to ask about last; NULL: none
    const struct plan_level *dangling;   // whose reference in hand leads nowhere; NULL: none
    int tables;                          // stack index of level 0's element as a table, the others' behind it
    bool has_table[PLAN_LEVELS_MAX];     // … once a function has asked
    const struct plan_node *calling;     // the function that was called last; NULL: none
    const void *given[PLAN_GIVEN_MAX];   // … the tables that it was given, by argument; told by identity only
    const struct tape_node *argument;    // whose text a function was given last; its value stands behind those tables
    uint32_t failed_at[PLAN_LEVELS_MAX]; // `at` when an element of a list was found to be bad …
    bool has_failed;                     // … in this offer
    struct plan_drop *drop;              // where the first dropped offer is told; NULL: nowhere
    char scratch[PLAN_SCRATCH];
    size_t scratch_used;
};

/// Begins a document: its root is level 0. Pushes a slot for each level and one more, which must stay below everything
/// else.
void plan_row_init(struct plan_row *row, lua_State *L, const struct plan *plan, struct tape *tape, int kept);

/// Steps `level` to its next element, over the levels between it and `stop`; from nowhere to the first.
/// False: there are no more, and the levels are at nowhere again.
MUST_CHECK bool plan_row_next(struct plan_row *row, uint32_t level, uint32_t stop);

/// The levels of a list are at nowhere again, whatever is left of it.
void plan_row_leave(struct plan_row *row, const struct plan_node *list);

/// All levels are at nowhere again, but the document.
void plan_row_rewind(struct plan_row *row);

/// Is the node what the level goes over, a list or a map?
bool plan_is_list_of(const struct plan_level *level, const struct tape_node *node);

/// A planned value is a list of elements, not an object.
bool plan_is_list(const struct value *value);

/// The element in hand of a planned list: an object, or what the list's one leaf says.
struct value plan_element(struct plan_row *row, const struct plan_node *list, bool wants_text);

/// Does a field of that kind take text, and numbers by their literal?
bool plan_wants_text(enum schema_kind kind);

/// A new offer: what was made for the last one is forgotten.
void plan_row_renew(struct plan_row *row);

/// An element of a list is bad: which one is kept, for the levels are left at once.
void plan_row_note_failed(struct plan_row *row);

/// The element that the reference in hand of `level` means is in hand then; 0: there is none.
uint32_t plan_row_refer(struct plan_row *row, uint32_t level);

/// Is the path `[]`, the number of its level's element?
static inline bool plan_is_number(const struct plan_row *row, const struct plan_path *path)
{
    return path->is_key && !row->plan->levels[path->level].is_map;
}

/// The number of the level's element in its list, from 1 on; 0: there is none.
uint32_t plan_row_number(const struct plan_row *row, uint32_t level);

/// Can the node name an element?
bool plan_is_name(const struct tape_node *node);

/// The element at `index` of a list, from 1 or from the end: -1; NULL: there is none.
const struct tape_node *plan_find_element(const struct tape *tape, const struct tape_node *list, int index);

/// What the steps of a path lead to from a node; NULL: something on the way is missing.
static inline const struct tape_node *plan_find_from(const struct tape *tape, const struct tape_node *node,
                                                     const struct plan_path *path)
{
    for (uint32_t i = 0; i < path->count && node != NULL; i++) {
        const struct plan_step *step = &path->steps[i];
        if (step->index != 0) {
            node = plan_find_element(tape, node, step->index);
        } else {
            node = node->kind == TAPE_OBJECT ? tape_member(tape, node, step->place) : NULL;
        }
    }
    return node;
}

/// The node that a path names, or NULL: something on the way is missing.
static inline const struct tape_node *plan_find(const struct plan_row *row, const struct plan_path *path)
{
    uint32_t at = row->at[path->level];
    const struct tape_node *node = &row->tape->nodes[path->is_key && at > 0 ? at - 1 : at];

    if (path->is_member) {
        return node->kind == TAPE_OBJECT ? tape_member(row->tape, node, path->place) : NULL;
    }
    return plan_find_from(row->tape, node, path);
}

/// The value of a leaf. `wants_text`: a number gives its literal, else text that is a whole number gives the number.
/// Functions are called; what they return stays on the Lua stack.
struct value plan_value(struct plan_row *row, const struct plan_node *node, bool wants_text);

/// The same, put where it belongs: to copy what was written just now in smaller pieces takes longer than to read it.
static inline void plan_put(struct plan_row *row, const struct plan_node *node, bool wants_text, struct value *out);
void plan_put_other(struct plan_row *row, const struct plan_node *node, bool wants_text, struct value *out);

/// The currency that a MONEY term says; absent for anything else.
struct value plan_currency(struct plan_row *row, const struct plan_node *node);

/// What a function of the plan returns, of the row or of what stands before it. It stays on the Lua stack.
struct value plan_call(struct plan_row *row, const struct plan_node *node);

/// Pushes what the search says at a path like `query.cabin`.
void plan_push_asked(struct plan_row *row, struct text path);

// Most leaves are texts that are members of the element in hand.
static inline void plan_put(struct plan_row *row, const struct plan_node *node, bool wants_text, struct value *out)
{
    bool is_text = node->op == PLAN_PATH && node->path.is_member && wants_text;
    const struct tape_node *found = is_text ? plan_find(row, &node->path) : NULL;

    if (found != NULL && (found->kind == TAPE_TEXT || found->kind == TAPE_NUMBER)) {
        out->kind = VALUE_TEXT;
        out->text = found->text;
    } else {
        plan_put_other(row, node, wants_text, out);
    }
}
