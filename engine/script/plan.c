// Compiling a plan: its tables become nodes.

#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/plan_compiler.h"
#include "script/plan_term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_BYTES = 512 << 10, PLAN_DEPTH_MAX = 12, PLAN_ENTRIES_MAX = 4096 };

static const char PLAN_KEY; // registry: the metatable of plans

static struct plan_node *compile_leaf(struct plan_compiler *compiler, int index, uint32_t level);

/// Keeps the value at `index` in the environment; its number there.
static int keep(struct plan_compiler *compiler, int index)
{
    lua_pushvalue(compiler->L, index);
    lua_rawseti(compiler->L, compiler->kept, ++compiler->plan->kept);
    return compiler->plan->kept;
}

// ---- leaves --------------------------------------------------------------------------------------------------------

static struct plan_node *make_node(struct plan_compiler *compiler, enum plan_op op)
{
    struct plan_node *node = plan_alloc(compiler, 1, sizeof *node);
    node->op = op;
    return node;
}

static struct plan_constant compile_constant(struct plan_compiler *compiler, int index)
{
    lua_State *L = compiler->L;
    int type = lua_type(L, index);

    if (type == LUA_TBOOLEAN) {
        return (struct plan_constant){ .kind = lua_toboolean(L, index) ? TAPE_TRUE : TAPE_FALSE };
    }
    if (type != LUA_TSTRING && type != LUA_TNUMBER) {
        plan_failed(compiler, "a text, a number, true or false expected, got a %s", luaL_typename(L, index));
    }
    lua_pushvalue(L, index);
    struct text text = plan_copy(compiler, bind_text_at(L, lua_gettop(L)));
    lua_pop(L, 1);
    return (struct plan_constant){ .kind = type == LUA_TSTRING ? TAPE_TEXT : TAPE_NUMBER, .text = text };
}

static struct plan_node *compile_argument(struct plan_compiler *compiler, int term, int number, uint32_t level)
{
    lua_State *L = compiler->L;

    term_push_argument(L, term, number);
    struct plan_node *node = lua_isnil(L, -1) ? NULL : compile_leaf(compiler, lua_gettop(L), level);
    lua_pop(L, 1);
    return node;
}

static uint32_t outer_level(struct plan_compiler *compiler, uint32_t level, int count)
{
    for (; count > 0; count--) {
        if (level == 0) {
            plan_failed(compiler, "%s goes further out than the document", "up(n)");
        }
        level = compiler->plan->levels[level].outer;
    }
    return level;
}

static int compare_entries(const void *a, const void *b)
{
    return text_compare(((const struct plan_entry *)a)->key, ((const struct plan_entry *)b)->key);
}

static void compile_entries(struct plan_compiler *compiler, int term, struct plan_node *node)
{
    lua_State *L = compiler->L;
    size_t count = 0;

    term_push_argument(L, term, 2);
    if (!freeze_raw(L, lua_gettop(L))) {
        plan_failed(compiler, "map needs a table%s", "");
    }
    int table = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        count++;
    }
    if (count > PLAN_ENTRIES_MAX) {
        plan_failed(compiler, "map: more than 4096 entries%s", "");
    }
    node->entries = plan_alloc(compiler, count + 1, sizeof(struct plan_entry));
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        lua_pushvalue(L, -2); // a number becomes text on a copy of its own
        struct plan_entry *entry = &node->entries[node->entry_count++];
        entry->key = plan_copy(compiler, bind_text_at(L, lua_gettop(L)));
        lua_pop(L, 1);
        entry->value = compile_constant(compiler, lua_gettop(L));
    }
    qsort(node->entries, node->entry_count, sizeof(struct plan_entry), compare_entries);
    lua_pop(L, 2);
    term_push_argument(L, term, 3);
    if (!lua_isnil(L, -1)) {
        node->value = compile_constant(compiler, lua_gettop(L));
    }
    lua_pop(L, 1);
}

