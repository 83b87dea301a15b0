/// Plan compiler: what the parts of compiling a plan share.
///
/// Threads: those of the lua_State.
/// Memory:  everything made lives in the plan's arena.
#pragma once

#include "script/plan.h"

struct plan_compiler {
    lua_State *L;
    struct plan *plan;
    int kept; // stack index of the environment
    int depth;
    char place[160]; // `offer.price.total`; empty: the plan itself
    const char *key; // … which of its keys is in hand; NULL: none
};

/// Raises an error with the place in the plan.
_Noreturn void plan_failed(struct plan_compiler *compiler, const char *format, const char *word);

/// Adds a name to the place; the caller cuts it off again.
void plan_enter(struct plan_compiler *compiler, const char *name);

/// Zeroed memory of the plan; raises when there is none.
void *plan_alloc(struct plan_compiler *compiler, size_t count, size_t size);
struct text plan_copy(struct plan_compiler *compiler, struct text text);

/// Keeps the value at `index` in the environment; its number there.
int plan_keep(struct plan_compiler *compiler, int index);

/// Whatever may stand for a field, at `index`, from the element of `level`.
struct plan_node *plan_compile_leaf(struct plan_compiler *compiler, int index, uint32_t level);

/// The text, number or flag at `index`; raises when it is none.
struct plan_constant plan_compile_constant(struct plan_compiler *compiler, int index);

/// The table at `index`, from the element of `level`: an object, or with `each` a list of objects or of what its one
/// item says, or a function with what it is given.
struct plan_node *plan_compile_table(struct plan_compiler *compiler, int index, uint32_t level);

/// A path from the element of `level`; what it names is declared. Raises when it is none.
void plan_compile_path(struct plan_compiler *compiler, struct text text, uint32_t level, struct plan_path *path);

/// One more member behind a path.
void plan_compile_member(struct plan_compiler *compiler, const struct plan_path *path, const char *name,
                         struct plan_path *made);

/// `hotels[].rooms{}` from the element of `level`: one more level for each `[]` and `{}`. The innermost.
uint32_t plan_compile_each(struct plan_compiler *compiler, struct text text, uint32_t level);

/// What ref(list, key, path), the term at `index`, names from the element of `level`: its level.
uint32_t plan_compile_reference(struct plan_compiler *compiler, int index, uint32_t level);

/// The level `count` further out.
uint32_t plan_outer_level(struct plan_compiler *compiler, uint32_t level, int count);

/// What the elements of the list or map `node` are, by the brackets in hand.
struct declared *plan_declare_elements(struct plan_compiler *compiler, struct declared *node, struct text brackets,
                                       const char *path);

/// Is it a path to the values of a list or map: `amounts[]`, `rooms{}.total`?
bool plan_is_values(struct text text);

/// … from the element of `level` to the list or map, and from each of its elements on.
void plan_compile_values(struct plan_compiler *compiler, struct text text, uint32_t level, struct plan_node *node);
