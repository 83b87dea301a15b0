// A plan as a whole: its parts, and where it is kept. Its tables become nodes in plan_compiler.c.

#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/plan_compiler.h"
#include "script/plan_only.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_BYTES = 512 << 10 };

static const char PLAN_KEY;  // registry: the metatable of plans
static const char PLANS_KEY; // registry: the plans that were made, by number; [0] is how many

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
    when->action = plan_keep(compiler, index);
}

/// What stands behind the path of a condition: behind the first `:=`, or the last `:`, for names of XML may have one.
static struct text test_of(struct text condition)
{
    const char *equals = memmem(condition.data, condition.length, ":=", 2);
    const char *colon = equals != NULL ? equals : memrchr(condition.data, ':', condition.length);
    size_t length = colon != NULL ? condition.length - (size_t)(colon - condition.data) - 1 : 0;

    return (struct text){ condition.data + condition.length - length, length };
}

static void compile_when(struct plan_compiler *compiler, struct plan_when *when)
{
    lua_State *L = compiler->L;
    int key = lua_gettop(L) - 1;

    if (lua_type(L, key) == LUA_TNUMBER) {
        lua_Number status = lua_tonumber(L, key);
        if (!(status >= 100 && status <= 599) || status != (lua_Number)(uint16_t)status) {
            plan_failed(compiler, "a status is a number from 100 to 599%s", "");
        }
        when->status = (uint16_t)status;
    } else {
        struct text condition = bind_to_text(L, key);
        struct text rest = condition.data != NULL ? test_of(condition) : TEXT("");
        bool is_absent = text_equals_c(rest, "absent");
        bool is_value = rest.length > 0 && rest.data[0] == '=';
        uint64_t number = 0;
        if (condition.data != NULL && text_to_u64(condition, &number)) {
            plan_failed(compiler, "got the text \"%s\"; a status is a number, in brackets without quotes",
                        condition.data);
        }
        if (!is_absent && !is_value && !text_equals_c(rest, "present")) {
            plan_failed(compiler, "a status, \"path:=value\", \"path:absent\" or \"path:present\" expected, got %s",
                        condition.data != NULL ? condition.data : "something else");
        }
        struct text path = { condition.data, condition.length - rest.length - 1 };
        when->test = is_value ? PLAN_EQUALS : is_absent ? PLAN_ABSENT : PLAN_PRESENT;
        when->value = plan_copy(compiler, is_value ? (struct text){ rest.data + 1, rest.length - 1 } : TEXT(""));
        plan_compile_path(compiler, plan_copy(compiler, path), 0, &when->path);
    }
    compile_action(compiler, key + 1, when);
}

/// Statuses first, then values, then what is present or absent, paths in the order of their spelling.
static int compare_whens(const void *a, const void *b)
{
    const struct plan_when *first = a;
    const struct plan_when *second = b;

    if (first->test != second->test || first->test == PLAN_STATUS) {
        return first->test != second->test ? (int)first->test - (int)second->test
                                           : (int)first->status - (int)second->status;
    }
    int order = text_compare(first->path.text, second->path.text);
    return order != 0 ? order : text_compare(first->value, second->value);
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
    static const char *const known[] = { "each", "only", "offer", "when", "from", "xmlns", "lenient" };
    lua_State *L = compiler->L;

    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        struct text key = bind_to_text(L, -2);
        bool is_known = false;
        for (size_t i = 0; i < COUNT_OF(known); i++) {
            is_known = is_known || text_equals_c(key, known[i]);
        }
        if (!is_known) {
            plan_failed(compiler, "there are each, only, offer, when, from, xmlns and lenient, but no %s",
                        key.data != NULL ? key.data : "list");
        }
    }
}

/// What the answer is: JSON, or `from = "xml"`, with what its paths and its reader need to know.
static void compile_source(struct plan_compiler *compiler, int table)
{
    lua_State *L = compiler->L;
    struct plan *plan = compiler->plan;

    lua_getfield(L, table, "from");
    plan->is_xml = text_equals_c(bind_to_text(L, -1), "xml");
    if (!lua_isnil(L, -1) && !plan->is_xml && !text_equals_c(bind_to_text(L, -1), "json")) {
        plan_failed(compiler, "`from` is \"json\" or \"xml\"%s", "");
    }
    lua_getfield(L, table, "xmlns");
    lua_getfield(L, table, "lenient");
    if (!plan->is_xml && (!lua_isnil(L, -1) || !lua_isnil(L, -2))) {
        plan_failed(compiler, "`xmlns` and `lenient` are for `from = \"xml\"`%s", "");
    }
    plan->is_lenient = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
    if (!lua_isnil(L, -1)) {
        const char *wrong = freeze_raw(L, lua_gettop(L))
                                ? xml_names_take(&plan->names, L, lua_gettop(L), &plan->arena)
                                : "xmlns is a table from prefixes to the namespaces that they mean";
        if (wrong != NULL) {
            plan_failed(compiler, "%s", wrong);
        }
    }
    lua_settop(L, table);
}