static struct plan_node *compile_term(struct plan_compiler *compiler, int index, const struct term *term,
                                      uint32_t level)
{
    lua_State *L = compiler->L;
    struct plan_node *node = NULL;

    switch (term->op) {
    case TERM_CONST:
        node = make_node(compiler, PLAN_CONST);
        term_push_argument(L, index, 1);
        node->value = compile_constant(compiler, lua_gettop(L));
        lua_pop(L, 1);
        break;
    case TERM_UP:
        node = make_node(compiler, PLAN_PATH);
        term_push_argument(L, index, 1);
        plan_compile_path(compiler, lua_objlen(L, -1) > 0 ? bind_text_at(L, lua_gettop(L)) : TEXT("."),
                          outer_level(compiler, level, term->levels), &node->path);
        lua_pop(L, 1);
        break;
    case TERM_MONEY:
        node = make_node(compiler, PLAN_MONEY);
        node->parts[1] = compile_argument(compiler, index, 1, level);
        node->parts[0] = compile_argument(compiler, index, 2, level);
        node->parts[2] = compile_argument(compiler, index, 3, level);
        break;
    case TERM_MAP:
        node = make_node(compiler, PLAN_MAP);
        node->parts[0] = compile_argument(compiler, index, 1, level);
        compile_entries(compiler, index, node);
        break;
    case TERM_NONE:
        break;
    }
    require(node != NULL);
    return node;
}

static int compare_names(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/// The fields of the table at `table`, in the order of their names; `each` is the caller's.
static void compile_fields(struct plan_compiler *compiler, int table, uint32_t level, struct plan_node *node)
{
    lua_State *L = compiler->L;
    struct text names[PLAN_FIELDS_MAX];
    size_t count = 0;
    size_t before = strlen(compiler->place);

    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            plan_failed(compiler, "fields with names expected, got an item of a list%s", "");
        }
        struct text name = bind_text_at(L, lua_gettop(L) - 1);
        if (text_equals_c(name, "each")) {
            continue;
        }
        if (count == PLAN_FIELDS_MAX) {
            plan_failed(compiler, "more than 64 fields%s", "");
        }
        names[count++] = name;
    }
    qsort(names, count, sizeof names[0], compare_names);
    node->fields = plan_alloc(compiler, count + 1, sizeof(struct plan_node *));
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(compiler->place + before, sizeof compiler->place - before, ".%.*s", TEXT_ARGS(names[i]));
        bind_push_text(L, names[i]);
        lua_rawget(L, table);
        struct plan_node *field = compile_leaf(compiler, lua_gettop(L), level);
        field->name = plan_copy(compiler, names[i]);
        node->fields[node->field_count++] = field;
        lua_pop(L, 1);
        compiler->place[before] = '\0';
    }
}

/// An object, or with `each` a list: of objects, or of what its one item says.
static struct plan_node *compile_table(struct plan_compiler *compiler, int index, uint32_t level)
{
    lua_State *L = compiler->L;
    struct plan_node *node = make_node(compiler, PLAN_OBJECT);

    if (!freeze_raw(L, index)) {
        plan_failed(compiler, "a path, a term, a function or a table expected, got a %s", luaL_typename(L, index));
    }
    int table = lua_gettop(L);
    lua_getfield(L, table, "each");
    if (lua_type(L, -1) == LUA_TSTRING) {
        node->op = PLAN_LIST;
        node->outer = level;
        node->first_level = compiler->plan->level_count;
        node->level = plan_compile_each(compiler, bind_text_at(L, lua_gettop(L)), level);
        level = node->level;
    } else if (!lua_isnil(L, -1)) {
        plan_failed(compiler, "`each` is the path of a list, not a %s", luaL_typename(L, -1));
    }
    lua_rawgeti(L, table, 1);
    if (!lua_isnil(L, -1) && node->op == PLAN_LIST && lua_objlen(L, table) == 1) {
        node->parts[0] = compile_leaf(compiler, lua_gettop(L), level);
    } else {
        compile_fields(compiler, table, level, node);
    }
    lua_settop(L, table - 1);
    return node;
}

