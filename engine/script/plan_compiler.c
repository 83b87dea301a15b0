// Leaves, terms, objects and lists of a plan become nodes.

#include "script/plan_compiler.h"

#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/plan_only.h"
#include "script/plan_term.h"

#include <stdlib.h>
#include <string.h>

enum { PLAN_DEPTH_MAX = 12, PLAN_ENTRIES_MAX = 4096 };

int plan_keep(struct plan_compiler *compiler, int index)
{
    lua_pushvalue(compiler->L, index);
    lua_rawseti(compiler->L, compiler->kept, ++compiler->plan->kept);
    return compiler->plan->kept;
}

/// How many keys it has, of whatever kind.
static size_t count_keys(lua_State *L, int table)
{
    size_t count = 0;

    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        count++;
    }
    return count;
}

// ---- leaves --------------------------------------------------------------------------------------------------------

static struct plan_node *make_node(struct plan_compiler *compiler, enum plan_op op)
{
    struct plan_node *node = plan_alloc(compiler, 1, sizeof *node);
    node->op = op;
    return node;
}

struct plan_constant plan_compile_constant(struct plan_compiler *compiler, int index)
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
    struct plan_node *node = lua_isnil(L, -1) ? NULL : plan_compile_leaf(compiler, lua_gettop(L), level);
    lua_pop(L, 1);
    return node;
}

uint32_t plan_outer_level(struct plan_compiler *compiler, uint32_t level, int count)
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

/// What stands for the key of a map in a document: its literal.
static struct text compile_key(struct plan_compiler *compiler, int index)
{
    lua_State *L = compiler->L;

    if (lua_isboolean(L, index)) {
        return lua_toboolean(L, index) ? TEXT("true") : TEXT("false");
    }
    if (!lua_isstring(L, index)) {
        plan_failed(compiler, "map: a key is a text, a number, true or false, not a %s", luaL_typename(L, index));
    }
    lua_pushvalue(L, index); // a number becomes text on a copy of its own
    struct text key = plan_copy(compiler, bind_text_at(L, lua_gettop(L)));
    lua_pop(L, 1);
    return key;
}

static void compile_entries(struct plan_compiler *compiler, int term, struct plan_node *node)
{
    lua_State *L = compiler->L;

    term_push_argument(L, term, 2);
    if (!freeze_raw(L, lua_gettop(L))) {
        plan_failed(compiler, "map needs a table%s", "");
    }
    int table = lua_gettop(L);
    size_t count = count_keys(L, table);
    if (count > PLAN_ENTRIES_MAX) {
        plan_failed(compiler, "map: more than 4096 entries%s", "");
    }
    node->entries = plan_alloc(compiler, count + 1, sizeof(struct plan_entry));
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        struct plan_entry *entry = &node->entries[node->entry_count++];
        entry->key = compile_key(compiler, lua_gettop(L) - 1);
        entry->value = plan_compile_constant(compiler, lua_gettop(L));
    }
    qsort(node->entries, node->entry_count, sizeof(struct plan_entry), compare_entries);
    for (size_t i = 1; i < node->entry_count; i++) {
        if (text_equals(node->entries[i - 1].key, node->entries[i].key)) {
            plan_failed(compiler, "map: there are two keys that are spelt %s", node->entries[i].key.data);
        }
    }
    lua_pop(L, 2);
    term_push_argument(L, term, 3);
    if (!lua_isnil(L, -1)) {
        node->value = plan_compile_constant(compiler, lua_gettop(L));
    }
    lua_pop(L, 1);
}

/// ref(…).field as a leaf.
static struct plan_node *compile_ref(struct plan_compiler *compiler, int index, uint32_t level)
{
    lua_State *L = compiler->L;
    struct plan_node *node = make_node(compiler, PLAN_REF);

    node->level = plan_compile_reference(compiler, index, level);
    term_push_argument(L, index, 4);
    node->parts[0] = make_node(compiler, PLAN_PATH);
    struct text path = lua_objlen(L, -1) > 0 ? bind_text_at(L, lua_gettop(L)) : TEXT(".");
    if (plan_is_values(path)) {
        plan_failed(compiler,
                    "`%s`: a path behind ref may not go through lists: [1] or [-1] in place of [] names one; for all, "
                    "each = … with of = ref(…) or Lua in place of the plan",
                    path.data);
    }
    plan_compile_path(compiler, path, node->level, &node->parts[0]->path);
    lua_pop(L, 1);
    return node;
}

