/// Sells: what a supplier sells, declared in its file, so that a search for something else does not ask it.
///
/// The names of `sells` come from the segments of its product, which are facts of the search: the plural of one
/// (`trip_types`, `markets`, `currencies`, `lead_days`) lists the values that are sold, `max_` and `min_` before an
/// integer one (`max_party`) bound it. A search that does not have a listed fact is not sold; a bound lets it pass.
///
/// Threads: immutable once loaded.
/// Memory:  the loader's arena, with the supplier's other declarations.
#pragma once

#include "base/arena.h"
#include "script/script_set.h"

#include <lua.h>

struct script_check;

enum sells_kind { SELLS_LISTED, SELLS_AT_MOST, SELLS_AT_LEAST };

struct sells_term {
    struct text fact; // the search's field
    enum sells_kind kind;
    struct text *values; // of SELLS_LISTED; numbers and flags as they are written
    size_t value_count;
    int64_t bound;
};

/// In a protected call: reads `sells` of the supplier's table at index 1 and reports what is wrong with it.
void sells_check(lua_State *L, struct script_check *check, const struct script_file *file,
                 struct script_supplier *supplier);

/// In a protected call: is the frozen search at `search` none that the supplier sells? Then `reason` says why.
bool sells_refuse(lua_State *L, int search, const struct script_supplier *supplier, char *reason, size_t size);

/// Writes the name that lists the values of a fact: trip_types, currencies, lead_days; false: it does not fit.
bool sells_plural(struct text fact, char *name, size_t size);
