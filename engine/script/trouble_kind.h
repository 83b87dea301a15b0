/// Trouble kind: the code of an error by what raised it, and the sentence, notes and remedy that go with it.
///
/// Threads: those of the lua_State.
/// Memory:  a plain value; texts are Lua's.
#pragma once

#include "script/trouble.h"

struct trouble_scene {
    lua_State *L;
    const struct trouble *trouble;
    int level;               // of the function of Lua that is told; 0: there is none
    uint32_t line;           // where it stands
    char file[256];          // its file
    const char *words;       // the message without a place
    struct text source;      // of the file; absent: not known
    struct text source_line; // within it
    const char *at;          // within that: what came to nothing; NULL: not known
};

/// The remedy of its code, when it has none yet.
void trouble_help(struct failure *why);

/// Sets code and remedy, betters the sentence and adds notes. Needs room on the stack for a dozen values.
void trouble_tell_kind(struct trouble_scene *scene, struct failure *why);
