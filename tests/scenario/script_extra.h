/// Script extra: what a play says of extra calls, from its Lua table; and what was told of them, into one.
///
/// Threads: one.
/// Memory:  plain values.
#pragma once

#include "scenario/play.h"

#include <lua.h>

/// The play's table is on top of the stack.
void script_read_extra_settings(lua_State *lua, struct play *play);
/// A supplier's table is on top of the stack.
void script_read_extra(lua_State *lua, struct virtual_supplier *behaviour);
/// A second request as it is read like a first one.
struct virtual_second script_second_of(const struct virtual_step *step);

/// Sets `extra` of the table on top of the stack, of each supplier: what became of the last kind, and why the last was
/// refused.
void script_push_extra(lua_State *lua, const struct play *play, const struct play_result *result);