static struct plan_node *compile_time(struct plan_compiler *compiler, int index, uint32_t level)
{
    static const char *const names[] = { "year", "month", "day", "hour", "minute" };
    struct plan_node *node = make_node(compiler, PLAN_TIME);
    const struct plan_node *object = compile_argument(compiler, index, 1, level);

    if (object->op != PLAN_PATH) {
        plan_failed(compiler, "time(…) takes a path%s", "");
    }
    node->field_count = PLAN_TIME_PARTS;
    node->fields = plan_alloc(compiler, PLAN_TIME_PARTS, sizeof(struct plan_node *));
    for (size_t i = 0; i < PLAN_TIME_PARTS; i++) {
        node->fields[i] = make_node(compiler, PLAN_PATH);
        plan_compile_member(compiler, &object->path, names[i], &node->fields[i]->path);
    }
    return node;
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
        node->value = plan_compile_constant(compiler, lua_gettop(L));
        lua_pop(L, 1);
        break;
    case TERM_UP:
        node = make_node(compiler, PLAN_PATH);
        term_push_argument(L, index, 1);
        plan_compile_path(compiler, lua_objlen(L, -1) > 0 ? bind_text_at(L, lua_gettop(L)) : TEXT("."),
                          plan_outer_level(compiler, level, term->levels), &node->path);
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
    case TERM_REF:
        node = compile_ref(compiler, index, level);
        break;
    case TERM_ASKED:
        node = make_node(compiler, PLAN_ASKED);
        term_push_argument(L, index, 1);
        node->value = plan_compile_constant(compiler, lua_gettop(L));
        lua_pop(L, 1);
        break;
    case TERM_TIME:
        node = compile_time(compiler, index, level);
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
        if (text_equals_c(name, "each") ||
            (node->op == PLAN_LIST && (text_equals_c(name, "of") || text_equals_c(name, "only")))) {
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
        plan_enter(compiler, names[i].data);
        bind_push_text(L, names[i]);
        lua_rawget(L, table);
        struct plan_node *field = plan_compile_leaf(compiler, lua_gettop(L), level);
        field->name = plan_copy(compiler, names[i]);
        node->fields[node->field_count++] = field;
        lua_pop(L, 1);
        compiler->place[before] = '\0';
    }
}

/// `of = ref(…)`: the level of what the elements refer to.
static uint32_t compile_of(struct plan_compiler *compiler, int table, uint32_t level)
{
    lua_State *L = compiler->L;

    lua_getfield(L, table, "of");
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return level;
    }
    int index = lua_gettop(L);
    const struct term *term = term_at(L, index);
    if (term == NULL || term->op != TERM_REF) {
        plan_failed(compiler, "`of` is ref(list, key), not a %s", luaL_typename(L, index));
    }
    term_push_argument(L, index, 4);
    if (lua_objlen(L, -1) > 0) {
        plan_failed(compiler, "`of` is what ref(…) names, without `.%s`", lua_tostring(L, -1));
    }
    level = plan_compile_reference(compiler, index, level);
    lua_settop(L, index - 1);
    return level;
}

/// "a[].b" or up(n)["a[].b"], of a function only; NULL: it is something else.
static struct plan_node *compile_values(struct plan_compiler *compiler, int index, uint32_t level)
{
    lua_State *L = compiler->L;
    const struct term *term = term_at(L, index);
    struct plan_node *node = NULL;
    bool is_up = term != NULL && term->op == TERM_UP;

    if (!is_up && lua_type(L, index) != LUA_TSTRING) {
        return NULL;
    }
    if (is_up) {
        term_push_argument(L, index, 1);
    } else {
        lua_pushvalue(L, index);
    }
    if (plan_is_values(bind_text_at(L, lua_gettop(L)))) {
        node = make_node(compiler, PLAN_VALUES);
        plan_compile_values(compiler, bind_text_at(L, lua_gettop(L)),
                            is_up ? plan_outer_level(compiler, level, term->levels) : level, node);
    }
    lua_pop(L, 1);
    return node;
}

