// Where the fields of an offer come from: a Lua table, read by the product's readers, or a plan over the tape.

#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/offers_scope.h"
#include "script/plan_read.h"

#include <stdio.h>
#include <string.h>

struct value walk_lua_value(lua_State *L, int index, int type)
{
    switch (type) {
    case LUA_TNIL:
        return (struct value){ .kind = VALUE_ABSENT };
    case LUA_TSTRING:
        return (struct value){ .kind = VALUE_TEXT, .text = bind_text_at(L, index) };
    case LUA_TNUMBER:
        return (struct value){ .kind = VALUE_NUMBER, .number = lua_tonumber(L, index) };
    case LUA_TBOOLEAN:
        return (struct value){ .kind = VALUE_FLAG, .index = lua_toboolean(L, index) };
    case LUA_TTABLE:
        return (struct value){ .kind = VALUE_TABLE, .index = index };
    default:
        break;
    }
    if (bind_unwrap(L, index)) {
        return (struct value){ .kind = VALUE_TABLE, .index = index };
    }
    return (struct value){ .kind = VALUE_OTHER, .text = text_of(lua_typename(L, type)) };
}

// ---- tables --------------------------------------------------------------------------------------------------------

// The first required field that the table lacks, or NULL.
static const char *missing_field(lua_State *L, const struct schema_object *object, int index)
{
    const char *missing = NULL;

    for (size_t i = 0; i < object->count && missing == NULL; i++) {
        lua_pushstring(L, object->fields[i].name);
        lua_rawget(L, index);
        if (object->fields[i].is_required && lua_isnil(L, -1)) {
            missing = object->fields[i].name;
        }
        lua_pop(L, 1);
    }
    return missing;
}

// Says what was probably meant, and which required field is not there; without either, which fields there are.
static bool unknown_field(struct walk *walk, const struct schema_object *object, const char *name, const char *missing)
{
    const char *names[SCHEMA_FIELDS_MAX];
    char rest[sizeof(walk->reason)] = "";
    size_t length = 0;

    for (size_t i = 0; i < object->count; i++) {
        names[i] = object->fields[i].name;
    }
    const char *nearest = text_nearest(text_of(name), names, object->count);
    if (nearest != NULL) {
        snprintf(rest, sizeof(rest), "did you mean \"%s\"?", nearest);
    } else if (missing != NULL) {
        snprintf(rest, sizeof(rest), "\"%s\" is required, but absent", missing);
    }
    for (size_t i = 0; nearest == NULL && missing == NULL && i < object->count && length < sizeof(rest); i++) {
        length +=
            (size_t)snprintf(rest + length, sizeof(rest) - length, "%s%s", i == 0 ? "there are " : ", ", names[i]);
    }
    if (price_is_reserved(walk, object, name)) {
        return walk_failed(walk, "\"%s\" is the engine's to write: prices are converted once, and not by scripts",
                           name);
    }
    if (nearest != NULL && missing != NULL && strcmp(nearest, missing) != 0) {
        return walk_failed(walk, "unknown field \"%s\"; %s \"%s\" is required, but absent",
                           walk_quote(text_of(name)).text, rest, missing);
    }
    return walk_failed(walk, "unknown field \"%s\"; %s", walk_quote(text_of(name)).text, rest);
}

// Field by field: for tables with a metatable, and to find what is wrong. The slots are there, and nil.
static bool spread_slowly(struct walk *walk, const struct schema_object *object, int index, int base)
{
    lua_State *L = walk->L;

    for (lua_pushnil(L); lua_next(L, index) != 0;) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            return walk_failed(walk, "fields expected, got a list");
        }
        const char *name = lua_tostring(L, -2);
        const struct schema_field *field = schema_find(object, name);
        if (field == NULL) {
            lua_pop(L, 2);
            return unknown_field(walk, object, name, missing_field(L, object, index));
        }
        lua_replace(L, base + (int)(field - object->fields));
    }
    return true;
}

static lua_Integer read_values(lua_State *L, const struct schema_object *object, int base, struct value *values)
{
    lua_Integer present = 0;

    for (size_t i = 0; i < object->count; i++) {
        int slot = base + (int)i;
        values[i] = walk_lua_value(L, slot, lua_type(L, slot));
        present += values[i].kind != VALUE_ABSENT ? 1 : 0;
    }
    return present;
}

// When the table has as many fields as the schema found in it, it has no others.
static bool spread_table(struct walk *walk, const struct schema_object *object, int index, struct value *values)
{
    lua_State *L = walk->L;
    int base = lua_gettop(L) + 2;

    if (!lua_checkstack(L, (int)object->count + 8)) {
        return walk_failed(walk, "nested too deeply");
    }
    if (lua_getmetatable(L, index) == 0) {
        lua_rawgeti(L, walk->readers, object->reader);
        lua_pushvalue(L, index);
        lua_call(L, 1, (int)object->count + 1);
        if (read_values(L, object, base, values) == lua_tointeger(L, base - 1)) {
            return true;
        }
    }
    lua_settop(L, base - 1);
    lua_settop(L, base - 1 + (int)object->count);
    if (!spread_slowly(walk, object, index, base)) {
        return false;
    }
    (void)read_values(L, object, base, values);
    return true;
}

// ---- plans ---------------------------------------------------------------------------------------------------------

bool plan_wants_text(enum schema_kind kind)
{
    return kind != SCHEMA_INTEGER;
}

static bool planned_field(const struct plan_node *node, struct text name)
{
    for (size_t i = 0; i < node->field_count; i++) {
        if (text_equals(node->fields[i]->name, name)) {
            return true;
        }
    }
    return false;
}

static struct plan_bound bind_leaf(const struct schema_field *field, uint8_t number, const struct plan_node *leaf)
{
    bool wants_text = plan_wants_text(field->kind);

