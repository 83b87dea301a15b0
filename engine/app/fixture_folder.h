/// Fixture folder: where the fixtures of a script lie, and which files there are fixtures.
///
/// Threads: any.
/// Memory:  nothing is left.
#pragma once

#include "script/script_set.h"

#include <dirent.h>

enum { FIXTURE_PATH_SIZE = 4096 };

/// "suppliers/acme.lua" -> "suppliers/acme.test"; false: the supplier is an alias of another's file, or its name is too
/// long.
MUST_CHECK bool fixture_folder_of(const struct script_supplier *script, char folder[FIXTURE_PATH_SIZE]);

/// For scandir: 1 for a fixture.
int fixture_folder_has(const struct dirent *entry);