/// `{ "path", term, …, function }`: the function of those values.
static void compile_call(struct plan_compiler *compiler, int table, uint32_t level, struct plan_node *node)
{
    lua_State *L = compiler->L;
    int count = (int)lua_objlen(L, table) - 1;

    node->op = PLAN_CALL;
    node->level = level;
    node->value.text = plan_copy(compiler, text_of(compiler->place));
    node->fields = plan_alloc(compiler, (size_t)count + 1, sizeof(struct plan_node *));
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, table, i);
        int index = lua_gettop(L);
        node->fields[i - 1] = compile_values(compiler, index, level);
        if (node->fields[i - 1] == NULL) {
            if (lua_type(L, index) != LUA_TSTRING && term_at(L, index) == NULL) {
                plan_failed(compiler, "before its function stand paths and terms, not a %s", luaL_typename(L, index));
            }
            node->fields[i - 1] = plan_compile_leaf(compiler, index, level);
        }
        lua_pop(L, 1);
    }
    node->field_count = (size_t)count;
    lua_rawgeti(L, table, count + 1);
    node->function = plan_keep(compiler, lua_gettop(L));
    lua_pop(L, 1);
}

/// `{ …, function }`.
static bool is_call(lua_State *L, int table)
{
    size_t count = lua_objlen(L, table);

    lua_rawgeti(L, table, (int)count);
    bool is = count > 1 && count <= PLAN_FIELDS_MAX && lua_isfunction(L, -1);
    lua_pop(L, 1);
    return is;
}

/// `each = "legs[]"` or `each = up(1)["legs[]"]`: the level of its elements. `list->outer` is that of the element in
/// hand and becomes the one that the path begins at.
static uint32_t compile_each(struct plan_compiler *compiler, int index, struct plan_node *list)
{
    lua_State *L = compiler->L;
    const struct term *term = term_at(L, index);

    if (term != NULL && term->op == TERM_UP) {
        list->outer = plan_outer_level(compiler, list->outer, term->levels);
        term_push_argument(L, index, 1);
    } else if (lua_type(L, index) == LUA_TSTRING) {
        lua_pushvalue(L, index);
    } else {
        plan_failed(compiler, "`each` is the path of a list, not a %s", luaL_typename(L, index));
    }
    list->first_level = compiler->plan->level_count;
    uint32_t level = plan_compile_each(compiler, bind_text_at(L, lua_gettop(L)), list->outer);
    lua_pop(L, 1);
    return level;
}

struct plan_node *plan_compile_table(struct plan_compiler *compiler, int index, uint32_t level)
{
    lua_State *L = compiler->L;
    struct plan_node *node = make_node(compiler, PLAN_OBJECT);

    if (!freeze_raw(L, index)) {
        plan_failed(compiler, "a path, a term, a function or a table expected, got a %s", luaL_typename(L, index));
    }
    int table = lua_gettop(L);
    lua_getfield(L, table, "each");
    if (!lua_isnil(L, -1)) {
        node->op = PLAN_LIST;
        node->outer = level;
        level = compile_each(compiler, lua_gettop(L), node);
        node->level = compile_of(compiler, table, level);
        level = node->level;
        node->only = plan_only_compile(compiler, table, level);
    }
    size_t keywords = (node->op == PLAN_LIST ? 1U : 0U) + (node->only != NULL ? 1U : 0U); // each, only …
    lua_getfield(L, table, "of");
    keywords += node->op == PLAN_LIST && !lua_isnil(L, -1) ? 1 : 0; // … and of
    lua_rawgeti(L, table, 1);
    if (!lua_isnil(L, -1) && node->op == PLAN_LIST && count_keys(L, table) == keywords + 1) {
        node->parts[0] = plan_compile_leaf(compiler, lua_gettop(L), level);
    } else if (node->op != PLAN_LIST && is_call(L, table) && count_keys(L, table) == lua_objlen(L, table)) {
        compile_call(compiler, table, level, node);
    } else {
        compile_fields(compiler, table, level, node);
    }
    lua_settop(L, table - 1);
    return node;
}

struct plan_node *plan_compile_leaf(struct plan_compiler *compiler, int index, uint32_t level)
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
        node->value = plan_compile_constant(compiler, index);
    } else if (lua_type(L, index) == LUA_TFUNCTION) {
        node = make_node(compiler, PLAN_CALL);
        node->function = plan_keep(compiler, index);
        node->level = level;
        node->value.text = plan_copy(compiler, text_of(compiler->place));
    } else {
        node = plan_compile_table(compiler, index, level);
    }
    compiler->depth--;
    return node;
}
