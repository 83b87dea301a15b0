#include "script/plan_read.h"

#include "base/redact.h"
#include "script/bind_shape.h"
#include "script/bind_support.h"
#include "script/offers_walk.h"
#include "script/plan_keys.h"

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
    if (plan_is_number(row, &node->path)) {
        return print_number(row, plan_row_number(row, node->path.level), wants_text);
    }
    const struct tape_node *found = plan_find(row, &node->path);
    return found != NULL ? value_of(found->kind, found->text, wants_text, found) : ABSENT;
}

/// Whether path_value would find something.
static bool has_path(const struct plan_row *row, const struct plan_node *node)
{
    const struct tape_node *found = plan_is_number(row, &node->path) ? NULL : plan_find(row, &node->path);
    return found != NULL ? found->kind != TAPE_NONE && found->kind != TAPE_NULL : plan_is_number(row, &node->path);
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
        row->unasked = key.kind == VALUE_ABSENT && node->value.kind != TAPE_NONE ? node : row->unasked;
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
    if (node->value.kind == TAPE_NONE) {
        row->unmapped = node;
        row->unmapped_key = key.text;
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

enum { LIST_HEAD = 24, LIST_TAIL = 34 };

/// The list that was looked through; of a long path the middle is left out, its end says more.
static void print_list(struct text list, char *out, size_t size)
{
    size_t head = LIST_HEAD, tail = list.length - LIST_TAIL;

    if (list.length <= LIST_HEAD + LIST_TAIL + 3) {
        (void)snprintf(out, size, "%.*s", TEXT_ARGS(list));
        return;
    }
    while (head > 0 && ((unsigned char)list.data[head] & 0xc0) == 0x80) {
        head--; // no character is cut
    }
    while (tail < list.length && ((unsigned char)list.data[tail] & 0xc0) == 0x80) {
        tail++;
    }
    (void)snprintf(out, size, "%.*s...%.*s", (int)head, list.data, (int)(list.length - tail), list.data + tail);
}

/// Why a reference names nothing.
static struct value dangling_value(struct plan_row *row, const struct plan_level *level)
{
    size_t room = sizeof row->scratch - row->scratch_used;
    char shown[NUMBER_MAX + 1], list[LIST_HEAD + LIST_TAIL + 4];

    print_list(level->list.text, list, sizeof list);
    if (level->keys != NULL) {
        plan_keys_print(row, level->keys, shown, sizeof shown);
    } else {
        const struct tape_node *name = plan_find(row, &level->reference);
        (void)redact_copy(shown, sizeof shown, plan_is_name(name) ? name->text : TEXT("?"));
    }
    (void)snprintf(row->scratch + row->scratch_used, room, "a reference to %s, which is not in %s", shown, list);
    return room > 1 ? other(row->scratch + row->scratch_used) : other("a reference to nothing");
}

static bool has_reference(const struct plan_row *row, const struct plan_level *level)
{
    if (level->keys != NULL) {
        return plan_keys_are_there(row, level->keys);
    }
    const struct tape_node *name = plan_find(row, &level->reference);
    return name != NULL && name->kind != TAPE_NONE && name->kind != TAPE_NULL;
}

/// What the reference names, or nothing when there is no reference.
static struct value referred_value(struct plan_row *row, const struct plan_node *node, bool wants_text)
{
    const struct plan_level *level = &row->plan->levels[node->level];

    if (!has_reference(row, level)) {
        return ABSENT;
    }
    bool is_found = plan_row_refer(row, node->level) != 0;
    struct value value = is_found ? plan_value(row, node->parts[0], wants_text) : dangling_value(row, level);
    row->at[node->level] = 0;
    return value;
}

static struct value asked_value(struct plan_row *row, const struct plan_node *node, bool wants_text)
{
    if (row->search == 0) {
        return ABSENT;
    }
    plan_push_asked(row, node->value.text);
    struct value value = walk_lua_value(row->L, lua_gettop(row->L), lua_type(row->L, -1));
    lua_pop(row->L, 1); // the search keeps its texts
    if (value.kind == VALUE_TABLE) {
        return other("a table of the search");
    }
    return value.kind == VALUE_TEXT ? value_of(TAPE_TEXT, value.text, wants_text, NULL) : value;
}

/// Why a time has none of its numbers, of which `year` is one: null and what is not there are absent.
static struct value no_time_value(const struct plan_row *row, const struct plan_path *year)
{
    struct plan_path object = *year;

    object.count--;
    object.is_member = false;
    const struct tape_node *found = plan_find(row, &object);
    if (found == NULL || found->kind == TAPE_NONE || found->kind == TAPE_NULL || found->kind == TAPE_EMPTY) {
        return ABSENT;
    }
    if (found->kind != TAPE_OBJECT) {
        return other(tape_kind_name(found));
    }
    if (row->plan->is_xml) { // of which an empty element is absent
        return found->text.data != NULL ? other("a text") : ABSENT;
    }
    return other("a time without any of its numbers");
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
        bool is_number = part.kind == VALUE_NUMBER && part.number >= 0 && part.number <= 9999;
        if (!is_number || part.number != (double)(int)part.number) {
            return other("a time of something else than whole numbers");
        }
        parts[count++] = part.number;
    }
    if (count == 0) {
        return no_time_value(row, &node->fields[0]->path);
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

// ---- the whole -----------------------------------------------------------------------------------------------------

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

// Of functions and constants only: it is there when a function gives something, or nobody is asked.
static bool has_any_call(struct plan_row *row, const struct plan_node *object)
{
    bool calls = false;

    for (size_t i = 0; i < object->field_count; i++) {
        const struct plan_node *field = object->fields[i];
        if (field->op != PLAN_CALL) {
            continue;
        }
        calls = true;
        if (plan_value(row, field, true).kind != VALUE_ABSENT) {
            return true;
        }
    }
    return !calls && object->field_count > 0;
}

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
    return !asks_document && has_any_call(row, object);
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
        return plan_call(row, node);
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

void plan_put_other(struct plan_row *row, const struct plan_node *node, bool wants_text, struct value *out)
{
    bool is_path = node->op == PLAN_PATH && !plan_is_number(row, &node->path);
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
