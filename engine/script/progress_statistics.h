/// Progress statistics: what `ceiling` is told of its supplier's past, and what C evaluates of it; inside of progress.
///
/// Threads: a worker's, or the loader's.
/// Memory:  Lua's; a progress holds its knowledge until it is collected.
#pragma once

#include "model/ceiling_call.h"

#include <lua.h>

struct progress {
    struct search_progress values;
    uint32_t reads;
    struct knowledge *knowledge; // NULL: nothing is known
    uint64_t began_us;           // when its attempt began, since the search's arrival
};

/// For __index: the userdata is at 1.
void progress_push_latency(lua_State *L, const struct search_progress *values);
void progress_push_win_rate(lua_State *L, const struct search_progress *values);
void progress_push_chance(lua_State *L, const struct search_progress *values);
void progress_push_worth_waiting(lua_State *L, const struct search_progress *values);

/// In a protected call: the value on top, of the field that `word` names. False: it names no statistic.
bool progress_read_statistic(lua_State *L, const char *word, struct search_progress *values);
