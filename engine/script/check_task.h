/// Check task: the check of one file on a thread of its own, because loading a file runs it.
///
/// A loop in Lua ends by the checker's own hook. A function of C, such as a search for a pattern that backtracks for
/// ever, cannot be stopped: past the limit of CPU time the thread is given up. It is left behind in the idle class with
/// what it works on, and cleans up if it ever comes back; the load goes on with the next file.
///
/// Threads: the loader's; it waits.
/// Memory:  a task works on memory of its own and holds all that it reads.
/// Time:    reads the monotonic clock and the thread's CPU time.
#pragma once

#include "script/script_check.h"

enum check_kind { CHECK_MODULE, CHECK_PRODUCT, CHECK_SUPPLIER };

struct check_subject {
    enum check_kind kind;
    const struct script_file *file;
    struct script_set *set;         // in the making, whose products and places it is held against; NULL: a module
    struct script_version *version; // that gets what the file declares; NULL: a module
};

/// Checks a file and reports what was found through `check`. What it declares goes into the version, which is left
/// alone when there was no answer; look-ups of a module go into `check`. STATUS_TIMEOUT: the file took too long to
/// load, which was reported as well; of one that did so before that is a finding like others.
MUST_CHECK enum status check_task_run(struct script_check *check, const struct check_subject *subject);
