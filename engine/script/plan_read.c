#include "script/plan_read.h"

#include "base/redact.h"
#include "script/bind_json.h"
#include "script/bind_shape.h"
#include "script/bind_support.h"
#include "script/offers_walk.h"
#include "script/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64, DECIMALS_MAX = 12 };

static const struct value ABSENT = { .kind = VALUE_ABSENT };

// ---- leaves --------------------------------------------------------------------------------------------------------

static struct value other(const char *what)
{
    return (struct value){ .kind = VALUE_OTHER, .text = text_of(what) };
}

static struct value text_value(struct text text)
{
    return (struct value){ .kind = VALUE_TEXT, .text = text };
}

static struct value number_value(double number)
{
    return (struct value){ .kind = VALUE_NUMBER, .number = number };
}

/// A whole number of at most 15 digits, without more ado.
static bool read_whole(struct text text, double *number)
{
    int64_t whole = 0;

    if (!text_to_whole(text, TEXT_DOUBLE_DIGITS, &whole)) {
        return false;
    }
    *number = (double)whole;
    return true;
}

static struct value number_of_literal(struct text literal)
{
    char terminated[NUMBER_MAX];
    double number = 0;

    if (read_whole(literal, &number)) {
        return number_value(number);
    }
    if (literal.length >= sizeof terminated) {
        return other("a number too long");
    }
    memcpy(terminated, literal.data, literal.length);
    terminated[literal.length] = '\0';
    return number_value(strtod(terminated, NULL));
}

static struct value value_of(enum tape_kind kind, struct text text, bool wants_text, const struct tape_node *node)
{
    double number = 0;

    switch (kind) {
    case TAPE_NONE:
    case TAPE_NULL:
    case TAPE_EMPTY:
        return ABSENT;
    case TAPE_TRUE:
    case TAPE_FALSE:
        return (struct value){ .kind = VALUE_FLAG, .index = kind == TAPE_TRUE };
    case TAPE_NUMBER:
        return wants_text ? text_value(text) : number_of_literal(text);
    case TAPE_TEXT:
        return !wants_text && read_whole(text, &number) ? number_value(number) : text_value(text);
    case TAPE_OBJECT:
        if (text.data != NULL) { // an element of XML, of which more is read than its text
            return value_of(TAPE_TEXT, text, wants_text, node);
        }
        break;
    case TAPE_RAW:
    case TAPE_MAP:
    case TAPE_LIST:
    case TAPE_OTHER:
        break;
    }
    return other(node != NULL ? tape_kind_name(node) : "a value");
}

static bool is_number(const struct plan_row *row, const struct plan_path *path)
{
    return path->is_key && !row->plan->levels[path->level].is_map;
}

static struct value print_number(struct plan_row *row, uint32_t number, bool wants_text)
{
    size_t room = sizeof row->scratch - row->scratch_used;
    char *out = row->scratch + row->scratch_used;
    int length = snprintf(out, room, "%u", number);

    if (!wants_text) {
        return number_value(number);
    }
    if (length < 0 || (size_t)length >= room) {
        return other("too many numbers");
    }
    row->scratch_used += (size_t)length;
    return text_value((struct text){ out, (size_t)length });
}

static struct value path_value(struct plan_row *row, const struct plan_node *node, bool wants_text)
{
    if (is_number(row, &node->path)) {
        return print_number(row, plan_row_number(row, node->path.level), wants_text);
    }
    const struct tape_node *found = plan_find(row, &node->path);
    return found != NULL ? value_of(found->kind, found->text, wants_text, found) : ABSENT;
}

/// Whether path_value would find something.
static bool has_path(const struct plan_row *row, const struct plan_node *node)
{
    const struct tape_node *found = is_number(row, &node->path) ? NULL : plan_find(row, &node->path);
    return found != NULL ? found->kind != TAPE_NONE && found->kind != TAPE_NULL : is_number(row, &node->path);
}

static struct value constant_value(const struct plan_constant *constant, bool wants_text)
{
    return value_of(constant->kind, constant->text, wants_text, NULL);
}

