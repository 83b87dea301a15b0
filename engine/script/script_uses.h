/// Script uses: whether a script ever reads what it declares, as far as its text tells.
///
/// A name is read where it stands behind a dot, or once more as a string than where it is declared. Comments do not
/// count, modules that the script reaches do. Where a script takes names from a variable nobody can tell, and then it
/// reads all.
///
/// Threads: any.
/// Memory:  nothing is kept.
#pragma once

#include "script/script_shelf.h"

/// `owner` is where the names are fields: "secret" or "options".
MUST_CHECK bool script_uses_field(const struct script_file *file, const char *owner, struct text name);
