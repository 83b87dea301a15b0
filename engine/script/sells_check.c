// Every name is held against those that the product's segments give; a wrong value is told with those that there are.

#include "model/rule.h"
#include "script/bind_support.h"
#include "script/script_check.h"
#include "script/sells.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SELLS_NAME_SIZE = 72, SELLS_NAMES_MAX = 192, SELLS_VALUES_MAX = 64, SELLS_TERMS_MAX = 64 };

/// One `sells` being read.
struct sells_reading {
    struct script_check *check;
    const struct script_file *file;
    struct text product;
    char names[SELLS_NAMES_MAX][SELLS_NAME_SIZE]; // that may stand in it
    size_t name_count;
    const char *key; // in hand
};

static void sells_report(const struct sells_reading *reading, enum code code, const char *help, const char *sentence)
{
    uint32_t first = script_check_line_of(reading->file, "sells", 1);
    uint32_t line = script_check_line_of(reading->file, reading->key, first);

    script_check_report(reading->check, reading->file, line != 0 ? line : first, code, help, "`sells.%s` %s",
                        reading->key, sentence);
}

static void sells_add_name(struct sells_reading *reading, const char *before, struct text fact, bool is_plural)
{
    char *name = reading->names[reading->name_count];

    if (reading->name_count == SELLS_NAMES_MAX) {
        return;
    }
    if (is_plural) {
        reading->name_count += sells_plural(fact, name, SELLS_NAME_SIZE);
    } else {
        reading->name_count += snprintf(name, SELLS_NAME_SIZE, "%s%.*s", before, TEXT_ARGS(fact)) < SELLS_NAME_SIZE;
    }
}

/// The segment that a name is about, and how; NULL: there is no such name. Collects the names on its way.
static const struct script_segment *sells_find(struct sells_reading *reading, enum sells_kind *kind)
{
    static const char *const bounds[] = { [SELLS_AT_MOST] = "max_", [SELLS_AT_LEAST] = "min_" };
    const struct script_check *check = reading->check;
    const struct script_segment *found = NULL;

    reading->name_count = 0;
    for (size_t i = 0; i < check->known_segment_count; i++) {
        const struct script_segment *segment = &check->known_segments[i];
        if (!text_equals(segment->product, reading->product)) {
            continue;
        }
        for (enum sells_kind way = SELLS_LISTED; way <= SELLS_AT_LEAST; way++) {
            size_t before = reading->name_count;
            if (way != SELLS_LISTED && segment->kind != SEGMENT_INTEGER) {
                continue;
            }
            sells_add_name(reading, bounds[way], segment->name, way == SELLS_LISTED);
            if (reading->name_count > before && strcmp(reading->names[before], reading->key) == 0) {
                found = segment;
                *kind = way;
            }
        }
    }
    return found;
}

static void sells_refuse_name(struct sells_reading *reading)
{
    const char *names[SELLS_NAMES_MAX];
    char help[256] = "";

    for (size_t i = 0; i < reading->name_count; i++) {
        names[i] = reading->names[i];
    }
    const char *nearest = text_nearest(text_of(reading->key), names, reading->name_count);
    if (nearest != NULL) {
        snprintf(help, sizeof help, "did you mean `%s`?", nearest);
    } else {
        snprintf(help, sizeof help,
                 "the plural of a segment of the product, or max_ and min_ before one that is an integer");
    }
    sells_report(reading, CODE_FIELD_UNKNOWN, help, "is no fact of this product's searches");
}

static bool sells_is_country(struct text word)
{
    return word.length == 2 && word.data[0] >= 'A' && word.data[0] <= 'Z' && word.data[1] >= 'A' && word.data[1] <= 'Z';
}

/// Does the value at the top fit the segment? `word` is how it is written.
static bool sells_fits(lua_State *L, const struct script_segment *segment, struct text word)
{
    bool is_text = lua_type(L, -1) == LUA_TSTRING;
    bool is_listed = false;

    switch (segment->kind) {
    case SEGMENT_TEXT:
        return is_text && word.length > 0;
    case SEGMENT_COUNTRY:
        return is_text && sells_is_country(word);
    case SEGMENT_INTEGER:
        return lua_type(L, -1) == LUA_TNUMBER && rule_fact_of(word).is_integer;
    case SEGMENT_FLAG:
        return lua_type(L, -1) == LUA_TBOOLEAN;
    case SEGMENT_CHOICE:
        for (size_t i = 0; i < segment->value_count && is_text; i++) {
            is_listed = is_listed || text_equals(segment->values[i], word);
        }
        return is_listed;
    }
    return false;
}