static struct plan_node *compile_leaf(struct plan_compiler *compiler, int index, uint32_t level)
{
    lua_State *L = compiler->L;
    struct plan_node *node = NULL;
    const struct term *term = term_at(L, index);

    luaL_checkstack(L, 16, "the plan is nested too deeply");
    if (++compiler->depth > PLAN_DEPTH_MAX) {
        plan_failed(compiler, "nested too deeply%s", "");
    }
    if (term != NULL) {
        node = compile_term(compiler, index, term, level);
    } else if (lua_type(L, index) == LUA_TSTRING) {
        node = make_node(compiler, PLAN_PATH);
        plan_compile_path(compiler, bind_text_at(L, index), level, &node->path);
    } else if (lua_type(L, index) == LUA_TNUMBER || lua_type(L, index) == LUA_TBOOLEAN) {
        node = make_node(compiler, PLAN_CONST);
        node->value = compile_constant(compiler, index);
    } else if (lua_type(L, index) == LUA_TFUNCTION) {
        node = make_node(compiler, PLAN_CALL);
        node->function = keep(compiler, index);
        node->level = level;
    } else {
        node = compile_table(compiler, index, level);
    }
    compiler->depth--;
    return node;
}

// ---- the whole -----------------------------------------------------------------------------------------------------

static void compile_action(struct plan_compiler *compiler, int index, struct plan_when *when)
{
    lua_State *L = compiler->L;

    if (lua_type(L, index) == LUA_TSTRING) {
        if (!text_equals_c(bind_text_at(L, index), "empty")) {
            plan_failed(compiler, "\"empty\", a failure or a function that makes one expected, got \"%s\"",
                        lua_tostring(L, index));
        }
        when->is_empty = true;
        return;
    }
    if (lua_isboolean(L, index) || lua_isnumber(L, index)) {
        plan_failed(compiler, "\"empty\", a failure or a function that makes one expected, got a %s",
                    luaL_typename(L, index));
    }
    when->action = keep(compiler, index);
}

static void compile_when(struct plan_compiler *compiler, struct plan_when *when)
{
    lua_State *L = compiler->L;
    int key = lua_gettop(L) - 1;

    if (lua_type(L, key) == LUA_TNUMBER) {
        lua_Number status = lua_tonumber(L, key);
        if (!(status >= 100 && status <= 599)) {
            plan_failed(compiler, "a status is a number from 100 to 599%s", "");
        }
        when->status = (uint16_t)status;
    } else {
        struct text condition = bind_to_text(L, key);
        struct text rest;
        struct text path = text_split(condition, ':', &rest);
        bool is_absent = text_equals_c(rest, "absent");
        if (condition.data == NULL || (!is_absent && !text_equals_c(rest, "present"))) {
            plan_failed(compiler, "a status, \"path:absent\" or \"path:present\" expected, got %s",
                        condition.data != NULL ? condition.data : "something else");
        }
        when->test = is_absent ? PLAN_ABSENT : PLAN_PRESENT;
        plan_compile_path(compiler, plan_copy(compiler, path), 0, &when->path);
    }
    compile_action(compiler, key + 1, when);
}

/// Statuses first, then paths in the order of their spelling.
static int compare_whens(const void *a, const void *b)
{
    const struct plan_when *first = a;
    const struct plan_when *second = b;

    if (first->test != second->test || first->test == PLAN_STATUS) {
        return first->test != second->test ? (int)first->test - (int)second->test
                                           : (int)first->status - (int)second->status;
    }
    return text_compare(first->path.text, second->path.text);
}

