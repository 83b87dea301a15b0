/// JSON values in Lua: what marks a table as an array, and how a number is written.
///
/// Threads: those of the lua_State.
#pragma once

#include "base/text.h"

#include <lua.h>

/// Pushes the array mark, a private metatable.
void bind_json_push_array_mark(lua_State *L);

/// Gives the table at `index` the array mark.
void bind_json_mark_array(lua_State *L, int index);
bool bind_json_is_marked(lua_State *L, int index);

enum { BIND_NUMBER_MAX = 40 };

/// The shortest decimal that reads back as the same double, in `out`; the absent text for NaN and infinities.
struct text bind_json_number(double value, char out[BIND_NUMBER_MAX]);