static struct value map_value(struct plan_row *row, const struct plan_node *node, bool wants_text)
{
    struct value key = plan_value(row, node->parts[0], true);
    size_t low = 0;
    size_t high = node->entry_count;

    if (key.kind == VALUE_FLAG) {
        key = text_value(key.index != 0 ? TEXT("true") : TEXT("false"));
    }
    if (key.kind != VALUE_TEXT) {
        return key;
    }
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = text_compare(key.text, node->entries[middle].key);
        if (order == 0) {
            return constant_value(&node->entries[middle].value, wants_text);
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return constant_value(&node->value, wants_text);
}

/// `45204` with two decimals is `452.04`.
static struct value scaled(struct plan_row *row, struct text digits, size_t decimals)
{
    bool is_negative = digits.length > 0 && digits.data[0] == '-';
    struct text whole = { digits.data + is_negative, digits.length - is_negative };
    double number = 0;
    size_t zeros = whole.length <= decimals ? decimals + 1 - whole.length : 0;
    char *out = row->scratch + row->scratch_used;
    size_t length = 0;

    if (decimals == 0) {
        return text_value(digits);
    }
    if (!read_whole(whole, &number)) {
        return other("an amount that is no whole number, though it is scaled");
    }
    if (row->scratch_used + whole.length + zeros + 2 > sizeof row->scratch) {
        return other("too many amounts");
    }
    if (is_negative) {
        out[length++] = '-';
    }
    for (size_t i = 0; i < zeros + whole.length; i++) {
        if (i + decimals == zeros + whole.length) {
            out[length++] = '.';
        }
        out[length++] = i < zeros ? '0' : whole.data[i - zeros];
    }
    row->scratch_used += length;
    return text_value((struct text){ out, length });
}

static struct value money_value(struct plan_row *row, const struct plan_node *node)
{
    struct value amount = plan_value(row, node->parts[0], true);

    if (amount.kind != VALUE_TEXT || node->parts[2] == NULL) {
        return amount;
    }
    struct value decimals = plan_value(row, node->parts[2], false);
    if (decimals.kind != VALUE_NUMBER || !(decimals.number >= 0 && decimals.number <= DECIMALS_MAX) ||
        decimals.number != (double)(size_t)decimals.number) {
        return other("decimals that are no number from 0 to 12");
    }
    return scaled(row, amount.text, (size_t)decimals.number);
}

/// Why a reference names nothing.
static struct value dangling_value(struct plan_row *row, const struct plan_level *level)
{
    const struct tape_node *name = plan_find(row, &level->reference);
    struct text id = plan_is_name(name) ? name->text : TEXT("?");
    size_t room = sizeof row->scratch - row->scratch_used;

    char shown[NUMBER_MAX + 1];
    (void)redact_copy(shown, sizeof shown, id);
    (void)snprintf(row->scratch + row->scratch_used, room, "a reference to %s, which is not in %.60s", shown,
                   level->list.text.data);
    return room > 1 ? other(row->scratch + row->scratch_used) : other("a reference to nothing");
}

/// What the reference names, or nothing when there is no reference.
static struct value referred_value(struct plan_row *row, const struct plan_node *node, bool wants_text)
{
    const struct plan_level *level = &row->plan->levels[node->level];
    const struct tape_node *name = plan_find(row, &level->reference);

