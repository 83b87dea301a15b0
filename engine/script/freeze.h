/// Freeze: read-only views of Lua tables.
///
/// LuaJIT without 5.2 compatibility asks no metamethod for `#`, `pairs` or `next` of a table, but it does ask `__len`
/// of a userdata. So a frozen table is a userdata in front of a table that scripts cannot reach: indexing and `#` go
/// through its metatable, a write raises an error at the script's line, and the sandbox's own `pairs`, `ipairs`,
/// `next`, `type`, `unpack`, `rawget`, `select`… see through it. C code that takes tables from scripts must call
/// freeze_raw first, at each level: the values inside a frozen table are frozen themselves.
///
/// Threads: a worker's, or the loader's.
/// Memory:  Lua's.
#pragma once

#include <lua.h>

#include <stdbool.h>

/// Replaces the table on top of the stack with its frozen view; nested plain tables are replaced by views as well
/// (cycles are fine). Anything but a table stays as it is. Raises only out of memory.
void freeze_deep(lua_State *L);

/// The same for the one table on top; its values stay as they are.
void freeze_shallow(lua_State *L);

/// True: the value is a frozen table.
bool freeze_is(lua_State *L, int index);

/// Pushes the table to read from: the value itself when it is a table, the one behind it when it is frozen.
/// False: neither, nothing pushed. Never write into what it pushed unless the value was a plain table.
bool freeze_raw(lua_State *L, int index);

/// True for tables and frozen tables.
bool freeze_is_table(lua_State *L, int index);
