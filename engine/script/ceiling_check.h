/// Ceiling check: is a supplier's `ceiling` a function of its arguments?
///
/// It is asked in two fresh states about the same search, in one from the first progress to the last, in the other from
/// the last to the first; both must say the same. The search is the `example` of its product, which is held against the
/// product's own `query`. A product without one has no ceilings tried.
///
/// Threads: the loader's.
/// Memory:  states of its own, which are thrown away.
#pragma once

#include "script/script_check.h"

#include <lua.h>

/// In a protected call: reports an `example` of the product's table at index 1 that its `query` refuses.
void ceiling_check_example(lua_State *L, struct script_check *check, const struct script_file *file);

/// In a protected call: asks the product at `table` about its example; pushes what `query` gives: the search, and
/// errors. False: there is no example, or asking failed, and the message is pushed.
MUST_CHECK bool ceiling_check_push_example(lua_State *L, struct text product, int table);

/// Reports what is wrong with the ceiling of this file; one without any is fine.
void ceiling_check(struct script_check *check, const struct script_file *file, const struct script_supplier *supplier);
