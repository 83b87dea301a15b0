/// Trouble path: where a table stands in a document that its script was given, and which keys it has.
///
/// Threads: those of the lua_State.
/// Memory:  none of its own.
#pragma once

#include "script/trouble.h"

enum { TROUBLE_PATH = 160, TROUBLE_KEYS = 400 };

/// Writes "body.offers[2]": the way to the plain table at `table` from a document that was read, or from what the plan
/// in hand gave its function, whose level on the stack is `level`. False: it was not found.
/// `*is_declared`: it holds what a shape or plan reads, and the document may have more.
bool trouble_path(lua_State *L, const struct trouble *trouble, int table, int level, char path[TROUBLE_PATH],
                  bool *is_declared);

/// Writes "{ bounds, brand, id }": the keys of the plain table, sorted; "a list of 3" of one that has no others.
void trouble_keys(lua_State *L, int table, char keys[TROUBLE_KEYS]);

/// The key of the table that is most like a mistyped one, copied; false: none is.
bool trouble_nearest(lua_State *L, int table, const char *name, char *place, size_t size);
