/// Sandbox globals: what scripts find in their environment, and nothing else.
///
/// Threads: the sandbox's.
/// Memory:  Lua's.
#pragma once

#include <lua.h>

/// Within a protected call on a fresh state: opens the libraries, takes out what scripts must not have, and leaves the
/// table of globals in the registry for sandbox_globals_push_environment.
void sandbox_globals_open(lua_State *L);

/// Pushes a new environment for a chunk: reads see the globals, writes raise. What `require` loads for the chunk, its
/// modules, and theirs, are instances of its own, so that nothing passes from one supplier to another through them.
void sandbox_globals_push_environment(lua_State *L);

/// The name of an allowed global that is nearest to `word`, or NULL; valid until the next call of the garbage
/// collector.
const char *sandbox_globals_nearest(lua_State *L, const char *word);

/// Raises when the global `module` is a table that lacks `field`, and says which it may have meant.
void sandbox_globals_check_field(lua_State *L, const char *module, const char *field);

/// Pushes what scripts call the helper's function at `index`: "money.add", "first"; "?" for any other.
void sandbox_globals_push_name(lua_State *L, int index);

/// For tests: `extend` is called for each state that is opened from now on, with the index of its table of globals.
/// NULL: nothing is added, as in the engine. Not while other threads open states.
void sandbox_globals_extend(void (*extend)(lua_State *L, int target));
