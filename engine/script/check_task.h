/// Check task: the check of one file on a thread of its own, because loading a file runs it.
///
/// A loop in Lua ends by the checker's own hook. A function of C, such as a search for a pattern that backtracks for
/// ever, cannot be stopped: past the limit of CPU time the thread is given up. It is left behind in the idle class with
/// what it works on, and cleans up if it ever comes back; the load goes on with the next file.
///
/// Threads: the loader's; it waits.
/// Memory:  a task works on memory of its own and holds the script set, whose sources it reads.
/// Time:    reads the monotonic clock and the thread's CPU time.
#pragma once

#include "script/script_check.h"

enum check_kind { CHECK_MODULE, CHECK_PRODUCT, CHECK_SUPPLIER };

/// Checks `file` of `set` and reports what was found through `check`. A supplier's declarations go into `supplier`,
/// whose texts live in `*memory`; both are left empty when there was no answer. STATUS_TIMEOUT: the file took too long
/// to load, which was reported as well.
MUST_CHECK enum status check_task_run(struct script_check *check, struct script_set *set,
                                      const struct script_file *file, enum check_kind kind,
                                      struct script_supplier *supplier, struct arena *memory);