/// What is on the way to the offers.
static void mark_main(struct plan *plan)
{
    for (struct declared *at = plan->levels[plan->offer_level].element; at != NULL; at = at->parent) {
        at->is_main = at != plan->levels[plan->offer_level].element;
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
    compile_source(compiler, table);
    compiler->key = "each";
    lua_getfield(L, table, "each");
    if (lua_type(L, -1) == LUA_TSTRING) {
        plan->offer_level = plan_compile_each(compiler, bind_text_at(L, lua_gettop(L)), 0);
        mark_main(plan);
    } else if (!lua_isnil(L, -1)) {
        plan_failed(compiler, "`each` is the path of a list, not a %s", luaL_typename(L, -1));
    }
    plan->only = plan_only_compile(compiler, table, plan->offer_level);
    if (plan->only != NULL && plan->offer_level == 0) {
        plan_failed(compiler, "`only` goes with `each`, whose elements it is about%s", "");
    }
    (void)snprintf(compiler->place, sizeof compiler->place, "offer");
    lua_getfield(L, table, "offer");
    if (!freeze_is_table(L, -1)) {
        plan_failed(compiler, "the fields of an offer expected, got a %s", luaL_typename(L, -1));
    }
    plan->offer = plan_compile_table(compiler, lua_gettop(L), plan->offer_level);
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
    bool is_function = lua_iscfunction(L, index) && lua_getupvalue(L, index, 1) != NULL;

    if (!is_function) {
        lua_pushvalue(L, index);
    }
    struct plan *plan = lua_touserdata(L, -1); // whoever holds `index` keeps it
    bool is_plan = lua_type(L, -1) == LUA_TUSERDATA && lua_getmetatable(L, -1);
    if (is_plan) {
        push_plan_metatable(L);
        is_plan = lua_rawequal(L, -1, -2) != 0;
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
    return is_plan ? plan : NULL;
}

/// Pushes the table of plans that were made; it keeps none alive.
static void push_made(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&PLANS_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (!lua_isnil(L, -1)) {
        return;
    }
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&PLANS_KEY);
    lua_pushvalue(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

int plan_count_made(lua_State *L)
{
    push_made(L);
    lua_rawgeti(L, -1, 0);
    int count = (int)lua_tointeger(L, -1);
    lua_pop(L, 2);
    return count;
}

const struct plan *plan_made(lua_State *L, int number)
{
    push_made(L);
    lua_rawgeti(L, -1, number);
    const struct plan *plan = number > 0 ? lua_touserdata(L, -1) : NULL;
    lua_pop(L, 2);
    return plan;
}

/// Gives the plan on top its number.
static void note_made(lua_State *L)
{
    int number = plan_count_made(L) + 1;

    push_made(L);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, number);
    lua_pushinteger(L, number);
    lua_rawseti(L, -2, 0);
    lua_pop(L, 1);
}

/// Where the script makes it; `return plan {…}` has left its place already.
static void note_place(struct plan_compiler *compiler)
{
    lua_Debug where;

    if (lua_getstack(compiler->L, 1, &where) != 0 && lua_getinfo(compiler->L, "Sl", &where) != 0 &&
        where.source[0] == '@') {
        compiler->plan->file = plan_copy(compiler, text_of(where.source + 1));
        compiler->plan->line = where.currentline > 0 ? (uint32_t)where.currentline : 0;
    }
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
    struct plan_compiler compiler = { .L = L, .plan = plan, .kept = place + 1 };
    if (!freeze_raw(L, index)) {
        bind_expected(L, 1, "a table with each, offer and when");
    }
    note_place(&compiler);
    compile_plan(&compiler, place + 2);
    lua_settop(L, place + 1);
    lua_setfenv(L, place);
    note_made(L);
}