    if (name == NULL || name->kind == TAPE_NONE || name->kind == TAPE_NULL) {
        return ABSENT;
    }
    bool is_found = plan_row_refer(row, node->level) != 0;
    struct value value = is_found ? plan_value(row, node->parts[0], wants_text) : dangling_value(row, level);
    row->at[node->level] = 0;
    return value;
}

/// Pushes what the search says at a path like `query.cabin`.
static void push_asked(struct plan_row *row, struct text path)
{
    lua_State *L = row->L;

    lua_pushvalue(L, row->search);
    while (path.length > 0 && (lua_type(L, -1) == LUA_TUSERDATA || lua_type(L, -1) == LUA_TTABLE)) {
        struct text name = text_split(path, '.', &path);
        bind_push_text(L, name);
        lua_gettable(L, -2);
        lua_remove(L, -2);
    }
    if (path.length > 0) {
        lua_pop(L, 1);
        lua_pushnil(L);
    }
}

static struct value asked_value(struct plan_row *row, const struct plan_node *node, bool wants_text)
{
    if (row->search == 0) {
        return ABSENT;
    }
    push_asked(row, node->value.text);
    struct value value = walk_lua_value(row->L, lua_gettop(row->L), lua_type(row->L, -1));
    lua_pop(row->L, 1); // the search keeps its texts
    if (value.kind == VALUE_TABLE) {
        return other("a table of the search");
    }
    return value.kind == VALUE_TEXT ? value_of(TAPE_TEXT, value.text, wants_text, NULL) : value;
}

/// {year, month, day, hour, minute} as `2030-05-12T20:05`.
static struct value time_value(struct plan_row *row, const struct plan_node *node)
{
    static const char *const lacks[] = { "a time without its year", "a time without its month",
                                         "a time without its day", "a time without its hour",
                                         "a time without its minute" };
    double parts[PLAN_TIME_PARTS];
    size_t count = 0;
    size_t missing = PLAN_TIME_PARTS;

