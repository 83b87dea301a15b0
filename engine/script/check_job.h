/// Check job: one run of a file, or of something of it, in a state of its own that is thrown away.
///
/// Threads: the loader's.
/// Memory:  on its caller's stack.
#pragma once

#include "script/script_check.h"

struct check_job {
    struct script_check *check;
    const struct script_file *file;
    struct script_supplier *supplier; // NULL: not a supplier's file
    uint64_t limit_us;                // of CPU time
    enum code code;                   // of what it raises
    void *work;                       // what a function that loads no file works on; NULL: the file is being loaded
};

/// Runs `function` with the job as its one argument; what it raises, and that it had to be stopped, is reported.
void check_job_call(struct check_job *job, lua_CFunction function);

/// In such a function: loads and runs the file, within the limit; its one result is on top.
void check_job_run(lua_State *L, struct check_job *job);

/// In such a function: begins the limit, leaves an empty stack, and gives the job's `work`.
void *check_job_begin(lua_State *L);
