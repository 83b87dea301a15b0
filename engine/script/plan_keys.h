/// Plan, keys: which element a reference means that names it by more than one thing, or within a list that each of the
/// elements further out has for itself.
///
///     of = ref("slices[].flights", { up(1).number, "id" }, { "[]", "flight" })
///
/// All elements are looked through, in their order; the first whose keys are spelt as the references are is the one.
/// More than a few are indexed once for each element that their list begins at.
///
/// Threads: those of the lua_State.
/// Memory:  the index is in the tape's slots, and is used again for the next list.
#pragma once

#include "script/plan_read.h"

/// The element that the reference in hand of `level` means is in hand then, with those around it; 0: there is none.
uint32_t plan_keys_find(struct plan_row *row, uint32_t level);

/// Does each of the references say something?
bool plan_keys_are_there(const struct plan_row *row, const struct plan_keys *keys);

/// What they say, for a person: `2, F7`.
void plan_keys_print(const struct plan_row *row, const struct plan_keys *keys, char *shown, size_t size);