    for (size_t i = 0; i < PLAN_TIME_PARTS; i++) {
        struct value part = path_value(row, node->fields[i], false);
        if (part.kind == VALUE_ABSENT) {
            missing = missing == PLAN_TIME_PARTS ? i : missing;
            continue;
        }
        if (part.kind != VALUE_NUMBER || !(part.number >= 0 && part.number <= 9999)) {
            return other("a time of something else than whole numbers");
        }
        parts[count++] = part.number;
    }
    if (count == 0) {
        return ABSENT;
    }
    if (count < PLAN_TIME_PARTS) {
        return other(lacks[missing]);
    }
    size_t room = sizeof row->scratch - row->scratch_used;
    char *out = row->scratch + row->scratch_used;
    int length = snprintf(out, room, "%04d-%02d-%02dT%02d:%02d", (int)parts[PLAN_YEAR], (int)parts[PLAN_MONTH],
                          (int)parts[PLAN_DAY], (int)parts[PLAN_HOUR], (int)parts[PLAN_MINUTE]);
    if (length < 0 || (size_t)length >= room) {
        return other("too many times");
    }
    row->scratch_used += (size_t)length;
    return text_value((struct text){ out, (size_t)length });
}

// ---- functions -----------------------------------------------------------------------------------------------------

static void push_node(struct plan_row *row, const struct declared *declared, const struct tape_node *node);

static void push_members(struct plan_row *row, const struct declared *declared, const struct tape_node *node)
{
    lua_State *L = row->L;

    lua_createtable(L, 0, (int)declared->member_count);
    for (uint32_t i = 0; i < declared->member_count; i++) {
        bind_push_text(L, declared->members[i]->name);
        push_node(row, declared->members[i], tape_member(row->tape, node, i));
        lua_rawset(L, -3);
    }
    if (node->text.data != NULL) { // an element of XML
        bind_push_text(L, node->text);
        lua_setfield(L, -2, "#text");
    }
}

static void push_elements(struct plan_row *row, const struct declared *declared, const struct tape_node *node)
{
    lua_State *L = row->L;
    int place = 0;

    lua_createtable(L, (int)node->count, 0);
    bind_json_mark_array(L, lua_gettop(L));
    for (uint32_t at = node->first; at != 0; at = row->tape->nodes[at].next) {
        push_node(row, declared->element, &row->tape->nodes[at]);
        lua_rawseti(L, -2, ++place);
    }
}

/// What the plan declares of a node, as a Lua value; numbers are their literals, what is something else is nil.
static void push_node(struct plan_row *row, const struct declared *declared, const struct tape_node *node)
{
    lua_State *L = row->L;

    bool is_leaf = declared->kind == DECLARED_SCALAR || declared->kind == DECLARED_RAW;

    luaL_checkstack(L, 8, "the document is nested too deeply");
    if (node->kind == TAPE_OBJECT && declared->kind == DECLARED_OBJECT) {
        push_members(row, declared, node);
    } else if (node->kind == TAPE_LIST && declared->kind == DECLARED_LIST) {
        push_elements(row, declared, node);
    } else if (is_leaf && (node->kind == TAPE_TEXT || node->kind == TAPE_NUMBER || node->kind == TAPE_RAW)) {
        bind_push_text(L, node->text);
    } else if (is_leaf && (node->kind == TAPE_TRUE || node->kind == TAPE_FALSE)) {
        lua_pushboolean(L, node->kind == TAPE_TRUE);
    } else {
        lua_pushnil(L);
    }
}

/// Pushes what a path names. An element of XML that has a text of its own is that text, whatever else is read of it.
static void push_named(struct plan_row *row, const struct declared *declared, const struct tape_node *node)
{
    if (node->kind == TAPE_OBJECT && node->text.data != NULL) {
        bind_push_text(row->L, node->text);
    } else {
        push_node(row, declared, node);
    }
}

/// Pushes what `inner` names of each element: a list, or a table by the keys of a map.
static void push_values(struct plan_row *row, const struct plan_node *node)
{
    lua_State *L = row->L;
    const struct tape_node *list = plan_find(row, &node->path);
    bool is_map = list != NULL && list->kind == TAPE_MAP;
    int place = 0;

    if (list == NULL || (!is_map && list->kind != TAPE_LIST)) {
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, 0, 0);
    for (uint32_t at = list->first; at != 0; at = row->tape->nodes[at].next) {
        const struct tape_node *value =
            plan_find_from(row->tape, &row->tape->nodes[at + (is_map ? 1 : 0)], &node->inner);
        if (is_map) {
            bind_push_text(L, row->tape->nodes[at].text);
        } else {
            lua_pushinteger(L, ++place);
        }
        if (value != NULL) {
            push_named(row, node->inner.declared, value);
        } else {
            lua_pushnil(L);
        }
        lua_rawset(L, -3);
    }
    if (!is_map) {
        bind_json_mark_array(L, lua_gettop(L));
    }
}

/// An argument of a function: what the plan declares of a node, or what a term says.
static void push_argument(struct plan_row *row, const struct plan_node *node)
{
    lua_State *L = row->L;

    if (node->op == PLAN_PATH && is_number(row, &node->path)) {
        lua_pushinteger(L, (lua_Integer)plan_row_number(row, node->path.level));
        return;
    }
    if (node->op == PLAN_PATH) {
        const struct tape_node *found = plan_find(row, &node->path);
        if (found != NULL && node->path.is_key) {
            bind_push_text(L, found->text);
        } else if (found != NULL) {
            push_named(row, node->path.declared, found);
        } else {
            lua_pushnil(L);
        }
        return;
    }
    if (node->op == PLAN_VALUES) {
        push_values(row, node);
        return;
    }
    if (node->op == PLAN_ASKED && row->search != 0) {
        push_asked(row, node->value.text);
        return;
    }
    struct value value = plan_value(row, node, true);
    if (value.kind == VALUE_TEXT) {
        bind_push_text(L, value.text);
    } else if (value.kind == VALUE_FLAG) {
        lua_pushboolean(L, value.index);
    } else {
        lua_pushnil(L);
    }
}

/// Pushes the element in hand, made once.
static void push_row(struct plan_row *row, uint32_t level)
{
    lua_State *L = row->L;
    int table = row->tables + (int)level;
    if (!row->has_table[level]) {
        push_node(row, row->plan->levels[level].element, &row->tape->nodes[row->at[level]]);
        lua_replace(L, table);
        row->has_table[level] = true;
    }
    lua_pushvalue(L, table);
}

/// A function of the row, or of what stands before it in the plan.
static struct value call_value(struct plan_row *row, const struct plan_node *node)
{
    lua_State *L = row->L;

