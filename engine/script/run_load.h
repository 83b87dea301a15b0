/// Run load: files that a call finds unloaded, because its worker's state is new, or was begun afresh after out of
/// memory.
///
/// A load has the limits of a load, as in checks, not those of the function that happens to be the first to need the
/// file. One that meets them fails its call, but speaks neither for a quarantine nor in a trial; that file is left
/// alone for a minute in that state, so that it cannot take its worker for good.
///
/// Threads: a worker's.
/// Memory:  none.
#pragma once

#include "script/run.h"

/// Before a section of the blamed script: loads its file, if need be, in a section of its own.
MUST_CHECK enum run_end run_load(struct run *run, const struct guard_blame *blame);

/// What a guarded section does.
enum run_doing { RUN_CALLS, RUN_LOADS };

/// The section itself, of a state whose sandbox is whole.
MUST_CHECK enum run_end run_guarded(struct run *run, const struct guard_blame *blame, enum run_doing doing,
                                    uint64_t limit_us, lua_CFunction function, struct run_work *work);