    return (struct plan_bound){ .leaf = leaf,
                                .level = leaf->path.level,
                                .place = leaf->path.place,
                                .field = number,
                                .is_member =
                                    leaf->op == PLAN_PATH && leaf->path.is_member && !leaf->path.is_key && wants_text,
                                .wants_text = wants_text,
                                .is_certain = leaf->op == PLAN_OBJECT && field->is_required };
}

// Which leaf is for which field of the schema, found once. False: there is a leaf without a field.
static bool bind_fields(struct walk *walk, const struct schema_object *object, struct plan_node *node)
{
    struct plan *plan = (struct plan *)(uintptr_t)walk->row->plan; // its state's own, as the walk is
    const char *missing = NULL;

    if (node->by_field == NULL) {
        node->by_field = arena_alloc_array(&plan->arena, SCHEMA_FIELDS_MAX, sizeof(struct plan_node *));
        node->bounds = arena_alloc_array(&plan->arena, SCHEMA_FIELDS_MAX, sizeof(struct plan_bound));
    }
    if (node->by_field == NULL || node->bounds == NULL) {
        return walk_failed(walk, "there is no memory for the plan");
    }
    memset(node->by_field, 0, SCHEMA_FIELDS_MAX * sizeof(struct plan_node *));
    node->bound = NULL;
    for (size_t i = 0; i < object->count; i++) {
        bool is_there = planned_field(node, text_of(object->fields[i].name));
        missing = missing == NULL && object->fields[i].is_required && !is_there ? object->fields[i].name : missing;
    }
    for (size_t k = 0; k < node->field_count; k++) {
        size_t i = 0;
        while (i < object->count && !text_equals_c(node->fields[k]->name, object->fields[i].name)) {
            i++;
        }
        if (i == object->count) {
            return unknown_field(walk, object, node->fields[k]->name.data, missing);
        }
        node->by_field[i] = node->fields[k];
    }
    node->bound_count = 0;
    for (size_t i = 0; i < object->count; i++) {
        const struct schema_field *field = &object->fields[i];
        const struct plan_node *leaf = node->by_field[i];
        if (leaf != NULL) {
            node->bounds[node->bound_count++] = bind_leaf(field, (uint8_t)i, leaf);
        }
    }
    node->bound = object;
    return true;
}

// What no leaf says of the currency, a `money` term of the object may say.
static void read_currency(struct walk *walk, const struct schema_object *object, const struct plan_node *node,
                          struct value *values)
{
    for (size_t i = 0; i < object->count && values[object->currency].kind == VALUE_ABSENT; i++) {
        if (node->by_field[i] != NULL) {
            values[object->currency] = plan_currency(walk->row, node->by_field[i]);
        }
    }
}

static bool is_bound(struct walk *walk, const struct schema_object *object, const struct plan_node *node)
{
    return node->bound == object || bind_fields(walk, object, (struct plan_node *)(uintptr_t)node);
}

// A text that is a member of the element in hand, which most leaves are. False: it is something else.
static inline bool put_member(const struct plan_row *row, const struct plan_bound *bound, struct value *out)
{
    const struct tape_node *node = &row->tape->nodes[row->at[bound->level]];

    if (node->kind != TAPE_OBJECT) {
        return false;
    }
    node = tape_member(row->tape, node, bound->place);
    if (node->kind != TAPE_TEXT && node->kind != TAPE_NUMBER) {
        return false;
    }
    out->kind = VALUE_TEXT;
    out->text = node->text;
    return true;
}

static inline void put_planned(struct walk *walk, const struct plan_bound *bound, struct value *out)
{
    if (bound->is_member && put_member(walk->row, bound, out)) {
        return;
    }
    if (bound->is_certain) {
        *out = (struct value){ .kind = VALUE_PLANNED, .node = bound->leaf };
    } else {
        plan_put(walk->row, bound->leaf, bound->wants_text, out);
    }
}

static bool spread_plan(struct walk *walk, const struct schema_object *object, const struct plan_node *node,
                        struct value *values)
{
    if (!is_bound(walk, object, node)) {
        return false;
    }
    for (size_t i = 0; i < object->count; i++) {
        values[i].kind = VALUE_ABSENT; // most of a schema is
    }
    for (size_t i = 0; i < node->bound_count; i++) {
        put_planned(walk, &node->bounds[i], &values[node->bounds[i].field]);
    }
    if (object->currency >= 0) {
        read_currency(walk, object, node, values);
    }
    return true;
}

// ---- both ----------------------------------------------------------------------------------------------------------

bool walk_spread(struct walk *walk, const struct schema_object *object, const struct value *source,
                 struct value values[SCHEMA_FIELDS_MAX])
{
    if (source->kind == VALUE_PLANNED) {
        return spread_plan(walk, object, source->node, values);
    }
    return spread_table(walk, object, source->index, values);
}

struct text walk_peek(struct walk *walk, const struct schema_object *object, const struct value *source, size_t field)
{
    lua_State *L = walk->L;
    struct text text = { NULL, 0 };

    if (source->kind == VALUE_PLANNED) {
        struct value value = { .kind = VALUE_ABSENT };
        const struct plan_node *leaf = is_bound(walk, object, source->node) ? source->node->by_field[field] : NULL;
        if (leaf != NULL) {
            plan_put(walk->row, leaf, plan_wants_text(object->fields[field].kind), &value);
        }
        return value_text(&value);
    }
    if (source->kind == VALUE_TABLE) {
        lua_pushstring(L, object->fields[field].name);
        lua_rawget(L, source->index);
        text = bind_to_text(L, -1); // the table keeps it
        lua_pop(L, 1);
    }
    return text;
}