    luaL_checkstack(L, 8 + (int)node->field_count, "the plan is nested too deeply");
    lua_rawgeti(L, row->kept, node->function);
    if (node->field_count == 0) {
        push_row(row, node->level);
        if (lua_isnil(L, -1)) {
            return ABSENT; // null, or no such thing as the plan declares: nothing to ask it about
        }
    }
    for (size_t i = 0; i < node->field_count; i++) {
        push_argument(row, node->fields[i]);
    }
    lua_call(L, node->field_count == 0 ? 1 : (int)node->field_count, 1);
    return walk_lua_value(L, lua_gettop(L), lua_type(L, -1));
}

struct value plan_element(struct plan_row *row, const struct plan_node *list, bool wants_text)
{
    if (row->dangling != NULL) {
        return dangling_value(row, row->dangling);
    }
    if (list->parts[0] != NULL) {
        return plan_value(row, list->parts[0], wants_text);
    }
    return (struct value){ .kind = VALUE_PLANNED, .index = 1, .node = list };
}

bool plan_is_list(const struct value *value)
{
    return value->node->op == PLAN_LIST && value->index == 0; // 1: one of its elements
}

// ---- the whole -----------------------------------------------------------------------------------------------------

static bool has_any(struct plan_row *row, const struct plan_node *object)
{
    bool asks_document = false;

    for (size_t i = 0; i < object->field_count; i++) {
        const struct plan_node *field = object->fields[i];
        if (field->op == PLAN_CALL || field->op == PLAN_CONST || field->op == PLAN_ASKED) {
            continue; // none of them tells whether the document has something
        }
        asks_document = true;
        if (field->op == PLAN_PATH ? has_path(row, field) : plan_value(row, field, true).kind != VALUE_ABSENT) {
            return true;
        }
    }
    return object->field_count > 0 && !asks_document; // of functions and constants only
}

static bool has_list(const struct plan_row *row, const struct plan_node *list)
{
    const struct plan_level *level = &row->plan->levels[list->first_level];
    return plan_is_list_of(level, plan_find(row, &level->list));
}

struct value plan_value(struct plan_row *row, const struct plan_node *node, bool wants_text)
{
    switch (node->op) {
    case PLAN_PATH:
        return path_value(row, node, wants_text);
    case PLAN_CONST:
        return constant_value(&node->value, wants_text);
    case PLAN_REF:
        return referred_value(row, node, wants_text);
    case PLAN_ASKED:
        return asked_value(row, node, wants_text);
    case PLAN_TIME:
        return time_value(row, node);
    case PLAN_VALUES: // an argument only
        break;
    case PLAN_MONEY:
        return money_value(row, node);
    case PLAN_MAP:
        return map_value(row, node, wants_text);
    case PLAN_CALL:
        return call_value(row, node);
    case PLAN_OBJECT:
        return has_any(row, node) ? (struct value){ .kind = VALUE_PLANNED, .node = node } : ABSENT;
    case PLAN_LIST:
        return has_list(row, node) ? (struct value){ .kind = VALUE_PLANNED, .node = node } : ABSENT;
    }
    return ABSENT;
}

// Piece by piece, as it was written.
static inline void value_put(struct value value, struct value *out)
{
    const char *data = value.text.data;
    size_t length = value.text.length;

    __asm__("" : "+r"(data), "+r"(length)); // or the compiler makes one piece of them
    out->kind = value.kind;
    out->index = value.index;
    out->text = (struct text){ data, length };
}

void plan_put(struct plan_row *row, const struct plan_node *node, bool wants_text, struct value *out)
{
    bool is_path = node->op == PLAN_PATH && !is_number(row, &node->path);
    const struct tape_node *found = is_path ? plan_find(row, &node->path) : NULL;
    double number = 0;

    if (is_path && found == NULL) {
        out->kind = VALUE_ABSENT;
    } else if (is_path && wants_text && (found->kind == TAPE_TEXT || found->kind == TAPE_NUMBER)) {
        out->kind = VALUE_TEXT;
        out->text = found->text;
    } else if (is_path && !wants_text && found->kind == TAPE_NUMBER && read_whole(found->text, &number)) {
        out->kind = VALUE_NUMBER;
        out->number = number;
    } else {
        value_put(plan_value(row, node, wants_text), out);
    }
}

struct value plan_currency(struct plan_row *row, const struct plan_node *node)
{
    return node->op == PLAN_MONEY && node->parts[1] != NULL ? plan_value(row, node->parts[1], true) : ABSENT;
}
