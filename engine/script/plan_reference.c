// What ref(list, key, path) names becomes a level. One list of the document and one key need no more than their paths;
// for all else the lists become levels of their own, which are stepped through to find the element.

#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/plan_compiler.h"
#include "script/plan_term.h"

#include <string.h>

static bool ends_with(struct text text, const char *end)
{
    size_t length = strlen(end);
    return text.length > length && memcmp(text.data + text.length - length, end, length) == 0;
}

/// The path at `index`, a text or up(n)[text]. `level`, where it begins, goes further out with it.
static struct text path_at(struct plan_compiler *compiler, int index, uint32_t *level)
{
    lua_State *L = compiler->L;
    const struct term *term = term_at(L, index);

    if (term == NULL) {
        return plan_copy(compiler, bind_text_at(L, index));
    }
    *level = plan_outer_level(compiler, *level, term->levels);
    term_push_argument(L, index, 1);
    struct text text = plan_copy(compiler, bind_text_at(L, lua_gettop(L)));
    lua_pop(L, 1);
    return text.length > 0 ? text : TEXT(".");
}

/// The next level, which is a reference from the element of `level`; it is not counted yet.
static struct plan_level *begin_level(struct plan_compiler *compiler, uint32_t level, struct text list)
{
    struct plan *plan = compiler->plan;

    if (plan->level_count == PLAN_LEVELS_MAX) {
        plan_failed(compiler, "`%s`: too many levels", list.data);
    }
    struct plan_level *made = &plan->levels[plan->level_count];
    made->outer = level;
    made->is_reference = true;
    made->is_map = ends_with(list, "{}");
    return made;
}

/// Of one list of the document, by one key.
static uint32_t compile_plain(struct plan_compiler *compiler, struct text list, int top, uint32_t level)
{
    struct plan *plan = compiler->plan;
    struct plan_level *made = begin_level(compiler, level, list);
    uint32_t from = level;
    struct text whole = made->is_map ? plan_copy(compiler, (struct text){ list.data, list.length - 2 }) : list;

    plan_compile_path(compiler, whole, 0, &made->list);
    made->element =
        plan_declare_elements(compiler, made->list.declared, made->is_map ? TEXT("{}") : TEXT("[]"), list.data);
    made->list.text = list;
    plan->level_count++;
    plan_compile_path(compiler, bind_text_at(compiler->L, top + 2), plan->level_count - 1, &made->key);
    if (made->key.is_key && !made->is_map) {
        plan_failed(compiler, "ref: `[]` is no key%s", "");
    }
    struct text reference = path_at(compiler, top + 3, &from);
    plan_compile_path(compiler, reference, from, &made->reference);
    return plan->level_count - 1;
}

/// The path or paths at `index`, from the element of `level`; how many.
static uint32_t compile_paths(struct plan_compiler *compiler, int index, uint32_t level, struct plan_path *paths)
{
    lua_State *L = compiler->L;
    bool is_list = freeze_is_table(L, index) && freeze_raw(L, index);
    int table = lua_gettop(L);
    uint32_t count = is_list ? (uint32_t)lua_objlen(L, table) : 1;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = level;
        if (is_list) {
            lua_rawgeti(L, table, (int)i + 1);
        } else {
            lua_pushvalue(L, index);
        }
        struct text text = path_at(compiler, lua_gettop(L), &from);
        plan_compile_path(compiler, text, from, &paths[i]);
        lua_pop(L, 1);
    }
    lua_settop(L, is_list ? table - 1 : table);
    return count;
}

static uint32_t compile_keys(struct plan_compiler *compiler, struct text list, int top, uint32_t base, uint32_t level)
{
    struct plan *plan = compiler->plan;
    struct plan_keys *keys = plan_alloc(compiler, 1, sizeof *keys);
    struct text each = list;

    if (!ends_with(list, "{}")) {
        bool is_self = text_equals_c(list, ".");
        char *text = plan_alloc(compiler, list.length + 3, 1);
        memcpy(text, list.data, list.length);
        memcpy(text + (is_self ? 0 : list.length), "[]", 3);
        each = (struct text){ text, is_self ? 2 : list.length + 2 };
    }
    keys->base = base;
    keys->level = plan_compile_each(compiler, each, base);
    for (uint32_t at = keys->level; at != base; at = plan->levels[at].outer) {
        keys->depth++;
    }
    keys->count = compile_paths(compiler, top + 2, keys->level, keys->key);
    if (compile_paths(compiler, top + 3, level, keys->reference) != keys->count) {
        plan_failed(compiler, "ref: `%s`: there must be as many paths as keys, one for each", list.data);
    }
    struct plan_level *made = begin_level(compiler, level, list);
    made->element = plan->levels[keys->level].element;
    made->list = (struct plan_path){ .level = base, .declared = plan->levels[base].element, .text = list };
    made->list.steps = plan_alloc(compiler, 1, sizeof(struct plan_step));
    made->keys = keys;
    return plan->level_count++;
}

uint32_t plan_compile_reference(struct plan_compiler *compiler, int index, uint32_t level)
{
    lua_State *L = compiler->L;
    int top = lua_gettop(L);
    uint32_t base = level;

    for (int i = 1; i <= 3; i++) {
        term_push_argument(L, index, i);
    }
    bool is_up = term_at(L, top + 1) != NULL;
    struct text list = path_at(compiler, top + 1, &base);
    if (ends_with(list, "[]")) {
        plan_failed(compiler, "ref: `%s`: the list that is looked through is named without its []", list.data);
    }
    struct text shorter = { list.data, list.length - (ends_with(list, "{}") ? 2 : 0) };
    bool is_plain = !is_up && !plan_is_values(plan_copy(compiler, shorter)) && lua_type(L, top + 2) == LUA_TSTRING &&
                    !freeze_is_table(L, top + 3);
    level = is_plain ? compile_plain(compiler, list, top, level)
                     : compile_keys(compiler, list, top, is_up ? base : 0, level);
    lua_settop(L, top);
    return level;
}
