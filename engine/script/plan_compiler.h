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
    char place[160]; // `offer.price.total`
};

/// Raises an error with the place in the plan.
_Noreturn void plan_failed(struct plan_compiler *compiler, const char *format, const char *word);

/// Zeroed memory of the plan; raises when there is none.
void *plan_alloc(struct plan_compiler *compiler, size_t count, size_t size);
struct text plan_copy(struct plan_compiler *compiler, struct text text);

/// A path from the element of `level`; what it names is declared. Raises when it is none.
void plan_compile_path(struct plan_compiler *compiler, struct text text, uint32_t level, struct plan_path *path);

/// `hotels[].rooms[]` from the element of `level`: one more level for each `[]`. The innermost.
uint32_t plan_compile_each(struct plan_compiler *compiler, struct text text, uint32_t level);
