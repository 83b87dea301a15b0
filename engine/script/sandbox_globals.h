/// Sandbox globals: what scripts find in their environment, and nothing else.
///
/// Threads: the sandbox's.
/// Memory:  Lua's.
#pragma once

#include <lua.h>

/// Within a protected call on a fresh state: opens the libraries, takes out what scripts must not have, and leaves the
/// table of globals in the registry for sandbox_globals_push_environment.
void sandbox_globals_open(lua_State *L);

/// Pushes a new environment for one chunk: reads see the globals, writes raise.
void sandbox_globals_push_environment(lua_State *L);

/// The name of an allowed global that is nearest to `word`, or NULL; valid until the next call of the garbage
/// collector.
const char *sandbox_globals_nearest(lua_State *L, const char *word);
