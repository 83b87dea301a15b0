/// Plan terms: what `up`, `const`, `ref`, `asked`, `time(…)`, `money(…)` and `map("…")` give while a script is loaded.
///
/// Threads: those of the lua_State.
/// Memory:  userdata; their environment holds the arguments.
#pragma once

#include <lua.h>

enum term_op { TERM_NONE, TERM_CONST, TERM_UP, TERM_MONEY, TERM_MAP, TERM_REF, TERM_ASKED, TERM_TIME };

struct term {
    enum term_op op;
    int levels; // of up
};

/// The term at `index`, or NULL.
const struct term *term_at(lua_State *L, int index);

/// Pushes argument `number` of the term at `index`; nil: there is none.
void term_push_argument(lua_State *L, int index, int number);

int term_up(lua_State *L);
int term_const(lua_State *L);
int term_ref(lua_State *L);
int term_asked(lua_State *L);
