/// Script health: what a play tells of the health of its suppliers, and of what went on of them, as Lua tables.
///
/// Threads: one.
/// Memory:  nothing is kept.
#pragma once

#include "scenario/play.h"

#include <lua.h>

/// Fills `health` and `late` of the table on top.
void script_set_health(lua_State *lua, const struct play *play, const struct play_result *result);
