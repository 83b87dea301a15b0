// Functions of a plan: what they are given becomes Lua values, of just what the plan declares.

#include "script/plan_read.h"

#include "script/bind_json.h"
#include "script/bind_support.h"
#include "script/offers_walk.h"
#include "script/plan_memo.h"
#include "script/sandbox.h"
#include "script/sandbox_globals.h"

#include <stdio.h>

static void push_node(struct plan_row *row, const struct declared *declared, const struct tape_node *node);

static void push_members(struct plan_row *row, const struct declared *declared, const struct tape_node *node)
{
    lua_State *L = row->L;

    luaL_checkstack(L, 8, "the document is nested too deeply");
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

    luaL_checkstack(L, 8, "the document is nested too deeply");
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

/// Pushes the text of a node. Neighbours in a plan often ask about the same one: it becomes a value of Lua once.
static void push_text(struct plan_row *row, const struct tape_node *node)
{
    lua_State *L = row->L;
    int place = row->tables + (int)row->plan->level_count;

    if (row->argument != node) {
        bind_push_text(L, node->text);
        lua_replace(L, place);
        row->argument = node;
    }
    lua_pushvalue(L, place);
}

/// Pushes what a path names. An element of XML that has a text of its own is that text, whatever else is read of it.
static void push_named(struct plan_row *row, const struct declared *declared, const struct tape_node *node)
{
    bool is_leaf = declared->kind == DECLARED_SCALAR && (node->kind == TAPE_TEXT || node->kind == TAPE_NUMBER);

    if (is_leaf || (node->kind == TAPE_OBJECT && node->text.data != NULL)) {
        push_text(row, node);
    } else {
        push_node(row, declared, node);
    }
}

static void push_value(struct plan_row *row, const struct plan_node *node, const struct tape_node *element)
{
    const struct tape_node *value = plan_find_from(row->tape, element, &node->inner);

    if (value != NULL) {
        push_named(row, node->inner.declared, value);
    } else {
        lua_pushnil(row->L);
    }
}

/// What `inner` names of each element of a list, or of the lists in them, into the table on top; `*place` is the last
/// that is taken.
static void fill_list(struct plan_row *row, const struct plan_node *node, const struct tape_node *list, size_t depth,
                      int *place)
{
    sandbox_stop_here(row->L);
    for (uint32_t at = list->first; at != 0; at = row->tape->nodes[at].next) {
        const struct tape_node *element = &row->tape->nodes[at];
        if (depth < node->between_count) {
            const struct tape_node *inner = plan_find_from(row->tape, element, &node->between[depth]);
            if (inner != NULL && inner->kind == TAPE_LIST) {
                fill_list(row, node, inner, depth + 1, place);
            }
        } else {
            push_value(row, node, element);
            lua_rawseti(row->L, -2, ++*place);
        }
    }
}

/// A table by the keys of a map.
static void fill_map(struct plan_row *row, const struct plan_node *node, const struct tape_node *map)
{
    for (uint32_t at = map->first; at != 0; at = row->tape->nodes[at].next) {
        bind_push_text(row->L, row->tape->nodes[at].text);
        push_value(row, node, &row->tape->nodes[at + 1]);
        lua_rawset(row->L, -3);
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
    if (is_map) {
        fill_map(row, node, list);
    } else {
        fill_list(row, node, list, 0, &place);
        bind_json_mark_array(L, lua_gettop(L));
    }
}

void plan_push_asked(struct plan_row *row, struct text path)
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

/// An argument of a function: what the plan declares of a node, or what a term says.
static void push_argument(struct plan_row *row, const struct plan_node *node)
{
    lua_State *L = row->L;

    if (node->op == PLAN_PATH && plan_is_number(row, &node->path)) {
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
        plan_push_asked(row, node->value.text);
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

static bool is_misfit(const struct plan_row *row, const struct tape_node *value, bool is_helper)
{
    bool is_object = value->kind == TAPE_OBJECT && (!row->plan->is_xml || (is_helper && value->text.data == NULL));

    return is_object || value->kind == TAPE_OTHER || value->kind == TAPE_LIST || value->kind == TAPE_MAP;
}

static const struct tape_node *find_misfit_in(const struct plan_row *row, const struct plan_node *node,
                                              const struct tape_node *list, size_t depth, bool is_helper)
{
    bool is_map = list != NULL && list->kind == TAPE_MAP;
    const struct tape_node *found = NULL;

    for (uint32_t at = list != NULL && (is_map || list->kind == TAPE_LIST) ? list->first : 0; at != 0 && found == NULL;
         at = row->tape->nodes[at].next) {
        const struct tape_node *value = &row->tape->nodes[at + (is_map ? 1 : 0)];
        if (depth < node->between_count) {
            const struct tape_node *inner = plan_find_from(row->tape, value, &node->between[depth]);
            found = find_misfit_in(row, node, inner, depth + 1, is_helper);
        } else {
            found = is_misfit(row, value, is_helper) ? value : NULL;
        }
    }
    return found;
}

/// An element of `c[]` that is no plain value: its members would be those that other leaves happen to declare.
static const struct tape_node *find_misfit(const struct plan_row *row, const struct plan_node *node, bool is_helper)
{
    return find_misfit_in(row, node, plan_find(row, &node->path), 0, is_helper);
}

/// A list or object of which no field is named: there would be nothing to give. A function of Lua may be asked about an
/// element of XML all the same; helpers know texts only.
static const struct tape_node *find_whole(const struct plan_row *row, const struct plan_node *node, bool is_helper)
{
    bool is_asked = is_helper || !row->plan->is_xml;
    bool is_plain = !node->path.is_key && is_asked && node->path.declared->kind == DECLARED_SCALAR;
    const struct tape_node *value = is_plain ? plan_find(row, &node->path) : NULL;

    return value != NULL && value->kind == TAPE_OTHER ? value : NULL;
}

/// An object or element that was given to a helper as a table.
static const struct tape_node *find_table(const struct plan_row *row, const struct plan_node *node)
{
    bool may_be = node->op == PLAN_PATH && !node->path.is_key && node->path.declared->kind == DECLARED_OBJECT;
    const struct tape_node *value = may_be ? plan_find(row, &node->path) : NULL;

    return value != NULL && value->kind == TAPE_OBJECT && value->text.data == NULL ? value : NULL;
}

static struct value misfit_value(struct plan_row *row, const struct plan_node *node, const struct tape_node *misfit)
{
    size_t room = sizeof row->scratch - row->scratch_used;
    bool is_element = row->plan->is_xml && (misfit->kind == TAPE_OBJECT || misfit->kind == TAPE_OTHER);

    if (is_element && node->op == PLAN_PATH) {
        (void)snprintf(row->scratch + row->scratch_used, room,
                       "an element without a text of its own at `%.60s`: name one in it, or an attribute",
                       node->path.text.data);
    } else if (misfit->kind == TAPE_OBJECT && node->op == PLAN_PATH) {
        (void)snprintf(row->scratch + row->scratch_used, room, "an object at `%.60s`: name a field of it",
                       node->path.text.data);
    } else if (node->op == PLAN_PATH) {
        (void)snprintf(row->scratch + row->scratch_used, room,
                       "%s as `%.60s`, of which a function is given nothing: name a field", tape_kind_name(misfit),
                       node->path.text.data);
    } else {
        (void)snprintf(row->scratch + row->scratch_used, room,
                       "%s in `%.60s`, which holds plain values only: name a field", tape_kind_name(misfit),
                       node->path.text.data);
    }
    return (struct value){ .kind = VALUE_OTHER,
                           .text = text_of(room > 1 ? row->scratch + row->scratch_used : "a list of objects") };
}

/// Calls a function of C, whose errors know neither line nor name: they get the leaf's place and the function's name.
/// One that was given a table in place of a text, because that is what the answer has there, costs its offer only: the
/// argument; else NULL.
static const struct plan_node *call_helper(struct plan_row *row, const struct plan_node *node, int arguments)
{
    lua_State *L = row->L;
    const struct plan *plan = row->plan;
    int status = lua_pcall(L, arguments, 1, 0);

    if (status == 0) {
        return NULL;
    }
    if (status == LUA_ERRMEM) {
        sandbox_of(L)->heap.is_exhausted = true;
    }
    sandbox_check(L);
    if (lua_type(L, -1) != LUA_TSTRING) {
        lua_error(L); // a failure
    }
    for (size_t i = 0; i < node->field_count; i++) {
        if (find_table(row, node->fields[i]) != NULL) {
            return node->fields[i];
        }
    }
    lua_rawgeti(L, row->kept, node->function);
    sandbox_globals_push_name(L, lua_gettop(L));
    const char *raised = lua_tostring(L, -3);
    const char *name = lua_pushfstring(L, "to %s", lua_tostring(L, -1));
    const char *message = luaL_gsub(L, raised, "to '?'", name);
    if (plan->file.data != NULL) {
        luaL_error(L, "%s:%d: plan: %s: %s", plan->file.data, (int)plan->line, node->value.text.data, message);
    }
    luaL_error(L, "plan: %s: %s", node->value.text.data, message);
    return NULL;
}

static struct value call(struct plan_row *row, const struct plan_node *node)
{
    lua_State *L = row->L;
    int arguments = node->field_count == 0 ? 1 : (int)node->field_count;

    luaL_checkstack(L, 8 + (int)node->field_count, "the plan is nested too deeply");
    lua_rawgeti(L, row->kept, node->function);
    bool is_helper = lua_iscfunction(L, -1) != 0;
    for (size_t i = 0; i < node->field_count; i++) {
        const struct plan_node *field = node->fields[i];
        const struct tape_node *misfit = field->op == PLAN_VALUES && field->inner.count == 0
                                             ? find_misfit(row, field, is_helper)
                                         : field->op == PLAN_PATH ? find_whole(row, field, is_helper)
                                                                  : NULL;
        if (misfit != NULL) {
            return misfit_value(row, field, misfit);
        }
    }
    if (node->field_count == 0) {
        push_row(row, node->level);
        if (lua_isnil(L, -1)) {
            return (struct value){
                .kind = VALUE_ABSENT
            }; // null, or no such thing as the plan declares: nothing to ask it about
        }
    }
    for (size_t i = 0; i < node->field_count; i++) {
        push_argument(row, node->fields[i]);
    }
    row->calling = node;
    if (is_helper) {
        const struct plan_node *table = call_helper(row, node, arguments);
        if (table != NULL) {
            return misfit_value(row, table, find_table(row, table));
        }
    } else {
        for (int i = 0; i < arguments && i < PLAN_GIVEN_MAX; i++) {
            row->given[i] = lua_topointer(L, i - arguments);
        }
        lua_call(L, arguments, 1);
    }
    return walk_lua_value(L, lua_gettop(L), lua_type(L, -1));
}

struct value plan_call(struct plan_row *row, const struct plan_node *node)
{
    struct text key = plan_memo_key(row, node);
    const struct value *known = key.data != NULL ? plan_memo_find(row, node, key) : NULL;

    if (known != NULL) {
        return *known;
    }
    uint64_t effects = key.data != NULL ? sandbox_effects(row->L) : 0;
    struct value value = call(row, node);
    if (key.data != NULL && sandbox_effects(row->L) == effects) {
        plan_memo_keep(row, node, key, &value);
    }
    return value;
}
