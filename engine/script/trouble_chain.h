/// Trouble chain: what a line of Lua reads, and where that came to nothing.
///
/// The chains of names on the line, `f.total.amount`, are followed through the locals and upvalues of the function that
/// runs, without asking any metamethod.
///
/// Threads: those of the lua_State.
/// Memory:  none of its own.
#pragma once

#include "base/text.h"

#include <lua.h>

enum { CHAIN_TEXT = 96 };

/// What is looked for.
struct chain_wish {
    struct text name; // of the field or variable; absent: any
    bool is_variable; // `name` is a local or upvalue
    bool goes_on;     // it is indexed
    const char *type; // what is there: "nil"
};

struct chain_fault {
    char owner[CHAIN_TEXT]; // what lacks it, as the line says it; empty: a variable
    char name[CHAIN_TEXT];  // the field or variable
    int table;              // stack index of the owner's table, pushed; 0: a variable
};

/// False: nothing on the line fits. `level` is the function's on the stack.
bool chain_find(lua_State *L, int level, struct text line, const struct chain_wish *wish, struct chain_fault *fault);

/// Is it a name that needs no quotes?
bool chain_is_name(struct text word);
