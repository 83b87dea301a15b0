/// Script health: what was told of each supplier's health in a play, as a Lua table; inside of script.
///
/// Threads: one.
/// Memory:  owns nothing.
#pragma once

#include "scenario/play.h"

#include <lua.h>

/// Sets `health` of the table on top: by supplier what was told last; absent: nothing was.
void script_set_health(lua_State *lua, const struct play *play, const struct play_result *result);
