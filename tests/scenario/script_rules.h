/// Script rules: the rules of a play and the facts of its search, from their Lua table.
///
/// Threads: one.
/// Memory:  the play borrows the table's strings.
#pragma once

#include "scenario/play.h"

#include <lua.h>

/// The play's table is on top of the stack.
void script_read_rules(lua_State *lua, struct play *play);
