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

/// What is done with the value that is looked for.
enum chain_place {
    CHAIN_INDEXED,
    CHAIN_CALLED,
    CHAIN_JOINED,   // by ..
    CHAIN_COMPARED, // by order
    CHAIN_RECKONED,
    CHAIN_MEASURED, // by #
    CHAIN_GIVEN,    // to `function`
};

/// What is looked for.
struct chain_wish {
    enum chain_place place;
    struct text name;     // of the field or variable; absent: not known
    bool is_variable;     // `name` is a local or upvalue
    const char *type;     // what is there: "nil"
    struct text function; // its name, without the table's; absent but for CHAIN_GIVEN
    uint32_t argument;    // from 1 on
};

struct chain_fault {
    char owner[CHAIN_TEXT]; // what lacks it, as the line says it; empty: it is a variable
    char name[CHAIN_TEXT];  // the field or variable
    char after[CHAIN_TEXT]; // what would have been read of it: ".amount"; empty: something else
    const char *at;         // where its name stands in the line
    int table;              // stack index of the owner's table, pushed; 0: a variable, or a field of what is no table
};

enum chain_count {
    CHAIN_NONE,
    CHAIN_ONE,
    CHAIN_MANY, // or one and something that cannot be followed
};

/// CHAIN_ONE: nothing else on the line can be it. `level` is the function's on the stack; `source` holds the line.
enum chain_count chain_find(lua_State *L, int level, struct text source, struct text line,
                            const struct chain_wish *wish, struct chain_fault *fault);

/// Is it a name that needs no quotes?
bool chain_is_name(struct text word);
