/// Script globals: every global name that a chunk reads or sets, and every field of a global that it reads by its name,
/// in functions that never ran too.
///
/// The compiler itself tells: the chunk is compiled, never run, in a plain state of its own that is thrown away, and
/// the instructions that touch globals are listed. So there are no false alarms, and no parser to keep in step.
///
/// Threads: any.
/// Memory:  the list lives in the caller's arena.
#pragma once

#include "base/arena.h"
#include "base/status.h"

struct script_global {
    const char *name;
    uint32_t line;     // of its first use of this kind
    bool is_set;       // else read
    const char *field; // that is read of it; NULL: the global itself. Of the name "" it is one of any `x.secret`
    struct text table; // of a call of `lookup` that names it literally; such calls are told for each table
};

/// By line, each name and kind of use once. The source must compile. STATUS_INVALID: it does not, or this LuaJIT does
/// not show its instructions.
MUST_CHECK enum status script_globals_list(struct text source, struct arena *arena, struct script_global **globals,
                                           size_t *count);
