/// Stick: what no function that scripts may call does any more, so that lost threads can be tested: it stays in C.
///
/// Use: stick_add before the first state is opened; then scripts have `stick(ms)`, which takes that much of the
/// processor's time and cannot be stopped meanwhile, and `is_stick_time()`, which is what the test sets: a file that
/// passes its check can be another one when it is loaded again.
///
/// Threads: stick_add before others run.
#pragma once

#include "base/clock.h"
#include "script/sandbox_globals.h"

#include <lauxlib.h>
#include <stdatomic.h>

static atomic_bool is_stick_time;

static inline int stick_run(lua_State *L)
{
    uint64_t end_us = clock_thread_cpu_us() + (uint64_t)luaL_checknumber(L, 1) * 1000;
    while (clock_thread_cpu_us() < end_us) {
    }
    return 0;
}

static inline int stick_is_time(lua_State *L)
{
    lua_pushboolean(L, atomic_load(&is_stick_time));
    return 1;
}

static inline void stick_open(lua_State *L, int target)
{
    lua_pushcfunction(L, stick_run);
    lua_setfield(L, target, "stick");
    lua_pushcfunction(L, stick_is_time);
    lua_setfield(L, target, "is_stick_time");
}

static inline void stick_add(void)
{
    sandbox_globals_extend(stick_open);
}
