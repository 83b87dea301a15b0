/// Field watch: a name that a search, `ctx`, its options or a response never has, told where an author looks on.
///
/// In the engine such a name is nil, and what is made of it vanishes from a request in silence. A state that watches
/// puts a miss behind the tables that it freezes, so that reading one raises; a state that does not pays nothing.
///
/// What a search may have is known of no list. A name that it lacks is told when the product and its modules do not
/// have the word anywhere, or when another part of the same search has it. So a field that is only absent this time is
/// nil as ever; and so is a name that comes out of a variable.
///
/// Threads: those of the lua_State.
/// Memory:  Lua's; the product's file must outlive the state.
#pragma once

#include "script/script_shelf.h"

/// In a section: watches the plain search on top, before it is frozen.
void field_watch_search(lua_State *L, const struct script_file *product);

/// The same of the plain table on top, which has what it has and the `optional` ones; those must outlive the state.
/// `path` is what scripts call it.
void field_watch_known(lua_State *L, const char *path, const char *const *optional, size_t count);

/// In a section: raises for the name at `index` that `path` never has, which has `known`. Does nothing for another
/// value than a text, and when it is no script that reads.
void field_watch_refuse(lua_State *L, const char *path, int index, const char *const *known, size_t count);
