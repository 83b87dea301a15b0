#include "script/plan_only.h"

#include "script/bind_shape.h"
#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/plan_drop.h"
#include "script/plan_term.h"
#include "script/sandbox.h"

#include <stdio.h>
#include <string.h>

enum { BAD_SIZE = 200 };

// ---- what the script says ------------------------------------------------------------------------------------------

static void compile_words(struct plan_compiler *compiler, int index, struct plan_only *only)
{
    lua_State *L = compiler->L;
    int top = lua_gettop(L);
    bool is_list = freeze_is_table(L, index) && freeze_raw(L, index);
    int list = lua_gettop(L);
    size_t count = is_list ? lua_objlen(L, list) : 1;

    if (count == 0 || count > PLAN_ONLY_MAX) {
        plan_failed(compiler, "behind the path stand a value or a list of one to 64%s", "");
    }
    only->words = plan_alloc(compiler, count, sizeof(struct text));
    only->word_count = count;
    for (size_t i = 0; i < count; i++) {
        if (is_list) {
            lua_rawgeti(L, list, (int)i + 1);
        } else {
            lua_pushvalue(L, index);
        }
        struct plan_constant word = plan_compile_constant(compiler, lua_gettop(L));
        only->words[i] = word.kind == TAPE_TRUE ? TEXT("true") : word.kind == TAPE_FALSE ? TEXT("false") : word.text;
        lua_pop(L, 1);
    }
    lua_settop(L, top);
}

/// `{ "status", "OK" }`, of which the table is at `table`.
static void compile_pair(struct plan_compiler *compiler, int table, struct plan_only *only, uint32_t level)
{
    lua_State *L = compiler->L;

    lua_rawgeti(L, table, 1);
    int path = lua_gettop(L);
    lua_rawgeti(L, table, 2);
    if ((lua_type(L, path) != LUA_TSTRING && term_at(L, path) == NULL) || lua_isnil(L, path + 1) ||
        lua_objlen(L, table) != 2) {
        plan_failed(compiler, "a path, { path, value or list of values } or a function expected%s", "");
    }
    only->leaf = plan_compile_leaf(compiler, path, level);
    compile_words(compiler, path + 1, only);
}

/// `{ …, function }` is a leaf as it is anywhere else.
static bool ends_with_function(lua_State *L, int table)
{
    lua_rawgeti(L, table, (int)lua_objlen(L, table));
    bool is = lua_isfunction(L, -1) != 0;
    lua_pop(L, 1);
    return is;
}

struct plan_only *plan_only_compile(struct plan_compiler *compiler, int table, uint32_t level)
{
    lua_State *L = compiler->L;
    int top = lua_gettop(L);
    size_t before = strlen(compiler->place);

    lua_getfield(L, table, "only");
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return NULL;
    }
    plan_enter(compiler, "only");
    struct plan_only *only = plan_alloc(compiler, 1, sizeof *only);
    int index = lua_gettop(L);
    bool is_term = term_at(L, index) != NULL || lua_type(L, index) == LUA_TSTRING || lua_isfunction(L, index);
    if (!is_term && freeze_is_table(L, index) && freeze_raw(L, index)) {
        if (ends_with_function(L, lua_gettop(L))) {
            only->leaf = plan_compile_leaf(compiler, index, level);
        } else {
            compile_pair(compiler, lua_gettop(L), only, level);
        }
    } else if (is_term) {
        only->leaf = plan_compile_leaf(compiler, index, level);
    } else {
        plan_failed(compiler, "a path, { path, value or list of values } or a function expected, got a %s",
                    luaL_typename(L, index));
    }
    if (only->leaf->op == PLAN_CONST || only->leaf->op == PLAN_MONEY) {
        plan_failed(compiler, "a path, { path, value or list of values } or a function expected%s", "");
    }
    compiler->place[before] = '\0';
    lua_settop(L, top);
    return only;
}

// ---- what an answer says -------------------------------------------------------------------------------------------

/// Something is there, and it is neither false nor 0, however that is spelt.
static bool is_true(const struct value *value)
{
    bool flag = true;

    switch (value->kind) {
    case VALUE_ABSENT:
        return false;
    case VALUE_FLAG:
        return value->index != 0;
    case VALUE_NUMBER:
        return value->number != 0;
    case VALUE_TEXT:
        return value->text.length > 0 && (!shape_is_flag(value->text, &flag) || flag);
    case VALUE_TABLE:
    case VALUE_PLANNED:
    case VALUE_OTHER:
        break;
    }
    return true;
}

/// Is it spelt like one of the words?
static bool is_word(const struct plan_only *only, const struct value *value)
{
    struct text spelt = value->kind == VALUE_TEXT   ? value->text
                        : value->kind != VALUE_FLAG ? TEXT("")
                        : value->index != 0         ? TEXT("true")
                                                    : TEXT("false");

    for (size_t i = 0; value->kind != VALUE_ABSENT && i < only->word_count; i++) {
        if (text_equals(spelt, only->words[i])) {
            return true;
        }
    }
    return false;
}

/// "a list, which `only` cannot compare"; from a reference that leads nowhere, or a list or object in place of a text.
static struct value bad_value(struct plan_row *row, const struct value *value)
{
    char what[BAD_SIZE];
    size_t room = sizeof row->scratch - row->scratch_used;

    (void)snprintf(what, sizeof what, "%s", value_what(value));
    int length = snprintf(row->scratch + row->scratch_used, room, "%s, which `only` cannot compare", what);
    const char *told =
        length > 0 && (size_t)length < room ? row->scratch + row->scratch_used : "what `only` cannot compare";
    return (struct value){ .kind = VALUE_OTHER, .text = text_of(told) };
}

bool plan_only_means(struct plan_row *row, const struct plan_only *only, struct value *bad)
{
    int top = lua_gettop(row->L);
    size_t scratch_used = row->scratch_used;

    bad->kind = VALUE_ABSENT;
    if (row->dangling != NULL) {
        return true; // an element that is not there is told where it is read
    }
    sandbox_stop_here(row->L);
    struct value value = plan_value(row, only->leaf, true);
    row->scratch_used = scratch_used;
    bool can_tell = only->words == NULL || value.kind <= VALUE_FLAG;
    bool is_meant = only->words == NULL ? is_true(&value) : is_word(only, &value);
    if (only->leaf->op == PLAN_CALL && row->drop != NULL && row->drop->is_watched) {
        plan_drop_note_only(row->drop, only->leaf->value.text.data, value.kind == VALUE_ABSENT);
    }
    if (!can_tell) {
        *bad = bad_value(row, &value);
    }
    lua_settop(row->L, top);
    return is_meant || !can_tell;
}

bool plan_only_next_offer(struct plan_row *row, int *number, struct value *bad)
{
    const struct plan *plan = row->plan;

    do {
        if (plan->offer_level == 0 ? *number > 0 : !plan_row_next(row, plan->offer_level, 0)) {
            return false;
        }
        ++*number;
        sandbox_stop_here(row->L);
        plan_row_renew(row);
    } while (plan->only != NULL && !plan_only_means(row, plan->only, bad));
    return true;
}
