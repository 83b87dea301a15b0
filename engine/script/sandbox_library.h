/// Sandbox library: the libraries of Lua as scripts get them: string, table, math, bit.
///
/// Everything in them ends soon: by the size of what it is given, or because it looks whether it must stop.
///
/// Threads: the sandbox's.
/// Memory:  Lua's.
#pragma once

#include <lua.h>

/// Within a protected call on a fresh state: puts the libraries, read-only, into the table at `target`. What Lua itself
/// has opened stays in its own table of globals.
void sandbox_library_open(lua_State *L, int target);
