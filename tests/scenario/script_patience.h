/// Script patience: what a play says of patience, and of the past of a supplier; inside of script.
///
/// Threads: one.
/// Memory:  owns nothing.
#pragma once

#include "scenario/play.h"

#include <lua.h>

/// Of the table of a supplier, which is on top.
void script_read_past(lua_State *lua, struct play_supplier *supplier);
/// Of the table of a play.
void script_read_patience(lua_State *lua, struct play *play);