static void sells_refuse_value(const struct sells_reading *reading, const struct script_segment *segment, size_t index)
{
    static const char *const expected[] = { [SEGMENT_TEXT] = "a text",
                                            [SEGMENT_INTEGER] = "a whole number",
                                            [SEGMENT_COUNTRY] = "a country of two capital letters",
                                            [SEGMENT_FLAG] = "true or false",
                                            [SEGMENT_CHOICE] = "a value of this fact" };
    char sentence[96];
    char help[256] = "";
    size_t length = 0;

    for (size_t i = 0; segment->kind == SEGMENT_CHOICE && i < segment->value_count && length < sizeof help; i++) {
        int added = snprintf(help + length, sizeof help - length, "%s%.*s",
                             i > 0 ? ", " : "its values: ", TEXT_ARGS(segment->values[i]));
        length += (size_t)added;
    }
    snprintf(sentence, sizeof sentence, "has an item %zu that is not %s", index, expected[segment->kind]);
    sells_report(reading, CODE_FIELD_VALUE, help, sentence);
}

/// The list at the top of the stack becomes the term's values.
static bool sells_take_list(lua_State *L, const struct sells_reading *reading, const struct script_segment *segment,
                            struct sells_term *term)
{
    int list = lua_gettop(L);
    size_t count = bind_unwrap(L, list) ? lua_objlen(L, list) : 0;

    if (count == 0 || count > SELLS_VALUES_MAX) {
        sells_report(reading, CODE_FIELD_TYPE, "leave it out when everything is sold",
                     "must be a list of 1 to 64 values");
        return false;
    }
    term->values = arena_alloc_array(reading->check->arena, count, sizeof *term->values);
    for (size_t i = 0; i < count && term->values != NULL; i++) {
        struct text word = { NULL, 0 };
        lua_rawgeti(L, list, (int)i + 1);
        lua_pushvalue(L, -1);
        if (lua_isboolean(L, -1)) {
            word = lua_toboolean(L, -1) ? TEXT("true") : TEXT("false");
        } else if (lua_type(L, -1) == LUA_TSTRING || lua_type(L, -1) == LUA_TNUMBER) {
            word.data = lua_tolstring(L, -1, &word.length);
        }
        lua_insert(L, -2); // the value as it is goes on top
        bool is_fine = word.data != NULL && sells_fits(L, segment, word);
        if (is_fine) {
            term->values[term->value_count] = arena_copy(reading->check->arena, word);
            term->value_count += term->values[term->value_count].data != NULL;
        } else {
            sells_refuse_value(reading, segment, i + 1);
        }
        lua_settop(L, list);
    }
    return term->value_count == count;
}

static bool sells_take_bound(lua_State *L, const struct sells_reading *reading, struct sells_term *term)
{
    lua_Number bound = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : (lua_Number)NAN;

    if (!(bound >= -1e9 && bound <= 1e9) || bound != (lua_Number)(int64_t)bound) {
        sells_report(reading, CODE_FIELD_TYPE, NULL, "must be a whole number");
        return false;
    }
    term->bound = (int64_t)bound;
    return true;
}

/// Reads the entry whose value is at the top of the stack.
static bool sells_take(lua_State *L, struct sells_reading *reading, struct sells_term *term)
{
    const struct script_segment *segment = sells_find(reading, &term->kind);

    if (segment == NULL) {
        sells_refuse_name(reading);
        return false;
    }
    term->fact = arena_copy(reading->check->arena, segment->name);
    if (term->fact.data == NULL) {
        return false;
    }
    return term->kind == SELLS_LISTED ? sells_take_list(L, reading, segment, term) : sells_take_bound(L, reading, term);
}

static int compare_terms(const struct sells_term *a, const struct sells_term *b)
{
    int order = text_compare(a->fact, b->fact);
    return order != 0 ? order : (int)a->kind - (int)b->kind;
}

/// In the order of their names, so that the reason to skip does not depend on the order of a table's keys.
static void sells_insert(struct script_supplier *supplier, struct sells_term *terms, const struct sells_term *term)
{
    size_t place = supplier->sells_count++;

    for (; place > 0 && compare_terms(term, &terms[place - 1]) < 0; place--) {
        terms[place] = terms[place - 1];
    }
    terms[place] = *term;
}

void sells_check(lua_State *L, struct script_check *check, const struct script_file *file,
                 struct script_supplier *supplier)
{
    struct sells_reading reading = { .check = check, .file = file, .product = supplier->product };
    struct sells_term *terms = arena_alloc_array(check->arena, SELLS_TERMS_MAX, sizeof *terms);
    int top = lua_gettop(L);

    lua_getfield(L, 1, "sells");
    (void)bind_unwrap(L, top + 1);
    supplier->sells = terms;
    if (!lua_istable(L, top + 1) || terms == NULL) { // no table was reported
        lua_settop(L, top);
        return;
    }
    lua_pushnil(L);
    while (lua_next(L, top + 1) != 0) {
        struct sells_term term = { 0 };
        reading.key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        if (sells_take(L, &reading, &term) && supplier->sells_count < SELLS_TERMS_MAX) {
            sells_insert(supplier, terms, &term);
        }
        lua_settop(L, top + 2);
    }
    lua_settop(L, top);
}
