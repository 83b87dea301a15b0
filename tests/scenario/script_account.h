/// Script account: the account of a supplier of a play, from its Lua table: limits, credentials, what it is worth.
///
/// Threads: one.
/// Memory:  plain values.
#pragma once

#include "scenario/play.h"

#include <lua.h>

/// The supplier's table is on top of the stack.
void script_read_account(lua_State *lua, struct virtual_supplier *behaviour);