static void compile_whens(struct plan_compiler *compiler, int table)
{
    lua_State *L = compiler->L;
    struct plan *plan = compiler->plan;

    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (plan->when_count == PLAN_WHENS_MAX) {
            plan_failed(compiler, "more than 32 conditions%s", "");
        }
        compile_when(compiler, &plan->whens[plan->when_count++]);
    }
    qsort(plan->whens, plan->when_count, sizeof plan->whens[0], compare_whens);
}

static void check_keys(struct plan_compiler *compiler, int table)
{
    static const char *const known[] = { "each", "offer", "when" };
    lua_State *L = compiler->L;

    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        struct text key = bind_to_text(L, -2);
        bool is_known = false;
        for (size_t i = 0; i < COUNT_OF(known); i++) {
            is_known = is_known || text_equals_c(key, known[i]);
        }
        if (!is_known) {
            plan_failed(compiler, "there are each, offer and when, but no %s", key.data != NULL ? key.data : "list");
        }
    }
}

static void compile_plan(struct plan_compiler *compiler, int table)
{
    lua_State *L = compiler->L;
    struct plan *plan = compiler->plan;

    check_keys(compiler, table);
    plan->root = declared_root(&plan->arena);
    if (plan->root == NULL) {
        plan_failed(compiler, "the plan is too large%s", "");
        return;
    }
    plan->levels[0] = (struct plan_level){ .element = plan->root };
    plan->level_count = 1;
    lua_getfield(L, table, "each");
    if (lua_type(L, -1) == LUA_TSTRING) {
        plan->offer_level = plan_compile_each(compiler, bind_text_at(L, lua_gettop(L)), 0);
    } else if (!lua_isnil(L, -1)) {
        plan_failed(compiler, "`each` is the path of a list, not a %s", luaL_typename(L, -1));
    }
    (void)snprintf(compiler->place, sizeof compiler->place, "offer");
    lua_getfield(L, table, "offer");
    if (!freeze_is_table(L, -1)) {
        plan_failed(compiler, "the fields of an offer expected, got a %s", luaL_typename(L, -1));
    }
    plan->offer = compile_table(compiler, lua_gettop(L), plan->offer_level);
    (void)snprintf(compiler->place, sizeof compiler->place, "when");
    lua_getfield(L, table, "when");
    if (!lua_isnil(L, -1)) {
        if (!freeze_raw(L, lua_gettop(L))) {
            plan_failed(compiler, "a table expected, got a %s", luaL_typename(L, -1));
        }
        compile_whens(compiler, lua_gettop(L));
    }
}

static int plan_collect(lua_State *L)
{
    struct plan *plan = lua_touserdata(L, 1);
    arena_fini(&plan->arena);
    return 0;
}

static void push_plan_metatable(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&PLAN_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (!lua_isnil(L, -1)) {
        return;
    }
    lua_pop(L, 1);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, plan_collect);
    lua_setfield(L, -2, "__gc");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushlightuserdata(L, (void *)(uintptr_t)&PLAN_KEY);
    lua_pushvalue(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

struct plan *plan_at(lua_State *L, int index)
{
    struct plan *plan = lua_touserdata(L, index);

    if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) {
        return NULL;
    }
    push_plan_metatable(L);
    bool is_plan = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    return is_plan ? plan : NULL;
}

void plan_make(lua_State *L, int index)
{
    struct plan *plan = lua_newuserdata(L, sizeof *plan);
    int place = lua_gettop(L);

    memset(plan, 0, sizeof *plan);
    arena_init(&plan->arena, PLAN_BYTES);
    push_plan_metatable(L);
    lua_setmetatable(L, place);
    lua_newtable(L);
    struct plan_compiler compiler = { .L = L, .plan = plan, .kept = place + 1, .place = "plan" };
    if (!freeze_raw(L, index)) {
        bind_expected(L, 1, "a table with each, offer and when");
    }
    compile_plan(&compiler, place + 2);
    lua_settop(L, place + 1);
    lua_setfenv(L, place);
}
