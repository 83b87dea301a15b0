/// Progress: what `ceiling` is told of its search, as a userdata that notes which fields are read.
///
/// A function that read nothing costs one small userdata and is never asked again.
///
/// Threads: a worker's, or the loader's.
/// Memory:  Lua's.
#pragma once

#include "model/ceiling_call.h"

#include <lua.h>

struct progress;

/// Pushes a progress with these values and what is known (held as long as it lives; NULL: nothing), of an attempt that
/// began so long after the search's arrival; the pointer lives as long as it is on the stack.
const struct progress *progress_push(lua_State *L, const struct search_progress *values, struct knowledge *knowledge,
                                     uint64_t began_us);
/// In a protected call: fills `values` from the table at `index`, which says some of them by the names that scripts
/// see. Anything else in it raises.
void progress_read(lua_State *L, int index, struct search_progress *values);

/// "elapsed_ms, remaining_ms, …": what scripts may read of it.
void progress_tell_fields(char *place, size_t size);

/// What was read so far: a sum of enum progress_field.
uint32_t progress_reads(const struct progress *progress);
