/// Script, of the store: what plays say of last known answers, and what came of them.
///
/// Threads: one.
/// Memory:  texts are the table's.
#pragma once

#include "scenario/play.h"

#include <lua.h>

/// The table on top of the stack: of the play; of a supplier.
void script_read_store(lua_State *lua, struct play *play);
void script_read_stored(lua_State *lua, struct play_supplier *supplier);

/// Into the table on top of the stack: `kept`, by supplier, `keeps` and `reads`.
void script_set_store(lua_State *lua, const struct play *play, const struct play_result *result);
